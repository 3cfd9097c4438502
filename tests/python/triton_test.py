"""Triton programs, unmodified: compiled to PTX for the named GPU, run and timed on the virtual one."""
import os
import subprocess
import sys
import unittest

import torch
import triton
import triton.language as tl


@triton.jit
def scaled_sum(x, y, out, n, scale, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) * scale + tl.load(y + at, mask=inside), mask=inside)


@triton.autotune(configs=[triton.Config({"BLOCK": block}, num_warps=warps) for block, warps in ((64, 1), (1024, 4))],
                 key=["n"])
@triton.jit
def chosen_double(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)


@triton.jit
def product(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for begin in range(0, k, BK):
        inner = begin + tl.arange(0, BK)
        left = tl.load(a + rows[:, None] * k + inner[None, :], mask=(rows[:, None] < m) & (inner[None, :] < k), other=0)
        right = tl.load(b + inner[:, None] * n + columns[None, :], mask=(inner[:, None] < k) & (columns[None, :] < n), other=0)
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * n + columns[None, :], total, mask=(rows[:, None] < m) & (columns[None, :] < n))


@triton.jit
def through_descriptors(x, out, m, n, BM: tl.constexpr, BN: tl.constexpr):
    source = tl.make_tensor_descriptor(x, shape=[m, n], strides=[n, 1], block_shape=[BM, BN])
    target = tl.make_tensor_descriptor(out, shape=[m, n], strides=[n, 1], block_shape=[BM, BN])
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    target.store([row, column], source.load([row, column]) + 1)


@triton.jit
def prints():
    tl.device_print("block", tl.program_id(0))


class Triton(unittest.TestCase):
    def test_elementwise_at_any_size(self):
        for n in (1, 1000, 98432):
            x, y = torch.rand(n, device="cuda"), torch.rand(n, device="cuda")
            out = torch.full((n,), float("nan"), device="cuda")
            scaled_sum[(triton.cdiv(n, 256),)](x, y, out, n, 3.0, BLOCK=256)
            torch.testing.assert_close(out, 3 * x + y)

    def test_product(self):
        for dtype, bound in ((torch.float16, 1e-2), (torch.float32, 5e-3)):  # tf32 by default
            a, b = torch.randn(70, 50, device="cuda", dtype=dtype), torch.randn(50, 40, device="cuda", dtype=dtype)
            c = torch.empty(70, 40, device="cuda", dtype=torch.float32)
            product[(3, 2)](a, b, c, 70, 40, 50, BM=32, BN=32, BK=16)
            torch.testing.assert_close(c, a.float() @ b.float(), rtol=bound, atol=5 * bound)

    def test_autotuning_and_benchmarks(self):
        n = 1 << 14
        x, out = torch.rand(n, device="cuda"), torch.empty(n, device="cuda")
        grid = lambda meta: (triton.cdiv(n, meta["BLOCK"]),)
        chosen_double[grid](x, out, n)
        torch.testing.assert_close(out, 2 * x)
        times = {}
        for config in chosen_double.configs:
            block, warps = config.kwargs["BLOCK"], config.num_warps
            times[block] = triton.testing.do_bench(
                lambda: chosen_double.fn[(triton.cdiv(n, block),)](x, out, n, BLOCK=block, num_warps=warps))
        self.assertEqual(chosen_double.best_config.kwargs["BLOCK"], min(times, key=times.get))
        # Modelled: the same each time, and no less than a launch takes.
        again = triton.testing.do_bench(lambda: chosen_double[grid](x, out, n))
        self.assertAlmostEqual(again, min(times.values()), delta=0.02 * again)
        self.assertGreater(again, 0.001)
        self.assertEqual(triton.testing.do_bench(lambda: None, quantiles=[0.5, 0.2, 0.8]), [0, 0, 0])

    def test_memory_of_a_graph_stays_its_own(self):
        x = torch.randn(1000, device="cuda")
        y = torch.empty_like(x)

        def four_times(x):  # what is between is given back while the graph is captured
            for _ in range(2):
                out = torch.empty_like(x)
                chosen_double[lambda meta: (triton.cdiv(1000, meta["BLOCK"]),)](x, out, 1000)
                x = out
            return x
        four_times(x)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y.copy_(four_times(x))
        others = [torch.zeros_like(x) for _ in range(4)]
        graph.replay()
        torch.cuda.synchronize()
        torch.testing.assert_close(y, 4 * x)
        self.assertEqual(sum(other.abs().sum().item() for other in others), 0)

    def test_prints_from_the_device(self):
        program = "import triton_test, torch; triton_test.prints[(2,)](); torch.cuda.synchronize()"
        said = subprocess.run([sys.executable, "-c", program], cwd=os.path.dirname(os.path.abspath(__file__)),
                              check=True, capture_output=True, text=True).stdout
        self.assertEqual(said.count("block"), 2 * 128)

    def test_a_fault_ends_the_work(self):
        program = ("import triton_test as t, torch; x = torch.rand(1000, device='cuda')\n"
                   "t.scaled_sum[(9,)](x, x, x, 9000, 1.0, BLOCK=1024); torch.cuda.synchronize()")
        said = subprocess.run([sys.executable, "-c", program], cwd=os.path.dirname(os.path.abspath(__file__)),
                              check=False, capture_output=True, text=True)
        self.assertNotEqual(said.returncode, 0)
        self.assertRegex(said.stderr, "out_of_bounds: load of 4 bytes .* in scaled_sum at .*triton_test.py:1[0-9]")

    def test_is_compiled_for_the_named_gpu(self):
        target = triton.runtime.driver.active.get_current_target()
        self.assertEqual((target.backend, target.arch), ("cuda", {"A100": 80, "H100": 90}[os.environ["KERNEVO_GPU"]]))

    @unittest.skipIf(torch.cuda.get_device_capability()[0] < 9, "descriptors in hardware begin with sm_90")
    def test_tensor_descriptors(self):
        triton.set_allocator(lambda size, align, stream: torch.empty(size, device="cuda", dtype=torch.int8))
        x = torch.rand(64, 96, device="cuda")
        out = torch.zeros_like(x)
        through_descriptors[(2, 3)](x, out, 64, 96, BM=32, BN=32)
        torch.testing.assert_close(out, x + 1)
        self.assertIn("cp.async.bulk.tensor", next(iter(through_descriptors.device_caches[0][0].values())).asm["ptx"])


if __name__ == "__main__":
    unittest.main()
