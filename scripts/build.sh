#!/usr/bin/env bash
# Builds what a configured folder lacks and says first how much that is.
#   scripts/build.sh BUILD_FOLDER JOBS [TARGET...]      default: everything
set -euo pipefail
build=$1 jobs=$2
shift 2
# Processor seconds of a usual file; bench/build/run.py measures them.
seconds_a_file=3
files=$(ninja -C "$build" -n "$@" | grep -c ' Building CXX object ' || true)
if [ "$files" -gt 0 ]; then
  printf 'build: %s files, about %s min on %s cores (less where ccache knows them)\n' \
    "$files" $(((files * seconds_a_file / jobs + 59) / 60)) "$jobs"
fi
exec ninja -C "$build" -j "$jobs" "$@"
