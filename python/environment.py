#!/usr/bin/env python3
"""Makes the environment in which PyTorch and Triton programs run on the virtual GPU.

    environment.py make  --place FOLDER --libraries FOLDER --toolkit FOLDER --nvcc FOLDER
    environment.py state --place FOLDER ...      says in one JSON line what is there

KERNEVO_PYTHON names an existing Python instead; it gets the package kernevo_virtual and nothing else.
`kernevo setup python` calls this. Exit code 2: the setting is wrong; 3: the machine lacks something.
"""
import argparse
import ctypes
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import stand_ins
from stand_ins import Trouble

HERE = Path(__file__).resolve().parent
PACKAGES = HERE / "packages.txt"
STAMP = "kernevo-environment.json"
LAYER = "kernevo_virtual"
NVCC = ("nvcc", "legacy.h")
ROOM = 5_000_000_000  # bytes: packages, what pip unpacks on the way, and some
OLDEST = (3, 10)
ASK = ("import json,sys,sysconfig,importlib.metadata as m\n"
       "def v(n):\n"
       "    try: return m.version(n)\n"
       "    except m.PackageNotFoundError: return None\n"
       "print(json.dumps({'python':'%d.%d.%d'%sys.version_info[:3],'torch':v('torch'),'triton':v('triton'),"
       "'packages':sysconfig.get_path('purelib'),'include':sysconfig.get_path('include')}))")


class Wrong(Trouble):
    """What a setting did."""


class Voice:
    """Where progress goes: nowhere when quiet, beside the answer when that is JSON."""
    quiet = False
    json = False


def say(text):
    if not Voice.quiet:
        print(f"setup: {text}", file=sys.stderr if Voice.json else sys.stdout, flush=True)


def digest(*things):
    whole = hashlib.sha256()
    for thing in things:
        whole.update(thing if isinstance(thing, bytes) else str(thing).encode())
        whole.update(b"\0")
    return whole.hexdigest()


def pinned():
    lines = PACKAGES.read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if "==" in line)


def ask(python):
    """What a Python says of itself."""
    try:
        # In the empty environment it says what it has, not what a PYTHONPATH adds.
        answer = subprocess.run([str(python), "-I", "-c", ASK], check=True, capture_output=True, text=True)
        return json.loads(answer.stdout)
    except (OSError, subprocess.CalledProcessError, json.JSONDecodeError) as problem:
        raise Wrong(f"'{python}' is no Python that runs; KERNEVO_PYTHON names an interpreter, "
                    "for example venv/bin/python") from problem


class Environment:
    """The place, whose it is, and what has been done there."""

    def __init__(self, options):
        named = os.environ.get("KERNEVO_PYTHON", "")
        self.ours = not named
        self.place = Path(options.place)
        self.python = self.place / "bin" / "python" if self.ours else Path(named)
        self.options = options

    def stamp_file(self):
        if self.ours:
            return self.place / STAMP
        return Path(ask(self.python)["packages"]) / LAYER / STAMP

    def stamp(self):
        try:
            return json.loads(self.stamp_file().read_text(encoding="utf-8"))
        except (OSError, json.JSONDecodeError):
            return {}

    def write_stamp(self, values):
        file = self.stamp_file()
        part = file.with_suffix(".part")
        part.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
        part.replace(file)

    def packages_key(self):
        return digest(PACKAGES.read_bytes(), sys.version, sys.base_prefix)

    def layer_key(self, facts):
        # What judges programs is not installed: it runs from here.
        files = sorted(file for file in HERE.rglob("*") if file.is_file()
                       and not {"__pycache__", "kernevo_judge"} & set(file.relative_to(HERE).parts))
        files += [self.options.nvcc / name for name in NVCC]
        return digest(json.dumps(facts, sort_keys=True), *(part for file in files
                      for part in (file.name, file.read_bytes())))

    def settings(self):
        return {"libraries": str(self.options.libraries), "toolkit": str(self.options.toolkit)}


def check_versions(python, facts):
    """Whether torch and Triton are those everything here was made for."""
    wanted = pinned()
    for name in ("torch", "triton"):
        if facts[name] is None:
            raise Wrong(f"'{python}' has no {name}; install {name}=={wanted[name]} there, or unset KERNEVO_PYTHON")
        if facts[name].split("+")[0] != wanted[name]:
            raise Wrong(f"'{python}' has {name} {facts[name]}; {wanted[name]} is needed, "
                        "or unset KERNEVO_PYTHON")


def check_machine(environment):
    if sys.version_info < OLDEST and environment.ours:
        raise Trouble(f"Python {sys.version_info[0]}.{sys.version_info[1]} is too old; 3.10 or newer is needed")
    for tool, package in (("g++", "g++"), ("gcc", "gcc"), ("readelf", "binutils")):
        if shutil.which(tool) is None:
            raise Trouble(f"'{tool}' is missing; install {package} (Debian: apt-get install {package})")


def check_headers(facts):
    if not (Path(facts["include"]) / "Python.h").exists():
        raise Trouble(f"Python's headers are missing in '{facts['include']}'; install them "
                      "(Debian: apt-get install python3-dev)")


def check_room(place):
    parent = place
    while not parent.exists():
        parent = parent.parent
    free = shutil.disk_usage(parent).free
    if free < ROOM:
        raise Trouble(f"{free / 1e9:.1f} GB are free in '{parent}', {ROOM / 1e9:.0f} GB are needed; make room, "
                      "or name another place with KERNEVO_PYTHON_PLACE")


def install_packages(environment):
    place = environment.place
    check_room(place)
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    say(f"PyTorch and Triton into {place} (0.9 GB to download, 2 GB on disk, 1 to 5 min)")
    made = subprocess.run([sys.executable, "-m", "venv", str(place)], check=False, capture_output=True, text=True)
    if made.returncode != 0:
        raise Trouble("Python cannot make a virtual environment; install python3-venv "
                      "(Debian: apt-get install python3-venv)")
    noise = [] if sys.stdout.isatty() and not Voice.quiet else ["--quiet"]
    code = subprocess.run([str(environment.python), "-m", "pip", "install", *noise, "--disable-pip-version-check",
                           "--no-compile", "--no-deps", "-r", str(PACKAGES)], check=False).returncode
    if code != 0:
        raise Trouble(f"pip could not install {PACKAGES.name}; check the network and the room on the disk")
    trim(Path(ask(environment.python)["packages"]))


def section(file, name):
    """Where a section is in an ELF file: (offset, size), or None."""
    table = stand_ins.run(["readelf", "-S", "-W", str(file)])
    found = re.search(rf"\] {re.escape(name)}\s+\S+\s+\w+\s+(\w+)\s+(\w+)", table)
    return (int(found[1], 16), int(found[2], 16)) if found else None


def punch_hole(file, offset, size):
    """Gives the bytes back to the disk; they read as zero. Some file systems cannot."""
    keep_size, hole = 1, 2
    with open(file, "r+b") as opened:
        ctypes.CDLL(None).fallocate(opened.fileno(), hole | keep_size, ctypes.c_int64(offset), ctypes.c_int64(size))


def trim(packages):
    """Machine code of torch's own kernels, which nothing here can run, and Triton's copies of a profiler."""
    file = packages / "torch" / "lib" / "libtorch_cuda.so"
    kernels = section(file, ".nv_fatbin")
    if kernels is not None:
        punch_hole(file, *kernels)
    for folder in (packages / "triton" / "backends" / "nvidia" / "lib").glob("cupti*"):
        shutil.rmtree(folder, ignore_errors=True)


def build_operators(facts, toolkit, folder):
    torch = Path(facts["packages"]) / "torch"
    # The platform's packages may be apart from those of plain Python.
    if not (torch / "include").is_dir():
        raise Trouble(f"torch's headers are missing in '{torch}'; install the pinned wheel of torch")
    stand_ins.run(["g++", "-std=c++20", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-w",
                   "-isystem", str(torch / "include"),
                   "-isystem", str(torch / "include" / "torch" / "csrc" / "api" / "include"),
                   "-isystem", str(toolkit / "include"), str(HERE / "operators" / "operators.cpp"),
                   "-o", str(folder / "operators.so"), f"-L{torch / 'lib'}", "-lc10", "-lc10_cuda", "-ltorch_cpu",
                   "-ltorch_cuda", "-Wl,--allow-shlib-undefined"])


def install_layer(environment, facts):
    packages = Path(facts["packages"])
    folder, part = packages / LAYER, packages / (LAYER + ".part")
    say("stand-ins for NVIDIA's libraries and torch's operators (about 20 s)")
    shutil.rmtree(part, ignore_errors=True)
    shutil.copytree(HERE / LAYER, part, ignore=shutil.ignore_patterns("__pycache__"))
    (part / "lib").mkdir()
    torch = packages / "torch"
    stand_ins.make([*sorted((torch / "lib").glob("*.so")), *sorted(torch.glob("_C*.so"))], part / "lib",
                   environment.options.toolkit)
    build_operators(facts, environment.options.toolkit, part)
    for name in NVCC:
        shutil.copy(environment.options.nvcc / name, part / name)
    (part / "settings.json").write_text(json.dumps(environment.settings()), encoding="utf-8")
    # torch calls what is registered here at the end of its import.
    about = packages / f"{LAYER}-1.dist-info"
    about.mkdir(exist_ok=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {LAYER}\nVersion: 1\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(f"[torch.backends]\nkernevo = {LAYER}.attach:attach\n", encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)
    # A PYTHONPATH may show the sources of the package, which are not made.
    (packages / f"{LAYER}.pth").write_text(
        f"import sys; sys.path.insert(0, {str(packages)!r}); import {LAYER}.start; sys.path.pop(0); "
        f"{LAYER}.start.wait_for_torch()\n", encoding="utf-8")


PROOF = ("import torch\n"
         "x = torch.arange(4, device='cuda', dtype=torch.float32)\n"
         "assert (x + 1).sum().item() == 10 and torch.cuda.is_available()\n")


def prove(environment):
    """torch computes on the virtual GPU."""
    tried = subprocess.run([str(environment.python), "-c", PROOF], check=False, capture_output=True, text=True)
    if tried.returncode != 0:
        lines = tried.stderr.strip().splitlines() or [f"it ended with {tried.returncode}"]
        raise Trouble(f"torch does not work on the virtual GPU: {lines[-1]}")


def make(environment):
    check_machine(environment)
    stamp = environment.stamp()
    if environment.ours and stamp.get("packages") != environment.packages_key():
        install_packages(environment)
        stamp = {"packages": environment.packages_key()}
        environment.write_stamp(stamp)
    facts = ask(environment.python)
    check_versions(environment.python, facts)
    check_headers(facts)
    layer = environment.layer_key(facts)
    settings = environment.settings()
    if stamp.get("layer") != layer:
        install_layer(environment, facts)
    elif stamp.get("settings") != settings:
        file = Path(facts["packages"]) / LAYER / "settings.json"
        file.write_text(json.dumps(settings), encoding="utf-8")
    else:
        return
    prove(environment)
    environment.write_stamp({"packages": environment.packages_key() if environment.ours else "",
                             "layer": layer, "settings": settings})
    say(f"done; run programs with 'kernevo run -- python program.py' or {environment.python}")


def state(environment):
    """One line for `kernevo doctor` and for who looks for the Python."""
    answer = {"ready": False, "python": str(environment.python), "detail": "", "fix": "run 'kernevo setup python'"}
    try:
        stamp = environment.stamp()
        if "layer" not in stamp:
            answer["detail"] = ("not made; only Python programs on torch or Triton need it" if environment.ours
                                else f"'{environment.python}' is not prepared")
            return answer
        facts = ask(environment.python)
        check_versions(environment.python, facts)
        if stamp.get("layer") != environment.layer_key(facts):
            answer["detail"] = "older than this kernevo"
            return answer
        answer.update(ready=True, fix="", detail=f"torch {facts['torch']}, Triton {facts['triton']}, "
                                                 f"Python {facts['python']}: {environment.python}")
    except Trouble as problem:
        answer["detail"], _, answer["fix"] = str(problem).partition("; ")
    return answer


def locked(place):
    """Two set-ups of one place take turns."""
    place.parent.mkdir(parents=True, exist_ok=True)
    lock = open(place.with_name(place.name + ".lock"), "w", encoding="utf-8")
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("make", "state"))
    for name in ("place", "libraries", "toolkit", "nvcc"):
        parser.add_argument(f"--{name}", type=lambda text: Path(text).absolute(), required=True)
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    Voice.quiet, Voice.json = options.quiet, options.json
    environment = Environment(options)
    if options.what == "state":
        print(json.dumps(state(environment)))
        return 0
    try:
        with locked(options.place):
            make(environment)
        if options.json:
            print(json.dumps(state(environment)))
        return 0
    except KeyboardInterrupt:
        print("kernevo: stopped; 'kernevo setup python' begins again with what is missing", file=sys.stderr)
        return 130
    except (Trouble, OSError) as problem:
        if options.json:
            print(json.dumps({"ready": False, "error": str(problem)}))
        print(f"kernevo: {problem}", file=sys.stderr)
        return 2 if isinstance(problem, Wrong) else 3


if __name__ == "__main__":
    sys.exit(main())
