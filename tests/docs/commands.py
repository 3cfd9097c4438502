"""The commands of fenced blocks: which are run, in which folder, and what they must say."""

import os
import re
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

TIME_LIMIT_SECONDS = 300
# What the words in capitals of a synopsis stand for. A run of that name is made when a block needs it.
PLACEHOLDERS = {
    "TASK": "examples/softmax/task.yaml",
    "KERNEL": "examples/softmax/online.cu",
    "A": "examples/softmax/naive.cu",
    "B": "examples/softmax/online.cu",
    "RUN": "softmax",
    "DIR": "made",
    "FILE": "made.cu",
}
# What a reader's own files are in the test.
OWN_FILES = {
    "task.yaml": "examples/matmul/task.yaml",
    "kernel.cu": "examples/matmul/tiled.cu",
    "a.cu": "examples/matmul/naive.cu",
    "b.cu": "examples/matmul/tiled.cu",
}
MAKE_RUN = "kernevo evolve examples/softmax/task.yaml --evaluations 16 --quiet"
ELISION = re.compile(r"(\.\.\.|…)$")


@dataclass
class Command:
    block: object
    line: int
    text: str
    shown: list = field(default_factory=list)  # lines of output in the page
    exit_code: int = 0

    @property
    def place(self):
        return f"{self.block.page}:{self.line}"

    @property
    def is_ours(self):
        return re.match(r"^kernevo( |$)", self.text) is not None


def commands_of(block):
    commands = []
    for offset, line in enumerate(block.lines):
        number = block.line + offset
        if commands and commands[-1].text.endswith("\\"):
            commands[-1].text = commands[-1].text[:-1] + line.strip()
        elif block.language == "sh":
            if line.strip() and not line.lstrip().startswith("#"):
                commands.append(Command(block, number, line.strip()))
        elif line.startswith("$ "):
            commands.append(Command(block, number, line[2:].strip()))
        elif commands:
            commands[-1].shown.append(line)
        elif line.strip():
            raise ValueError(f"{block.page}:{number}: output before the first command")
    codes = [int(code) for code in (block.mark("exit") or "").split()]
    ours = [command for command in commands if command.is_ours]
    if len(codes) > len(ours):
        raise ValueError(f"{block.page}:{block.line}: more exit codes than commands")
    for command, code in zip(ours[len(ours) - len(codes) :], codes):
        command.exit_code = code
    return commands


def chains(blocks):
    """Blocks that share a folder: a block and those after it in its page marked <!-- continues -->."""
    result = []
    for block in blocks:
        if block.mark("continues") is None or not result:
            result.append([])
        result[-1].append(block)
    return result


def filled(text):
    for name, value in PLACEHOLDERS.items():
        text = re.sub(rf"(?<![\w/.=-]){name}(?![\w/])(\.\.\.)?", value, text)
    return text


def normalised(text, folder=""):
    """What does not depend on numbers, times, hashes, where it ran and where a line is broken."""
    if folder:
        text = text.replace(str(folder) + "/", "").replace(str(folder), ".")
    text = text.replace(", from the cache", "")
    text = re.sub(r"\b[0-9a-f]{12,64}\b", "#", text)
    text = re.sub(r"\d[\d,]*(\.\d+)?(e[+-]?\d+)?", "#", text)
    text = re.sub(r"# (ns|us|ms|s|min|h)\b", "# t", text)
    return " ".join(text.split())


def mismatch(shown, said, folder=""):
    """The first shown part that was not said; None when all of it was, in its order."""
    parts, current = [], []
    for line in shown:
        text = line.rstrip()
        if ELISION.search(text):
            current.append(ELISION.sub("", text))
            parts.append(normalised("\n".join(current)))
            current = []
        else:
            current.append(text)
    parts.append(normalised("\n".join(current)))
    rest = normalised(said, folder)
    for index, part in enumerate(parts):
        if index == 0 and not rest.startswith(part):
            return part
        if index > 0 and index + 1 == len(parts) and not rest.endswith(part):
            return part
        at = rest.find(part)
        if at < 0:
            return part
        rest = rest[at + len(part) :]
    return rest.strip() if len(parts) == 1 and rest.strip() else None


class Workshop:
    """Fresh folders with the examples in them, and one run that blocks may look at."""

    def __init__(self, program, root, folder):
        self.folder = folder
        self.root = root
        self.environment = {
            "PATH": f"{program.parent}:{os.environ['PATH']}",
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            "KERNEVO_CACHE": str(folder / "cache"),
        }
        for name in ("KERNEVO_CUDA", "KERNEVO_DEVICE", "TMPDIR"):
            if name in os.environ:
                self.environment[name] = os.environ[name]

    def fresh_folder(self, with_run):
        folder = Path(tempfile.mkdtemp(prefix="block-", dir=self.folder))
        shutil.copytree(self.root / "examples", folder / "examples")
        for name, source in OWN_FILES.items():
            shutil.copy(folder / source, folder / name)
        if with_run:
            shutil.copytree(self.folder / "run" / "kernevo-runs", folder / "kernevo-runs")
        return folder

    def make_run(self):
        folder = self.folder / "run"
        folder.mkdir()
        shutil.copytree(self.root / "examples", folder / "examples")
        code, said, _ = self.run(MAKE_RUN, folder)
        if code != 0:
            raise RuntimeError(f"{MAKE_RUN} ended with {code}:\n{said}")

    def run(self, text, folder):
        start = time.monotonic()
        try:
            done = subprocess.run(
                ["bash", "-o", "pipefail", "-c", text],
                cwd=folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=TIME_LIMIT_SECONDS,
                check=False,
            )
            code, said = done.returncode, done.stdout.decode(errors="replace")
        except subprocess.TimeoutExpired as late:
            code, said = -1, f"{(late.stdout or b'').decode(errors='replace')}\n(not done in {TIME_LIMIT_SECONDS} s)"
        return code, said, time.monotonic() - start


def problem_of(command, code, said, folder):
    if code != command.exit_code:
        return f"{command.place}: `{command.text}` ended with {code} instead of {command.exit_code}\n{said.rstrip()}"
    if not any(line.strip() for line in command.shown):
        return None
    missing = mismatch(command.shown, said, folder)
    if missing is None:
        return None
    return f"{command.place}: `{command.text}` does not say what the page shows; first difference:\n  {missing}\nit says:\n{said.rstrip()}"


def missing_compiler(program):
    """Why nothing can be compiled here; empty when it can."""
    doctor = subprocess.run([str(program), "doctor"], capture_output=True, text=True, check=False).stdout
    return next((line for line in doctor.splitlines() if re.match(r"missing +CUDA compiler", line)), "")


class Options:
    """The subcommands of the program and their options, from its own --help."""

    def __init__(self, program):
        self.program = program
        self.known = {}
        text = self._help([])
        self.subcommands = set(re.findall(r"^  ([a-z][a-z-]*) ", text, re.MULTILINE))

    def _help(self, arguments):
        command = [str(self.program), *arguments, "--help"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def named(self, lines):
        return {name for line in lines for name in re.findall(r"\bkernevo ([a-z][a-z-]*)", line)}

    def problems(self, text):
        """Subcommands and options that a command line names and the program does not have."""
        for match in re.finditer(r"\bkernevo ((?:(?!\bkernevo |[;#|]).)*)", text):
            words = match[1].split()
            if not words or words[0] not in self.subcommands:
                if words and re.fullmatch(r"[a-z][a-z-]*", words[0]):
                    yield f"there is no command 'kernevo {words[0]}'"
                continue
            name = words[0]
            if name not in self.known:
                self.known[name] = set(re.findall(r"(?<![\w-])--?[a-z][a-z0-9-]*", self._help([name])))
            # What another program is given stands in quotes.
            arguments = re.sub(r"'[^']*'|\"[^\"]*\"", "", match[1])
            for option in re.findall(r"(?<!\S)\[?(--?[a-z][a-z0-9-]*)", arguments):
                if option not in self.known[name]:
                    yield f"kernevo {name} has no option {option}"


def problem_of_other(command, root):
    """make targets and scripts of this repository must be there; nothing else of them is tried."""
    words = command.text.split()
    if words[0] == "make":
        targets = re.findall(r"^([a-z][a-z-]*):", (root / "Makefile").read_text(), re.MULTILINE)
        for word in words[1:]:
            if word.startswith("#"):
                break
            if "=" not in word and word not in targets:
                return f"{command.place}: the Makefile has no target {word}"
    elif re.match(r"^(bench|scripts|tests)/", words[0]) and not (root / words[0]).exists():
        return f"{command.place}: there is no {words[0]}"
    return None
