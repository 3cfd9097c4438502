#!/usr/bin/env python3
"""False verdicts and power of the comparison of two kernels, by noise, with the bar each row is held to.

    run.py BUILD [--trials N] [--seed S] [--blocks N] [--recorded PATH...]

BUILD is the folder with bench_timing. Without --recorded the noise is simulated. With it the noise is
what real GPUs did: PATH is a Kernel Tuner cache file (.json, .json.gz) or a folder of them; the shots
("times") of the configurations are replayed in the order they were recorded, each divided by its
configuration's median. Exit 1 when a bar is missed: at most 1 % false 'faster', at least 95 % power at
a true 2 %.
"""
import argparse
import gzip
import json
import pathlib
import subprocess
import sys

MOST_FALSE_FASTER = 1.0
LEAST_POWER = 95.0


def cache_files(paths):
    for path in map(pathlib.Path, paths):
        if path.is_dir():
            yield from sorted(file for file in path.rglob("*") if file.name.endswith((".json", ".json.gz")))
        elif path.is_file():
            yield path
        else:
            sys.exit(f"bench: {path} does not exist; name a Kernel Tuner cache file or a folder of them")


def series(path):
    """Lines of "NAME time time ..." for bench_timing, one per configuration."""
    name = "_".join(path.parts[-2:]).split(".json")[0].replace(" ", "_")
    opened = gzip.open(path, "rt") if path.name.endswith(".gz") else open(path)
    with opened as file:
        try:
            cache = json.load(file).get("cache")
        except (OSError, ValueError, AttributeError) as problem:
            sys.exit(f"bench: {path} is not a Kernel Tuner cache: {problem}")
    found = [f"{name} {' '.join(map(str, row['times']))}" for row in (cache or {}).values()
             if isinstance(row.get("times"), list) and len(row["times"]) > 1]
    if not found:
        print(f"bench: SKIP {path}, no series of times in it", file=sys.stderr)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--blocks", type=int, help="the most blocks of four shots; the program's default if absent")
    parser.add_argument("--recorded", nargs="+", metavar="PATH")
    given = parser.parse_args()
    command = [str(given.build / "bench_timing"), "--trials", str(given.trials), "--seed", str(given.seed)]
    if given.blocks:
        command += ["--blocks", str(given.blocks)]
    lines = None
    if given.recorded:
        command.append("--recorded")
        lines = "\n".join(line for path in cache_files(given.recorded) for line in series(path))
        if not lines:
            sys.exit("bench: no recorded series at all")
    done = subprocess.run(command, input=lines, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"bench: {command[0]} failed")
    header, *rows = [line.split("\t") for line in done.stdout.splitlines()]
    missed = 0
    print("\t".join([*header, "bars"]))
    for row in rows:
        cell = dict(zip(header, row))
        held = float(cell["false_faster_%"]) <= MOST_FALSE_FASTER and float(cell["power_2%"]) >= LEAST_POWER
        missed += not held
        print("\t".join([*row, "held" if held else "MISSED"]))
    print(f"{len(rows) - missed} of {len(rows)} noises hold: false 'faster' <= {MOST_FALSE_FASTER} %, "
          f"power at 2 % >= {LEAST_POWER} %", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
