"""The host's part: clang, with torch's headers precompiled."""
import fcntl
import hashlib
import os
import re
from pathlib import Path

from kernevo_virtual.building import commands
from kernevo_virtual.building.errors import errors_in
from kernevo_virtual.building.split import TORCH_WHOLE
from kernevo_virtual.building.tokens import CannotSplit
from kernevo_virtual.building.toolchain import HERE, LAYER

SIZES = ("small", "large")
# A set of headers stands on another one.
BELOW = {"python": "tensor"}
OF_PYTHON = re.compile(r"\b(pybind11|py)::|\bPYBIND11_\w+|\bPyObject\b|\btorch::wrap_pybind_function\b")
INCLUDED = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"\n]+)[>\"][^\n]*", re.MULTILINE)


def headers_place(cache, file):
    """Beside the layer where they are, or can be made, so that they are made once for an environment."""
    folder = LAYER / "precompiled"
    if (folder / file).exists():
        return folder
    try:
        folder.mkdir(exist_ok=True)
        # Only trying tells: a confined process may not write what its user may.
        trial = folder / f"{os.getpid()}.trial"
        trial.touch()
        trial.unlink()
        return folder
    except OSError:
        pass
    folder = Path(cache) / "precompiled"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def headers_for(size, text):
    """Headers of Python double what a compiler has to do: only for those who use them."""
    if size == "small":
        return "python" if OF_PYTHON.search(text) else "tensor"
    return size


def precompiled(toolchain, headers, cache):
    """A set of headers, made where it is not there; whoever else wants it meanwhile waits."""
    told = "\0".join((toolchain.versions, headers, *toolchain.frontend()))
    key = hashlib.sha256(told.encode()).hexdigest()[:16]
    name = f"{headers}-{key}.pch"
    place = headers_place(cache, name)
    file = place / name
    if file.exists():
        return file
    below = ["-include-pch", precompiled(toolchain, BELOW[headers], cache)] if headers in BELOW else []
    with open(place / f"{headers}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not file.exists():
            part = file.with_suffix(f".{os.getpid()}.part")
            commands.must([*toolchain.frontend(), *below, "-fno-pch-timestamp", "-fpch-instantiate-templates",
                           "-emit-pch", "-I", HERE, "-o", part, "-x", "cuda", HERE / f"{headers}.h"])
            for old in place.glob(f"{headers}-*.pch"):
                old.unlink()
            part.rename(file)
    return file


def without_whole_torch(text):
    """Without the headers that the small ones stand for."""
    return INCLUDED.sub(lambda match: "" if match[1] in TORCH_WHOLE else match[0], text)


def compile_host(toolchain, size, cache, text, output, name, folders=(), whole=""):
    """An object of the text; CannotSplit with what clang says otherwise. `whole`: the source with kernels that the
    text is the host's part of."""
    headers = precompiled(toolchain, headers_for(size, text), cache)
    source = output.with_suffix(".host.cu")
    again = (HERE / "again.h").read_text(encoding="utf-8")
    if whole:
        again += (HERE / "kernels_host.h").read_text(encoding="utf-8")
    body = without_whole_torch(text) if size == "small" else text
    source.write_text(again + body, encoding="utf-8")
    includes = [word for folder in folders for word in ("-I", folder)]
    said = commands.run([*toolchain.frontend(), "-emit-obj", *includes, f"-DTORCH_EXTENSION_NAME={name}",
                         "-include-pch", headers, "-o", output, "-x", "cuda", source], output.parent)
    if said.code != 0:
        raise HostRefused(said.output, text, whole)
    return output


class HostRefused(CannotSplit):
    """clang does not take the host's part."""

    def __init__(self, said, text, whole):
        found = errors_in(said)
        super().__init__(f"clang: {found[0][0]}:{found[0][1]}: {found[0][2]}" if found else "clang refuses")
        self.said = said
        self.texts = [text, whole]
