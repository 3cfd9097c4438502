"""Extensions that have been built, under the hash of all they were built from."""
import contextlib
import fcntl
import hashlib
import json
import shutil
from pathlib import Path

from kernevo_virtual.building.errors import BuildError


def key_of(payload, versions):
    text = json.dumps(payload, sort_keys=True, default=str)
    return hashlib.sha256((text + "\0" + versions).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def find(cache, key, name):
    """The library, or None; the error that was found at the first build is raised again."""
    folder = Path(cache) / key
    library = folder / f"{name}.so"
    if library.exists():
        return library
    try:
        known = json.loads((folder / "error.json").read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError):
        return None
    raise BuildError(known["text"], known["where"], known["detail"])


@contextlib.contextmanager
def turn(cache, key):
    """Two builds of the same program: the second waits, and finds what the first has made."""
    Path(cache).mkdir(parents=True, exist_ok=True)
    file = Path(cache) / f"{key}.lock"
    with open(file, "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def keep(cache, key, library, name):
    folder, part = Path(cache) / key, Path(cache) / f"{key}.part"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    shutil.copy(library, part / f"{name}.so")
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)
    return folder / f"{name}.so"


def keep_error(cache, key, error):
    folder, part = Path(cache) / key, Path(cache) / f"{key}.part"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    (part / "error.json").write_text(json.dumps({"text": error.text, "where": error.where, "detail": error.detail}))
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)
