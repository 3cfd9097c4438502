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
INCLUDED = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"\n]+)[>\"][^\n]*", re.MULTILINE)


def headers_place(cache):
    """Beside the layer where that can be written, so that they are made once for an environment."""
    folder = LAYER / "precompiled"
    try:
        folder.mkdir(exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    folder = Path(cache) / "precompiled"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def precompiled(toolchain, size, cache):
    """The headers, made where they are not there; whoever else wants them meanwhile waits."""
    key = hashlib.sha256((toolchain.versions + size).encode()).hexdigest()[:16]
    place = headers_place(cache)
    file = place / f"{size}-{key}.pch"
    if file.exists():
        return file
    with open(place / f"{size}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not file.exists():
            part = file.with_suffix(f".{os.getpid()}.part")
            commands.must([*toolchain.frontend(), "-fno-pch-timestamp", "-fpch-instantiate-templates", "-emit-pch",
                           "-I", HERE, "-o", part, "-x", "cuda", HERE / f"{size}.h"])
            for old in place.glob(f"{size}-*.pch"):
                old.unlink()
            part.rename(file)
    return file


def without_whole_torch(text):
    """Without the headers that the small ones stand for."""
    return INCLUDED.sub(lambda match: "" if match[1] in TORCH_WHOLE else match[0], text)


def compile_host(toolchain, size, cache, text, output, name, folders=()):
    """An object of the text; CannotSplit with what clang says otherwise."""
    headers = precompiled(toolchain, size, cache)
    source = output.with_suffix(".host.cu")
    again = (HERE / "again.h").read_text(encoding="utf-8")
    body = without_whole_torch(text) if size == "small" else text
    source.write_text(again + body, encoding="utf-8")
    includes = [word for folder in folders for word in ("-I", folder)]
    said = commands.run([*toolchain.frontend(), "-emit-obj", *includes, f"-DTORCH_EXTENSION_NAME={name}",
                         "-include-pch", headers, "-o", output, "-x", "cuda", source], output.parent)
    if said.code != 0:
        raise HostRefused(said.output)
    return output


class HostRefused(CannotSplit):
    """clang does not take the host's part."""

    def __init__(self, said):
        found = errors_in(said)
        super().__init__(f"clang: {found[0][0]}:{found[0][1]}: {found[0][2]}" if found else "clang refuses")
        self.said = said
