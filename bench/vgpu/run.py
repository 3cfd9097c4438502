#!/usr/bin/env python3
"""The virtual GPU beside its peers, all in one run: a table of ratios with the bar each is held to.

    run.py BUILD [--only SECTION,...] [--rounds N] [--json FILE]

BUILD is the folder with bench_vgpu, bench_opencl and kernevo. Sections: nest, pocl, cores, startup,
triton, numba. Every figure is the best of several rounds, in which ours and the peer take turns: the
machines are noisy. Where one core is compared with one core it is processor time.
$KERNEVO_BENCH_PYTHON names a Python with torch, triton and numba; without it they are installed in
.deps/bench.
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SECTIONS = ["nest", "pocl", "cores", "startup", "triton", "numba"]
KERNELS = ["matmul_naive", "matmul_tiled", "vector_add", "reduce_sum", "softmax", "layer_norm"]
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "POCL_MAX_PTHREAD_COUNT": "1"}
# What the peers' interpreters finish in about a minute; both sides run the same.
TRITON_SIZES = {"matmul_naive": "256", "matmul_tiled": "512", "vector_add": "4194304",
                "reduce_sum": "4194304", "softmax": "1024,4096", "layer_norm": "1024,4096"}
NUMBA_SIZES = {"matmul_naive": "64", "matmul_tiled": "64", "vector_add": "8192",
               "reduce_sum": "32768", "softmax": "4,1024", "layer_norm": "4,1024"}


def lines(command, **environment):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True,
                          env={**os.environ, **ONE_THREAD, **environment})
    if done.returncode != 0:
        sys.exit(f"bench: {' '.join(str(part) for part in command)} failed")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


class Bench:
    def __init__(self, build, rounds):
        self.build = build
        self.rounds = rounds
        self.rows = []
        self.raw = []

    def run(self, command, **environment):
        results = lines(command, **environment)
        for result in results:
            if not result.get("correct", True):
                sys.exit(f"bench: wrong result: {result}")
        self.raw += results
        return results

    def ours(self, *arguments):
        return self.run([self.build / "bench_vgpu", *arguments])

    def kernel(self, name, *arguments):
        return self.ours("kernels", HERE / "kernels.cu", "--kernel", name, *arguments)[0]

    def row(self, section, name, ratio, bar, at_most):
        """`at_most`: the ratio may not exceed the bar; else it must reach it."""
        held = None if bar is None else (ratio <= bar if at_most else ratio >= bar)
        sign = "" if bar is None else "<=" if at_most else ">="
        self.rows.append({"section": section, "name": name, "ratio": ratio, "bar": bar, "held": held})
        verdict = {None: "", True: "yes", False: "NO"}[held]
        shown = f"{ratio:.0f}" if ratio >= 100 else f"{ratio:.3g}"
        print(f"{section}\t{name}\t{shown}\t{sign}{bar or ''}\t{verdict}", flush=True)


def nest(bench):
    """The plain loop nest, and exact sector counting."""
    best = {}
    for _ in range(bench.rounds):
        for name, result in (
                [("nest", bench.ours("loop-nest", "--repetitions", 5)[0])]
                + [(k, bench.kernel(k, "--repetitions", 5)) for k in KERNELS[:2]]
                + [(k + "_counting", bench.kernel(k, "--repetitions", 5, "--counting"))
                   for k in KERNELS[:2]]):
            best[name] = min(best.get(name, math.inf), result["best_processor_ms"])
    for name, bar in (("matmul_naive", 4), ("matmul_tiled", 3), ("matmul_naive_counting", 8),
                      ("matmul_tiled_counting", 6)):
        bench.row("time / loop nest's", name, best[name] / best["nest"], bar, True)


def pocl(bench):
    """PoCL gets the better of its two ways to run work-groups, kernel by kernel."""
    if not (bench.build / "bench_opencl").exists():
        print("bench: SKIP pocl, no OpenCL when this was built (ocl-icd-opencl-dev)", file=sys.stderr)
        return
    ratios = []
    for kernel in KERNELS:
        mine, peer = math.inf, math.inf
        for _ in range(bench.rounds):
            mine = min(mine, bench.kernel(kernel, "--seconds", 2)["best_processor_ms"])
            for setting in ({}, {"POCL_WORK_GROUP_METHOD": "cbs"}):
                result = bench.run([bench.build / "bench_opencl", HERE / "kernels.cl", "--kernel", kernel,
                                    "--seconds", 2], **setting)[0]
                peer = min(peer, result["best_processor_ms"])
        ratios.append(mine / peer)
        bench.row("time / PoCL's", kernel, ratios[-1], None, True)
    bench.row("time / PoCL's", "geometric mean", statistics.geometric_mean(ratios), 2, True)
    bench.row("time / PoCL's", "geometric mean without the matmuls",
              statistics.geometric_mean(ratios[2:]), None, True)


def cores(bench):
    """One core's time over two cores', on 1,000 blocks; and what the machine itself gives."""
    for kernel, tier in (("softmax", "compiled"), ("layer_norm", "compiled"), ("softmax", "interpreter"),
                         ("layer_norm", "interpreter")):
        best = {1: math.inf, 2: math.inf}
        for _ in range(bench.rounds):
            for count in best:
                result = bench.kernel(kernel, "--size", "1000,4096", "--tier", tier, "--cores", count,
                                      "--seconds", 2)
                best[count] = min(best[count], result["best_ms"])
        bench.row("one core / two cores", f"{kernel}, {tier}", best[1] / best[2], 1.8, False)
    best = {1: math.inf, 2: math.inf}
    for _ in range(bench.rounds):
        for count in best:
            result = bench.ours("loop-nest", "--cores", count, "--repetitions", 5)[0]
            best[count] = min(best[count], result["best_ms"])
    bench.row("one core / two cores", "two loop nests at once", 2 * best[1] / best[2], None, False)


def compile_times(bench, kernel, *flags):
    """Milliseconds of every pass together in a new process, best of the rounds."""
    best = math.inf
    for _ in range(bench.rounds):
        output = subprocess.run([bench.build / "kernevo", "jit", HERE / "startup.cu", "--kernel", kernel,
                                 "--json", *flags], stdout=subprocess.PIPE, check=True).stdout
        best = min(best, 1e3 * sum(each["seconds"] for each in json.loads(output)["passes"]))
    return best


def startup(bench):
    """Bars are times here: they are part of the promise."""
    first = {}
    for _ in range(bench.rounds):
        for result in bench.ours("first", HERE / "startup.cu", "--tier", "interpreter"):
            first.setdefault(result["kernel"], []).append(result["load_ms"] + result["first_launch_ms"])
    bench.row("start-up, ms", f"load and first launch, interpreter, median of {len(first)} kernels",
              statistics.median(min(times) for times in first.values()), None, True)
    for name, flags, bar in (("quick", ["--quick"], 30), ("thorough", [], None)):
        times = [compile_times(bench, kernel, *flags) for kernel in first]
        bench.row("start-up, ms", f"{name} compilation, the process's first, median of {len(times)} kernels",
                  statistics.median(times), None, True)
        warm = bench.ours("compile", HERE / "startup.cu", "--repetitions", 5, *flags)
        bench.row("start-up, ms", f"{name} compilation, median of {len(warm)} kernels",
                  statistics.median(each["best_processor_ms"] for each in warm), bar, True)
    big = {}
    for tier, count in (("interpreter", 8), ("automatic", 8)):
        result = bench.ours("big", "--tier", tier, "--repetitions", count)[0]
        big[tier] = result["launches_ms"]
    shares = result["compiled_shares"]
    calm = statistics.median(big["interpreter"])
    bench.row("20,000 instructions", "longest launch while compiling / interpreter's launch",
              max(big["automatic"]) / calm, 2, True)
    bench.row("20,000 instructions", "first launch / interpreter's launch", big["automatic"][0] / calm,
              2, True)
    bench.row("20,000 instructions", "part of the last launch that compiled code ran", shares[-1], 0.99, False)
    bench.row("20,000 instructions", "interpreter's launch / last launch", calm / big["automatic"][-1], None,
              False)


def interpreters(bench, name, script, sizes, python):
    """The peer's time over ours: warm, and from PTX text to the first launch's return."""
    for kernel, size in sizes.items():
        warm = min(bench.kernel(kernel, "--size", size, "--seconds", 1)["best_processor_ms"]
                   for _ in range(bench.rounds))
        cold = min(result["load_ms"] + result["first_launch_ms"] for result in (
            bench.kernel(kernel, "--size", size, "--tier", "automatic", "--repetitions", 1)
            for _ in range(bench.rounds)))
        peer = bench.run([python, HERE / script, kernel, size])[0]
        bench.row(f"{name}'s time / ours", f"{kernel} {size}", peer["best_processor_ms"] / warm, 100, False)
        bench.row(f"{name}'s time / ours", f"{kernel} {size}, cold", peer["best_ms"] / cold, None, False)


def peers_python():
    chosen = os.environ.get("KERNEVO_BENCH_PYTHON")
    if chosen:
        return chosen
    venv = ROOT / ".deps" / "bench"
    python = venv / "bin" / "python"
    probe = [python, "-c", "import torch, triton, numba"]
    if not python.exists() or subprocess.run(probe, stderr=subprocess.DEVNULL).returncode != 0:
        print(f"bench: installing torch, triton and numba, the peers, into {venv}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "torch",
                        "triton", "numba", "numpy", "ninja", "setuptools"], check=True)
    return python


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--only", default=",".join(SECTIONS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    chosen = arguments.only.split(",")
    if unknown := set(chosen) - set(SECTIONS):
        parser.error(f"no section {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    bench = Bench(arguments.build.resolve(), arguments.rounds)
    print("section\tname\tratio\tbar\theld")
    for section in chosen:
        if section == "triton":
            interpreters(bench, "Triton's interpreter", "triton_peer.py", TRITON_SIZES, peers_python())
        elif section == "numba":
            interpreters(bench, "numba's simulator", "numba_peer.py", NUMBA_SIZES, peers_python())
        else:
            globals()[section](bench)
    if arguments.json:
        arguments.json.write_text(json.dumps({"rows": bench.rows, "measurements": bench.raw}, indent=1))


if __name__ == "__main__":
    main()
