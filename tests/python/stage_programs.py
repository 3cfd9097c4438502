"""Programs for the stage, and what is asked of it for each."""
import os
import textwrap
import unittest

from stage_driver import Stage

HEAD = """
import ctypes, os, sys, time
import torch
import torch.nn as nn
"""
HONEST = HEAD + """
class ModelNew(nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(3000))
        self.factor = factor
    def forward(self, x, y):
        return x * self.weight * self.factor + y
"""
TRITON = HEAD + """
import triton, triton.language as tl
TUNED
@triton.jit
def kernel(x, y, w, out, n, factor, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    value = tl.load(x + at, mask=inside) * tl.load(w + at, mask=inside) * factor + tl.load(y + at, mask=inside)
    tl.store(out + at, value, mask=inside)

class ModelNew(nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(3000))
        self.factor = factor
    def forward(self, x, y):
        out = torch.empty_like(x)
        GRID(x, y, self.weight, out, x.numel(), self.factor, BLOCKS)
        return out
"""
PLAIN_TRITON = TRITON.replace("TUNED", "").replace("GRID", "kernel[(triton.cdiv(3000, 256),)]").replace("BLOCKS", "BLOCK=256")
TUNED_TRITON = TRITON.replace("TUNED", "@triton.autotune(configs=[triton.Config({'BLOCK': 64}), "
                              "triton.Config({'BLOCK': 1024})], key=['n'])").replace(
                                  "GRID", "kernel[lambda meta: (triton.cdiv(3000, meta['BLOCK']),)]").replace(", BLOCKS", "")


ATTACKS = """
libc = ctypes.CDLL(None, use_errno=True)
failed = 0
for attack in {!r}:
    try:
        exec(attack)
        print("got through:", attack)
    except (OSError, ValueError):
        failed += 1
print(failed, "failed")
"""


def program(forward, construction="", head=""):
    """A module of which one part is hostile."""
    return (HEAD + textwrap.dedent(head) + "\nclass ModelNew(nn.Module):\n    def __init__(self, factor):\n"
            "        super().__init__()\n        self.weight = nn.Parameter(torch.rand(3000))\n        self.factor = factor\n"
            + textwrap.indent(textwrap.dedent(construction), " " * 8) + "\n    def forward(self, x, y):\n"
            + textwrap.indent(textwrap.dedent(forward), " " * 8) + "\n")


def setUpModule():
    Staged.stage = Stage()
    if Staged.stage.hello["hello"] != 1:
        raise AssertionError(Staged.stage.hello)
    try:
        Staged.stage.prepare()
    except AssertionError as problem:
        if "can close the file system to no process" in str(problem):
            raise unittest.SkipTest("SKIP: this system has neither Landlock nor user namespaces") from problem
        raise


def tearDownModule():
    code = Staged.stage.close()
    if code != 0:
        raise AssertionError(f"the stage ended with {code}")


class Staged(unittest.TestCase):
    stage = None

    def recorded(self, text, **more):
        reply = self.stage.record(text, **more)
        self.assertTrue(reply["ok"], reply)
        return reply

    def refused(self, text, *kinds, then_honest=True, **more):
        """It ends as one of these, and the stage goes on. Returns the error."""
        more = {"seconds": 20, **more}
        reply = self.stage.record(text, **more)
        self.assertFalse(reply["ok"], reply)
        self.assertIn(reply["error"]["kind"], kinds, reply["error"])
        self.assertLess(self.stage.took, more["seconds"] + 15)
        if then_honest:
            self.recorded(HONEST)
        return reply["error"]

    def withstood(self, *attacks):
        """Statements that fail, each of them."""
        reply = self.recorded(HEAD + ATTACKS.format([textwrap.dedent(attack) for attack in attacks])
                              + HONEST.removeprefix(HEAD))
        self.assertNotIn("got through", reply["printed"])
        self.assertIn(f"{len(attacks)} failed", reply["printed"])
