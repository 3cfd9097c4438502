#!/usr/bin/env bash
# Fuzzes each target for a time and fails at the first finding.
#   tests/fuzz/run.sh build-fuzz SECONDS
set -euo pipefail
build=$(realpath "$1")
seconds=$2
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for source in fuzz_*.cpp; do
  name=${source%.cpp}
  corpus=corpus/${name#fuzz_}
  mkdir -p "$work/$name"
  echo "fuzz: $name for $seconds s"
  "$build/tests/fuzz/$name" "$work/$name" "$corpus" -max_total_time="$seconds" -max_len=20000 -timeout=20 \
    -rss_limit_mb=4096 -print_final_stats=1 2>&1 | tail -n 12
done
echo "fuzz: no finding"
