#!/usr/bin/env bash
# Installs into an empty folder and uses the program from there, as a packager would.
#   tests/install/run.sh BUILD_FOLDER
set -euo pipefail
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install "$1" --prefix "$prefix" >/dev/null
cd "$prefix"
# An empty share setting of the caller must not help: the program finds its own data.
unset KERNEVO_SHARE
bin/kernevo devices --json | grep '"virtual:A100"' >/dev/null
bin/kernevo init relu --folder relu >/dev/null
bin/kernevo check relu/task.yaml relu/naive.cu --small-only --quiet | grep '^CORRECT' >/dev/null
echo "install: passed"
