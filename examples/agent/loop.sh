#!/usr/bin/env bash
# Drives a whole run by ask and tell. Where a coding agent would write a kernel, this takes the next
# of a folder of prepared ones, in the order of their names.
#   examples/agent/loop.sh TASK.yaml KERNELS [RUN-FOLDER]     settings: KERNEVO (the program), ROUNDS
set -euo pipefail
task=$1 kernels=$2 run=${3:-agent-run}
program=${KERNEVO:-kernevo}
field() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }

asked=$("$program" ask "$task" --out "$run" --rounds "${ROUNDS:-10}" --json) && over=$? || over=$?
for kernel in "$kernels"/*.cu; do
  [ "$over" -ne 1 ] || break                       # 1: the run has ended
  [ "$over" -eq 0 ] || { echo "$asked" >&2; exit "$over"; }
  step=$(field step <<<"$asked")
  told=$("$program" tell "$run" "$kernel" --step "$step" --title "$(basename "$kernel" .cu)" --json) && code=$? || code=$?
  [ "$code" -le 1 ] || { echo "$told" >&2; exit "$code"; }
  echo "step $step: $(basename "$kernel"): $(field outcome <<<"$told")"
  asked=$("$program" ask "$run" --json) && over=$? || over=$?
done
"$program" extract "$run" --as json
