#!/usr/bin/env python3
"""Recorded runs of a model beside the playbook: what each reaches, and the tokens that took.

    bench/llm/run.py [build/kernevo]

Prints tab-separated name, ours (the recorded run), peer (the playbook at 80 evaluations), ratio: modelled
times in microseconds, less is better; then tokens per run and per candidate beside kernel-evo's published 10,000
to 15,000 an iteration, and 50,000 to 450,000 until its best.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TASKS = ["softmax", "matmul", "layer_norm"]
PUBLISHED_ITERATION = 10_000  # tokens, the smaller of its figures
PUBLISHED_BEST = 50_000


def evolve(program, task, folder, *more):
    command = [program, "evolve", str(ROOT / "examples" / task / "task_large.yaml"), "--json", "--ahead", "1",
               "--evaluations", "80", *more]
    done = subprocess.run(command, env={**os.environ, "KERNEVO_RUNS": folder}, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"bench/llm: {' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout.strip().splitlines()[-1])["body"]


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "build" / "kernevo")
    print("name\tours\tpeer\tratio")
    with tempfile.TemporaryDirectory() as folder:
        for task in TASKS:
            replies = str(ROOT / "examples" / "llm" / task / "replies.jsonl")
            model = evolve(program, task, folder, "--proposer", "llm", "--cheap", "--tokens", "40000",
                           "--llm-replay", replies)
            playbook = evolve(program, task, folder, "--name", f"{task}-playbook")
            ours, peer = model["best_ns"] / 1e3, playbook["best_ns"] / 1e3
            print(f"llm_{task}_us\t{ours:.2f}\t{peer:.2f}\t{ours / peer:.3f}")
            tokens = model["tokens"]
            calls = model["by_stage"]
            candidates = calls["code"]["calls"]
            print(f"llm_{task}_tokens\t{tokens}\t{PUBLISHED_BEST}\t{tokens / PUBLISHED_BEST:.3f}")
            print(f"llm_{task}_tokens_a_candidate\t{tokens / candidates:.0f}\t{PUBLISHED_ITERATION}\t"
                  f"{tokens / candidates / PUBLISHED_ITERATION:.3f}")
            print(f"# {task}: {sum(s['calls'] for s in calls.values())} calls, mended {model['faults_mended']}",
                  flush=True)


main()
