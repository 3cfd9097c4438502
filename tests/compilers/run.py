#!/usr/bin/env python3
"""One file of every target, and every fuzz target, read by each compiler that must be able to build.

  tests/compilers/run.py BUILD_FOLDER [COMPILER...]

Without precompiled headers, so that an include that is missing shows. g++ and clang++-19 are needed to build at all and
must be here; the one that built has read everything already. A newer g++ is asked where there is one.
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
REQUIRED = ("clang++-19", "g++")
OPTIONAL = ("g++-14",)


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


def builder_of(build):
    """The name of the compiler that built: g++ or clang++-19, however it was called."""
    told = re.search(r"^CMAKE_CXX_COMPILER:[^=]*=(.*)$", (build / "CMakeCache.txt").read_text(), re.MULTILINE)
    return "clang++-19" if "clang" in told[1] else "g++"


def jobs_of(build):
    """(file, flags): the largest file of each target of src, the smallest of each test, and the fuzz targets, which this
    build does not have."""
    chosen = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        target = re.search(r" -o (\S*)CMakeFiles/([^/]+)\.dir/", entry["command"])
        file = pathlib.Path(entry["file"])
        if not target or build in file.parents or not file.exists():
            continue
        size = file.stat().st_size * (-1 if target[1].startswith("tests/") else 1)
        if target[2] not in chosen or size > chosen[target[2]][0]:
            chosen[target[2]] = (size, str(file), flags_of(entry["command"]))
    jobs = {file: flags for _, file, flags in chosen.values()}
    library = chosen["kernevo_ptx"][2]
    jobs.update({str(file): library for file in sorted((SOURCE / "tests/fuzz").glob("fuzz_*.cpp"))})
    return list(jobs.items())


def read(compiler, file, flags):
    # clang reports libstdc++ 12's own call of a deprecated function inside std::stable_sort.
    extra = ["-Wno-deprecated-declarations"] if "clang" in compiler else []
    done = subprocess.run([compiler, "-fsyntax-only", *flags, *extra, file], capture_output=True,
                          text=True, check=False)
    return None if done.returncode == 0 else f"{compiler} {file}\n{done.stderr}"


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    wanted = sys.argv[2:] or [c for c in (*REQUIRED, *OPTIONAL) if c != builder_of(build)]
    compilers = [compiler for compiler in wanted if shutil.which(compiler)]
    absent = [compiler for compiler in wanted if compiler not in compilers]
    for compiler in absent:
        print(f"{compiler} is not here: " + ("skipped" if compiler in OPTIONAL else "FAILED, the set-up installs it"))
    if any(compiler not in OPTIONAL for compiler in absent):
        return 1
    jobs = jobs_of(build)
    if len(jobs) < 60:
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
