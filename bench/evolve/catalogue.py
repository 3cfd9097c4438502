#!/usr/bin/env python3
"""Evolves every operation of the catalogue with the playbook and prints what came of it.

  bench/evolve/catalogue.py build [--out DIR] [--dtype float32] [--gpu A100] [--evaluations 80] [--seconds 600] [OPERATION...]

One line per task, tab-separated: operation, the reference's time, the best's, their ratio, the share of the roofline reached, evaluations,
wall-clock seconds, what the best is. Times are modelled. Runs that are in DIR already are not made again.
"""
import argparse
import json
import pathlib
import subprocess
import time


def kernevo(build, *arguments, check=True):
    return subprocess.run([str(build / "kernevo"), *arguments], check=check, capture_output=True, text=True)


def operations(build):
    listed = json.loads(kernevo(build, "init", "--list", "--json").stdout)
    return [entry["name"] for entry in listed["operations"]]


def evolve(build, folder, operation, options):
    task = folder / operation / "task.yaml"
    if not task.exists():
        kernevo(build, "init", operation, "--dtype", options.dtype, "--gpu", options.gpu, "--folder", str(task.parent))
    run = folder / "runs" / operation
    start = time.monotonic()
    if not (run / "journal.sqlite").exists():
        kernevo(build, "evolve", str(task), "--out", str(run), "--quiet", "--seed", str(options.seed), "--evaluations",
                str(options.evaluations), "--seconds", str(options.seconds), check=False)
    seconds = time.monotonic() - start
    state = json.loads(kernevo(build, "show", str(run), "--json", "--limit", "1").stdout)["state"]
    best = next(m for m in state["members"] if m["candidate"]["step"] == state["incumbent"])
    return state, best, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("operation", nargs="*")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("kernevo-catalogue"))
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--gpu", default="A100")
    parser.add_argument("--evaluations", type=int, default=80)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_intermixed_args()
    options.out.mkdir(parents=True, exist_ok=True)
    print("operation\treference_us\tbest_us\tratio\troofline\tevaluations\tseconds\tbest")
    for operation in options.operation or operations(options.build):
        try:
            state, best, seconds = evolve(options.build, options.out, operation, options)
        except (subprocess.CalledProcessError, StopIteration) as problem:
            print(f"{operation}\tfailed: {getattr(problem, 'stderr', problem)}".strip(), flush=True)
            continue
        share = f"{best['roofline']:.2f}" if best.get("roofline") is not None else "-"
        print(f"{operation}\t{state['baseline'] / 1e3:.2f}\t{best['objective'] / 1e3:.2f}\t{state['baseline'] / best['objective']:.1f}"
              f"\t{share}\t{state['evaluations']}\t{seconds:.0f}\t{' + '.join(best['candidate']['genes']) or 'the reference'}", flush=True)


if __name__ == "__main__":
    main()
