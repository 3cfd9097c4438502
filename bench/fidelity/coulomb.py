#!/usr/bin/env python3
"""Counters of direct Coulomb summation against Nsight's on an RTX 2080 Ti: counters.py with this kernel's arguments.

    coulomb.py BUILD COUNTERS.json.gz KERNEL.cu [options of counters.py]

COUNTERS is KTT's record of its CoulombSum3d example (64 atoms, a grid of 256^3), KERNEL its source. Exit 1 unless
every counter with an exact meaning is within 2 % of Nsight's on at least 200 of the 210 configurations.
"""
import pathlib
import subprocess
import sys

ARGUMENTS = ["out:f32:1024"] + ["out:f32:256"] * 4 + ["i32:64", "f32:0.5", "i32:256", "out:f32:16777216"]

if len(sys.argv) < 4:
    sys.exit(__doc__)
command = [sys.executable, str(pathlib.Path(__file__).with_name("counters.py")), *sys.argv[1:4],
           "--kernel", "directCoulombSum", "--gpu", "RTX 2080 Ti", "--flag=-use_fast_math", "--bar", "200", *sys.argv[4:]]
for argument in ARGUMENTS:
    command += ["--arg", argument]
sys.exit(subprocess.run(command).returncode)
