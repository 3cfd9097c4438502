#!/usr/bin/env python3
"""The largest file of every target, and every fuzz target, read by compilers other than the build's.

  tests/compilers/run.py BUILD_FOLDER [COMPILER...]     default: clang++-19 and g++-14 where present

Without precompiled headers, so that an include that is missing shows.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def flags_of(command):
    """What a compiler needs to read the file as the build does."""
    words = iter(shlex.split(command))
    kept = []
    for word in words:
        if word in ("-isystem", "-I"):
            kept += [word, next(words)]
        elif word in ("-include", "-o", "-c"):
            next(words)
        elif word.startswith(("-D", "-I", "-std=", "-m")) or (
                word.startswith("-W") and not word.startswith("-Wno-") and word != "-Winvalid-pch"):
            kept.append(word)
    return kept


def jobs_of(build):
    """(file, flags) of the largest file of each target."""
    largest = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        target = re.search(r" -o \S*CMakeFiles/([^/]+)\.dir/", entry["command"])
        file = pathlib.Path(entry["file"])
        if not target or build in file.parents or not file.exists():
            continue
        size = file.stat().st_size
        if size > largest.get(target[1], (0,))[0]:
            largest[target[1]] = (size, str(file), flags_of(entry["command"]))
    jobs = list({file: flags for _, file, flags in largest.values()}.items())
    library = largest["kernevo_ptx"][2]
    jobs += [(str(file), library) for file in sorted((SOURCE / "tests/fuzz").glob("fuzz_*.cpp"))]
    return jobs


def read(compiler, file, flags):
    # clang reports libstdc++ 12's own call of a deprecated function inside std::stable_sort.
    extra = ["-Wno-deprecated-declarations"] if "clang" in compiler else []
    done = subprocess.run([compiler, "-fsyntax-only", *flags, *extra, file], capture_output=True,
                          text=True, check=False)
    return None if done.returncode == 0 else f"{compiler} {file}\n{done.stderr}"


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    compilers = sys.argv[2:] or [c for c in ("clang++-19", "g++-14") if shutil.which(c)]
    if not compilers:
        print("SKIP: neither clang++-19 nor g++-14 is here")
        return 0
    jobs = jobs_of(build)
    if len(jobs) < 20:
        print(f"only {len(jobs)} files found in {build}/compile_commands.json")
        return 1
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        waiting = [pool.submit(read, c, file, flags) for c in compilers for file, flags in jobs]
        problems = [problem for w in waiting if (problem := w.result())]
    for problem in problems:
        print(problem)
    print(f"{len(jobs)} files, {', '.join(compilers)}: {len(problems)} do not compile")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
