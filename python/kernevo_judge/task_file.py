"""A task in KernelBench's format as a Python module: read, sizes rebound, run, its parts called."""

import ast
import contextlib
import os
import sys
import traceback
import types

from .fault import Fault
from .sizes import LITERAL, literals

PARTS = ("Model", "get_inputs", "get_init_inputs")


class TaskFile:
    """The text of a task.py. `load` runs it, with other values for some of its module-level sizes."""

    def __init__(self, place):
        self.path = os.path.join(place, "task.py") if os.path.isdir(place) else place
        self.name = os.path.basename(self.path)
        try:
            with open(self.path, encoding="utf-8") as file:
                self.text = file.read()
        except (OSError, UnicodeDecodeError) as error:
            raise Fault(
                "task",
                f"{self.path} cannot be read ({reason(error)}): name a task.py, or a folder that holds one",
            )
        try:
            self.tree = ast.parse(self.text, self.path)
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None)
            raise Fault(
                "task",
                f"{self.name} is not Python: {getattr(error, 'msg', error)}; mend that line",
                f"{self.name}:{line}" if line else None,
            )

    def load(self, sizes=None):
        """The module, run with these values for module-level names. It is kept nowhere but in
        sys.modules."""
        tree = ast.parse(self.text, self.path)
        if sizes:
            Rebinding(sizes).visit_body(tree)
            for node in literals(self, tree):
                node.value = sizes.get(LITERAL + str(node.value), node.value)
        module = types.ModuleType("kernevo_task")
        module.__file__ = self.path
        sys.modules[module.__name__] = module
        folder = os.path.dirname(os.path.abspath(self.path))
        if folder not in sys.path:
            sys.path.insert(0, folder)
        with self.blamed("cannot be imported"):
            exec(compile(tree, self.path, "exec"), module.__dict__)
        for part in PARTS:
            if not callable(getattr(module, part, None)):
                raise Fault(
                    "task",
                    f"{self.name} has no {part}; a task defines Model, get_inputs and get_init_inputs",
                    f"{self.name}:1",
                )
        return module

    @contextlib.contextmanager
    def blamed(self, doing):
        """What is raised inside is the task's fault, told with the last line of task.py that was under
        way."""
        try:
            with self.quiet():
                yield
        except Fault:
            raise
        except (Exception, SystemExit) as error:
            raise Fault(
                "task",
                f"{self.name} {doing}: {reason(error)}; {way_out(error)}",
                self.line_of(error),
                traceback.format_exception_only(type(error), error)[-1].strip().splitlines()[:20],
            ) from error

    def line_of(self, error):
        lines = [
            frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename ==
            self.path
        ]
        return f"{self.name}:{lines[-1]}" if lines else None

    @staticmethod
    @contextlib.contextmanager
    def quiet():
        """Tasks may print; nobody reads it."""
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
            yield


class Rebinding:
    """Replaces the right side of `NAME = ...` (and its part of `A, B = 1, 2`) where NAME has another
    value."""

    def __init__(self, sizes):
        self.sizes = sizes

    def visit_body(self, tree):
        for statement in tree.body:
            if isinstance(statement, ast.Assign):
                for target in statement.targets:
                    statement.value = self.rebound(target, statement.value)
            elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
                statement.value = self.rebound(statement.target, statement.value)

    def rebound(self, target, value):
        if isinstance(target, ast.Name) and target.id in self.sizes:
            size = self.sizes[target.id]
            # Messages know lists only.
            size = tuple(size) if isinstance(value, ast.Tuple) and isinstance(size, list) else size
            return ast.copy_location(ast.parse(repr(size), mode="eval").body, value)
        if (
            isinstance(target, ast.Tuple)
            and isinstance(value, ast.Tuple)
            and len(target.elts) == len(value.elts)
        ):
            value.elts = [self.rebound(one, of) for one, of in zip(target.elts, value.elts)]
        return value


def way_out(error):
    if isinstance(error, ModuleNotFoundError):
        return f"install {error.name} into this Python's environment ({sys.prefix}), or do without it"
    return "mend the task"


def reason(error):
    """An exception in one line."""
    text = " ".join(str(error).split())
    text = text if len(text) <= 300 else text[:297] + "..."
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
