#!/usr/bin/env python3
"""How the virtual GPU's counters compare with those that Nsight recorded on a real GPU.

    counters.py BUILD RECORDED.json[.gz] KERNEL.cu --kernel NAME --gpu NAME --arg ARG... [--flag FLAG...] [--every N] [--blocks N]
                [--jobs N] [--seconds S] [--same-registers] [--bar N]

BUILD is the folder with bench_predict. RECORDED is what KTT writes when it profiles: configurations with grid, block,
registers and counters. KERNEL is the source they were taken from; the parameters become macros. ARG is as in
`kernevo run --arg`. Every N-th configuration is compiled, N of its blocks are counted and scaled to the grid.

One line per counter, tab-separated: name, configurations, how many are within 2 %, the least, the median and the
greatest ratio ours / recorded. "exact" counters mean the same thing; "model" ones depend on a cache's model; a
percentage of a pipe's peak is turned into instructions with the recorded cycles. Exit 1 when an exact counter is
within 2 % on fewer than --bar configurations.
"""
import argparse
import concurrent.futures
import gzip
import json
import pathlib
import random
import statistics
import subprocess
import sys
import time

WITHIN = 0.02
MODELLED = {"lts__t_sectors_op_read.sum"}
# Percentage of peak of a sub-partition's pipe on sm_75 -> warp instructions per cycle at the peak.
PIPES = {
    "smsp__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active": ("xu", 1 / 8),
    "smsp__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active": ("lsu", 1 / 2),
    "smsp__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active": ("fma", 1 / 2),
}
SHARED = "l1tex__data_pipe_lsu_wavefronts_mem_shared"


def recorded(path):
    """(config, grid, block, registers, counters) of every configuration that ran."""
    opened = gzip.open(path, "rt") if path.name.endswith(".gz") else open(path)
    with opened as file:
        found = json.load(file)
    for result in found["Results"]:
        if result["Status"] != "Ok":
            continue
        one = result["ComputationResults"][0]
        yield ({p["Name"]: p["Value"] for p in result["Configuration"]},
               [one["GlobalSize"][axis] for axis in "XYZ"], [one["LocalSize"][axis] for axis in "XYZ"],
               one["CompilationData"]["RegistersCount"],
               {c["Name"]: c["Value"] for c in one["ProfilingData"]["Counters"]})


def run(given, configurations, end):
    """Facts of the configurations, from one process of bench_predict; none is begun after `end`."""
    facts = []
    with subprocess.Popen([str(given.build / "bench_predict")], text=True, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as process:
        for number, (config, grid, block, _, _) in configurations:
            if end and time.monotonic() > end:
                break
            print(json.dumps({
                "id": number, "gpus": [given.gpu], "file": str(given.source), "kernel": given.kernel, "flags": given.flag,
                "defines": {name: str(value) for name, value in config.items()}, "grid": grid, "block": block,
                "args": given.arg, "blocks": given.blocks}), file=process.stdin, flush=True)
            answer = process.stdout.readline()
            if not answer:
                sys.exit(f"bench: bench_predict ended at configuration {number}")
            facts.append(json.loads(answer))
        process.stdin.close()
    return facts


def pairs(ours, theirs):
    """(name, kind, ours, recorded) of every counter that can be set side by side."""
    for name, value in theirs.items():
        if name in ours:
            yield name, "model" if name in MODELLED else "exact", ours[name], value
    issue = theirs.get("smsp__issue_active.avg.pct_of_peak_sustained_active")
    if not issue:
        return
    cycles = theirs["smsp__inst_executed.sum"] / (issue / 100)  # of all sub-partitions, active
    for name, (pipe, rate) in PIPES.items():
        if name in theirs:
            yield (f"smsp__inst_executed_pipe_{pipe}.sum (from pct)", "exact",
                   ours[f"smsp__inst_executed_pipe_{pipe}.sum"], theirs[name] / 100 * rate * cycles)
    share = theirs.get(SHARED + ".avg.pct_of_peak_sustained_elapsed")
    active = theirs.get("smsp__cycles_active.avg.pct_of_peak_sustained_elapsed")
    if share is not None and active:
        elapsed = cycles / 4 / (active / 100)  # of all multiprocessors, four sub-partitions each
        yield SHARED + ".sum (from pct)", "exact", ours[SHARED + ".sum"], share / 100 * elapsed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("recorded", type=pathlib.Path)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--kernel", required=True)
    parser.add_argument("--gpu", required=True)
    parser.add_argument("--arg", action="append", default=[])
    parser.add_argument("--flag", action="append", default=[])
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--seconds", type=float, help="begin no configuration after so long")
    parser.add_argument("--blocks", type=int, default=8)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--bar", type=int, default=0)
    parser.add_argument("--same-registers", action="store_true",
                        help="leave out configurations that another ptxas gave another number of registers")
    given = parser.parse_args()
    for path in (given.recorded, given.source, given.build / "bench_predict"):
        if not path.exists():
            sys.exit(f"bench: {path} does not exist")
    rows = list(enumerate(recorded(given.recorded)))[::given.every]
    random.Random(1).shuffle(rows)  # what --seconds leaves out is no particular part of the space
    end = time.monotonic() + given.seconds if given.seconds else None
    facts = []
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for part in pool.map(lambda start: run(given, rows[start::given.jobs], end), range(given.jobs)):
            facts += part
    truth = dict(rows)
    ratios = {}
    same_registers = 0
    for fact in facts:
        if "error" in fact:
            sys.exit(f"bench: configuration {fact['id']}: {fact['error']}")
        _, _, _, registers, counters = truth[fact["id"]]
        same = fact["registers"] == registers
        same_registers += same
        if given.same_registers and not same:
            continue
        for name, kind, ours, theirs in pairs(fact["counters"], counters):
            ratio = ours / theirs if theirs else (1.0 if ours == 0 else float("inf"))
            ratios.setdefault((name, kind), []).append(ratio)
    print(f"# {len(facts)} configurations, {same_registers} with as many registers as recorded", file=sys.stderr)
    missed = False
    print("counter\tkind\tconfigurations\twithin_2_percent\tleast\tmedian\tgreatest")
    for (name, kind), found in ratios.items():
        within = sum(abs(ratio - 1) <= WITHIN for ratio in found)
        missed = missed or (kind == "exact" and within < given.bar)
        print(f"{name}\t{kind}\t{len(found)}\t{within}\t{min(found):.4f}\t{statistics.median(found):.4f}\t{max(found):.4f}")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
