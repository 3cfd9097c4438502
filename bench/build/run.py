#!/usr/bin/env python3
"""Processor seconds of a build without a compiler cache, by folder.

  bench/build/run.py [--keep FOLDER] [--jobs N] [TARGET...]     default: everything, tests included
  bench/build/run.py --every N                                  every Nth file of each folder, scaled to all; nothing is linked
  bench/build/run.py --source FOLDER ...                        another checkout, for comparison
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile



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


def report(log, all_files=None):
    seconds, files = collections.Counter(), collections.Counter()
    for line in open(log, encoding="utf-8"):
        cost, output = line.rstrip("\n").split("\t")
        folder = "linking" if not output.endswith((".o", ".gch")) else folder_of(output)
        seconds[folder] += float(cost)
        files[folder] += 1
    if all_files:
        for folder, count in all_files.items():
            seconds[folder] *= count / files[folder]
            files[folder] = count
    for folder in sorted(seconds):
        print(f"{folder}\t{files[folder]}\t{seconds[folder]:.1f}")
    print(f"total\t{sum(files.values())}\t{sum(seconds.values()):.1f}")


def objects_of(folder):
    """Object files by folder of the tree, precompiled headers left out."""
    objects = collections.defaultdict(list)
    for command in json.loads((pathlib.Path(folder) / "compile_commands.json").read_text()):
        words = shlex.split(command["command"])
        output = words[words.index("-o") + 1]
        if not output.endswith(".gch"):
            objects[folder_of(output)].append(output)
    return objects


def build(folder, options):
    log = pathlib.Path(folder) / "processor_seconds.tsv"
    log.unlink(missing_ok=True)
    launcher = f"{sys.executable};{pathlib.Path(__file__).resolve()};--launch;{log}"
    subprocess.run(["cmake", "-S", options.source, "-B", folder, "-G", "Ninja", "--log-level=WARNING",
                    "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}",
                    f"-DCMAKE_CXX_LINKER_LAUNCHER={launcher}"],
                   check=True, stdout=subprocess.DEVNULL)
    targets, all_files = options.targets, None
    if options.every:
        objects = objects_of(folder)
        all_files = {name: len(outputs) for name, outputs in objects.items()}
        targets = [output for outputs in objects.values() for output in sorted(outputs)[::options.every]]
    subprocess.run(["ninja", "-C", folder, f"-j{options.jobs}", *targets], check=True,
                   stdout=subprocess.DEVNULL)
    report(log, all_files)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", help="build here and leave it")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--every", type=int, help="compile only every Nth file of each folder")
    parser.add_argument("--source", default=pathlib.Path(__file__).resolve().parents[2], help="the checkout to build")
    parser.add_argument("targets", nargs="*")
    options = parser.parse_args()
    if options.keep:
        build(options.keep, options)
        return
    with tempfile.TemporaryDirectory() as folder:
        build(folder, options)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--launch"]:
        sys.exit(launch(sys.argv[2], sys.argv[3:]))
    main()
