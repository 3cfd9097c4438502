#!/usr/bin/env bash
# Tests in the environment of the client packages, with the CUDA libraries of this build in front.
#   run.sh BUILD-FOLDER FILE.py          pytest
#   run.sh BUILD-FOLDER numba.SUITE      a suite that numba brings, with its own runner
set -euo pipefail
build=$1
shift
source=$(cd "$(dirname "$0")/../.." && pwd)
python=$source/.deps/client-venv/bin/python
if [ ! -x "$python" ]; then
  [ -z "${KERNEVO_TESTS_COMPLETE:-}" ] || { echo "the client packages are missing: scripts/setup.sh test"; exit 1; }
  echo "SKIP: the client packages are missing (scripts/setup.sh test installs them)"
  exit 0
fi
case "$1" in
  numba.*) runner=(numba.runtests) ;;
  *) runner=(pytest -q -p no:cacheprovider) ;;
esac
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
# A launch that hangs does not hear signals.
env -u PYTHONPATH HOME="$folder" TMPDIR="$folder" XDG_CACHE_HOME="$folder" \
  LD_LIBRARY_PATH="$build/cuda:${KERNEVO_CUDA:-$source/.deps/cuda/nvidia/cu13}/lib" KERNEVO_CUDA="${KERNEVO_CUDA:-$source/.deps/cuda/nvidia/cu13}" \
  timeout -k 5 280 "$python" -m "${runner[@]}" "$@"
