"""A source as its preprocessor leaves it: the program's own macros expanded and its own conditionals decided,
while the headers that it includes stay names."""
import os
import re
import subprocess
from pathlib import Path

from kernevo_virtual.building.tokens import CannotSplit, MARKER
from kernevo_virtual.building.toolchain import frontend_words

INCLUDE = re.compile(r"^([ \t]*#[ \t]*include[ \t]*)(<[^>\n]+>|\"[^\"\n]+\")", re.MULTILINE)
# What headers would define, for the program's conditionals.
KNOWN = "known.h"


def known_macros(toolkit, torch, architecture):
    """The macros that programs ask for, without the headers that define them."""
    cuda = re.search(r"#define\s+CUDART_VERSION\s+(\d+)",
                     (toolkit / "include" / "cuda_runtime_api.h").read_text(encoding="utf-8", errors="replace"))
    version = int(cuda[1]) if cuda else 13000
    of_torch = (torch / "version.py").read_text(encoding="utf-8")
    major, minor, patch = re.search(r"(\d+)\.(\d+)\.(\d+)", of_torch).groups()
    macros = {"CUDA_VERSION": version, "CUDART_VERSION": version, "__CUDACC__": 1, "__NVCC__": 1,
              "__CUDACC_VER_MAJOR__": version // 1000, "__CUDACC_VER_MINOR__": version % 1000 // 10,
              "TORCH_VERSION_MAJOR": major, "TORCH_VERSION_MINOR": minor, "TORCH_VERSION_PATCH": patch}
    if architecture:
        macros["__CUDA_ARCH__"] = architecture * 10
    return "".join(f"#define {name} {value}\n" for name, value in macros.items())


def masked(text, local):
    """With a pragma in place of each header but the program's own. `local`: whether a name is one."""
    def mask(match):
        name = match[2]
        if name[0] == '"' and local(name[1:-1]):
            return match[0]
        return f"#pragma kernevo_include {name}"
    return INCLUDE.sub(mask, text)


def preprocess(toolchain, text, name, own_headers, macros, definitions, folder, architecture):
    """`own_headers`: the program's own, {name: text}; `definitions`: what -D and -U said, as directives."""
    folder.mkdir(parents=True, exist_ok=True)
    for header, header_text in own_headers.items():
        file = folder / header
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(masked(header_text, own_headers.__contains__), encoding="utf-8")
    (folder / KNOWN).write_text(macros, encoding="utf-8")
    main = folder / name
    main.write_text(definitions + f'#line 1 "{name}"\n' + masked(text, own_headers.__contains__), encoding="utf-8")
    command = [*frontend_words(toolchain.clang), "-nostdsysteminc", "-E", "-dD", "-U__CUDA__", "-I", str(folder),
               "-include", KNOWN, "-o", "-", "-x", "cuda", name]
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True,
                          env={**os.environ, "LC_ALL": "C"})
    if done.returncode != 0:
        raise CannotSplit(f"the preprocessor says: {done.stderr.strip()[:200]}")
    return program_alone(done.stdout)


def program_alone(text):
    """Without what the compiler defines by itself."""
    kept, own = [], True
    for line in text.splitlines(keepends=True):
        marker = MARKER.match(line)
        if marker:
            file = marker[2]
            own = not file.startswith("<") and Path(file).name != KNOWN
        if own:
            kept.append(line)
    return "".join(kept)
