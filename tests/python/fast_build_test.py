"""Extensions in two parts: the forms of programs, their errors, the cache, and what only torch's own way builds."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import torch
from kernevo_virtual import extension
from kernevo_virtual.building import ladder, whole
from torch.utils.cpp_extension import load, load_inline

FORMS_HOST = """
torch::Tensor forms(torch::Tensor x);
torch::Tensor halves(torch::Tensor x);
torch::Tensor scaled(torch::Tensor x, double factor);
torch::Tensor reversed(torch::Tensor x);
torch::Tensor accessed(torch::Tensor x);
std::vector<int64_t> about();
"""
FORMS = r"""
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <vector>
namespace cg = cooperative_groups;

#define CHECK_INPUT(x) TORCH_CHECK(x.is_cuda(), #x " must be on the GPU")
#define LAUNCH(kernel, n, ...) kernel<<<ceil_div(n, 256), 256, 0, at::cuda::getCurrentCUDAStream()>>>(__VA_ARGS__)
#define UNARY(name, expression)                                        \
  __global__ void name##_kernel(const float* x, float* y, int n) {     \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;               \
    if (i < n) { const float v = x[i]; y[i] = expression; }            \
  }
UNARY(twice, v * 2)
UNARY(plus_one, v + 1)

constexpr int kWarp = 32;
__host__ __device__ constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }

// A class for both sides, one of whose members is the device's alone.
struct Shift {
  float by;
  __device__ __forceinline__ float operator()(float v) const { return __fadd_rn(v, by); }
};

// Of these only the host has heard.
struct Request {
  torch::Tensor tensor;
  std::vector<int64_t> sizes;
};

namespace {
__constant__ float weights[2] = {0.5f, 0.5f};
__device__ int launches = 0;

__device__ float warp_sum(cg::thread_block_tile<kWarp> tile, float v) {
  for (int offset = tile.size() / 2; offset > 0; offset /= 2) v += tile.shfl_down(v, offset);
  return v;
}

template <typename T, typename F>
__global__ void __launch_bounds__(256, 2) apply(T* y, int n, F f) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) atomicAdd(&launches, 1);
  if (i < n) y[i] = f(y[i] * static_cast<T>(weights[0] + weights[1]));
}
}  // namespace

namespace inner {
template <int kThreads> __global__ void sums(const float* x, float* y) {
  auto tile = cg::tiled_partition<kWarp>(cg::this_thread_block());
  const float sum = warp_sum(tile, x[blockIdx.x * kThreads + threadIdx.x]);
  if (tile.thread_rank() == 0) y[blockIdx.x] = sum;
}
}  // namespace inner

static __global__ void reverse(const float* x, float* y, int n) {
  extern __shared__ float shared[];
  shared[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = shared[n - 1 - threadIdx.x];
}

__global__ void half_kernel(const __half* x, __half* y, int n) {
  const int i = threadIdx.x;
#if __CUDA_ARCH__ >= 700
#pragma unroll
  for (int k = 0; k < 1; ++k)
    if (i < n) y[i] = __hadd(x[i], __float2half(1.0f));
#endif
}

template <typename scalar_t> __global__ void scale_kernel(const scalar_t* x, scalar_t* y, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = static_cast<scalar_t>(static_cast<float>(x[i]) * factor);
}

template <typename scalar_t>
__global__ void access_kernel(torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> x) {
  x[threadIdx.x][threadIdx.y] += 1;
}

torch::Tensor forms(torch::Tensor x) {
  CHECK_INPUT(x);
  const at::cuda::CUDAGuard guard(x.device());
  const Request request{x, x.sizes().vec()};
  const dim3 narrowed{static_cast<int>(x.size(0)), 1, 1};
  TORCH_CHECK(min(static_cast<int>(narrowed.x), 1) == 1);
  const int n = x.numel();
  auto y = torch::empty_like(request.tensor);
  LAUNCH(twice_kernel, n, x.data_ptr<float>(), y.data_ptr<float>(), n);
  LAUNCH(plus_one_kernel, n, y.data_ptr<float>(), y.data_ptr<float>(), n);
  apply<float><<<ceil_div(n, 256), 256>>>(y.data_ptr<float>(), n, Shift{2.0f});
  auto sums = torch::empty({n / kWarp}, x.options());
  inner::sums<kWarp><<<n / kWarp, kWarp>>>(y.data_ptr<float>(), sums.data_ptr<float>());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return sums;
}

torch::Tensor halves(torch::Tensor x) {
  auto y = torch::empty_like(x);
  half_kernel<<<1, x.numel()>>>(reinterpret_cast<const __half*>(x.data_ptr<at::Half>()),
                                reinterpret_cast<__half*>(y.data_ptr<at::Half>()), x.numel());
  return y;
}

torch::Tensor scaled(torch::Tensor x, double factor) {
  auto y = torch::empty_like(x);
  const int n = x.numel();
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "scaled", ([&] {
    scale_kernel<scalar_t><<<ceil_div(n, 128), 128>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), factor, n);
  }));
  return y;
}

torch::Tensor reversed(torch::Tensor x) {
  auto y = torch::empty_like(x);
  const int bytes = 60000;
  C10_CUDA_CHECK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  reverse<<<1, x.numel(), bytes>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  return y;
}

torch::Tensor accessed(torch::Tensor x) {
  const dim3 threads(x.size(0), x.size(1));
  access_kernel<float><<<1, threads>>>(x.packed_accessor32<float, 2, torch::RestrictPtrTraits>());
  return x;
}

std::vector<int64_t> about() {
  int blocks = 0, counted = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, half_kernel, 1024, 0);
  cudaMemcpyFromSymbol(&counted, launches, sizeof counted);
  const float other[2] = {1.0f, 1.0f};
  cudaMemcpyToSymbol(weights, other, sizeof other);
  cudaFuncAttributes attributes{};
  cudaFuncGetAttributes(&attributes, apply<float, Shift>);
  return {blocks, counted, attributes.maxThreadsPerBlock};
}
"""

SMALL_HOST = "torch::Tensor run(torch::Tensor x);"
SMALL = """
__global__ void kernel(float* y, int n) {
  int i = threadIdx.x;
  if (i < n) y[i] = y[i] + HERE_A_VALUE;
}
torch::Tensor run(torch::Tensor x) {
  auto y = x.clone();
  kernel<<<1, 64>>>(y.data_ptr<float>(), y.numel());
  return y;
}
"""


def small(name, value, **options):
    return load_inline(name, SMALL_HOST, SMALL.replace("HERE_A_VALUE", value), functions=["run"], **options)


def no_whole_build(*_):
    raise AssertionError("the program did not come apart")


def steps_of(payload, cache):
    """What a build tried, where torch's own way is closed."""
    build = ladder.Build(payload, cache)
    with mock.patch.object(whole, "build", side_effect=ZeroDivisionError):
        try:
            build.run()
        except ZeroDivisionError:
            return build.steps
    return []


def payload(cuda, host=SMALL_HOST, **more):
    return {"name": "steps", "cpp_sources": [host], "cuda_sources": [cuda], "functions": ["run"], "gpu": "sm_80",
            **more}


class FastBuild(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.whole = mock.patch.object(whole, "build", side_effect=no_whole_build)
        cls.whole.start()

    @classmethod
    def tearDownClass(cls):
        cls.whole.stop()

    def test_forms(self):
        functions = ["forms", "halves", "scaled", "reversed", "accessed", "about"]
        module = load_inline("forms", FORMS_HOST, [FORMS], functions=functions, extra_cuda_cflags=["-O3"])
        x = torch.randn(4096, device="cuda")
        self.assertTrue(torch.allclose(module.forms(x), (x * 2 + 3).view(-1, 32).sum(1), atol=1e-4))
        self.assertTrue(torch.equal(module.halves(x[:64].half()), x[:64].half() + 1))
        for dtype in (torch.float32, torch.float64, torch.float16):
            with self.subTest(dtype=dtype):
                self.assertTrue(torch.allclose(module.scaled(x.to(dtype), 2.0), x.to(dtype) * 2))
        self.assertTrue(torch.equal(module.reversed(x[:100]), x[:100].flip(0)))
        self.assertTrue(torch.equal(module.accessed(torch.zeros(4, 8, device="cuda")).cpu(), torch.ones(4, 8)))
        blocks, launches, threads = module.about()
        self.assertEqual((blocks > 0, launches, threads <= 1024), (True, 1, True))
        # The weights are 1 and 1 now.
        self.assertTrue(torch.allclose(module.forms(x), ((x * 2 + 1) * 2 + 2).view(-1, 32).sum(1), atol=1e-4))
        with self.assertRaisesRegex(RuntimeError, "x must be on the GPU"):
            module.forms(x.cpu())

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            (place / "kernels.cuh").write_text("#pragma once\ntemplate <class T> __device__ T square(T v) { return v * v; }\n")
            (place / "square.cu").write_text(
                '#include <torch/extension.h>\n#include "kernels.cuh"\n'
                "__global__ void squares(float* y) { y[threadIdx.x] = square(y[threadIdx.x]); }\n"
                "void launch(torch::Tensor y) { squares<<<1, y.numel()>>>(y.data_ptr<float>()); }\n")
            (place / "module.cpp").write_text(
                "#include <torch/extension.h>\nvoid launch(torch::Tensor y);\n"
                'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("launch", &launch, "squares"); }\n')
            module = load("files", [str(place / "module.cpp"), place / "square.cu"])
        y = torch.arange(8.0, device="cuda")
        module.launch(y)
        self.assertEqual(y.tolist(), [float(i * i) for i in range(8)])

    def test_device_error_names_the_line(self):
        line = Path(__file__).read_text().split("  if (i < n) y[i] = y[i] + HERE_A_VALUE")[0].count("\n") + 1
        with self.assertRaises(extension.BuildError) as caught:
            load_inline("wrong", SMALL_HOST, SMALL, functions=["run"])
        self.assertEqual(caught.exception.where, f"fast_build_test.py:{line}")
        self.assertIn("HERE_A_VALUE", caught.exception.text)

    def test_known_program_starts_no_compiler(self):
        first = small("known", "1.0f")
        with mock.patch.object(subprocess, "run", side_effect=AssertionError("a compiler was started")):
            second = small("known", "1.0f")
            self.assertEqual(Path(first.__file__), Path(second.__file__))
        x = torch.zeros(8, device="cuda")
        edited = small("known", "2.0f")
        self.assertEqual((first.run(x).sum().item(), edited.run(x).sum().item()), (8.0, 16.0))

    def test_two_processes_build_the_same(self):
        program = ("import sys, torch; sys.path.insert(0, sys.argv[1]); import fast_build_test as t\n"
                   "m = t.small('shared', '3.0f'); print(m.run(torch.zeros(2, device='cuda')).tolist())")
        folder = os.path.dirname(os.path.abspath(__file__))
        running = [subprocess.Popen([sys.executable, "-c", program, folder], stdout=subprocess.PIPE, text=True)
                   for _ in range(2)]
        self.assertEqual([process.communicate(timeout=200)[0].strip() for process in running], ["[3.0, 3.0]"] * 2)

    def test_flags_that_are_not_trusted(self):
        with tempfile.TemporaryDirectory() as cache:
            for flags in ({"extra_cflags": ["-fplugin=/tmp/x.so"]}, {"extra_cuda_cflags": ["-Xcompiler", "-B/tmp"]},
                          {"extra_ldflags": ["-Wl,--script=/tmp/x"]}, {"extra_cuda_cflags": ["-ccbin", "/tmp/x"]}):
                with self.subTest(flags=flags), self.assertRaisesRegex(extension.BuildError, "is not taken here"):
                    extension.build(payload(SMALL, **flags), cache, trusted=False)


class Ladder(unittest.TestCase):
    """What does not come apart is left to torch's own way, and never the program's fault."""

    def test_reasons(self):
        with tempfile.TemporaryDirectory() as cache:
            for form, reason in (
                    ("__managed__ int x;\n", "managed"),
                    ("void f() { auto g = [] __device__ (int i) { return i; }; }\n", "device code inside"),
                    ("void f() { at::cuda::getCurrentCUDAStream(); }\n", "does not include")):
                with self.subTest(form=form):
                    steps = steps_of(payload(form + SMALL.replace("HERE_A_VALUE", "1")), cache)
                    self.assertEqual(len(steps), 1)
                    self.assertIn(reason, steps[0][1])

    def test_undeclared_function_is_not_found_elsewhere(self):
        """load_inline's two sources are two: what the first does not declare it cannot bind."""
        with tempfile.TemporaryDirectory() as cache, mock.patch.object(ladder.host, "SIZES", ("small",)):
            with self.assertRaises(extension.BuildError) as caught:
                extension.build(payload(SMALL.replace("HERE_A_VALUE", "1").replace("run", "run_it_all"), "",
                                        functions=["run_it_all"]), cache)
            self.assertIn("run_it_all", caught.exception.text)


if __name__ == "__main__":
    unittest.main()
