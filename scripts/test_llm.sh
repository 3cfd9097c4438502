#!/usr/bin/env bash
# The whole loop with a real model: an evolution asks a small one through a proxy that counts what it
# costs; then the books are compared, and the run is made again from its traces with the model gone.
#   scripts/test_llm.sh build/kernevo
# Settings: KERNEVO_LLM_SECONDS  how long one evolution may take (default 1800).
set -euo pipefail
program=$(realpath "$1")
cd "$(dirname "$0")/.."
limit=${KERNEVO_LLM_SECONDS:-1800}
tokens=12000
max_tokens=600
[ -x "$program" ] || { echo "test-llm: $program is not a program; run 'make build'" >&2; exit 3; }

scripts/llm_server.py --setup
work=$(mktemp -d "${TMPDIR:-/tmp}/kernevo-llm.XXXXXX")
started=()
clean_up() {
  local code=$?
  [ ${#started[@]} -eq 0 ] || kill "${started[@]}" 2>/dev/null || true
  if [ "$code" -eq 0 ]; then rm -rf "$work"; else echo "test-llm: everything is kept in $work"; fi
}
trap clean_up EXIT

# Starts a program that prints its address, which becomes $address.
address=
start() {
  local name=$1 tries=0
  shift
  : >"$work/$name.url"
  "$@" >>"$work/$name.url" 2>"$work/$name.log" &
  started+=($!)
  until address=$(cat "$work/$name.url") && [ -n "$address" ]; do
    tries=$((tries + 1))
    if [ "$tries" -gt 700 ] || ! kill -0 "${started[-1]}" 2>/dev/null; then
      echo "test-llm: the $name did not start:" >&2
      tail -n 5 "$work/$name.log" >&2
      exit 3
    fi
    sleep 0.2
  done
}

# One step after the other: the model answers one call at a time, and those that wait would look dead.
evolve() {
  local folder=$1 code=0
  shift
  timeout --foreground -k 10 "$limit" "$program" evolve examples/softmax/task.yaml --proposer llm --model smollm2-135m-instruct \
    --base-url "$base" --api-key-env '' --tokens "$tokens" --rounds 4 --max-tokens "$max_tokens" --repairs 1 \
    --temperature 0.2 --ahead 1 --seed 1 --out "$work/$folder" "$@" >"$work/$folder.log" 2>&1 || code=$?
  echo "$code" >"$work/$folder.code"
  [ "$code" -le 1 ] || tail -n 20 "$work/$folder.log"
}

# Output and exit code of a command that reads the run.
look() {
  local name=$1 code=0
  shift
  "$program" "$@" >"$work/$name.out" 2>"$work/$name.err" || code=$?
  echo "$code" >"$work/$name.code"
}

start server scripts/llm_server.py
server=${address%/v1}
start witness scripts/llm_witness.py --upstream "$server" --log "$work/witness.jsonl"
base=$address/v1
touch "$work/witness.jsonl"

echo "test-llm: evolving with $tokens tokens, some minutes"
began=$SECONDS
evolve run
echo $((SECONDS - began)) >"$work/run.seconds"
python3 -c 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode())' \
  "$server/metrics" >"$work/metrics.txt"
cp "$work/witness.jsonl" "$work/exchanges.jsonl"

# The witness stays: whoever still asks the model is seen.
kill "${started[0]}"
wait "${started[0]}" || true
look show show "$work/run" --json --from 0 --limit 1000
look text show "$work/run"
look replay replay "$work/run"
evolve again --llm-replay "$work/run/traces"
look show-again show "$work/again" --json --from 0 --limit 1000

scripts/llm_check.py "$work" --cap "$tokens" --max-tokens "$max_tokens"
