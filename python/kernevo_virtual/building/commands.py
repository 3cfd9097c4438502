"""Runs the compilers of a build."""
import os
import subprocess
from dataclasses import dataclass

from kernevo_virtual.building.toolchain import BuildTrouble

LONGEST = 900  # seconds


@dataclass
class Said:
    code: int
    output: str


def run(command, folder=None, extra=None, given=None):
    """A compiler's answer. Messages are in English, whatever the user's language."""
    environment = {**os.environ, "LC_ALL": "C", **(extra or {})}
    try:
        done = subprocess.run([str(word) for word in command], cwd=folder, check=False, capture_output=True,
                              env=environment, timeout=LONGEST, text=True, errors="replace", input=given)
    except FileNotFoundError as problem:
        raise BuildTrouble(f"'{command[0]}' is missing") from problem
    except subprocess.TimeoutExpired as problem:
        raise BuildTrouble(f"'{command[0]}' has not ended after {LONGEST} s") from problem
    return Said(done.returncode, done.stdout + done.stderr)


def must(command, folder=None, extra=None, given=None):
    said = run(command, folder, extra, given)
    if said.code != 0:
        raise BuildTrouble(f"'{command[0]}' failed: {said.output.strip()[:300]}")
    return said.output
