#!/usr/bin/env bash
# Fails when a source file is not formatted. Says so and passes where clang-format 19 is absent.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v clang-format-19 >/dev/null; then
  echo "format: SKIP, clang-format-19 is not installed (make lint installs it)"
  exit 0
fi
git ls-files '*.cpp' '*.h' | xargs clang-format-19 --dry-run --Werror
echo "format: clean"
