#!/usr/bin/env bash
# Installs what the program, its tests or the linters need. Safe to run again: it does nothing that is done.
#   scripts/setup.sh [build] [test] [lint]      what for (default: build)
# Settings: KERNEVO_CUDA=/path/to/toolkit  use an installed CUDA toolkit instead of the wheels.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*"; }
stop() { printf 'setup: %s\n' "$*" >&2; exit 3; }

wanted_packages() {
  local list
  for list in "$@"; do
    case "$list" in
      build) grep -v '^#' scripts/packages.txt ;;
      test) grep -v '^#' scripts/packages-test.txt ;;
      lint) grep -v '^#' scripts/packages-lint.txt ;;
      *) stop "unknown package list '$list'; use build, test or lint" ;;
    esac
  done
}

install_packages() {
  local missing=() name
  for name in $(wanted_packages "$@"); do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null || true)" = installed ] || missing+=("$name")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  say "installing ${#missing[@]} packages (about $((1 + ${#missing[@]} / 20)) min): ${missing[*]}"
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || stop "not root and no sudo; as root run: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -qq || stop "apt-get update failed; check the network and /etc/apt/sources.list"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null ||
    stop "apt-get install failed; by hand: apt-get install ${missing[*]}"
}

install_wheels() {
  local folder=.deps/cuda stamp
  stamp=$(sha256sum scripts/cuda-wheels.txt | cut -d' ' -f1)
  [ "$(cat "$folder/.stamp" 2>/dev/null || true)" != "$stamp" ] || return 0
  say "installing the CUDA compiler wheels into $folder (about 420 MB, 1 to 3 min)"
  rm -rf "$folder" .deps/venv
  mkdir -p .deps
  python3 -m venv .deps/venv || stop "python3 cannot make a virtual environment; install python3-venv"
  .deps/venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --target "$folder.part" \
    -r scripts/cuda-wheels.txt || {
    rm -rf "$folder.part"
    stop "pip could not install scripts/cuda-wheels.txt; check the network, or set KERNEVO_CUDA to an installed toolkit"
  }
  # ptxas and nvcc arrive without their executable bit on some pip versions.
  chmod +x "$folder.part"/nvidia/cu13/bin/* "$folder.part"/nvidia/cu13/nvvm/bin/* 2>/dev/null || true
  mv "$folder.part" "$folder"
  printf '%s\n' "$stamp" >"$folder/.stamp"
}

# Python packages for the tests, in an environment of their own: folder, list, what they are.
install_python() {
  local folder=$1 list=$2 what=$3 stamp
  stamp=$({ python3 --version; cat "$list"; } | sha256sum | cut -d' ' -f1)
  [ "$(cat "$folder/.stamp" 2>/dev/null || true)" != "$stamp" ] || return 0
  say "installing $what into $folder"
  rm -rf "$folder"
  mkdir -p .deps
  python3 -m venv "$folder" || stop "python3 cannot make a virtual environment; install python3-venv"
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$list" ||
    stop "pip could not install $list; check the network"
  printf '%s\n' "$stamp" >"$folder/.stamp"
}

install_test_python() {
  install_python .deps/agent-venv scripts/agent-wheels.txt "an MCP client for the tests (about 50 MB, 1 min)"
  install_python .deps/client-venv scripts/client-wheels.txt "Python programs that use CUDA, for the tests (about 450 MB, 1 min)"
}

[ $# -gt 0 ] || set -- build
if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
  install_packages "$@"
else
  say "this system has no apt. Install the equivalents of these Debian packages by hand:"
  wanted_packages "$@" | sed 's/^/  /'
  for tool in cmake ninja g++ python3; do
    command -v "$tool" >/dev/null || stop "'$tool' is missing; install it and run again"
  done
fi
if [ -n "${KERNEVO_CUDA:-}" ]; then
  [ -d "$KERNEVO_CUDA" ] || stop "KERNEVO_CUDA=$KERNEVO_CUDA is not a folder"
  say "using the CUDA toolkit in KERNEVO_CUDA"
else
  install_wheels
fi
case " $* " in *" test "*) install_test_python ;; esac
