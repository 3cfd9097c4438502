#!/usr/bin/env python3
"""Processor seconds of a build without a compiler cache, by folder.

  bench/build/run.py [--keep FOLDER] [--jobs N] [TARGET...]     default: everything, tests included
"""
import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def launch(log, command):
    """Runs one compiler or linker and notes what it cost."""
    child = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(child, 0)
    output = command[command.index("-o") + 1] if "-o" in command else "?"
    with open(log, "a", encoding="utf-8") as file:
        file.write(f"{usage.ru_utime + usage.ru_stime:.2f}\t{output}\n")
    return os.waitstatus_to_exitcode(status)


def folder_of(output):
    if match := re.match(r"((?:src/kernevo|tests/unit|tests)/[^/]+)/", output):
        return match[1]
    return "precompiled headers" if output.endswith(".gch") else "programs"


def report(log):
    seconds, files = collections.Counter(), collections.Counter()
    for line in open(log, encoding="utf-8"):
        cost, output = line.rstrip("\n").split("\t")
        folder = "linking" if not output.endswith((".o", ".gch")) else folder_of(output)
        seconds[folder] += float(cost)
        files[folder] += 1
    for folder in sorted(seconds):
        print(f"{folder}\t{files[folder]}\t{seconds[folder]:.1f}")
    print(f"total\t{sum(files.values())}\t{sum(seconds.values()):.1f}")


def build(folder, jobs, targets):
    log = pathlib.Path(folder) / "processor_seconds.tsv"
    log.unlink(missing_ok=True)
    launcher = f"{sys.executable};{pathlib.Path(__file__).resolve()};--launch;{log}"
    subprocess.run(["cmake", "-S", SOURCE, "-B", folder, "-G", "Ninja", "--log-level=WARNING",
                    "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}",
                    f"-DCMAKE_CXX_LINKER_LAUNCHER={launcher}"],
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", folder, f"-j{jobs}", *targets], check=True,
                   stdout=subprocess.DEVNULL)
    report(log)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", help="build here and leave it")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("targets", nargs="*")
    options = parser.parse_args()
    if options.keep:
        build(options.keep, options.jobs, options.targets)
        return
    with tempfile.TemporaryDirectory() as folder:
        build(folder, options.jobs, options.targets)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--launch"]:
        sys.exit(launch(sys.argv[2], sys.argv[3:]))
    main()
