#!/usr/bin/env bash
# The main job on the examples: two evolutions (virtual GPU, playbook, SQLite), the reason for what they found, and their reports;
# then what the other commands say of single kernels.
#   scripts/demo.sh build/kernevo
set -euo pipefail
program=$(realpath "$1")
cd "$(dirname "$0")/.."
runs=$(dirname "$program")/demo

run() {
  printf '\n$ kernevo %s\n' "$*"
  local code=0
  "$program" "$@" || code=$?
  [ "$code" -le 1 ] || exit "$code"
}

# A run that is there already is only told; one of an older program is made anew.
evolve() {
  local task=$1 folder=$runs/$2
  if [ -e "$folder/journal.sqlite" ] && "$program" replay "$folder" --quiet >/dev/null 2>&1; then
    run evolve --resume "$folder"
  else
    rm -rf "$folder"
    run evolve "$task" --out "$folder" --evaluations "$3"
  fi
  local best
  best=$("$program" show "$folder" --json --limit 1 | python3 -c 'import json, sys; print(json.load(sys.stdin)["state"]["incumbent"])')
  run show "$folder" --why "$best"
  run report "$folder"
}

run doctor
echo
echo "A faster softmax and a faster matmul, from naive kernels, without a GPU and without an LLM:"
evolve examples/softmax/task_large.yaml softmax 60
evolve examples/matmul/task_large.yaml matmul 80
run extract "$runs/softmax" -o "$runs/softmax/best.cu" --force
run check examples/softmax/task_large.yaml "$runs/softmax/best.cu" --quiet
echo
echo "Every candidate is judged like this tiled matmul that forgot a barrier:"
run check examples/matmul/task.yaml examples/matmul/tiled_race.cu
run profile examples/bottlenecks/bank_conflict/task.yaml examples/bottlenecks/bank_conflict/before.cu --quiet
echo
echo "Reports: $runs/softmax/report.html and $runs/matmul/report.html"
