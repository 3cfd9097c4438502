"""The benchmark's kernels in numba's CUDA simulator. One line of JSON per kernel:

    numba_peer.py KERNEL SIZE[,COLUMNS] [--repetitions N]
"""
import argparse
import json
import math
import os
import time

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
import numba
import numpy as np
from numba import cuda, float32

# The kernels compare NaNs and infinities nowhere; numpy need not warn.
np.seterr(all="ignore")


@cuda.jit
def matmul_naive(a, b, c, n):
    column, row = cuda.grid(2)
    if row < n and column < n:
        total = float32(0)
        for k in range(n):
            total += a[row * n + k] * b[k * n + column]
        c[row * n + column] = total


@cuda.jit
def matmul_tiled(a, b, c, n):
    tile_a = cuda.shared.array((32, 32), float32)
    tile_b = cuda.shared.array((32, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row, column = cuda.blockIdx.y * 32 + y, cuda.blockIdx.x * 32 + x
    total = float32(0)
    for t in range(0, n, 32):
        tile_a[y, x] = a[row * n + t + x]
        tile_b[y, x] = b[(t + y) * n + column]
        cuda.syncthreads()
        for k in range(32):
            total += tile_a[y, k] * tile_b[k, x]
        cuda.syncthreads()
    c[row * n + column] = total


@cuda.jit
def vector_add(a, b, c, n):
    i = cuda.grid(1)
    if i < n:
        c[i] = a[i] + b[i]


@cuda.jit
def reduce_sum(x, partial, n):
    shared = cuda.shared.array(256, float32)
    thread = cuda.threadIdx.x
    total = float32(0)
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        total += x[i]
    shared[thread] = total
    cuda.syncthreads()
    step = cuda.blockDim.x // 2
    while step > 0:
        if thread < step:
            shared[thread] += shared[thread + step]
        cuda.syncthreads()
        step //= 2
    if thread == 0:
        partial[cuda.blockIdx.x] = shared[0]


@cuda.jit
def softmax(x, y, columns):
    shared = cuda.shared.array(256, float32)
    thread = cuda.threadIdx.x
    row = cuda.blockIdx.x * columns
    largest = float32(-1e30)
    for i in range(thread, columns, cuda.blockDim.x):
        largest = max(largest, x[row + i])
    shared[thread] = largest
    cuda.syncthreads()
    step = cuda.blockDim.x // 2
    while step > 0:
        if thread < step:
            shared[thread] = max(shared[thread], shared[thread + step])
        cuda.syncthreads()
        step //= 2
    largest = shared[0]
    cuda.syncthreads()
    total = float32(0)
    for i in range(thread, columns, cuda.blockDim.x):
        total += math.exp(x[row + i] - largest)
    shared[thread] = total
    cuda.syncthreads()
    step = cuda.blockDim.x // 2
    while step > 0:
        if thread < step:
            shared[thread] += shared[thread + step]
        cuda.syncthreads()
        step //= 2
    total = shared[0]
    for i in range(thread, columns, cuda.blockDim.x):
        y[row + i] = math.exp(x[row + i] - largest) / total


@cuda.jit
def layer_norm(x, gamma, beta, y, columns):
    sums = cuda.shared.array(256, float32)
    squares = cuda.shared.array(256, float32)
    thread = cuda.threadIdx.x
    row = cuda.blockIdx.x * columns
    total = float32(0)
    square = float32(0)
    for i in range(thread, columns, cuda.blockDim.x):
        value = x[row + i]
        total += value
        square += value * value
    sums[thread] = total
    squares[thread] = square
    cuda.syncthreads()
    step = cuda.blockDim.x // 2
    while step > 0:
        if thread < step:
            sums[thread] += sums[thread + step]
            squares[thread] += squares[thread + step]
        cuda.syncthreads()
        step //= 2
    mean = sums[0] / columns
    scale = 1 / math.sqrt(squares[0] / columns - mean * mean + 1e-5)
    for i in range(thread, columns, cuda.blockDim.x):
        y[row + i] = (x[row + i] - mean) * scale * gamma[i] + beta[i]


def prepare(kernel, size):
    """Grid, block, inputs, expected output and the integer argument."""
    random = np.random.default_rng(1)

    def numbers(*shape):
        return random.random(shape, dtype=np.float32)

    n = size[0]
    if kernel.startswith("matmul"):
        a, b = numbers(n, n), numbers(n, n)
        return (n // 32, n // 32), (32, 32), [a.ravel(), b.ravel()], a @ b, n
    if kernel == "vector_add":
        a, b = numbers(n), numbers(n)
        return -(-n // 256), 256, [a, b], a + b, n
    if kernel == "reduce_sum":
        x, blocks = numbers(n), max(1, min(256, n // 4096))
        return blocks, 256, [x], x.reshape(-1, blocks, 256).sum(axis=(0, 2)), n
    columns = size[1]
    x = numbers(n, columns)
    if kernel == "softmax":
        powers = np.exp(x - x.max(axis=1, keepdims=True))
        return n, 256, [x.ravel()], powers / powers.sum(axis=1, keepdims=True), columns
    gamma, beta = numbers(columns), numbers(columns)
    centred = x - x.mean(axis=1, keepdims=True)
    expected = centred / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5) * gamma + beta
    return n, 256, [x.ravel(), gamma, beta], expected, columns


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernel")
    parser.add_argument("size", type=lambda text: [int(part) for part in text.split(",")])
    parser.add_argument("--repetitions", type=int, default=1)
    arguments = parser.parse_args()
    grid, block, inputs, expected, integer = prepare(arguments.kernel, arguments.size)
    expected = expected.ravel()
    kernel = globals()[arguments.kernel]
    times, processor = [], []
    for _ in range(arguments.repetitions):
        out = np.zeros(expected.size, dtype=np.float32)
        start, processor_start = time.perf_counter(), time.process_time()
        kernel[grid, block](*inputs, out, integer)
        times.append(1e3 * (time.perf_counter() - start))
        processor.append(1e3 * (time.process_time() - processor_start))
    error = float(np.abs(out - expected).max() / np.abs(expected).max())
    print(json.dumps({"kernel": arguments.kernel, "size": arguments.size, "best_ms": min(times),
                      "best_processor_ms": min(processor),
                      "repetitions": len(times), "worst_error": error, "correct": error < 1e-4,
                      "version": numba.__version__}))


if __name__ == "__main__":
    main()
