#!/usr/bin/env python3
"""Judges what scripts/test_llm.sh left in a folder: a table, a line for each check, exit code 1 if any fails.

    llm_check.py FOLDER --cap TOKENS --max-tokens N
"""
import argparse
import json
import pathlib
import sys


class Checks:
    def __init__(self):
        self.failed = 0

    def __call__(self, holds, what, seen=""):
        self.failed += not holds
        print(f"{'PASS' if holds else 'FAIL'}  {what}{f' ({seen})' if seen != '' else ''}")


def read_json(file):
    try:
        return json.loads(file.read_text())
    except (OSError, ValueError):
        return {}


def read_lines(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


def read_metrics(file):
    pairs = (line.split() for line in file.read_text().splitlines() if line and not line.startswith("#"))
    return {name.removeprefix("llamacpp:"): float(value) for name, value in pairs}


def code_of(folder, name):
    return int((folder / f"{name}.code").read_text())


def cached(usage):
    return (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)


def first_difference(ours, theirs):
    for one, other in zip(ours, theirs):
        for key in sorted(one.keys() | other.keys()):
            if one.get(key) != other.get(key):
                return f"step {one.get('step')}, {key}: {one.get(key)!r} and {other.get(key)!r}"
    return "" if len(ours) == len(theirs) else f"{len(ours)} and {len(theirs)} steps"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--cap", type=int, required=True)
    parser.add_argument("--max-tokens", type=int, required=True)
    args = parser.parse_args()
    folder = args.folder

    exchanges = read_lines(folder / "exchanges.jsonl")
    late = len(read_lines(folder / "witness.jsonl")) - len(exchanges)
    calls = [e for e in exchanges if e["path"].endswith("/chat/completions")]
    usages = [e["usage"] for e in calls if e["usage"]]
    prompt = sum(u["prompt_tokens"] for u in usages)
    completion = sum(u["completion_tokens"] for u in usages)
    metrics = read_metrics(folder / "metrics.txt")
    served_prompt = int(metrics.get("prompt_tokens_total", -1) + metrics.get("prompt_tokens_cached_total", -1))
    served_completion = int(metrics.get("tokens_predicted_total", -1))
    shown, again = read_json(folder / "show.out"), read_json(folder / "show-again.out")
    state = shown.get("state", {})
    steps = shown.get("steps", [])
    outcomes = {}
    for step in steps:
        outcomes[step.get("outcome", "")] = outcomes.get(step.get("outcome", ""), 0) + 1
    traces = sorted((folder / "run" / "traces").rglob("*.json"))

    def rate(tokens, seconds):
        return f"{metrics[tokens] / metrics[seconds]:.0f} tokens/s" if metrics.get(seconds) else "-"

    print(f"""
                     prompt  completion   total
kernevo's books  {'':10}{'':12}{state.get('tokens', '-'):>8}
the witness      {prompt:>10}{completion:>12}{prompt + completion:>8}
the server       {served_prompt:>10}{served_completion:>12}{served_prompt + served_completion:>8}
of the prompts   {sum(map(cached, usages))} cached
speed            prompt {rate('prompt_tokens_total', 'prompt_seconds_total')}, """
          f"""completion {rate('tokens_predicted_total', 'tokens_predicted_seconds_total')}
calls            {len(calls)} in {(folder / 'run.seconds').read_text().strip()} s, {len(traces)} traces
steps            {len(steps)}: {', '.join(f'{n} {name}' for name, n in outcomes.items()) or '-'}
stopped          {(state.get('stopped') or {}).get('text', '-')}
""")

    check = Checks()
    code = code_of(folder, "run")
    check(code in (0, 1), "the loop ended by itself with an answer", f"exit code {code}")
    check(bool(state.get("stopped")), "the run says why it stopped")
    check(len(usages) > 0, "the model was asked", f"{len(usages)} calls")
    whole = [e for e in calls if e["status"] == 200 and e["end"] == "whole" and e["usage"]]
    check(len(whole) == len(calls), "every call came to its end and states its usage",
          "" if len(whole) == len(calls) else next(e for e in calls if e not in whole))
    check(state.get("tokens") == prompt + completion, "kernevo's tokens are what the witness saw",
          f"{state.get('tokens')} and {prompt + completion}")
    check((served_prompt, served_completion) == (prompt, completion), "the server's own counters agree")
    check(prompt + completion <= args.cap, "the cap held", f"{prompt + completion} of {args.cap}")
    check(all(isinstance(e["max_tokens"], int) and e["max_tokens"] <= args.max_tokens for e in calls) and
          all(u["completion_tokens"] <= args.max_tokens for u in usages), "no call asked for or got more than --max-tokens")
    check(len(traces) >= len(whole) and all(map(read_json, traces)), "every call left a trace in JSON",
          f"{len(traces)} for {len(whole)}")
    check(code_of(folder, "show") == 0 and code_of(folder, "text") == 0 and len(steps) > 0, "the run can be shown")
    check(code_of(folder, "replay") == 0, "its decisions can be made again from the journal",
          "" if code_of(folder, "replay") == 0 else (folder / "replay.err").read_text().strip()[-200:])
    check(code_of(folder, "again") == code, "replayed from its traces it ends alike", f"exit code {code_of(folder, 'again')}")
    difference = first_difference(steps, again.get("steps", []))
    check(bool(steps) and not difference, "and takes the same steps", difference)
    check(again.get("state", {}).get("tokens") == state.get("tokens"), "with the same tokens in the books",
          again.get("state", {}).get("tokens", "none"))
    check(late == 0, "without asking the model", f"{late} exchanges" if late else "")
    print(f"\ntest-llm: {'FAIL, ' + str(check.failed) + ' checks' if check.failed else 'PASS'}")
    sys.exit(1 if check.failed else 0)


main()
