"""The benchmark's kernels in Triton's interpreter mode. One line of JSON per kernel:

    triton_peer.py KERNEL SIZE[,COLUMNS] [--repetitions N]

Blocks are as wide as Triton's tutorials make them (a whole row, or 1,024 elements): the wider, the
more numpy does at once and the faster the interpreter.
"""
import argparse
import json
import os
import time

os.environ["TRITON_INTERPRET"] = "1"
import torch
import triton
import triton.language as tl

torch.set_num_threads(1)


@triton.jit
def matmul_naive(a, b, c, n, TILE: tl.constexpr):
    rows = tl.program_id(1) * TILE + tl.arange(0, TILE)
    columns = tl.program_id(0) * TILE + tl.arange(0, TILE)
    total = tl.zeros((TILE, TILE), dtype=tl.float32)
    for k in range(n):
        total += tl.load(a + rows * n + k)[:, None] * tl.load(b + k * n + columns)[None, :]
    tl.store(c + rows[:, None] * n + columns[None, :], total)


@triton.jit
def matmul_tiled(a, b, c, n, TILE: tl.constexpr):
    rows = tl.program_id(1) * TILE + tl.arange(0, TILE)
    columns = tl.program_id(0) * TILE + tl.arange(0, TILE)
    inner = tl.arange(0, TILE)
    total = tl.zeros((TILE, TILE), dtype=tl.float32)
    for t in range(0, n, TILE):
        left = tl.load(a + rows[:, None] * n + (t + inner)[None, :])
        right = tl.load(b + (t + inner)[:, None] * n + columns[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * n + columns[None, :], total)


@triton.jit
def vector_add(a, b, c, n, WIDTH: tl.constexpr):
    at = tl.program_id(0) * WIDTH + tl.arange(0, WIDTH)
    tl.store(c + at, tl.load(a + at, mask=at < n) + tl.load(b + at, mask=at < n), mask=at < n)


@triton.jit
def reduce_sum(x, partial, n, WIDTH: tl.constexpr):
    total = tl.zeros((WIDTH,), dtype=tl.float32)
    for start in range(tl.program_id(0) * WIDTH, n, tl.num_programs(0) * WIDTH):
        at = start + tl.arange(0, WIDTH)
        total += tl.load(x + at, mask=at < n, other=0.0)
    tl.store(partial + tl.program_id(0), tl.sum(total, axis=0))


@triton.jit
def softmax(x, y, columns, WIDTH: tl.constexpr):
    at = tl.arange(0, WIDTH)
    row = tl.program_id(0) * columns
    values = tl.load(x + row + at, mask=at < columns, other=-1e30)
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row + at, powers / tl.sum(powers, axis=0), mask=at < columns)


@triton.jit
def layer_norm(x, gamma, beta, y, columns, WIDTH: tl.constexpr):
    row = tl.program_id(0) * columns
    sums = tl.zeros((WIDTH,), dtype=tl.float32)
    squares = tl.zeros((WIDTH,), dtype=tl.float32)
    for start in range(0, columns, WIDTH):
        at = start + tl.arange(0, WIDTH)
        values = tl.load(x + row + at, mask=at < columns, other=0.0)
        sums += values
        squares += values * values
    mean = tl.sum(sums, axis=0) / columns
    scale = 1 / tl.sqrt(tl.sum(squares, axis=0) / columns - mean * mean + 1e-5)
    for start in range(0, columns, WIDTH):
        at = start + tl.arange(0, WIDTH)
        values = (tl.load(x + row + at, mask=at < columns) - mean) * scale
        values = values * tl.load(gamma + at, mask=at < columns) + tl.load(beta + at, mask=at < columns)
        tl.store(y + row + at, values, mask=at < columns)


def prepare(kernel, size):
    """Inputs, expected output, and a function that launches the kernel on an output."""
    torch.manual_seed(1)
    n = size[0]
    if kernel.startswith("matmul"):
        a, b = torch.rand(n, n), torch.rand(n, n)
        function = globals()[kernel]
        return a @ b, lambda out: function[(n // 32, n // 32)](a, b, out, n, TILE=32)
    if kernel == "vector_add":
        a, b, width = torch.rand(n), torch.rand(n), 1024
        return a + b, lambda out: vector_add[(triton.cdiv(n, width),)](a, b, out, n, WIDTH=width)
    if kernel == "reduce_sum":
        x, blocks, width = torch.rand(n), max(1, min(256, n // 4096)), 1024
        pieces = x[: n // (blocks * width) * blocks * width].view(-1, blocks, width)
        assert pieces.numel() == n, "the check wants whole rounds"
        return pieces.sum(dim=(0, 2)), lambda out: reduce_sum[(blocks,)](x, out, n, WIDTH=width)
    columns = size[1]
    x, width = torch.rand(n, columns), triton.next_power_of_2(columns)
    if kernel == "softmax":
        return torch.softmax(x, 1), lambda out: softmax[(n,)](x, out, columns, WIDTH=width)
    gamma, beta = torch.rand(columns), torch.rand(columns)
    expected = torch.nn.functional.layer_norm(x, (columns,), gamma, beta)
    return expected, lambda out: layer_norm[(n,)](x, gamma, beta, out, columns, WIDTH=width)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernel")
    parser.add_argument("size", type=lambda text: [int(part) for part in text.split(",")])
    parser.add_argument("--repetitions", type=int, default=1)
    arguments = parser.parse_args()
    expected, launch = prepare(arguments.kernel, arguments.size)
    times, processor = [], []
    for _ in range(arguments.repetitions):
        out = torch.empty_like(expected)
        start, processor_start = time.perf_counter(), time.process_time()
        launch(out)
        times.append(1e3 * (time.perf_counter() - start))
        processor.append(1e3 * (time.process_time() - processor_start))
    error = float((out - expected).abs().max() / expected.abs().max())
    print(json.dumps({"kernel": arguments.kernel, "size": arguments.size, "best_ms": min(times),
                      "best_processor_ms": min(processor), "repetitions": len(times),
                      "worst_error": error,
                      "correct": error < 1e-4, "version": triton.__version__}))


if __name__ == "__main__":
    main()
