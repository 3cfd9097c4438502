"""The stage and a candidate's process: what honest programs ask of the GPU is recorded, and mistakes are told by
their kind and line."""
import os
import unittest

from stage_driver import TASK
from stage_programs import HONEST, PLAIN_TRITON, TUNED_TRITON, Staged, program, setUpModule, tearDownModule


class Honest(Staged):
    def test_says_hello(self):
        self.assertEqual(set(self.stage.hello), {"hello", "torch", "triton", "python"})

    def test_a_torch_program(self):
        reply = self.recorded(HONEST)
        (output,) = reply["outputs"]
        self.assertEqual((output["shape"], output["dtype"], output["strides"], output["offset"]), ([3000], "float32", [1], 0))
        self.assertEqual([one["shape"] for one in reply["inputs"]], [[3000], [3000]])
        self.assertEqual((reply["structure"], reply["reads_back"], reply["launches"]), ("tensor", False, 0))
        self.assertGreaterEqual(reply["operators"], 3)
        self.assertTrue(os.path.getsize(reply["snapshot"]) >= 3000 * 4)
        self.assertTrue(os.path.exists(os.path.join(reply["trace"], "trace.jsonl")))

    def test_the_reference_is_recorded_alike(self):
        reply = self.recorded(TASK, **{"class": "Model"})
        self.assertEqual(reply["outputs"][0]["shape"], [3000])

    def test_triton(self):
        reply = self.recorded(PLAIN_TRITON)
        self.assertEqual((reply["launches"], reply["operators"]), (1, 0))

    def test_triton_that_tunes_itself(self):
        reply = self.recorded(TUNED_TRITON)
        self.assertEqual((reply["launches"], reply["operators"]), (1, 0))

    def test_another_gpu(self):
        reply = self.recorded(program("print(torch.cuda.get_device_capability())\nreturn x * self.weight"), gpu="H100")
        self.assertIn("(9, 0)", reply["printed"])

    def test_half_precision(self):
        reply = self.recorded(HONEST, precision="fp16")
        self.assertEqual([one["dtype"] for one in reply["inputs"] + reply["outputs"]], ["float16"] * 3)

    def test_nothing_is_executed_where_nobody_asks(self):
        reply = self.recorded(PLAIN_TRITON, execute="none")
        self.assertEqual(reply["launches"], 1)

    def test_structures(self):
        reply = self.recorded(program("return {'a': (x, [y + 1, 3]), 'b': x[::2]}"))
        self.assertEqual(reply["structure"], {"dict": {"a": {"tuple": ["tensor", {"list": ["tensor", {"value": 3}]}]},
                                                       "b": "tensor"}})
        self.assertEqual(reply["outputs"][2]["strides"], [2])
        self.assertEqual(reply["outputs"][0]["address"], reply["inputs"][0]["address"])

    def test_programs_that_look_at_results(self):
        self.assertTrue(self.recorded(program("return x * y.sum().item()"))["reads_back"])

    def test_what_is_printed(self):
        reply = self.recorded(program("print('from forward'); return x", "print('from construction')", "print('from import')"))
        self.assertEqual(reply["printed"].split("\n")[:3], ["from import", "from construction", "from forward"])

    def test_a_tidy_end_of_threads(self):
        self.recorded(program("return x", "import threading\n"
                              "threading.Thread(target=lambda: [time.sleep(0.01) for _ in iter(int, 1)], daemon=True).start()"))
        self.recorded(HONEST)


class Mistaken(Staged):
    def test_syntax(self):
        error = self.refused("import torch\nclass ModelNew(:\n", "syntax")
        self.assertRegex(error["where"], r"program\d+\.py:2")

    def test_exceptions_name_the_line(self):
        error = self.refused(program("return x + missing"), "raised")
        self.assertIn("NameError", error["text"])
        self.assertRegex(error["where"], r"program\d+\.py:\d+")
        self.assertTrue(any("in forward: return x + missing" in line for line in error["detail"]), error)

    def test_no_class(self):
        self.assertIn("ModelNew", self.refused("import torch\n", "contract")["text"])

    def test_no_module(self):
        self.refused("class ModelNew:\n    def __init__(self, factor): pass\n", "contract")

    def test_no_tensor(self):
        self.refused(program("return None"), "contract")

    def test_results_of_the_host(self):
        self.refused(program("return (x.cpu() * 2)"), "host")

    def test_exits(self):
        self.refused(program("return x", head="sys.exit(0)"), "raised")

    def test_a_kernel_that_does_not_compile(self):
        error = self.refused(PLAIN_TRITON.replace("tl.store(out + at", "tl.nothing(out + at"), "build")
        self.assertRegex(error["where"], r"program\d+\.py:\d+")

    def test_a_kernel_that_reads_past_its_end(self):
        error = self.refused(PLAIN_TRITON.replace("mask=inside", "mask=at < 1000000").replace("cdiv(3000", "cdiv(3000000"),
                             "raised", "died")
        self.assertTrue(any("out_of_bounds" in line for line in [error["text"], *error["detail"]]), error)


if __name__ == "__main__":
    unittest.main()
