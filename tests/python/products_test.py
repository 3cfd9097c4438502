"""cuBLAS as programs call it: products of matrices column by column, done by torch's operators."""
import ctypes
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import torch
from kernevo_virtual import start

BLAS = ctypes.CDLL("libcublas.so.13")  # that torch has loaded
N, T = 0, 1
INVALID_VALUE, EXECUTION_FAILED, NOT_SUPPORTED = 7, 13, 15
HALF, FLOAT, COMPUTE_FLOAT, COMPUTE_INTEGER = 2, 0, 68, 72


def handle():
    return ctypes.c_void_p(torch.cuda.current_blas_handle())


def at(tensor):
    return ctypes.c_void_p(tensor.data_ptr())


def number(value, kind=ctypes.c_float):
    return ctypes.byref(kind(value))


def columns(rows, count, step=None, dtype=torch.float32):
    """A matrix stored column by column, each `step` apart."""
    return torch.randn(count, step or rows, device="cuda").to(dtype).t()[:rows]


def sgemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc):
    return BLAS.cublasSgemm_v2(handle(), ta, tb, m, n, k, number(alpha), at(a), lda, at(b), ldb, number(beta),
                               at(c), ldc)


class Products(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(5)

    def test_transposed_and_padded(self):
        for ta in (N, T):
            for tb in (N, T):
                a = columns(7, 5, 9) if ta == N else columns(5, 7, 6)
                b = columns(5, 4, 8) if tb == N else columns(4, 5, 5)
                c = columns(7, 4, 11)
                expected = 2 * (a if ta == N else a.t()) @ (b if tb == N else b.t()) + 3 * c
                self.assertEqual(sgemm(ta, tb, 7, 4, 5, 2, a, a.stride(1), b, b.stride(1), 3, c, 11), 0)
                torch.testing.assert_close(c, expected)

    def test_nothing_is_kept_where_beta_is_zero(self):
        a, b, c = columns(3, 4), columns(4, 2), columns(3, 2).fill_(float("nan"))
        self.assertEqual(sgemm(N, N, 3, 2, 4, 1, a, 3, b, 4, 0, c, 3), 0)
        torch.testing.assert_close(c, a @ b)
        self.assertEqual(sgemm(N, N, 3, 2, 0, 1, a, 3, b, 4, 0, c, 3), 0)
        self.assertEqual(c.abs().sum().item(), 0)

    def test_batches(self):
        a, b, c = (torch.randn(3, *size, device="cuda") for size in ((4, 6), (5, 4), (5, 6)))
        # Row by row it is the transposed product: c = b @ a.
        code = BLAS.cublasSgemmStridedBatched(
            handle(), N, N, 6, 5, 4, number(1), at(a), 6, ctypes.c_longlong(24), at(b), 4, ctypes.c_longlong(20),
            number(0), at(c), 6, ctypes.c_longlong(30), 3)
        self.assertEqual(code, 0)
        torch.testing.assert_close(c, b @ a)

    def test_types(self):
        a, b, c = (columns(*size, dtype=torch.half) for size in ((8, 3), (3, 5), (8, 5)))
        arguments = [handle(), N, N, 8, 5, 3, number(1), at(a), HALF, 8, at(b), HALF, 3, number(0), at(c), HALF, 8]
        self.assertEqual(BLAS.cublasGemmEx(*arguments, COMPUTE_FLOAT, -1), 0)
        torch.testing.assert_close(c, a @ b)
        self.assertEqual(BLAS.cublasGemmEx(*arguments, COMPUTE_INTEGER, -1), NOT_SUPPORTED)
        arguments[-2] = FLOAT
        self.assertEqual(BLAS.cublasGemmEx(*arguments, COMPUTE_FLOAT, -1), NOT_SUPPORTED)

    def test_vectors(self):
        a, x, y = columns(4, 3), torch.randn(6, device="cuda"), torch.randn(12, device="cuda")
        expected = y.clone()
        expected[::3] = 2 * a @ x[::2] + y[::3]
        self.assertEqual(BLAS.cublasSgemv_v2(handle(), N, 4, 3, number(2), at(a), 4, at(x), 2, number(1), at(y), 3), 0)
        torch.testing.assert_close(y, expected)

    def test_streams_and_graphs(self):
        a, b, c = columns(3, 4), columns(4, 2), columns(3, 2)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.assertEqual(sgemm(N, N, 3, 2, 4, 1, a, 3, b, 4, 0, c, 3), 0)
        a.fill_(1)
        graph.replay()
        torch.testing.assert_close(c, torch.ones_like(a) @ b)

    def test_what_is_wrong(self):
        a, b, c = columns(3, 4), columns(4, 2), columns(3, 2)
        self.assertEqual(sgemm(N, N, 3, 2, 4, 1, a, 2, b, 4, 0, c, 3), INVALID_VALUE)
        self.assertEqual(sgemm(N, N, 3, 3, 4, 1, a, 3, b, 4, 0, c, 3), EXECUTION_FAILED)  # past the end of b and c
        host = torch.randn(4, 3).t()
        self.assertEqual(sgemm(N, N, 3, 2, 4, 1, host, 3, b, 4, 0, c, 3), EXECUTION_FAILED)
        torch.cuda.synchronize()


class Libraries(unittest.TestCase):
    def test_programs_link_them(self):
        source = "#include <cublas_v2.h>\nextern \"C\" int made(void) { cublasHandle_t h; return cublasCreate(&h); }\n"
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "made.so")
            toolkit = Path(start.settings()["toolkit"]) / "include"
            subprocess.run(["g++", "-shared", "-fPIC", "-Wl,--no-undefined", "-isystem", str(toolkit), "-o", file,
                            "-x", "c++", "-", "-lcublas"], input=source, text=True, check=True)
            self.assertEqual(ctypes.CDLL(file).made(), 0)


class Headers(unittest.TestCase):
    def test_of_other_libraries(self):
        toolkit = Path(start.settings()["toolkit"]) / "include"
        torch_headers = Path(torch.__file__).parent / "include"
        source = "#include <ATen/cuda/CUDAContext.h>\n#include <cublas_v2.h>\ncublasHandle_t h;\n"
        # Nothing of another toolkit on this machine.
        plain = {name: value for name, value in os.environ.items() if not name.endswith("PATH") or name == "PATH"}
        said = subprocess.run(
            ["g++", "-std=c++20", "-fsyntax-only", "-H", "-isystem", str(torch_headers), "-isystem", str(toolkit),
             "-x", "c++", "-"], input=source, capture_output=True, text=True, check=False,
            env={**plain, "CPLUS_INCLUDE_PATH": os.environ["CPLUS_INCLUDE_PATH"].split(":")[-1]})
        self.assertEqual(said.returncode, 0, said.stderr[-1000:])
        read = {line.split()[-1] for line in said.stderr.splitlines() if line.startswith(".")}
        for name in ("cublas_v2.h", "cublasLt.h", "cusparse.h", "cusolverDn.h"):
            self.assertTrue(read & {str(start.HERE / "include" / name), str(toolkit / name)}, name)


if __name__ == "__main__":
    unittest.main()
