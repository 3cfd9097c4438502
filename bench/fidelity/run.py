#!/usr/bin/env python3
"""How well predicted times agree with published measurements of real GPUs.

    bench/fidelity/run.py BUILD SOURCES DATA [--configurations N] [--only NAME] [--save FOLDER]

SOURCES holds the measured kernels under the names spaces.py gives, DATA the recordings (and shifts.bin, the float32
table of delays of the dedispersion kernel); a space whose files are absent is skipped. Of every space N random
configurations that ran are predicted; those that no longer compile or fit are counted. A second line leaves out
those that spill registers here: the compilers of the recordings were older and often spilled less. Prints tab-separated lines:
space, GPU, role, configurations, Spearman, mean and median error, the same after one factor (the clock of the measured
GPU, which recordings do not tell) is taken out, and how far the best of the 5 % predicted fastest is from the optimum."""

import argparse
import json
import pathlib
import random
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from spaces import SPACES, read_recording  # noqa: E402

SEED = 5


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    result = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end + 1 < len(order) and values[order[end + 1]] == values[order[start]]:
            end += 1
        for i in range(start, end + 1):
            result[order[i]] = (start + end) / 2
        start = end + 1
    return result


def correlation(a, b):
    mean_a, mean_b = statistics.fmean(a), statistics.fmean(b)
    product = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b))
    return product / (sum((x - mean_a) ** 2 for x in a) * sum((y - mean_b) ** 2 for y in b)) ** 0.5


def errors(predicted, measured):
    each = [abs(p / m - 1) for p, m in zip(predicted, measured)]
    return statistics.fmean(each), statistics.median(each)


def summary(predicted, measured):
    factor = statistics.median(p / m for p, m in zip(predicted, measured))
    mean, median = errors(predicted, measured)
    free_mean, free_median = errors([p / factor for p in predicted], measured)
    few = max(1, round(0.05 * len(predicted)))
    chosen = sorted(range(len(predicted)), key=predicted.__getitem__)[:few]
    regret = min(measured[i] for i in chosen) / min(measured)
    spearman = correlation(ranks(predicted), ranks(measured))
    return f"{spearman:.3f}\t{mean:.3f}\t{median:.3f}\t{free_mean:.3f}\t{free_median:.3f}\t{regret:.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("sources", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--configurations", type=int, default=80)
    parser.add_argument("--only", action="append", help="a space's name; repeatable")
    parser.add_argument("--save", type=pathlib.Path, help="write the predictions to NAME.tsv in this folder")
    arguments = parser.parse_args()
    print("space\tgpu\trole\tconfigurations\tfailed\tspearman\tmean\tmedian\tmean without clock\tmedian without clock\tbest of 5 %")
    for name, space in SPACES.items():
        if not arguments.only or name in arguments.only:
            compare(name, space, arguments)


def configurations(recordings, folder, count):
    """Random ones that ran on every GPU, each with its times."""
    tables = {gpu: {tuple(sorted(p.items())): ms for p, ms in read_recording(folder / file)} for gpu, file in recordings.items()}
    common = sorted(set.intersection(*(set(table) for table in tables.values())))
    chosen = random.Random(SEED).sample(common, min(count, len(common)))
    return [(dict(key), {gpu: table[key] for gpu, table in tables.items()}) for key in chosen]


def compare(name, space, arguments):
    source, launch, recordings, role = space
    absent = [str(p) for p in [arguments.sources / source, *(arguments.data / r for r in recordings.values())] if not p.exists()]
    if absent:
        print(f"skipped {name}: no {' and no '.join(absent)}", file=sys.stderr)
        return
    chosen = configurations(recordings, arguments.data, arguments.configurations)
    jobs = []
    for i, (parameters, _) in enumerate(chosen):
        job = launch(parameters) | {"id": i, "gpus": list(recordings), "file": str((arguments.sources / source).resolve())}
        job["args"] = [a.replace("{data}", str(arguments.data.resolve())) for a in job["args"]]
        jobs.append(json.dumps(job))
    answer = subprocess.run([arguments.build / "bench_predict"], input="\n".join(jobs) + "\n", text=True, stdout=subprocess.PIPE, check=True)
    results = [json.loads(line) for line in answer.stdout.splitlines()]
    ran = [r for r in results if "error" not in r]
    failed = len(results) - len(ran)
    sets = {role: ran}
    unspilled = [r for r in ran if r["spilled_bytes"] == 0]
    if len(unspilled) < len(ran):
        sets[role + ", no spills"] = unspilled
    for gpu in recordings:
        for label, chosen_results in sets.items():
            predicted = [r["predicted"][gpu]["ms"] for r in chosen_results]
            measured = [chosen[r["id"]][1][gpu] for r in chosen_results]
            if len(predicted) > 2:
                print(f"{name}\t{gpu}\t{label}\t{len(predicted)}\t{failed}\t{summary(predicted, measured)}", flush=True)
    if arguments.save:
        gpu = next(iter(recordings))
        names = list(chosen[0][0])
        with open(arguments.save / f"{name}.tsv", "w") as file:
            file.write("\t".join(names) + "\tpredicted_ms\n")
            for r in ran:
                values = [str(chosen[r["id"]][0][n]) for n in names]
                file.write("\t".join(values) + f"\t{r['predicted'][gpu]['ms']}\n")


if __name__ == "__main__":
    main()
