"""Recordings of what programs ask of the GPU, and their replay on other inputs. Every recording and every replay is a
process of its own, forked from this one, which has begun nothing on the GPU."""
import contextlib
import ctypes
import json
import os
import pickle
import random
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "python"))

import torch
import triton
import triton.language as tl
from kernevo_judge import replay, trace
from kernevo_judge.fault import Fault

WINDOW = 1 << 40


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def uneven_kernel(x, out, most, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    for i in range((row * 7919) % most):
        total += tl.load(x + ((row + i) % 64) * BLOCK + tl.arange(0, BLOCK)) * total + 1.0
    tl.store(out + row, tl.sum(total))


@triton.jit
def rows_kernel(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = 0.0
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.sum(tl.load(x + row * columns + at, mask=at < columns, other=0.0))
    tl.store(out + row, total)


def added(x, y):
    out = torch.empty_like(x)
    add_kernel[(triton.cdiv(x.numel(), 256),)](x, y, out, x.numel(), BLOCK=256)
    return out


SCALE = b"""
.version 7.0
.target sm_80
.address_size 64
.global .f32 factor = 0f3F800000;
.visible .entry scale(.param .u64 x, .param .u64 out, .param .u32 n) {
  .reg .pred %p; .reg .b32 %r<5>; .reg .f32 %f<3>; .reg .b64 %d<5>;
  ld.param.u64 %d0, [x]; ld.param.u64 %d1, [out]; ld.param.u32 %r0, [n];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  setp.ge.u32 %p, %r4, %r0; @%p ret;
  mul.wide.u32 %d2, %r4, 4; add.u64 %d3, %d0, %d2; add.u64 %d4, %d1, %d2;
  ld.global.f32 %f0, [%d3]; ld.global.f32 %f1, [factor]; mul.f32 %f2, %f0, %f1;
  st.global.f32 [%d4], %f2; ret;
}
"""


class Scale(torch.nn.Module):
    """A kernel by the driver, with a variable of its module."""

    def __init__(self, factor):
        super().__init__()
        torch.zeros(1, device="cuda")
        self.cuda_ = ctypes.CDLL("libcuda.so.1")
        self.module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        assert self.cuda_.cuModuleLoadData(ctypes.byref(self.module), SCALE) == 0
        assert self.cuda_.cuModuleGetFunction(ctypes.byref(self.function), self.module, b"scale") == 0
        address = ctypes.c_uint64()
        assert self.cuda_.cuModuleGetGlobal_v2(ctypes.byref(address), None, self.module, b"factor") == 0
        assert self.cuda_.cuMemcpyHtoD_v2(address, ctypes.byref(ctypes.c_float(factor)), ctypes.c_size_t(4)) == 0

    def forward(self, x):
        out = torch.empty_like(x)
        values = [ctypes.c_uint64(x.data_ptr()), ctypes.c_uint64(out.data_ptr()), ctypes.c_uint32(x.numel())]
        pointers = (ctypes.c_void_p * 3)(*(ctypes.addressof(one) for one in values))
        blocks = x.numel() // 32 + 1
        assert self.cuda_.cuLaunchKernel(self.function, blocks, 1, 1, 32, 1, 1, 0, None, pointers, None) == 0
        return out


def graphed(x):
    """A graph that was captured before, on a buffer of its own."""
    self = graphed
    if not hasattr(self, "graph"):
        self.input = torch.empty_like(x)
        self.graph = torch.cuda.CUDAGraph()
        added(self.input, self.input)
        torch.cuda.synchronize()
        with torch.cuda.graph(self.graph):
            self.output = added(self.input, self.input).relu() @ self.input
    self.input.copy_(x)
    self.graph.replay()
    return self.output


def in_two_streams(x, ordered):
    # Streams that stay: those of torch's pool are as good.
    side = torch.cuda.Stream()
    out = torch.empty_like(x)
    if ordered:
        side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        add_kernel[(triton.cdiv(x.numel(), 256),)](x, x, out, x.numel(), BLOCK=256)
    left = added(x, x)
    if ordered:
        torch.cuda.current_stream().wait_stream(side)
    return added(out, left)


def halves_in_two_streams(x):
    """Two streams that write different parts of one tensor, which nobody need order."""
    out = torch.empty_like(x)
    half, side = x.numel() // 2, torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        add_kernel[(4,)](x, x, out, half, BLOCK=256)
    add_kernel[(4,)](x[half:], x[half:], out[half:], half, BLOCK=256)
    torch.cuda.current_stream().wait_stream(side)
    return out


def layers():
    """Operators with parameters, statistics, indices and several results."""
    torch.manual_seed(1)
    net = torch.nn.ModuleDict({
        "conv": torch.nn.Conv2d(3, 8, 3, padding=1), "norm": torch.nn.BatchNorm2d(8), "group": torch.nn.GroupNorm(2, 8),
        "layer": torch.nn.LayerNorm(16), "linear": torch.nn.Linear(16, 16), "lstm": torch.nn.LSTM(16, 16),
        "embedding": torch.nn.Embedding(8, 16), "attention": torch.nn.MultiheadAttention(16, 2)})

    def forward(x):
        image = torch.nn.functional.max_pool2d(net["group"](net["norm"](net["conv"](x))), 2)
        y = net["layer"](image.mean(1).flatten(1)[:, :16])
        y = net["linear"](y) + net["embedding"](torch.argmax(y, 1) % 8)
        y, _ = net["lstm"](y.unsqueeze(0))
        y, _ = net["attention"](y, y, y, need_weights=False)
        z = torch.nn.functional.scaled_dot_product_attention(y.unsqueeze(0), y.unsqueeze(0), y.unsqueeze(0))
        z = torch.where(z > 0, torch.cumsum(z, -1), z.sort(-1).values).softmax(-1)
        return z.transpose(-1, -2), torch.cat([z, z], -1).topk(3).values, x.amax((2, 3)).var(0)
    return net, forward


def in_child(work, *arguments):
    """What a function returns, or raises, in a process of its own."""
    receive, send = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            try:
                answer = (True, work(*arguments))
            except BaseException as problem:  # pylint: disable=broad-except
                said = problem.record() if isinstance(problem, Fault) else repr(problem)
                answer = (False, (type(problem).__name__, said))
            with os.fdopen(send, "wb") as file:
                pickle.dump(answer, file)
        finally:
            os._exit(0)
    os.close(send)
    with os.fdopen(receive, "rb") as file:
        content = file.read()
    os.waitpid(process, 0)
    if not content:
        return False, ("died", "")
    return pickle.loads(content)


def must(answer):
    done, what = answer
    if not done:
        raise AssertionError(f"a child failed: {what}")
    return what


def where(tensor):
    storage = tensor.untyped_storage()
    return {"address": storage.data_ptr(), "bytes": storage.nbytes(), "shape": list(tensor.shape),
            "dtype": str(tensor.dtype)[6:], "strides": list(tensor.stride()), "offset": tensor.storage_offset()}


def record(make, inputs, folder, mode=0, warm=True):
    """Records one call of what `make` makes, as a candidate's process does."""
    from kernevo_virtual import start

    core = ctypes.CDLL(str(start.libraries() / "libkernevo_cuda.so"))
    core.kernevo_last_words.restype = ctypes.c_char_p
    core.kernevo_reserve_window.argtypes = [ctypes.c_uint64]
    core.kernevo_read_back_bytes.restype = ctypes.c_uint64

    def ask(name, argument):
        if getattr(core, name)(argument) != 0:
            raise RuntimeError(core.kernevo_last_words().decode())

    os.environ.update(KERNEVO_RUN_REPORT="", KERNEVO_GPU="A100")
    ask("kernevo_reserve_window", WINDOW)
    torch.manual_seed(0)
    forward = make()
    placed = [torch.empty(one.shape, dtype=one.dtype, device="cuda") for one in inputs]
    ask("kernevo_execution", mode)
    with torch.no_grad():
        if warm:
            forward(*placed)
            torch.cuda.synchronize()
        ask("kernevo_snapshot", os.fsencode(folder / "snapshot"))
        for to, value in zip(placed, inputs):
            if not value.is_meta:
                to.copy_(value)
        torch.cuda.synchronize()
        ask("kernevo_record", os.fsencode(folder / "trace"))
        results = forward(*placed)
        ask("kernevo_record", None)
    results = results if isinstance(results, tuple) else (results,)
    return {"inputs": [where(one) for one in placed], "outputs": [where(one) for one in results],
            "read_back": core.kernevo_read_back_bytes()}


def replayed(folder, recorded, inputs, mode="whole"):
    """The results as tensors, the findings and the report."""
    path = None
    if inputs is not None:
        path = str(folder / "inputs.pt")
        torch.save(inputs, path)
    reply = replay.replay({"trace": str(folder / "trace"), "snapshot": str(folder / "snapshot"), "record": recorded,
                           "inputs": path, "place": str(folder), "gpu": "A100", "mode": mode,
                           "prices": mode == "priced"})
    outputs = None if reply["outputs"] is None else torch.load(reply["outputs"], weights_only=True)["tensors"]
    return outputs, reply["findings"], reply["report"]


def numbers(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


class Case(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)
        self.made = 0

    def folder(self):
        self.made += 1
        folder = Path(self.place.name) / str(self.made)
        folder.mkdir()
        return folder

    def recorded(self, make, inputs, mode=0, warm=True):
        folder = self.folder()
        return folder, must(in_child(record, make, inputs, folder, mode, warm))

    def expect(self, make, decoys, judged, expected, replay_mode="whole", tolerance=1e-5):
        folder, about = self.recorded(make, decoys)
        outputs, findings, _ = must(in_child(replayed, folder, about, judged, replay_mode))
        self.assertEqual(findings, [])
        self.assertEqual(len(outputs), len(expected))
        for one, other in zip(outputs, expected):
            torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance)
        return folder, about

    def fault(self, answer):
        done, what = answer
        self.assertFalse(done, "it was not refused")
        self.assertEqual(what[0], "Fault", what)
        return what[1]


class Recording(Case):
    def test_triton_on_other_inputs(self):
        x, y = numbers(1000, seed=3), numbers(1000, seed=4)
        folder, about = self.expect(lambda: added, [numbers(1000), numbers(1000)], [x, y], [x + y])
        self.assertEqual(about["read_back"], 0)
        _, findings, _ = must(in_child(replayed, folder, about, [x, y], "sanitize"))
        self.assertEqual(findings, [])

    def test_kernel_of_the_driver_with_a_variable(self):
        x = numbers(100, seed=3)
        self.expect(lambda: Scale(2.5), [numbers(100)], [x], [2.5 * x])

    def test_operators_in_place_and_views(self):
        def make():
            weight = torch.randn(16, 16, device="cuda")

            def forward(x):
                y = (x @ weight).relu_()
                y.mul_(2).add_(x, alpha=0.5)
                return y.t(), y[1:3, ::2], torch.ones(3, device="cuda", dtype=torch.float16)
            return forward
        torch.manual_seed(0)
        folder, about = self.recorded(make, [numbers(8, 16)])
        x = numbers(8, 16, seed=5)
        outputs, _, _ = must(in_child(replayed, folder, about, [x]))
        again, _, _ = must(in_child(replayed, folder, about, [x], "sanitize"))
        self.assertTrue(torch.equal(outputs[0], again[0]))
        y = outputs[0].t()
        self.assertTrue(torch.equal(outputs[1], y[1:3, ::2]))
        self.assertTrue(torch.equal(outputs[2], torch.ones(3, dtype=torch.float16)))
        positive = (y - 0.5 * x).clamp(min=0)
        torch.testing.assert_close(y, positive + 0.5 * x)

    def test_dropout_has_the_recorded_mask(self):
        x = numbers(64, 64, seed=1).abs() + 1
        folder, about = self.recorded(lambda: lambda x: torch.nn.functional.dropout(x, 0.5), [numbers(64, 64)])
        first, second = (must(in_child(replayed, folder, about, [one]))[0][0] for one in (x, 3 * x))
        self.assertTrue(torch.equal(3 * first, second))
        kept = first != 0
        torch.testing.assert_close(first[kept], 2 * x[kept])
        self.assertTrue(0.4 < kept.float().mean() < 0.6)

    def test_graph(self):
        x = numbers(16, 16, seed=6)
        self.expect(lambda: graphed, [numbers(16, 16)], [x], [(x + x).relu() @ x])

    def test_layers_and_the_same_trace_however_much_is_executed(self):
        def make():
            net, forward = layers()
            net.to("cuda").eval()
            return forward

        def on_the_host(image):  # in a child: threads that compute do not survive a fork
            net, forward = layers()
            net.eval()
            with torch.no_grad():
                return forward(image)
        image = numbers(4, 3, 8, 8, seed=7)
        expected = must(in_child(on_the_host, image))
        folder, _ = self.expect(make, [numbers(4, 3, 8, 8)], [image], expected, tolerance=1e-4)
        lines = (folder / "trace" / "trace.jsonl").read_text()
        for mode in (1, 2):
            other, about = self.recorded(make, [numbers(4, 3, 8, 8)], mode)
            self.assertEqual((other / "trace" / "trace.jsonl").read_text(), lines)
            outputs, _, _ = must(in_child(replayed, other, about, [image]))
            torch.testing.assert_close(outputs[1], expected[1], rtol=1e-4, atol=1e-4)

    def test_what_was_read_back_is_counted_and_what_the_host_made_is_constant(self):
        def forward(x):
            return x * x.sum().item()
        decoy, x = numbers(10, seed=1), numbers(10, seed=2)
        folder, about = self.recorded(lambda: forward, [decoy])
        self.assertEqual(about["read_back"], 4)
        outputs, _, _ = must(in_child(replayed, folder, about, [x]))
        torch.testing.assert_close(outputs[0], x * decoy.sum())

    def test_sanitizer_finds_what_the_kernel_does(self):
        def forward(x):
            out = torch.empty(10, device="cuda")
            add_kernel[(1,)](x, x, out, 1000, BLOCK=256)
            return out
        folder, about = self.recorded(lambda: forward, [numbers(1000)], 1)
        outputs, findings, _ = must(in_child(replayed, folder, about, [numbers(1000)], "sanitize"))
        self.assertIsNone(outputs)
        self.assertEqual(findings[0]["kind"], "out_of_bounds")

    def test_memory_that_nobody_wrote_holds_no_zeros(self):
        folder, about = self.recorded(lambda: lambda x: torch.empty_like(x) + x, [numbers(10)])
        outputs, _, _ = must(in_child(replayed, folder, about, [numbers(10)]))
        self.assertTrue(outputs[0].isnan().all())

    def test_functions_of_the_host_are_refused(self):
        called = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None)

        def forward(x):
            ctypes.CDLL("libcudart.so.13").cudaLaunchHostFunc(None, called, None)
            return x + 1
        folder, about = self.recorded(lambda: forward, [numbers(10)])
        fault = self.fault(in_child(replayed, folder, about, [numbers(10)]))
        self.assertEqual(fault["kind"], "unsupported")
        self.assertIn("host", fault["text"])


class Streams(Case):
    def test_ordered(self):
        x = numbers(1000, seed=2)
        self.expect(lambda: lambda x: in_two_streams(x, True), [numbers(1000)], [x], [4 * x])
        self.expect(lambda: halves_in_two_streams, [numbers(1000)], [x], [2 * x])

    def test_unordered(self):
        folder, about = self.recorded(lambda: lambda x: in_two_streams(x, False), [numbers(1000)])
        fault = self.fault(in_child(replayed, folder, about, [numbers(1000)]))
        self.assertEqual(fault["kind"], "unordered")

    def test_nobody_waits_for_the_last(self):
        def forward(x):
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                return added(x, x)
        folder, about = self.recorded(lambda: forward, [numbers(1000)])
        fault = self.fault(in_child(replayed, folder, about, [numbers(1000)]))
        self.assertEqual(fault["kind"], "unordered")

    def test_branches_of_a_graph(self):
        def forward(x):
            self_ = forward
            if not hasattr(self_, "graph"):
                self_.graph, self_.input = torch.cuda.CUDAGraph(), torch.empty_like(x)
                added(x, x)
                torch.cuda.synchronize()
                with torch.cuda.graph(self_.graph):
                    self_.output = in_two_streams(self_.input, True)
            self_.input.copy_(x)
            self_.graph.replay()
            return self_.output
        x = numbers(1000, seed=2)
        folder, _ = self.expect(lambda: forward, [numbers(1000)], [x], [4 * x])
        lines = (folder / "trace" / "trace.jsonl").read_text().splitlines()
        streams = {json.loads(line)["stream"] for line in lines if '"do":"launch"' in line}
        self.assertGreater(len(streams), 1)


class Priced(Case):
    def test_a_large_launch_is_priced_by_a_few_blocks(self):
        def forward(x):
            out = torch.empty(x.shape[0], device="cuda")
            rows_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=1024)
            return out.relu_()
        x = torch.empty(1 << 16, 1 << 15, device="meta")  # 8 GB
        folder, about = self.recorded(lambda: forward, [x], 1)
        begun = time.process_time()
        outputs, findings, report = must(in_child(replayed, folder, about, None, "priced"))
        self.assertLess(time.process_time() - begun, 30)
        self.assertIsNone(outputs)
        self.assertEqual(findings, [])
        kernel = next(one for one in report["kernels"] if "rows" in one["kernel"])
        self.assertEqual((kernel["calls"], kernel["unpriced"]), (1, 0))
        least = 4 * x.numel() / 1.6e12 * 1e9  # the memory's rate
        self.assertTrue(least < kernel["time_ns"] < 5 * least, kernel["time_ns"] / least)
        self.assertEqual([one["name"] for one in report["operators"]], ["aten::relu_"])

    def test_a_launch_costs_the_same_in_both_ways(self):
        def uneven(x):
            out = torch.empty(20_000, device="cuda")
            uneven_kernel[(20_000,)](x, out, 101, BLOCK=128)
            return out
        self.assertLess(self.apart(lambda: added, [numbers(4096), numbers(4096)]), 0.02)
        self.assertLess(self.apart(lambda: uneven, [numbers(64, 128)]), 0.2)

    def test_no_operator_does_a_product_for_less(self):
        def forward(x, y):
            torch.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist")
            torch.linalg.inv(x)
            return x @ y
        folder, about = self.recorded(lambda: forward, [torch.empty(256, 256, device="meta")] * 2, 1)
        report = must(in_child(replayed, folder, about, None, "priced"))[2]
        flops = {one["name"]: one["flops"] for one in report["operators"]}
        for name in ("aten::_cdist_forward", "aten::linalg_inv_ex"):
            self.assertGreaterEqual(flops[name], 0.99 * flops["aten::mm"], flops)

    def apart(self, make, inputs):
        """By how much prices differ when a few blocks run and when all do."""
        folder, about = self.recorded(make, inputs, 1)
        times, work = [], []
        for mode in ("whole", "priced"):
            request = {"trace": str(folder / "trace"), "snapshot": str(folder / "snapshot"), "record": about,
                       "inputs": None, "place": str(folder), "mode": mode}
            reply = must(in_child(replay.replay, request))
            times.append(reply["report"]["kernels"][0]["time_ns"])
            work.append(reply["work"])
        self.assertEqual(work[0], work[1])
        self.assertEqual(work[0][0]["calls"], 1)
        return abs(times[1] / times[0] - 1)


class Tampered(Case):
    """Whatever stands in a recording, a replay ends with an answer or with a Fault."""

    VALUES = (None, -1, 0, 1, 1 << 63, 1 << 64, 1e300, "", "x", [], [1], {}, True)

    def test_no_line_can_make_the_reader_fail_otherwise(self):
        folder, _ = self.recorded(lambda: lambda x: (added(x, x) @ x).relu_(), [numbers(16, 16)])
        path = folder / "trace" / "trace.jsonl"
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        dice = random.Random(1)
        for _ in range(400):
            changed = json.loads(json.dumps(lines))
            target = dice.choice(changed)
            while True:  # somewhere in it
                key = dice.choice(list(target)) if isinstance(target, dict) else dice.randrange(len(target))
                if isinstance(target[key], (dict, list)) and target[key] and dice.random() < 0.7:
                    target = target[key]
                    continue
                break
            target[key] = dice.choice(self.VALUES)
            path.write_text("\n".join(json.dumps(one) for one in changed))
            with contextlib.suppress(Fault):
                trace.Trace(str(folder / "trace"))
        for text in ("", "{", "[]\n", "[" * 100_000, '{"do":"begin"}\n', "\0", '{"do":[]}'):
            path.write_text(text)
            with self.assertRaises(Fault):
                trace.Trace(str(folder / "trace"))

    def test_nobody_names_smaller_results_for_a_lower_price(self):
        folder, about = self.recorded(lambda: lambda x: (x @ x).relu_(), [torch.empty(64, 64, device="meta")], 1)
        path = folder / "trace" / "trace.jsonl"
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        product = next(one for one in lines if one.get("name") == "aten::mm")
        in_place = next(one for one in lines if one.get("name") == "aten::relu_")
        def price():
            path.write_text("\n".join(json.dumps(one) for one in lines))
            return in_child(replayed, folder, about, None, "priced")
        honest = must(price())[2]["operators"]
        in_place["results"] = [["value"]]
        self.assertEqual(must(price())[2]["operators"], honest)
        product["results"][0][3] = [1, 1]
        self.assertEqual(self.fault(price())["kind"], "raised")

    def test_no_replay_goes_beyond_its_memory(self):
        folder, about = self.recorded(lambda: lambda x: (added(x, x) @ x).relu_(), [numbers(16, 16)])
        path = folder / "trace" / "trace.jsonl"
        lines = [json.loads(line) for line in path.read_text().splitlines()]

        def index(kind):
            return next(i for i, one in enumerate(lines) if one["do"] == kind)

        def change(kind, **values):
            made = json.loads(json.dumps(lines))
            made[index(kind)].update(values)
            return made

        product = json.loads(json.dumps(lines))
        product[index("operator")]["arguments"][0][3] = [1 << 40, 16]
        other = json.loads(json.dumps(lines))
        other[index("operator")]["results"][0][3] = [16, 15]
        beyond = json.loads(json.dumps(lines))
        beyond[0]["allocations"][0][0] = 4096
        for made in (change("launch", module=9), change("launch", stream=3), change("launch", parameters="00"),
                     change("launch", kernel="other"), change("launch", grid=[0, 1, 1]),
                     change("launch", block=[1 << 20, 1, 1]), change("alloc", address=lines[0]["allocations"][0][0]),
                     change("alloc", bytes=1 << 45), change("operator", name="aten::from_file"),
                     change("operator", arguments=[]), change("operator", arguments=[["int", 1], ["int", 1]]),
                     change("module", texts=[[0, 5]]), change("module", texts=[]),
                     change("module", globals=[["x", 0x100000001000, 64]]), product, other, beyond,
                     lines[:index("launch")] + [{"do": "wait", "stream": 0, "point": 7}] + lines[index("launch"):]):
            path.write_text("\n".join(json.dumps(one) for one in made))
            done, what = in_child(replayed, folder, about, [numbers(16, 16)])
            self.assertTrue(done and what[0] is None or what[0] == "Fault", what)


if __name__ == "__main__":
    unittest.main()
