#!/usr/bin/env bash
# One file of tests, in the environment of `kernevo setup python`, through `kernevo run`.
#   run.sh BUILD-FOLDER FILE.py [OPTIONS OF kernevo run]
set -euo pipefail
build=$1
file=$2
shift 2
source=$(cd "$(dirname "$0")/../.." && pwd)
if ! "$build/kernevo" doctor --json | tr -d '\n' | grep -q '"part": "Python programs", *"state": "ok"'; then
  [ -z "${KERNEVO_TESTS_COMPLETE:-}" ] || { echo "torch and Triton are missing: kernevo setup python"; exit 1; }
  echo "SKIP: torch and Triton are missing (kernevo setup python installs them)"
  exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
# Nothing that another run left behind may help.
env -u PYTHONPATH -u VIRTUAL_ENV HOME="$folder" TMPDIR="$folder" XDG_CACHE_HOME="$folder" KERNEVO_BUILD="$build" \
  timeout -k 5 280 "$build/kernevo" run --quiet "$@" -- python "$source/tests/python/$file" -q
