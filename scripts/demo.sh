#!/usr/bin/env bash
# The main job on the examples: right kernels, a wrong one with its diagnosis, times and reasons.
#   scripts/demo.sh build/kernevo
set -euo pipefail
program=$(realpath "$1")
cd "$(dirname "$0")/.."

run() {
  printf '\n$ kernevo %s\n' "$*"
  local code=0
  "$program" "$@" || code=$?
  [ "$code" -le 1 ] || exit "$code"
}

run doctor
run check examples/softmax/task.yaml examples/softmax/naive.cu
run check examples/softmax/task.yaml examples/softmax/online.cu --quiet
run check examples/matmul/task.yaml examples/matmul/tiled.cu --quiet
run check examples/matmul/task_fp16.yaml examples/matmul/tensor_core_fp16.cu --quiet
run check examples/kerlever_seed/matmul_spec.yaml examples/kerlever_seed/reference.cu
echo
echo "And a tiled matmul that forgot a barrier:"
run check examples/matmul/task.yaml examples/matmul/tiled_race.cu
echo
echo "How fast, why, and with which parameters (modelled for an A100):"
run bench examples/matmul/task.yaml examples/matmul/naive.cu
run compare examples/matmul/task.yaml examples/matmul/naive.cu examples/matmul/tiled.cu --quiet
run profile examples/bottlenecks/bank_conflict/task.yaml examples/bottlenecks/bank_conflict/before.cu --quiet
log=$(mktemp -u)
run tune examples/matmul/task.yaml examples/matmul/register_tiled.cu --evaluations 12 --log "$log"
rm -f "$log"
