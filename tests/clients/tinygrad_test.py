"""tinygrad's own CUDA backend on the virtual GPU, against numpy."""

import os

os.environ["DEV"] = "CUDA"

import numpy as np
import pytest
from tinygrad import Device, Tensor, TinyJit, dtypes

RANDOM = np.random.default_rng(3)


def numbers(*shape):
    return RANDOM.standard_normal(shape, dtype=np.float32)


def test_the_device_is_cuda():
    assert Device.DEFAULT == "CUDA"


@pytest.mark.parametrize("shape", [(1,), (11,), (33, 7), (4, 5, 6)])
def test_elementwise(shape):
    a, b = numbers(*shape), numbers(*shape)
    np.testing.assert_allclose(
        (Tensor(a) * Tensor(b) + Tensor(a).exp()).numpy(), a * b + np.exp(a), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("size", [(3, 5, 7), (45, 65, 33), (64, 64, 64)])
def test_matmul(size):
    m, k, n = size
    a, b = numbers(m, k), numbers(k, n)
    np.testing.assert_allclose((Tensor(a) @ Tensor(b)).numpy(), a @ b, rtol=1e-4, atol=1e-4)


def test_reductions_and_softmax():
    a = numbers(37, 65)
    np.testing.assert_allclose(Tensor(a).sum(axis=1).numpy(), a.sum(axis=1), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(Tensor(a).max(axis=0).numpy(), a.max(axis=0))
    e = np.exp(a - a.max(axis=1, keepdims=True))
    np.testing.assert_allclose(Tensor(a).softmax().numpy(), e / e.sum(axis=1, keepdims=True), rtol=1e-4)


def test_convolution():
    x, w = numbers(1, 3, 9, 9), numbers(4, 3, 3, 3)
    y = Tensor(x).conv2d(Tensor(w)).numpy()
    for i, j in ((0, 0), (3, 6), (6, 2)):
        np.testing.assert_allclose(
            y[0, :, i, j], (w * x[0, :, i:i + 3, j:j + 3]).sum(axis=(1, 2, 3)), rtol=1e-4, atol=1e-4)


def test_half_precision_and_integers():
    a = numbers(40).astype(np.float16)
    assert Tensor(a).dtype == dtypes.half
    np.testing.assert_allclose((Tensor(a) * 2).numpy(), a * 2, rtol=1e-3)
    b = np.arange(50, dtype=np.int32)
    np.testing.assert_array_equal((Tensor(b) // 7 + Tensor(b) % 7).numpy(), b // 7 + b % 7)


def test_backward():
    a = Tensor(numbers(5, 6)).realize()
    loss = (a * a).sum()
    (gradient,) = loss.gradient(a)
    np.testing.assert_allclose(gradient.numpy(), 2 * a.numpy(), rtol=1e-4)


def test_a_jitted_function_becomes_a_graph():
    @TinyJit
    def step(x):
        return ((x + 1) * 2).contiguous().sum().realize()

    for i in range(5):
        assert step(Tensor.full((16,), float(i)).contiguous().realize()).item() == (i + 1) * 32
