#!/usr/bin/env python3
"""What the verdict of a small Triton program costs, warm, beside a process of its own for each: import torch, exec the
reference and the program, compare five times, as KernelBench's evaluator does. Both on the virtual GPU, in turns.

    bench/programs/run.py BUILD [--programs N]
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHEATS = HERE.parent.parent / "tests" / "python" / "cheats"
REFERENCE = CHEATS / "KernelBench" / "level1" / "1_Scaled_ReLU.py"
PROGRAM = CHEATS / "honest.py"

ALONE = """
import importlib.util, sys, torch
def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
task, program = load(sys.argv[1], "task"), load(sys.argv[2], "program")
torch.manual_seed(42)
reference = task.Model(*task.get_init_inputs()).cuda()
torch.manual_seed(42)
candidate = program.ModelNew(*task.get_init_inputs()).cuda()
for trial in range(5):
    torch.manual_seed(trial)
    inputs = [one.cuda() for one in task.get_inputs()]
    with torch.no_grad():
        expected, made = reference(*inputs), candidate(*inputs)
    torch.cuda.synchronize()
    assert torch.allclose(expected, made, atol=1e-4, rtol=1e-4)
"""


def timed(command, **more):
    begin = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, **more)
    return time.monotonic() - begin


def judged(kernevo, programs):
    """Seconds for a run of so many programs, each with another text, so that nothing is known."""
    with tempfile.TemporaryDirectory() as run:
        for sample in range(programs):
            text = PROGRAM.read_text(encoding="utf-8") + f"\n# {time.monotonic_ns()}\n"
            (Path(run) / f"level_1_problem_1_sample_{sample}_kernel.py").write_text(text, encoding="utf-8")
        return timed([kernevo, "kernelbench", "run", run, "--kernelbench", CHEATS, "--level", "1", "--gpu", "A100"])


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("build", type=Path)
    options.add_argument("--programs", type=int, default=5)
    asked = options.parse_args()
    kernevo = asked.build.resolve() / "kernevo"
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "alone.py"
        script.write_text(ALONE, encoding="utf-8")
        shutil.copy(PROGRAM, folder)
        alone = [kernevo, "run", "--quiet", "--", "python", script, REFERENCE, Path(folder) / PROGRAM.name]
        timed(alone, env={**os.environ, "KERNEVO_TIME": "wall"})  # what is made once
        first, many, own = [], [], []
        for _ in range(3):
            first.append(judged(kernevo, 1))
            many.append(judged(kernevo, 1 + asked.programs))
            own.append(timed(alone, env={**os.environ, "KERNEVO_TIME": "wall"}))
    each = (statistics.median(many) - statistics.median(first)) / asked.programs
    print(f"a verdict and a modelled time, warm     {each:6.2f} s  (all sizes, inputs and sanitizers)")
    print(f"the first, with the import of torch     {statistics.median(first):6.2f} s")
    print(f"a process of its own, five comparisons  {statistics.median(own):6.2f} s")
    print(f"ratio                                   {statistics.median(own) / each:6.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
