#!/usr/bin/env bash
# A whole run driven by examples/agent/loop.sh: a wrong kernel, the naive one again, a faster one.
#   loop_test.sh PROGRAM SOURCE-FOLDER
set -euo pipefail
export KERNEVO=$1 ROUNDS=3
source=$2
work=$(mktemp -d "${TMPDIR:-/tmp}/kernevo-agent.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/kernels"
sed 's/expf(/cosf(/g' "$source/examples/softmax/naive.cu" >"$work/kernels/1_wrong.cu"
cp "$source/examples/softmax/naive.cu" "$work/kernels/2_mended.cu"
cp "$source/examples/softmax/online.cu" "$work/kernels/3_online.cu"
cp "$source/examples/softmax/naive.cu" "$work/kernels/4_naive.cu"
cp "$source/examples/softmax/naive.cu" "$work/kernels/5_naive.cu"
cp "$source/examples/softmax/task_large.yaml" "$source/examples/softmax/naive.cu" "$work"

said=$("$source/examples/agent/loop.sh" "$work/task_large.yaml" "$work/kernels" "$work/run")
printf '%s\n' "$said" | grep '^step' || true
expect() { printf '%s\n' "$said" | grep -q "$1" || { echo "loop_test: no '$1' in:"; printf '%s\n' "$said" | head -40; exit 1; }; }
expect '^step 1: 1_wrong.cu: repair$'
expect '^step 1: 2_mended.cu: duplicate$'
expect '^step 2: 3_online.cu: improved$'
expect '^step 3: 4_naive.cu: duplicate$'
if printf '%s\n' "$said" | grep -q '5_naive'; then echo "loop_test: the run went on after its budget"; exit 1; fi
"$KERNEVO" replay "$work/run" >/dev/null
echo "loop_test: passed"
