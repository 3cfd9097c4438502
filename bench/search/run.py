#!/usr/bin/env python3
"""Our search beside Kernel Tuner's on recorded spaces of real GPUs, in one run.

    run.py BUILD SPACES [--seeds N] [--strategies A,B] [--peers A,B] [--prior SPEARMAN] [--predictions FOLDER] [--jobs N] [--raw FILE]

BUILD is the folder with bench_search (cmake -DKERNEVO_BENCH=ON). SPACES is a folder of .tsv.gz files, or
such files. Prints the mean fraction of the optimum over spaces and seeds after each number of unique
evaluations: first `name ours peer ratio`, the peer being Kernel Tuner's best strategy at that budget,
then every strategy, then every space. A configuration that failed costs an evaluation on both sides.
Kernel Tuner is installed in .deps/search-bench on first use; $KERNEVO_BENCH_PYTHON names a Python that has it.
"""
import argparse
import collections
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
KERNEL_TUNER = "kernel_tuner==1.5.0"
# Its best ones: at each budget the leader of all thirteen that run is among these.
PEERS = "genetic_algorithm,adaptive_tabu_greywolf,hybrid_vndx,dual_annealing,simulated_annealing,pso,diff_evo,random_sample"
BUDGETS = [25, 50, 100, 200]


def peer_python():
    if "KERNEVO_BENCH_PYTHON" in os.environ:
        return os.environ["KERNEVO_BENCH_PYTHON"]
    python = ROOT / ".deps/search-bench/bin/python"
    probe = [python, "-c", "import kernel_tuner, numpy"]
    if not python.exists() or subprocess.run(probe, stderr=subprocess.DEVNULL).returncode != 0:
        print(f"bench: installing {KERNEL_TUNER}, the peer, into .deps/search-bench", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", python.parent.parent], check=True)
        done = subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", KERNEL_TUNER,
                               "scikit-learn"])
        if done.returncode != 0:
            print("bench: Kernel Tuner could not be installed; ours alone", file=sys.stderr)
            return None
    return python


def start(command, parts):
    """One process for each part of the spaces; the machine has few cores and they are independent."""
    return [subprocess.Popen([str(word) for word in command + part], stdout=subprocess.PIPE, text=True)
            for part in parts if part]


def collect(processes, rows):
    for process in processes:
        output, _ = process.communicate()
        if process.returncode != 0:
            sys.exit(f"bench: {process.args[0]} failed")
        rows += [line.split("\t") for line in output.splitlines()]


class Table:
    def __init__(self, rows):
        self.values = collections.defaultdict(list)
        self.cost = collections.defaultdict(list)
        for strategy, space, _, budget, fraction, ms in rows:
            self.values[strategy, space, int(budget)].append(float(fraction))
            self.cost[strategy].append(float(ms))

    def mean(self, strategy, space, budget):
        values = self.values[strategy, space, budget]
        return sum(values) / len(values)

    def over(self, strategy, spaces, budget):
        return sum(self.mean(strategy, space, budget) for space in spaces) / len(spaces)


def report(ours, peers, spaces):
    our_names = list(dict.fromkeys(key[0] for key in ours.values))
    peer_names = list(dict.fromkeys(key[0] for key in peers.values))
    print("name", "ours", "peer", "ratio", sep="\t")
    for budget in BUDGETS:
        mine = ours.over(our_names[0], spaces, budget)
        if not peer_names:
            print(f"search_{budget}", f"{mine:.3f}", "-", "-", sep="\t")
            continue
        best = max(peer_names, key=lambda name: peers.over(name, spaces, budget))
        theirs = peers.over(best, spaces, budget)
        print(f"search_{budget}", f"{mine:.3f}", f"{theirs:.3f}", f"{mine / theirs:.3f}", sep="\t")
    print("\nstrategy", *(f"at_{budget}" for budget in BUDGETS), "ms_a_proposal", sep="\t")
    for owner, table, names in (("kernevo", ours, our_names), ("kernel_tuner", peers, peer_names)):
        for name in names:
            cost = sum(table.cost[name]) / len(table.cost[name])
            print(f"{owner}:{name}", *(f"{table.over(name, spaces, budget):.3f}" for budget in BUDGETS), f"{cost:.2f}",
                  sep="\t")
    print("\nspace", "strategy", *(f"at_{budget}" for budget in BUDGETS), sep="\t")
    for space in spaces:
        for owner, table, names in (("kernevo", ours, our_names), ("kernel_tuner", peers, peer_names)):
            for name in names:
                print(space, f"{owner}:{name}", *(f"{table.mean(name, space, budget):.3f}" for budget in BUDGETS),
                      sep="\t")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("spaces", nargs="+", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--strategies", default="model,evolutionary,local,random", help="the first is compared")
    parser.add_argument("--peers", default=PEERS, help="empty for ours alone")
    parser.add_argument("--prior", type=float, help="give ours a made-up prediction of this rank correlation")
    parser.add_argument("--predictions", type=pathlib.Path,
                        help="give ours what bench/fidelity/run.py --save wrote here; only spaces that have such a file")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--raw", type=pathlib.Path, help="also write every run's figures here")
    options = parser.parse_args()
    files = []
    for path in options.spaces:
        files += sorted(path.glob("*.tsv.gz")) if path.is_dir() else [path]
    if options.predictions:
        files = [path for path in files if (options.predictions / f"{path.name.split('.')[0]}.tsv").exists()]
    if not files or not all(path.exists() for path in files):
        sys.exit("bench: no recorded spaces there; give a folder of .tsv.gz files")
    budgets = ",".join(map(str, BUDGETS))
    rows, peer_rows = [], []
    command = [options.build / "bench_search", "--strategies", options.strategies, "--seeds", options.seeds, "--budgets",
               budgets]
    if options.prior:
        command += ["--prior", options.prior]
    if options.predictions:
        command += ["--predictions", options.predictions]
    collect(start(command, [files[i::options.jobs] for i in range(options.jobs)]), rows)
    python = peer_python() if options.peers else None
    if python:
        collect(start([python, HERE / "kernel_tuner_peer.py", "--strategies", options.peers, "--seeds", options.seeds,
                       "--budgets", budgets, "--jobs", options.jobs, "--work", ROOT / ".deps/search-bench-caches"],
                      [files]), peer_rows)
    if options.raw:
        options.raw.write_text("".join("\t".join(["kernevo"] + row) + "\n" for row in rows) +
                               "".join("\t".join(["kernel_tuner"] + row) + "\n" for row in peer_rows))
    report(Table(rows), Table(peer_rows), [path.name.split(".")[0] for path in files])


if __name__ == "__main__":
    main()
