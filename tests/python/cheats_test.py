"""Programs that profit from whatever a judge does not look at, and their honest twins: each says in its first line
what it must be found to be, and in its third which program it goes on from. One run of `kernevo kernelbench` judges
them all."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent / "cheats"
KERNEVO = Path(sys.argv.pop(1)).resolve() / "kernevo"


def text_of(program):
    text = program.read_text(encoding="utf-8")
    third = text.splitlines()[2]
    return text_of(HERE / third.removeprefix("# after ")) + "\n\n" + text if third.startswith("# after ") else text


def wanted(program):
    """The verdicts that will do, and other words."""
    return program.read_text(encoding="utf-8").splitlines()[0].removeprefix("# verdict: ").split()


def is_set_up():
    parts = json.loads(subprocess.run([KERNEVO, "doctor", "--json"], capture_output=True, check=False).stdout)["parts"]
    return any(one["part"] == "Python programs" and one["state"] == "ok" for one in parts)


class Cheats(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not is_set_up() and not os.environ.get("KERNEVO_TESTS_COMPLETE"):
            raise unittest.SkipTest("torch and Triton are missing (kernevo setup python installs them)")
        cls.programs = sorted(HERE.glob("*.py"))
        with tempfile.TemporaryDirectory() as run:
            for sample, program in enumerate(cls.programs):
                name = f"level_1_problem_1_sample_{sample}_kernel.py"
                (Path(run) / name).write_text(text_of(program), encoding="utf-8")
            cls.said = subprocess.run(
                [KERNEVO, "kernelbench", "run", run, "--kernelbench", HERE, "--level", "1", "--gpu", "A100"],
                capture_output=True, text=True, check=False)
            results = Path(run) / "eval_results.json"
            cls.results = {}
            if results.exists():
                for one in json.loads(results.read_text(encoding="utf-8"))["1"]:
                    cls.results[cls.programs[one["sample_id"]].stem] = one

    def test_every_program_has_a_verdict(self):
        self.assertEqual(self.said.returncode, 0, self.said.stderr)
        self.assertEqual(sorted(self.results), [program.stem for program in self.programs])

    def test_verdicts(self):
        for program in self.programs:
            with self.subTest(program=program.stem):
                one = self.results[program.stem]
                self.assertIn(one["metadata"]["verdict"], wanted(program), one["metadata"]["summary"])
                self.assertEqual(one["correctness"], one["metadata"]["verdict"] == "correct")

    def test_who_does_nothing_unseen_is_paid_for_what_was_seen(self):
        honest = self.results["honest"]["runtime"]
        idle = self.results["idle_where_there_is_no_value"]
        self.assertGreaterEqual(idle["runtime"], honest)

    def test_work_left_to_torch_is_told_apart(self):
        for program in self.programs:
            share = self.results[program.stem]["metadata"].get("authored_share")
            if share is None:
                continue
            with self.subTest(program=program.stem):
                if "unauthored" in wanted(program):
                    self.assertLess(float(share), 0.5)
                if program.stem in ("honest", "cuda_inline"):
                    self.assertEqual(float(share), 1.0)

    def test_a_clock_of_the_program_is_not_asked(self):
        self.assertEqual(self.results["patched_clock"]["runtime"], self.results["honest"]["runtime"])


if __name__ == "__main__":
    unittest.main()
