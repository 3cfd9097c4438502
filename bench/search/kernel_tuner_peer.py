#!/usr/bin/env python3
"""Kernel Tuner in simulation mode on recorded spaces; prints what bench_search prints.

    kernel_tuner_peer.py --strategies A,B --seeds N --budgets 25,50 --work FOLDER SPACE.tsv.gz...

Every strategy runs with its defaults. A configuration that failed costs an evaluation, as in ours, and
a strategy that ends early keeps its last result. Runs are seeded through the global generators, the
only ones most strategies use. dual_annealing counts repeated visits against its budget and ends after
about half of it; it is given ten times the budget and cut, which is to its advantage.
"""
import argparse
import contextlib
import gzip
import io
import json
import multiprocessing
import pathlib
import random
import sys
import time
import warnings

FAILURES = {"compile": "CompilationFailedConfig"}
EARLY_ENDERS = {"dual_annealing": 10}


def read_table(path):
    with gzip.open(path, "rt") as file:
        header, *lines = [line.rstrip("\n").split("\t") for line in file]
    names = header[:header.index("status")]
    rows = []
    for cells in lines:
        status, ms = cells[len(names)], cells[len(names) + 1]
        rows.append((tuple(int(cell) for cell in cells[:len(names)]), status, ms))
    return names, rows


def write_cache(path, folder):
    """A Kernel Tuner cache file of a recorded space, made once."""
    names, rows = read_table(path)
    target = folder / (path.name.split(".")[0] + ".json")
    tune_params = {name: sorted({row[0][i] for row in rows}) for i, name in enumerate(names)}
    cache = {}
    for values, status, ms in rows:
        entry = dict(zip(names, values))
        entry["time"] = float(ms) if status == "ok" else FAILURES.get(status, "RuntimeFailedConfig")
        for part in ("compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time"):
            entry[part] = 0
        cache[",".join(map(str, values))] = entry
    content = {"device_name": "recorded", "kernel_name": "kernel", "problem_size": [1], "tune_params_keys": names,
               "tune_params": tune_params, "objective": "time", "cache": cache}
    target.write_text(json.dumps(content, indent="", separators=(",", ": ")))
    valid = {row[0] for row in rows}
    times = {",".join(map(str, values)): float(ms) if status == "ok" else None for values, status, ms in rows}
    return target, tune_params, valid, times


class Ordered(dict):
    """What the simulation has visited, in order."""
    def add(self, key):
        self[key] = True


def prepare():
    from kernel_tuner.runners import simulation
    original = simulation.SimulationRunner.__init__

    def init(self, *arguments, **options):
        original(self, *arguments, **options)
        self.visited_results = prepare.visited = Ordered()
    simulation.SimulationRunner.__init__ = init


SPACES = {}


def run(job):
    strategy, name, seed, evaluations = job
    import kernel_tuner
    import numpy
    cache, tune_params, valid, times = SPACES[name]
    random.seed(seed)
    numpy.random.seed(seed)
    names = list(tune_params)

    def restriction(*arguments, **values):
        given = values or (arguments[0] if isinstance(arguments[0], dict) else dict(zip(names, arguments)))
        return tuple(given[key] for key in names) in valid
    start = time.process_time()
    prepare.visited = Ordered()
    problem = None
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kernel_tuner.tune_kernel(
                "kernel", "__global__ void kernel() {}", 1, [], {key: list(value) for key, value in tune_params.items()},
                restrictions=restriction, lang="CUDA", simulation_mode=True,
                cache=str(cache), strategy=strategy, quiet=True,
                strategy_options={"max_fevals": evaluations * EARLY_ENDERS.get(strategy, 1)})
    except Exception as error:  # a strategy that breaks keeps what it found
        problem = f"{type(error).__name__}: {error}"
    spent = 1e3 * (time.process_time() - start)
    best, curve = None, []
    optimum = min(value for value in times.values() if value is not None)
    for key in list(prepare.visited)[:evaluations]:
        value = times[key]
        if value is not None and (best is None or value < best):
            best = value
        curve.append(optimum / best if best else 0.0)
    return strategy, name, seed, curve or [0.0], spent, problem


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--strategies", required=True)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--budgets", default="25,50,100,200")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("spaces", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    budgets = [int(part) for part in options.budgets.split(",")]
    options.work.mkdir(parents=True, exist_ok=True)
    for path in options.spaces:
        SPACES[path.name.split(".")[0]] = write_cache(path, options.work)
    prepare()
    jobs = [(strategy, name, seed, max(budgets)) for strategy in options.strategies.split(",")
            for name in SPACES for seed in range(options.seeds)]
    with multiprocessing.Pool(options.jobs) as pool:
        for strategy, name, seed, curve, spent, problem in pool.imap_unordered(run, jobs):
            if problem:
                print(f"kernel_tuner_peer: {strategy} on {name}, seed {seed}: {problem}", file=sys.stderr)
            for budget in budgets:
                print(strategy, name, seed, budget, f"{curve[min(budget, len(curve)) - 1]:.6f}",
                      f"{spent / len(curve):.4f}", sep="\t", flush=True)


if __name__ == "__main__":
    main()
