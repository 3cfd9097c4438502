"""A candidate's program: its text as a module, and what goes wrong in it told by its own lines."""
import ast
import contextlib
import os
import re
import sys
import traceback
import types

from .fault import Fault

MOST_LINES = 30    # of detail
LONGEST = 400      # characters of a line
LARGEST = 4 << 20  # bytes of a program
UNSUPPORTED = re.compile(r"is not on the virtual GPU|not supported by the virtual GPU")
# Nothing is refused for what it imports: what matters is refused by the system. People should see it, though.
REMARKABLE = {"ctypes", "socket", "subprocess", "multiprocessing", "signal", "mmap", "fcntl", "gc", "inspect"}


class Program:
    def __init__(self, path):
        self.path, self.name = os.path.abspath(path), os.path.basename(path)
        try:
            with open(self.path, "rb") as file:
                data = file.read(LARGEST + 1)
        except OSError as problem:
            raise Fault("machine", f"the program cannot be read: {problem}") from problem
        if len(data) > LARGEST:
            raise Fault("syntax", f"{self.name} is longer than {LARGEST >> 20} MiB")
        self.data = data
        try:
            self.tree = ast.parse(data, self.path)
            self.code = compile(data, self.path, "exec", dont_inherit=True)
        except SyntaxError as problem:
            line = (problem.text or "").rstrip()[:LONGEST]
            raise Fault("syntax", str(problem.msg), f"{self.name}:{problem.lineno or 1}",
                        [line] if line else []) from problem
        except (ValueError, RecursionError, UnicodeError) as problem:
            raise Fault("syntax", f"{self.name} is not Python: {problem}", f"{self.name}:1") from problem

    def run(self):
        """The module. Triton and `inspect` find its source by its file."""
        module = types.ModuleType("candidate")
        module.__file__ = self.path
        sys.modules[module.__name__] = module
        sys.argv = [self.path]
        exec(self.code, module.__dict__)
        return module

    def mentions(self, words):
        return any(word in self.data for word in words)

    def line_of_class(self, name):
        for node in self.tree.body:
            if isinstance(node, ast.ClassDef) and node.name == name:
                return f"{self.name}:{node.lineno}"
        return f"{self.name}:1"

    def notes(self):
        names = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names.add((node.module or "").split(".")[0])
        return [f"it imports {name}" for name in sorted(names & REMARKABLE)]

    @contextlib.contextmanager
    def blamed(self):
        """What is raised inside is the program's fault."""
        try:
            yield
        except Fault as fault:
            if fault.where is None and fault.kind == "build":
                fault.where, _ = self.lines_of(fault)
            raise
        except BaseException as error:  # pylint: disable=broad-except
            raise self.fault_of(error) from None

    def fault_of(self, error):
        line, frames = self.lines_of(error)
        # A compiler names the line of the program's source itself.
        line = getattr(error, "where", None) or line
        said = [text[:LONGEST] for text in str(error).splitlines() if text.strip()]
        name = type(error).__name__
        text = f"{name}: {said[0]}" if said else name
        return Fault(kind_of(error, "\n".join(said)), text, line, [*said[1:MOST_LINES], *frames[-MOST_LINES:]])

    def lines_of(self, error):
        """The last line of the program that was under way, and all of them."""
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == self.path]
        if not frames:
            return None, []
        return (f"{self.name}:{frames[-1].lineno}",
                [f"{self.name}:{frame.lineno} in {frame.name}: {(frame.line or '')[:LONGEST]}" for frame in frames])


def kind_of(error, text):
    import torch

    if isinstance(error, (MemoryError, torch.OutOfMemoryError)) or "DefaultCPUAllocator: can't allocate" in text:
        return "memory"
    if isinstance(error, PermissionError):
        return "forbidden"
    if isinstance(error, SyntaxError):
        return "syntax"
    if type(error).__module__.startswith("triton.compiler") or type(error).__name__ == "BuildError":
        return "build"
    if UNSUPPORTED.search(text):
        return "unsupported"
    return "raised"
