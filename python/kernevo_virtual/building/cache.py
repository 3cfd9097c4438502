"""Extensions that have been built, under the hash of all they were built from."""
import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
from pathlib import Path

from kernevo_virtual.building.errors import BuildError

MOST = 1000  # extensions, and objects, that are kept


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


def object_of(cache, key, make):
    """One source's object."""
    folder = Path(cache) / "objects"
    folder.mkdir(exist_ok=True)
    file = folder / f"{key}.o"
    if not file.exists():
        part = folder / f"{key}.{os.getpid()}.part"
        shutil.copy(make(), part)
        part.rename(file)
        trim(folder)
    return file


def trim(folder):
    """The oldest go, so that a long search does not fill the disk."""
    def age(file):
        try:
            return file.stat().st_mtime
        except OSError:
            return 0.0

    entries = [entry for entry in folder.iterdir() if entry.suffix not in (".lock", ".part")]
    if len(entries) > MOST:
        for entry in sorted(entries, key=age)[:len(entries) - MOST * 3 // 4]:
            if entry.is_dir():
                if re.fullmatch(r"[0-9a-f]{32}", entry.name):
                    shutil.rmtree(entry, ignore_errors=True)
                    entry.with_suffix(".lock").unlink(missing_ok=True)
            else:
                entry.unlink(missing_ok=True)


def keep(cache, key, library, name):
    folder, part = Path(cache) / key, Path(cache) / f"{key}.part"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    shutil.copy(library, part / f"{name}.so")
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)
    trim(Path(cache))
    return folder / f"{name}.so"


def keep_error(cache, key, error):
    folder, part = Path(cache) / key, Path(cache) / f"{key}.part"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    (part / "error.json").write_text(json.dumps({"text": error.text, "where": error.where, "detail": error.detail}))
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)
