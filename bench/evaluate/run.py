#!/usr/bin/env python3
"""Two builds of kernevo side by side: a small check, the demo's evolutions, the processes they start.

  bench/evaluate/run.py BEFORE AFTER [--rounds N]

BEFORE and AFTER are programs. They take turns, each run with an empty build cache of its own and with its
own examples' copies. Prints tab-separated `what  before  after  ratio` (medians; ratio > 1 = AFTER is better)
and whether the journals of the evolutions hold the same decisions. Counts of processes need strace.
"""
import argparse
import collections
import ctypes
import json
import os
import pathlib
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
EVOLUTIONS = {"softmax": ("examples/softmax/task_large.yaml", 60), "matmul": ("examples/matmul/task_large.yaml", 80)}
CHECK = ("examples/softmax/task.yaml", "examples/softmax/naive.cu")
PR_SET_CHILD_SUBREAPER = 36


def run(command, cache):
    """Wall and processor seconds of a program and of everything it started."""
    environment = {**os.environ, "KERNEVO_CACHE": str(cache)}
    start = time.monotonic()
    child = subprocess.Popen(command, env=environment, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    problem = child.stderr.read().decode(errors="replace")
    wall, processor, code = 0.0, 0.0, 0
    while True:  # workers that outlive the program by a moment become our children
        try:
            pid, status, usage = os.wait4(-1, 0)
        except ChildProcessError:
            break
        processor += usage.ru_utime + usage.ru_stime
        if pid == child.pid:
            wall, code = time.monotonic() - start, os.waitstatus_to_exitcode(status)
            child.returncode = code
    if code != 0:
        sys.exit(f"{' '.join(command)}: exit code {code}\n{problem}")
    return wall, processor


def decisions(folder):
    """The journal's events without what a clock or a machine decides."""
    events = sqlite3.connect(f"file:{folder}/journal.sqlite?mode=ro", uri=True).execute(
        "SELECT kind, step, body FROM events ORDER BY number").fetchall()
    return [(kind, step, clean(json.loads(body))) for kind, step, body in events]


def clean(value):
    """Without times, and without what names the program itself: keys of its memory, what newer ones add to a run's head."""
    if isinstance(value, dict):
        return {k: clean(v) for k, v in value.items() if not re.search(r"seconds|^(context|device|program)$", k)}
    return [clean(v) for v in value] if isinstance(value, list) else value


def first_difference(before, after):
    for number, (a, b) in enumerate(zip(before, after)):
        if a != b:
            return f"event {number}: {json.dumps(a)[:600]}\n  against {json.dumps(b)[:600]}"
    return f"{len(before)} events against {len(after)}"


def processes(program, folder, cache):
    """Programs started, and children forked, in 20 evaluations of the demo's softmax."""
    if not shutil.which("strace"):
        return None
    log = folder / "strace"
    run(["strace", "-f", "-qq", "-o", str(log), "-e", "trace=execve,clone,clone3,fork,vfork", program, "evolve",
         EVOLUTIONS["softmax"][0], "--out", str(folder / "counted"), "--evaluations", "20", "--quiet"], cache)
    counts = collections.Counter()
    for line in log.read_text(errors="replace").splitlines():
        if "execve(" in line and "= 0" in line:
            name = re.search(r'execve\("([^"]*)"', line)[1]
            role = re.search(r'"__worker", "(\w+)"', line)
            counts[f"started: {role[1]} worker" if role else f"started: {pathlib.Path(name).name}"] += 1
        elif "CLONE_PARENT|SIGCHLD" in line and re.search(r"= [1-9]", line):
            counts["forked: worker"] += 1
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    programs = {"before": str(options.before.resolve()), "after": str(options.after.resolve())}
    samples = collections.defaultdict(list)
    journals = {}
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)

        def fresh(name):
            shutil.rmtree(scratch / name, ignore_errors=True)
            (scratch / name).mkdir()
            return scratch / name

        for _ in range(options.rounds):
            for side, program in programs.items():
                cache = fresh("cache")
                for what in ("check, new kernel", "check, known kernel"):
                    wall, processor = run([program, "check", *CHECK, "--quiet"], cache)
                    samples[f"{what}: wall s", side].append(wall)
                    samples[f"{what}: processor s", side].append(processor)
                for name, (task, evaluations) in EVOLUTIONS.items():
                    folder = fresh("run") / name
                    wall, processor = run([program, "evolve", task, "--out", str(folder), "--evaluations",
                                           str(evaluations), "--quiet"], fresh("cache"))
                    journals.setdefault((name, side), decisions(folder))
                    timed = sum(1 for kind, _, _ in journals[name, side] if kind == "evaluation")
                    samples[f"evolve {name}: wall s ({evaluations} evaluations)", side].append(wall)
                    samples[f"evolve {name}: processor s per evaluation", side].append(processor / evaluations)
                    samples[f"evolve {name}: steps judged", side].append(timed)
        for what in dict.fromkeys(what for what, _ in samples):
            a, b = (statistics.median(samples[what, side]) for side in programs)
            print(f"{what}\t{a:.3f}\t{b:.3f}\t{a / b:.2f}")
        counts = {side: processes(program, fresh("counted"), fresh("cache")) for side, program in programs.items()}
    if all(counts.values()):
        for what in sorted({*counts["before"], *counts["after"]}):
            print(f"20 evaluations, {what}\t{counts['before'][what]}\t{counts['after'][what]}")
    for name in EVOLUTIONS:
        before, after = journals[name, "before"], journals[name, "after"]
        same = before == after
        print(f"decisions of {name}: {'the same' if same else 'DIFFERENT, ' + first_difference(before, after)}")


if __name__ == "__main__":
    main()
