"""What a program asks to be built, as sources whose lines are the program's own."""
import re
from dataclasses import dataclass, field

from kernevo_virtual.building.errors import BuildError

CUDA = (".cu", ".cuh")
CPLUSPLUS = (".cpp", ".cc", ".cxx", ".c")
NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass
class Source:
    name: str  # of a file
    text: str
    cuda: bool


@dataclass
class Program:
    name: str
    sources: list
    headers: dict = field(default_factory=dict)  # {name: text}
    files: frozenset = frozenset()  # what its errors may be said of
    cflags: list = field(default_factory=list)
    cuda_cflags: list = field(default_factory=list)
    ldflags: list = field(default_factory=list)
    include_paths: list = field(default_factory=list)
    architecture: str = "80"

    def texts(self):
        return [*(source.text for source in self.sources), *self.headers.values()]


def listed(value):
    return [] if value is None else [value] if isinstance(value, str) else list(value)


def flags(payload, name):
    return [str(flag) for flag in listed(payload.get(name)) if str(flag).strip()]


def with_lines(texts, places, label):
    """The texts one behind the other, each with its lines in the program's own file, where that is known."""
    pieces = []
    for number, text in enumerate(texts):
        file, line = places[number] if number < len(places) and places[number] else (
            label if len(texts) == 1 else f"{label}[{number}]", 1)
        pieces.append(f'#line {line} "{file}"\n{text}')
    return "\n".join(pieces)


def bindings(functions, handled, gil_not_used):
    """The module that load_inline makes of names."""
    if functions is None:
        return ""
    functions = {name: name for name in listed(functions)} if not isinstance(functions, dict) else functions
    option = ", pybind11::mod_gil_not_used()" if gil_not_used else ""
    lines = [f"PYBIND11_MODULE(TORCH_EXTENSION_NAME, m{option}) {{"]
    for name, about in functions.items():
        if not NAME.fullmatch(str(name).replace("::", "")):
            raise BuildError(f"'{name}' is no function's name")
        called = f"torch::wrap_pybind_function({name})" if handled else name
        text = str(about).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        lines.append(f'm.def("{name}", {called}, "{text}");')
    return "\n".join([*lines, "}"])


def read(payload):
    """A request as a program. Its keys are those of build()."""
    name = str(payload.get("name") or "")
    if not NAME.fullmatch(name):
        raise BuildError(f"'{name}' cannot be a module's name")
    gpu = re.fullmatch(r"(?:sm_)?(\d{2,3}[af]?)", str(payload.get("gpu") or "sm_80"))
    if gpu is None:
        raise BuildError(f"'{payload.get('gpu')}' is no GPU's architecture")
    program = Program(name, [], cflags=flags(payload, "extra_cflags"), cuda_cflags=flags(payload, "extra_cuda_cflags"),
                      ldflags=flags(payload, "extra_ldflags"), include_paths=flags(payload, "extra_include_paths"),
                      architecture=gpu[1])
    if payload.get("files"):
        read_files(program, payload)
    else:
        read_inline(program, payload)
    return program


def read_files(program, payload):
    for entry in payload["files"]:
        name, text = entry["name"], entry["text"]
        if name.startswith("/") or ".." in name.split("/"):
            raise BuildError(f"'{name}' is outside the program's folder")
        if name.endswith((".cu", *CPLUSPLUS)) and entry.get("source", True):
            program.sources.append(Source(name, text, name.endswith(".cu")))
        else:
            program.headers[name] = text
    program.files = frozenset(entry["name"] for entry in payload["files"])


def read_inline(program, payload):
    places = payload.get("places") or {}
    implicit = not payload.get("no_implicit_headers")
    host, device = listed(payload.get("cpp_sources")), listed(payload.get("cuda_sources"))
    added = bindings(payload.get("functions"), payload.get("with_pytorch_error_handling", True),
                     payload.get("gil_not_used", False))
    text = with_lines(host, places.get("cpp_sources", []), "cpp_sources")
    head = "#include <torch/extension.h>\n" if implicit else ""
    program.sources.append(Source("main.cpp", f'{head}{text}\n#line 1 "functions"\n{added}\n', cuda=False))
    if device:
        head = "#include <torch/types.h>\n#include <cuda.h>\n#include <cuda_runtime.h>\n" if implicit else ""
        text = with_lines(device, places.get("cuda_sources", []), "cuda_sources")
        program.sources.append(Source("cuda.cu", f"{head}{text}\n", cuda=True))
    named = re.findall(r'^#line \d+ "([^"\n]+)"$', "\n".join(program.texts()), re.MULTILINE)
    program.files = frozenset(named)
