"""Tasks in KernelBench's format: the sizes they are judged at, their inputs and expected outputs, and
which outputs
are taken for right. All of it on the host."""

import contextlib
import io
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "python"))

import torch  # noqa: E402

from kernevo_judge import arithmetic, compare, kernelbench, sizes, tasks, variants  # noqa: E402
from kernevo_judge.fault import Fault  # noqa: E402

TASKS = HERE / "tasks"


def task(name):
    return str(TASKS / f"{name}.py")


class Judged(unittest.TestCase):
    """A case with its own folder, and candidates that are functions of the judged inputs."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = folder.name

    def described(self, name, **more):
        answer = tasks.describe({"task": task(name), **more})
        json.dumps(answer, allow_nan=False)
        return answer

    def case(self, name, kind, **more):
        return next(one for one in self.described(name, **more)["cases"] if one["kind"] == kind)

    def prepared(self, name, kind="small", **more):
        case = self.case(name, kind, **{key: more[key] for key in ("precision", "mode") if key in more})
        secret = more.pop("secret", 9)
        if secret is not None:
            more["secret_file"] = os.path.join(self.place, "secret")
            with open(more["secret_file"], "w", encoding="utf-8") as file:
                file.write(str(secret))
        answer = tasks.prepare({"task": task(name), "case": case, "seed": 5, "place": self.place, **more})
        json.dumps(answer, allow_nan=False)
        self.variants = {one["name"]: one for one in answer["variants"]}
        return answer

    def judged(self, candidate, variant="nominal", **more):
        """What compare says of candidate(*inputs)."""
        inputs = torch.load(self.variants[variant]["inputs"], weights_only=True)
        made = candidate(*inputs)
        path = Path(self.place) / "outputs.pt"
        torch.save(list(made) if isinstance(made, (tuple, list)) else [made], path)
        answer = compare.compare(
            {"expected": self.variants[variant]["expected"], "outputs": str(path), **more}
        )
        json.dumps(answer, allow_nan=False)
        return answer

    def model(self, name, kind="small", precision=torch.float32):
        """The module with the weights a candidate gets."""
        space = {}
        exec(Path(task(name)).read_text(), space)
        made = torch.load(Path(self.place) / "init.pt", weights_only=True)
        torch.manual_seed(made["seed"])
        return space["Model"](*made["arguments"]).to(precision).train(made["mode"] == "train")


class Cases(Judged):
    def test_sizes_are_rebound_together(self):
        answer = self.described("linear_relu")
        kinds = [one["kind"] for one in answer["cases"]]
        self.assertEqual(kinds, ["small", "odd", "middle", "scaled", "real"])
        of = {one["kind"]: one for one in answer["cases"]}
        self.assertEqual(of["real"]["globals"], {})
        self.assertEqual(of["real"]["inputs"], [{"shape": [4096, 4096], "dtype": "float32"}])
        self.assertEqual(of["real"]["outputs"], [{"shape": [4096, 4096], "dtype": "float32"}])
        self.assertGreater(of["real"]["flops"], 2 * 4096 * 4096 * 4096)
        self.assertLessEqual(of["small"]["flops"], 62e6)
        self.assertLessEqual(of["middle"]["flops"], 410e6)
        self.assertEqual((of["real"]["fits"], of["scaled"]["fits"]), (False, True))
        for one in of["odd"]["inputs"][0]["shape"]:
            self.assertEqual(one % 2, 1)
        self.assertEqual((answer["mode"], answer["float64"]), ("train", True))
        self.assertEqual(answer["tolerance"], {"rtol": 1e-4, "atol": 1e-4})

    def test_what_is_nearest_to_real_keeps_the_weights(self):
        scaled = self.case("linear_relu", "scaled")
        self.assertEqual(list(scaled["globals"]), ["batch_size"])
        self.assertTrue(scaled["fits"])

    def test_groups_and_kernels_stay_valid(self):
        answer = self.described("grouped_conv")
        for one in answer["cases"]:
            self.assertNotIn("kernel_size", one["globals"])
            channels = one["globals"].get("in_channels", 96)
            self.assertEqual(channels % one["globals"].get("groups", 6), 0)
        odd = next(one for one in answer["cases"] if one["kind"] == "odd")
        self.assertEqual(odd["inputs"][0]["shape"][2] % 2, 1)
        self.assertEqual(odd["inputs"][0]["shape"][0], 3)

    def test_tied_sizes_change_together_and_what_model_reads_stays(self):
        answer = self.described("tied_sizes")
        self.assertIn("odd", [one["kind"] for one in answer["cases"]])
        for one in answer["cases"]:
            self.assertNotIn("offset", one["globals"])
            rows, columns = one["inputs"][0]["shape"]
            self.assertEqual(rows, columns)
        self.assertEqual(answer["tolerance"], {"rtol": 1e-3, "atol": 1e-3})

    def test_integers_masks_and_numbers(self):
        answer = self.described("embedding")
        inputs = answer["cases"][0]["inputs"]
        self.assertEqual([one.get("dtype") for one in inputs], ["int64", "bool", None])
        self.assertEqual(inputs[2], {"value": 3})

    def test_sizes_without_a_name(self):
        answer = self.described("unnamed_sizes")
        self.assertEqual([one["globals"] for one in answer["cases"] if one["kind"] == "real"], [{}])
        small = answer["cases"][0]
        self.assertLess(small["inputs"][0]["shape"][-1], 224)
        self.assertIn("get_inputs:224", small["globals"])

    def test_nothing_to_rebind(self):
        answer = self.described("fixed_sizes")
        self.assertEqual([one["kind"] for one in answer["cases"]], ["real"])
        self.assertIn("no size can be changed", answer["warnings"][0])

    def test_cases_are_distinct(self):
        for name in ("linear_relu", "softmax", "grouped_conv", "embedding", "several_outputs", "dropout"):
            seen = [
                json.dumps(one["inputs"]) + json.dumps(one["globals"])
                for one in self.described(name)["cases"]
            ]
            self.assertEqual(len(seen), len(set(seen)), name)

    def test_primes(self):
        self.assertEqual([sizes.next_prime(one) for one in (16, 17, 1025)], [17, 17, 1031])


class Modes(Judged):
    def test_dropout_is_judged_in_evaluation_mode(self):
        answer = self.described("dropout")
        self.assertEqual(answer["mode"], "eval")
        self.assertIn("random", answer["warnings"][0])
        self.prepared("dropout")
        self.assertTrue(self.judged(lambda x: self.model("dropout")(x).detach())["right"])
        self.assertFalse(self.judged(lambda x: self.model("dropout").train()(x).detach())["right"])

    def test_asking_for_training_mode_is_refused(self):
        with self.assertRaisesRegex(Fault, "bernoulli|dropout"):
            self.described("dropout", mode="train")

    def test_random_whatever_the_mode(self):
        with self.assertRaises(Fault) as caught:
            self.described("broken_random")
        self.assertEqual(caught.exception.kind, "task")
        self.assertIn("make them inputs", caught.exception.text)

    def test_a_module_that_insists_on_float32(self):
        answer = self.described("fixed_type")
        self.assertFalse(answer["float64"])
        self.assertIn("insists", answer["warnings"][0])
        self.assertTrue(self.prepared("fixed_type")["variants"][0]["used"])
        self.assertTrue(self.judged(lambda x: x * 3)["right"])
        self.assertFalse(self.judged(lambda x: x * 3.01)["right"])


class Broken(unittest.TestCase):
    def fault(self, name):
        with contextlib.redirect_stdout(io.StringIO()), self.assertRaises(Fault) as caught:
            tasks.describe({"task": task(name) if "/" not in name else name})
        self.assertEqual(caught.exception.kind, "task")
        return caught.exception

    def test_syntax(self):
        self.assertEqual(self.fault("broken_syntax").where, "broken_syntax.py:6")

    def test_import(self):
        fault = self.fault("broken_import")
        self.assertEqual(fault.where, "broken_import.py:2")
        self.assertIn("install no_such_package", fault.text)

    def test_forward(self):
        fault = self.fault("broken_forward")
        self.assertEqual(fault.where, "broken_forward.py:7")
        self.assertIn("forward fails", fault.text)

    def test_a_part_is_missing(self):
        self.assertIn("get_init_inputs", self.fault("broken_part").text)

    def test_no_such_file(self):
        self.assertIn("cannot be read", self.fault("/nowhere/task.py").text)

    def test_a_folder_holds_a_task(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "task.py").write_text(Path(task("softmax")).read_text())
            self.assertTrue(tasks.describe({"task": folder})["cases"])

    def test_precision(self):
        with self.assertRaisesRegex(Fault, "float16"):
            tasks.describe({"task": task("softmax"), "precision": "float8"})


class Inputs(Judged):
    def test_files(self):
        answer = self.prepared("linear_relu")
        init, decoys = (torch.load(answer[key], weights_only=True) for key in ("init", "decoy"))
        small = self.case("linear_relu", "small")
        self.assertEqual(
            init["arguments"], [small["globals"]["in_features"], small["globals"]["out_features"]]
        )
        self.assertEqual((init["mode"], init["precision"], init["seed"]), ("train", "float32", 5))
        self.assertEqual(len(decoys), 2)
        shown = [one for decoy in decoys for one in decoy]
        shown += [torch.load(one["inputs"], weights_only=True)[0] for one in self.variants.values()]
        for at, one in enumerate(shown):
            self.assertEqual(list(one.shape), small["inputs"][0]["shape"])
            for other in shown[:at]:
                self.assertFalse(torch.equal(one, other))

    def test_judged_inputs_follow_the_secret_and_not_the_seed(self):
        def inputs(**more):
            self.prepared("softmax", variants=["nominal"], **more)
            return torch.load(self.variants["nominal"]["inputs"], weights_only=True)[0]

        first = inputs()
        self.assertTrue(torch.equal(first, inputs(seed=6)))
        self.assertFalse(torch.equal(first, inputs(secret=10)))
        self.assertFalse(torch.equal(inputs(secret=None), inputs(secret=None)))

    def test_variants(self):
        self.prepared("linear_relu")
        inputs = {
            name: torch.load(one["inputs"], weights_only=True)[0] for name, one in self.variants.items()
        }
        self.assertGreaterEqual(inputs["nominal"].min(), 0)
        self.assertLess(inputs["signed"].min(), -1)
        self.assertGreater(inputs["wide"].abs().max(), 50)
        self.assertTrue((inputs["ragged"][0] == 0).all())

    def test_masks_and_indices_stay_what_they_are(self):
        self.prepared("embedding")
        for one in self.variants.values():
            if one["used"]:
                tokens, mask, scale = torch.load(one["inputs"], weights_only=True)
                self.assertEqual((tokens.dtype, mask.dtype, scale), (torch.int64, torch.bool, 3))
                self.assertTrue((tokens >= 0).all())

    def test_distributions_stay_distributions(self):
        self.prepared("divergence")
        for one in self.variants.values():
            if one["used"]:
                for given in torch.load(one["inputs"], weights_only=True):
                    torch.testing.assert_close(given.sum(-1), torch.ones(len(given)))

    def test_where_the_reference_is_no_number_it_is_not_used(self):
        self.prepared("roots")
        self.assertTrue(self.variants["nominal"]["used"])
        self.assertFalse(self.variants["signed"]["used"])
        self.assertIn("not finite", self.variants["signed"]["why"])

    def test_without_values(self):
        case = self.case("linear_relu", "real")
        answer = tasks.prepare(
            {"task": task("linear_relu"), "case": case, "seed": 1, "place": self.place, "values": False}
        )
        decoys = torch.load(answer["decoy"], weights_only=True)
        self.assertEqual([str(one.device) for one in decoys[1]], ["meta"])
        self.assertEqual(decoys[0][0].shape, (4096, 4096))
        self.assertLess(sum(one.stat().st_size for one in Path(self.place).iterdir()), 100_000)

    def test_sixteen_bits(self):
        for precision, dtype in (("float16", torch.float16), ("bf16", torch.bfloat16)):
            answer = self.prepared("linear_relu", precision=precision)
            self.assertEqual(answer["outputs"][0]["dtype"], str(dtype).removeprefix("torch."))
            model = self.model("linear_relu", precision=dtype)
            for name, one in self.variants.items():
                if one["used"]:
                    self.assertTrue(
                        self.judged(lambda x: model(x).detach(), name)["right"], (precision, name)
                    )


class Trivial(Judged):
    def test_a_task_that_zeros_pass(self):
        answer = self.prepared("always_zero")
        self.assertTrue(answer["trivial"])
        self.assertIn("zeros", answer["trivial_why"])

    def test_others_are_not(self):
        for name in ("linear_relu", "softmax", "tied_sizes", "several_outputs", "embedding", "divergence"):
            self.assertFalse(self.prepared(name)["trivial"], name)


class Hostile(Judged):
    """Outputs of programs that are wrong in one way each."""

    def refused(self, candidate, variant="nominal"):
        answer = self.judged(candidate, variant)
        self.assertFalse(answer["right"], answer)
        return answer

    def test_honest_outputs_are_right(self):
        for name in ("linear_relu", "grouped_conv"):
            for kind in ("small", "odd"):
                self.prepared(name, kind)
                model = self.model(name)
                for variant, one in self.variants.items():
                    if one["used"]:
                        answer = self.judged(lambda x: model(x).detach(), variant)
                        self.assertTrue(answer["right"], (name, kind, variant, answer))

    def test_sums_in_another_order_are_right(self):
        self.prepared("linear_relu")
        model = self.model("linear_relu")

        def one_after_the_other(x):
            total = torch.zeros(x.shape[0], model.linear.out_features)
            for at in range(x.shape[1]):
                total += x[:, at : at + 1] * model.linear.weight[:, at].detach()
            return torch.relu(total + model.linear.bias.detach())

        for variant in self.variants:
            self.assertTrue(self.judged(one_after_the_other, variant)["right"], variant)

    def test_tf32(self):
        for name in ("linear_relu", "grouped_conv"):
            answer = self.prepared(name)
            self.assertIsNone(answer["not_told_apart"])
            model = self.model(name)

            def rounded(x):
                with arithmetic.TensorFloat(), torch.no_grad():
                    return model(x)

            self.assertIn(False, [self.judged(rounded, variant)["right"] for variant in self.variants],
            name)
            self.prepared(name, allow_tf32=True)
            self.assertEqual(
                {self.judged(rounded, variant)["right"] for variant in self.variants}, {True}, name
            )

    def test_sums_in_sixteen_bits(self):
        answer = self.prepared("linear_relu", precision="float16")
        self.assertIsNone(answer["not_told_apart"])
        model = self.model("linear_relu", precision=torch.float16)

        def short(x):
            with arithmetic.ShortSums(), torch.no_grad():
                return model(x)

        used = [name for name, one in self.variants.items() if one["used"]]
        self.assertIn(False, [self.judged(short, variant)["right"] for variant in used])

    def test_nothing_and_constants(self):
        self.prepared("softmax")
        for candidate in (
            torch.zeros_like,
            torch.ones_like,
            lambda x: torch.full_like(x, 1 / x.shape[1]),
            lambda x: x,
        ):
            self.refused(candidate)

    def test_the_result_of_other_inputs(self):
        self.prepared("softmax")
        decoy = torch.load(Path(self.place) / "decoy.pt", weights_only=True)[1][0]
        self.refused(lambda x: torch.softmax(decoy, 1))

    def test_one_wrong_element(self):
        self.prepared("softmax")
        rows, columns = self.case("softmax", "small")["inputs"][0]["shape"]
        for row, column in ((0, 0), (rows - 1, columns - 1), (rows // 2, columns // 3)):

            def broken(x):
                made = torch.softmax(x, 1)
                made[row, column] *= 1.01
                return made

            worst = self.refused(broken)
            self.assertEqual((worst["worst"]["index"], worst["wrong"]), ([row, column], 1))
            self.assertGreater(worst["worst"]["ratio"], 1)

    def test_shape_and_type(self):
        self.prepared("softmax")
        self.assertIn("shape", self.refused(lambda x: torch.softmax(x, 1).reshape(-1))["text"])
        self.assertIn("float64", self.refused(lambda x: torch.softmax(x, 1).double())["text"])
        self.assertIn("2 tensors", self.refused(lambda x: (torch.softmax(x, 1), x))["text"])

    def test_no_numbers(self):
        self.prepared("softmax")
        for value in (float("nan"), float("inf"), -float("inf")):

            def broken(x):
                made = torch.softmax(x, 1)
                made[1, 2] = value
                return made

            worst = self.refused(broken)
            self.assertEqual((worst["worst"]["ratio"], worst["worst"]["index"]), ("inf", [1, 2]))
        self.assertEqual(
            self.refused(lambda x: torch.full_like(x, float("nan")))["nan"],
            self.refused(lambda x: torch.full_like(x, float("nan")))["elements"],
        )

    def test_overflow_where_it_need_not_be(self):
        """exp without the maximum taken off: right on the task's own inputs, wrong on wide ones."""
        self.prepared("softmax")

        def naive(x):
            return torch.exp(x) / torch.exp(x).sum(1, keepdim=True)

        self.assertTrue(self.judged(naive)["right"])
        self.refused(naive, "wide")

    def test_left_out_because_the_inputs_are_positive(self):
        self.prepared("rectified")
        self.assertTrue(self.judged(lambda x: x)["right"])
        self.refused(lambda x: x, "signed")

    def test_several_outputs(self):
        answer = self.prepared("several_outputs")
        self.assertEqual(
            answer["structure"], {"tuple": ["tensor", {"dict": {"places": "tensor", "mean": "tensor"}}]}
        )
        self.assertFalse(self.variants["ragged"]["used"])

        def right(x):
            values, places = x.max(1)
            return values, places, x.mean(1)

        self.assertTrue(self.judged(right, structure=answer["structure"])["right"])
        self.assertFalse(self.judged(right, structure={"list": ["tensor", "tensor", "tensor"]})["right"])
        worst = self.refused(lambda x: (right(x)[0], (right(x)[1] + 1) % x.shape[1], right(x)[2]))
        self.assertEqual((worst["worst"]["output"], worst["worst"]["ratio"]), (1, "inf"))
        self.refused(lambda x: (*right(x)[:2], torch.zeros(len(x))))

    def test_variants_it_does_not_know(self):
        with self.assertRaisesRegex(Fault, "nominal"):
            self.prepared("softmax", variants=["ordinary"])
        self.assertEqual(variants.NAMES[0], "nominal")


class Imitations(unittest.TestCase):
    def test_tf32_has_ten_bits(self):
        given = torch.tensor([1 + 2**-10, 1 + 2**-11, 1 + 2**-12, -3.0])
        self.assertEqual(arithmetic.to_tf32(given).tolist(), [1 + 2**-10, 1 + 2**-10, 1.0, -3.0])

    def test_convolutions_are_split_right(self):
        images, weights, bias = torch.randn(2, 32, 9, 9), torch.randn(8, 32, 3, 3), torch.randn(8)
        exact = torch.nn.functional.conv2d(images, weights, bias)
        with arithmetic.ShortSums():
            made = torch.nn.functional.conv2d(images.half(), weights.half(), bias.half())
        torch.testing.assert_close(made.float(), exact, rtol=0.02, atol=0.2)
        self.assertFalse(torch.equal(made, exact.half()))


class Checkouts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        level = self.root / "KernelBench" / "level1"
        level.mkdir(parents=True)
        for name in ("19_ReLU.py", "20_LeakyReLU.py", "2_Standard_matrix_multiplication_.py", "readme.md"):
            (level / name).write_text("")

    def find(self, problem, folder=None, level=1):
        return kernelbench.find({"dir": str(folder or self.root), "level": level, "problem":
        problem})["name"]

    def test_both_layouts(self):
        for folder in (self.root, self.root / "KernelBench", self.root / "KernelBench" / "level1"):
            self.assertEqual(self.find("19", folder), "19_ReLU")
            self.assertEqual(
                [
                    one["id"]
                    for one in kernelbench.list_problems({"dir": str(folder), "level": 1})["problems"]
                ],
                [2, 19, 20],
            )

    def test_names(self):
        for wanted in (19, "relu", "ReLU", "19_ReLU.py", "19_relu"):
            self.assertEqual(self.find(wanted), "19_ReLU")
        self.assertEqual(self.find("leaky"), "20_LeakyReLU")
        self.assertEqual(self.find("Standard_matrix_multiplication_"), "2_Standard_matrix_multiplication")

    def test_what_is_not_there(self):
        for call, text in (
            (lambda: self.find("9"), "2 to 20"),
            (lambda: self.find("softmax"), "no problem named"),
            (lambda: self.find("u"), "give the number"),
            (lambda: self.find("19", level=2), "level1"),
            (lambda: self.find("19", level="one"), "1, 2 or 3"),
            (lambda: self.find("19", folder="/nowhere"), "clone https"),
            (lambda: self.find("19", folder=self.root / "KernelBench" / "none"), "clone https"),
        ):
            with self.assertRaisesRegex(Fault, text):
                call()


if __name__ == "__main__":
    torch.set_num_threads(1)
    unittest.main()
