#!/usr/bin/env python3
"""A reverse proxy that passes on every byte as it comes and writes down what each exchange cost.

    llm_witness.py --upstream http://127.0.0.1:PORT --log FILE

Prints its own address. FILE gets a line of JSON when an exchange ends: method, path, status, the
`max_tokens` that was asked for, the usage the server stated (null: none), and how it ended ("whole",
"client left", "upstream failed"). It shares no code with what it watches.
"""
import argparse
import http.client
import http.server
import json
import os
import threading
import time
import urllib.parse

HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "content-length", "host"}
UPSTREAM_SECONDS = 900


def usage_in(body, content_type):
    """The last usage of a reply; several chunks of a stream may state it."""
    if "event-stream" not in content_type:
        texts = [body]
    else:
        texts = [line[5:] for line in body.splitlines() if line.startswith(b"data:")]
    usage = None
    for text in texts:
        try:
            value = json.loads(text)
        except ValueError:
            continue
        if isinstance(value, dict) and isinstance(value.get("usage"), dict):
            usage = value["usage"]
    return usage


def asked_tokens(body):
    try:
        request = json.loads(body)
    except ValueError:
        return None
    return request.get("max_completion_tokens", request.get("max_tokens")) if isinstance(request, dict) else None


class Witness(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        self.exchange(b"")

    def do_POST(self):
        self.exchange(self.rfile.read(int(self.headers.get("content-length", 0))))

    def exchange(self, asked):
        began = time.monotonic()
        note = {"method": self.command, "path": self.path, "max_tokens": asked_tokens(asked), "status": 0,
                "usage": None, "end": "whole"}
        body = bytearray()
        content_type = ""
        upstream = http.client.HTTPConnection(self.server.upstream, timeout=UPSTREAM_SECONDS)
        try:
            headers = {k: v for k, v in self.headers.items() if k.lower() not in HOP_BY_HOP}
            upstream.request(self.command, self.path, body=asked or None, headers=headers)
            reply = upstream.getresponse()
            note["status"] = reply.status
            content_type = reply.headers.get("content-type", "")
            self.pass_on(reply, body, note)
        except (OSError, http.client.HTTPException) as error:
            note["end"] = f"upstream failed: {error}"
            if note["status"] == 0:
                self.send_error(502)
            self.close_connection = True
        finally:
            upstream.close()
        note["usage"] = usage_in(bytes(body), content_type)
        note["seconds"] = round(time.monotonic() - began, 3)
        self.server.write(note)

    def pass_on(self, reply, body, note):
        try:
            self.send_response_only(reply.status, reply.reason)
            for name, value in reply.headers.items():
                if name.lower() not in HOP_BY_HOP:
                    self.send_header(name, value)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
        except OSError:
            note["end"] = "client left"
            return
        while piece := reply.read1(65536):
            body += piece
            try:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            except OSError:
                note["end"] = "client left"
                self.close_connection = True
                return
        try:
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            note["end"] = "client left"

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, upstream, log):
        super().__init__(("127.0.0.1", 0), Witness)
        self.upstream = upstream
        self.log = open(log, "a", encoding="utf-8")
        self.lock = threading.Lock()

    def write(self, note):
        with self.lock:
            print(json.dumps(note), file=self.log, flush=True)

    def service_actions(self):  # called about twice a second
        if os.getppid() != PARENT:
            os._exit(0)


PARENT = os.getppid()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--upstream", required=True)
    parser.add_argument("--log", required=True)
    args = parser.parse_args()
    server = Server(urllib.parse.urlsplit(args.upstream).netloc, args.log)
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()


main()
