#!/usr/bin/env bash
# clang-format and shellcheck over the whole tree, clang-tidy over src; any finding fails.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/check_format.sh
git ls-files '*.sh' .ci/run | xargs shellcheck
cmake --preset tidy >/dev/null
git ls-files 'src/*.cpp' |
  xargs -P "$(nproc)" -n 4 clang-tidy-19 -p build-tidy --quiet 2>&1 |
  { grep -v -E '^[0-9]+ warnings? (generated|treated)' || true; } | tee build-tidy/lint.log
if grep -q -E '(warning|error):' build-tidy/lint.log; then exit 1; fi
echo "lint: clean"
