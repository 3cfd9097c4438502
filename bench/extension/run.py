#!/usr/bin/env python3
"""What an edited CUDA extension costs: torch's own load_inline (nvcc and g++ on whole sources) and kernevo's, side
by side in the same run.

    build/kernevo run -- python bench/extension/run.py [--programs N]

Each program is built once, then edited in its kernel and built again: the edit is what is timed. torch's own build
gets a folder of its own each time, as a search gives each candidate. Tab-separated: program, processor seconds and
seconds of kernevo's and of torch's, the ratio of processor seconds, and of seconds.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

ADD = """
__global__ void add_kernel(const float* a, const float* b, float* out, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size) out[i] = EDIT * a[i] + b[i];
}
torch::Tensor run(torch::Tensor a, torch::Tensor b) {
  auto out = torch::zeros_like(a);
  const int size = a.numel();
  add_kernel<<<(size + 255) / 256, 256>>>(a.data_ptr<float>(), b.data_ptr<float>(), out.data_ptr<float>(), size);
  return out;
}
"""
MATMUL = """
#define TILE 16
__global__ void matmul_kernel(const float* a, const float* b, float* out, int n) {
  __shared__ float as[TILE][TILE], bs[TILE][TILE];
  const int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < n / TILE; ++t) {
    as[threadIdx.y][threadIdx.x] = a[row * n + t * TILE + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(t * TILE + threadIdx.y) * n + column];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  out[row * n + column] = EDIT * sum;
}
torch::Tensor run(torch::Tensor a, torch::Tensor b) {
  const int n = a.size(0);
  auto out = torch::empty_like(a);
  matmul_kernel<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(a.data_ptr<float>(), b.data_ptr<float>(),
                                                                 out.data_ptr<float>(), n);
  return out;
}
"""
DISPATCH = """
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
template <typename scalar_t>
__global__ void fused_kernel(const scalar_t* a, const scalar_t* b, scalar_t* out, int size) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size) {
    const float v = static_cast<float>(a[i]) + static_cast<float>(b[i]);
    out[i] = static_cast<scalar_t>(EDIT * v / (1.0f + expf(-v)));
  }
}
torch::Tensor run(torch::Tensor a, torch::Tensor b) {
  TORCH_CHECK(a.is_cuda() && a.is_contiguous(), "a must be contiguous and on the GPU");
  auto out = torch::empty_like(a);
  const int size = a.numel();
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(a.scalar_type(), "fused", [&] {
    fused_kernel<scalar_t><<<(size + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        a.data_ptr<scalar_t>(), b.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), size);
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}
"""
PROGRAMS = {"add": ADD, "matmul": MATMUL, "dispatch": DISPATCH}


def build_here(name, edit):
    """In a process of its own: what a build takes, and whether its kernel does what it should."""
    import torch
    from torch.utils.cpp_extension import load_inline

    torch.cuda.get_device_capability()
    begun, before = time.monotonic(), os.times()
    module = load_inline(f"bench_{name}", "torch::Tensor run(torch::Tensor a, torch::Tensor b);",
                         PROGRAMS[name].replace("EDIT", edit), functions=["run"])
    after = os.times()
    a, b = torch.randn(32, 32, device="cuda"), torch.randn(32, 32, device="cuda")
    factor = float(edit.rstrip("f"))
    wanted = {"add": lambda: factor * a + b, "matmul": lambda: factor * (a @ b),
              "dispatch": lambda: factor * torch.nn.functional.silu(a + b)}[name]()
    assert torch.allclose(module.run(a, b), wanted, atol=1e-4), f"{name} is wrong"
    print(json.dumps({"cpu": sum(after[:4]) - sum(before[:4]), "wall": time.monotonic() - begun}))


def build(name, edit, settings):
    done = subprocess.run([sys.executable, __file__, "--build", name, edit], check=True, capture_output=True, text=True,
                          env={**os.environ, **settings})
    return json.loads(done.stdout.strip().splitlines()[-1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=int, default=len(PROGRAMS))
    parser.add_argument("--build", nargs=2, metavar=("NAME", "EDIT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.build:
        build_here(*options.build)
        return
    print("program\tours cpu\tours\ttorch cpu\ttorch\tratio cpu\tratio")
    with tempfile.TemporaryDirectory() as folder:
        for name in list(PROGRAMS)[:options.programs]:
            ours = {"XDG_CACHE_HOME": folder}
            build(name, "1.0f", ours)
            edited = build(name, "2.0f", ours)
            known = build(name, "2.0f", ours)
            own = os.path.join(folder, "torch", name)
            os.makedirs(own)
            torch = build(name, "2.0f", {"KERNEVO_EXTENSIONS": "torch", "TORCH_EXTENSIONS_DIR": own, "MAX_JOBS": "2"})
            print(f"{name}\t{edited['cpu']:.2f}\t{edited['wall']:.2f}\t{torch['cpu']:.1f}\t{torch['wall']:.1f}\t"
                  f"{torch['cpu'] / edited['cpu']:.1f}\t{torch['wall'] / edited['wall']:.1f}", flush=True)
            print(f"{name}, known\t{known['cpu']:.2f}\t{known['wall']:.2f}\t\t\t\t", flush=True)


if __name__ == "__main__":
    main()
