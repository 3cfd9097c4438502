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
# The compiler is a plug-in in the library folder; its cache must not help.
cat >scale.ptx <<'PTX'
.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 data) {
  .reg .u64 %rd<4>;
  .reg .u32 %r<2>;
  .reg .f32 %f<3>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  add.f32 %f2, %f1, %f1;
  st.global.f32 [%rd3], %f2;
  ret;
}
PTX
env -u KERNEVO_JIT_PLUGIN bin/kernevo jit scale.ptx --quiet | grep '^scale: 8 instructions' >/dev/null
# What `kernevo setup python` makes its environment of.
test -f share/kernevo/python/environment.py -a -f share/kernevo/python/operators/operators.cpp
test -x share/kernevo/python/kernevo_virtual/ptxas -a -x share/kernevo/nvcc/nvcc
echo "install: passed"
