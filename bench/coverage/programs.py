#!/usr/bin/env python3
"""Builds and runs CUDA programs on the virtual GPU and says how many pass their own checks.

    programs.py MANIFEST --results FILE [--jobs N] [--only REGEX] [--seconds S]

MANIFEST has one JSON object per line:
    collection, name    what to call it
    folder              where it is built and run
    build               shell command that builds it; `nvcc` is the one beside this script
    runs                shell commands (the same program at other sizes), tried in order until one
                        passes
    passed, failed      regular expressions on the output (the exit code counts too); without
                        `passed` the program has no check of its own and can only run
    faults              true when a fault is what the program is about

RESULTS gets one JSON object per program and is continued when it exists. The table by collection goes
to standard output. Needs KERNEVO_CUDA and KERNEVO_CUDART, see ./nvcc.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import re
import resource
import signal
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
OUTPUT_LIMIT = 4000
FAILED = r"(?i)\bfail|mismatch|incorrect|\bwrong\b|cuda error|error:"


def shell(command, folder, seconds, environment):
    """Exit code (None: out of time) and the output's two streams as one text.

    The limit is processor time, so that a busy machine changes nothing; waiting is bounded too."""

    def limit():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (48 << 30, 48 << 30))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(["bash", "-c", command], cwd=folder, env=environment, stdout=output,
                                   stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                   start_new_session=True, preexec_fn=limit)
        try:
            code = process.wait(20 * seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            code = None
        if code in (-signal.SIGKILL, 128 + signal.SIGKILL, -signal.SIGXCPU, 128 + signal.SIGXCPU):
            code = None
        size = output.seek(0, os.SEEK_END)
        output.seek(0)
        text = output.read(OUTPUT_LIMIT)
        if size > 2 * OUTPUT_LIMIT:
            output.seek(size - OUTPUT_LIMIT)
            text += b"\n...\n"
        text += output.read(OUTPUT_LIMIT)
    return code, text.decode(errors="replace")


def read_log(path):
    """What the runtime wrote about modules and kernels."""
    modules, kernels = [], {}
    if os.path.exists(path):
        with open(path, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                try:
                    event = json.loads(line)
                except json.JSONDecodeError:
                    continue  # the program was ended while it wrote
                if event["event"] == "module":
                    modules.append(event)
                    for name in event["kernels"]:
                        kernels.setdefault(name, "no load" if "error" in event else "loaded")
                elif event["event"] == "fault":
                    kernels[event["kernel"]] = event["finding"] + ": " + event["message"]
                elif kernels.get(event["kernel"], "") in ("loaded", "launch"):
                    kernels[event["kernel"]] = event["event"]
    return modules, kernels


def faulted(status):
    """A launch beyond the limits is an error the program gets to see, as with a real GPU."""
    return ": " in status and not status.startswith("launch_limit")


def judge(entry, code, text, kernels):
    if any(map(faulted, kernels.values())) and not entry.get("faults"):
        return "fault"
    if re.search(entry.get("failed", FAILED), text):
        return "check failed"
    if code != 0:
        return f"exit code {code}"
    if "passed" not in entry:
        return "ran, no check"
    return "passed" if re.search(entry["passed"], text) else "check not seen"


def process(entry, seconds):
    result = {"collection": entry["collection"], "name": entry["name"], "kernels": {}}
    environment = dict(os.environ, PATH=HERE + ":" + os.environ["PATH"])
    environment.setdefault("KERNEVO_CORES", "1")
    if entry.get("build"):
        code, text = shell(entry["build"], entry["folder"], 400, environment)
        if code != 0:
            return result | {"status": "not built", "output": text[-OUTPUT_LIMIT:]}
    for command in entry["runs"]:
        with tempfile.TemporaryDirectory() as folder:
            environment["KERNEVO_CUDART_LOG"] = os.path.join(folder, "log")
            code, text = shell(command, entry["folder"], seconds, environment)
            modules, kernels = read_log(environment["KERNEVO_CUDART_LOG"])
        errors = [module["error"] for module in modules if "error" in module]
        result |= {"command": command, "kernels": kernels, "output": text, "errors": errors}
        if errors:
            return result | {"status": "not loaded"}
        result["status"] = "out of time" if code is None else judge(entry, code, text, kernels)
        if result["status"] in ("passed", "ran, no check"):
            break
    return result


def process_safely(entry, seconds):
    """A mistake in one entry must not end the run."""
    try:
        return process(entry, seconds)
    except Exception as error:  # pylint: disable=broad-except
        return {"collection": entry["collection"], "name": entry["name"], "kernels": {},
                "status": "not judged", "output": repr(error)}


def table(results):
    rows = collections.defaultdict(collections.Counter)
    for result in results:
        row = rows[result["collection"]]
        row["programs"] += 1
        built = result["status"] != "not built"
        row["built"] += built
        row["passed"] += result["status"] == "passed"
        for status in result["kernels"].values():
            row["kernels"] += 1
            row["loaded"] += status != "no load"
            row["launched"] += status not in ("no load", "loaded")
            row["ran"] += status == "ran"
            row["matched"] += status == "ran" and result["status"] == "passed"
    columns = ["programs", "built", "passed", "kernels", "loaded", "launched", "ran", "matched"]
    print("| collection | " + " | ".join(columns) + " |")
    print("|---|" + "---|" * len(columns))
    for name in sorted(rows):
        print(f"| {name} | " + " | ".join(str(rows[name][c]) for c in columns) + " |")
    total = sum(rows.values(), collections.Counter())
    print("| all | " + " | ".join(str(total[c]) for c in columns) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("manifest")
    parser.add_argument("--results", required=True)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=int, default=60)
    options = parser.parse_args()
    results = []
    if os.path.exists(options.results):
        with open(options.results, encoding="utf-8") as lines:
            results = [json.loads(line) for line in lines]
    done = {(r["collection"], r["name"]) for r in results}
    with open(options.manifest, encoding="utf-8") as lines:
        entries = [json.loads(line) for line in lines if line.strip()]
    entries = [e for e in entries if (e["collection"], e["name"]) not in done
               and re.search(options.only, e["collection"] + "/" + e["name"])]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool, \
            open(options.results, "a", encoding="utf-8") as out:
        for future in concurrent.futures.as_completed(
                [pool.submit(process_safely, entry, options.seconds) for entry in entries]):
            result = future.result()
            results.append(result)
            out.write(json.dumps(result) + "\n")
            out.flush()
            print(result["collection"], result["name"], result["status"], flush=True)
    table(results)


if __name__ == "__main__":
    main()
