"""PyTorch programs on the virtual GPU: right results, and refusals where a GPU refuses."""
import unittest

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

close = torch.testing.assert_close


def on_both(module, *inputs):
    """Results and gradients on the host and on the GPU: they must agree."""
    def once(device):
        module.zero_grad()
        module.to(device)
        given = [one.detach().to(device).requires_grad_() for one in inputs]
        result = module(*given)
        result = result[0] if isinstance(result, tuple) else result
        result.square().sum().backward()
        return [one.cpu() for one in (result, *(x.grad for x in given), *(p.grad for p in module.parameters()))]
    for here, there in zip(once("cpu"), once("cuda")):
        close(there, here)


class Tensors(unittest.TestCase):
    def test_lives_on_the_gpu(self):
        x = torch.arange(12, device="cuda").reshape(3, 4)
        self.assertTrue(x.is_cuda)
        self.assertEqual(x.t()[1].tolist(), [1, 5, 9])
        self.assertEqual(x.t().contiguous().cpu()[1].tolist(), [1, 5, 9])
        self.assertEqual(x[torch.tensor([2, 0])].sum().item(), 44)
        with self.assertRaises(TypeError):
            x.numpy()

    def test_copies_convert_and_reorder(self):
        host = torch.randn(5, 7)
        self.assertTrue(torch.equal(host.t().cuda().double().cpu(), host.t().double()))
        there = torch.zeros(7, 5, device="cuda", dtype=torch.float64)
        there.t().copy_(host)
        self.assertTrue(torch.equal(there.cpu(), host.t().double()))
        back = torch.empty(7, 5)
        back.copy_(there)
        self.assertTrue(torch.equal(back, host.t()))

    def test_writes_through_views_and_outputs(self):
        x = torch.zeros(4, 4, device="cuda")
        x[1:3, ::2].add_(1)
        self.assertEqual(x.sum().item(), 4)
        out = torch.empty(0, device="cuda")
        torch.add(x, 1, out=out)
        self.assertEqual(out.shape, (4, 4))
        self.assertEqual(out.sum().item(), 20)

    def test_two_devices_are_refused(self):
        x = torch.ones(3, device="cuda")
        self.assertEqual((x + torch.tensor(2.0)).sum().item(), 9)  # a number may be anywhere
        with self.assertRaisesRegex(RuntimeError, "at least two devices, cuda:0 and cpu"):
            _ = x + torch.ones(3)
        with self.assertRaisesRegex(RuntimeError, "indices should be"):
            _ = torch.ones(3)[torch.tensor([0], device="cuda")]
        with self.assertRaisesRegex(RuntimeError, "invalid device ordinal"):
            torch.ones(3, device="cuda:1")

    def test_types_only_one_side_has(self):
        whole = torch.ones(2, 2, device="cuda", dtype=torch.long)
        with self.assertRaisesRegex(NotImplementedError, "not implemented for 'Long'"):
            _ = whole @ whole
        half = torch.randn(3, 3, device="cuda", dtype=torch.half)
        self.assertEqual((half @ half).dtype, torch.half)
        self.assertEqual(torch.linalg.vector_norm(half).dtype, torch.half)

    def test_sixteen_bits_are_rounded_once(self):
        x, w = torch.randn(4, 16, 9, 9), torch.randn(16, 8, 3, 3)
        for dtype, bits in ((torch.half, 11), (torch.bfloat16, 8)):
            a, b = x.to(dtype), w.to(dtype)
            for fn in (lambda a, b: F.conv_transpose2d(a, b, stride=2), lambda a, b: F.conv2d(a, b.transpose(0, 1)),
                       lambda a, b: F.batch_norm(a, None, None, training=True), lambda a, b: F.instance_norm(a)):
                exact = fn(a.double(), b.double())
                error = (fn(a.cuda(), b.cuda()).cpu().double() - exact).abs()
                self.assertLess((error / exact.abs().clamp(min=1e-2)).max().item(), 2.0 ** -bits * 1.1)
        running = torch.zeros(16, device="cuda", dtype=torch.half), torch.ones(16, device="cuda", dtype=torch.half)
        F.batch_norm(x.half().cuda() + 3, *running, training=True)
        self.assertGreater(running[0].min().item(), 0.2)

    def test_a_trace_has_its_convolutions(self):
        layer, x = torch.nn.Conv2d(1, 2, 3).cuda(), torch.zeros(1, 1, 6, 6, device="cuda")
        with torch.no_grad():
            traced = torch.jit.trace(layer, x)
            torch.testing.assert_close(traced(x + 1), layer(x + 1))

    def test_what_is_missing_says_so(self):
        self.assertFalse(torch.backends.cudnn.is_available())


class Random(unittest.TestCase):
    def test_seeds_and_states(self):
        def draws():
            torch.manual_seed(3)
            return torch.randn(5, device="cuda"), torch.rand(5), torch.rand(5, device="cuda")
        first, second = draws(), draws()
        for one, two in zip(first, second):
            self.assertTrue(torch.equal(one, two))
        torch.manual_seed(3)
        self.assertTrue(torch.equal(torch.rand(5), first[1]))  # the GPU's numbers are not the host's
        state = torch.cuda.get_rng_state()
        one = F.dropout(torch.ones(100, device="cuda"))
        torch.cuda.set_rng_state(state)
        self.assertTrue(torch.equal(one, F.dropout(torch.ones(100, device="cuda"))))

    def test_generators(self):
        generator = torch.Generator("cuda").manual_seed(1)
        one = torch.randn(1000, device="cuda", generator=generator)
        self.assertFalse(torch.equal(one, torch.randn(1000, device="cuda", generator=generator)))
        generator.manual_seed(1)
        self.assertTrue(torch.equal(one, torch.randn(1000, device="cuda", generator=generator)))
        self.assertLess(one.mean().abs().item(), 0.2)


class Modules(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)

    def test_gradients(self):
        on_both(nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4), nn.Softmax(-1)),
                torch.randn(6, 8))
        on_both(nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)), torch.randn(2, 3, 10, 10))
        on_both(nn.RMSNorm(16), torch.randn(4, 16))

    def test_sums_in_sixteen_bits_are_a_gpus(self):
        norm = nn.LayerNorm(64).cuda().half()
        x = torch.randn(2000, 64, device="cuda", dtype=torch.half)
        grad = torch.randn_like(x)
        norm(x).backward(grad)
        self.assertEqual(norm.bias.grad.dtype, torch.half)
        close(norm.bias.grad.double(), grad.double().sum(0), rtol=1e-3, atol=1e-3)

    def test_recurrent(self):
        for kind in (nn.LSTM, nn.GRU, nn.RNN):
            on_both(kind(4, 6, 2), torch.randn(5, 3, 4))

    def test_losses_of_sequences(self):
        x = torch.randn(12, 2, 5)
        targets, long, short = torch.tensor([[1, 2, 3], [3, 4, 1]]), torch.tensor([12, 10]), torch.tensor([3, 2])
        wanted = F.ctc_loss(x.log_softmax(2), targets, long, short)
        close(F.ctc_loss(x.cuda().log_softmax(2), targets.cuda(), long, short).cpu(), wanted)
        with self.assertRaisesRegex(NotImplementedError, "Sparse tensors are not on the virtual GPU"):
            x.cuda().to_sparse()

    def test_attention_whatever_is_asked_for(self):
        q, k, v = (torch.randn(2, 4, 16, 8) for _ in range(3))
        wanted = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        for backend in (SDPBackend.MATH, SDPBackend.FLASH_ATTENTION):
            with sdpa_kernel(backend):
                close(F.scaled_dot_product_attention(q.cuda(), k.cuda(), v.cuda(), is_causal=True).cpu(), wanted)

    def test_training(self):
        model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2)).cuda()
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        x = torch.randn(64, 8, device="cuda")
        labels = (x.sum(1) > 0).long()
        losses = []
        for _ in range(30):
            with torch.autocast("cuda", dtype=torch.bfloat16):
                loss = F.cross_entropy(model(x), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        self.assertLess(losses[-1], 0.5 * losses[0])


class Graphs(unittest.TestCase):
    def test_replays_do_the_work_again(self):
        x = torch.ones(4, device="cuda")
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = x * 2
            y.add_(1)
            x.add_(1)
            total = y.sum()
        self.assertEqual(x.tolist(), [1] * 4)  # capturing changes nothing
        graph.replay()
        torch.cuda.synchronize()
        self.assertEqual((total.item(), x.tolist()), (12, [2] * 4))
        graph.replay()
        torch.cuda.synchronize()
        self.assertEqual((total.item(), x.tolist()), (20, [3] * 4))

    def test_what_needs_values_is_refused(self):
        x = torch.ones(4, device="cuda")
        with self.assertRaisesRegex(RuntimeError, "stream is capturing"):
            with torch.cuda.graph(torch.cuda.CUDAGraph()):
                x.nonzero()


class Time(unittest.TestCase):
    def test_operators_have_a_price(self):
        def took(fn):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            fn()
            end.record()
            end.synchronize()
            return start.elapsed_time(end)
        small, large = (torch.ones(n, n, device="cuda") for n in (16, 1024))
        # An A100's 19.5 TFLOP/s of fp32 do 2 GFLOP in no less than 0.11 ms, and no kernel ends in a microsecond.
        self.assertGreater(took(lambda: large @ large), 0.11)
        self.assertLess(took(lambda: large @ large), 0.2)
        self.assertGreater(took(lambda: small @ small), 0.001)
        self.assertEqual(took(lambda: None), 0)


if __name__ == "__main__":
    unittest.main()
