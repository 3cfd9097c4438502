#!/usr/bin/env bash
# Runs every benchmark side by side with its peer: tab-separated `name ours peer ratio`.
#   bench/run.sh build/kernevo
set -euo pipefail
program=$(realpath "$1")
cd "$(dirname "$0")/.."
venv=.deps/bench
if [ ! -x "$venv/bin/python" ] || ! "$venv/bin/python" -c 'import torch' 2>/dev/null; then
  echo "bench: installing torch, the peer, into $venv" >&2
  python3 -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check torch numpy ninja setuptools ||
    { echo "bench: SKIP, torch could not be installed" >&2; exit 3; }
fi
printf 'name\tours\tpeer\tratio\n'
"$venv/bin/python" bench/check_latency.py "$program"
bench/llm/run.py "$program" | tail -n +2
