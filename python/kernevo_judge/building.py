"""Extensions that a candidate wants compiled. Its own process may start no compiler, so it asks the stage,
which has a process do it that runs nothing of the candidate and sees compilers, headers and its folder."""
import os
import re
import shutil
import signal
import time
from pathlib import Path

from . import cage, wire
from .child import LIBC, PR_SET_PDEATHSIG, REPLY, some
from .fault import Fault

MOST = 16            # builds of a job
SECONDS = 300        # of all of them together
MEMORY = 8 << 30     # of a compiler
LARGEST = 1 << 30    # bytes of a file it writes
SOURCES = 4 << 20    # characters of an extension
WORD = re.compile(r"[A-Za-z_]\w{0,99}")
FILE = re.compile(r"(?!.*\.\.)[\w\-+.]+(/[\w\-+.]+)*")
GPU = re.compile(r"sm_\d{2,3}[af]?")


# The stage's side.

class Builds:
    """Those of one job."""

    def __init__(self, folder, cache, seconds=None):
        self.folder, self.cache, self.begun = Path(folder), Path(cache), 0
        self.seconds = seconds or SECONDS

    def begin(self, payload):
        self.begun += 1
        place = self.folder / str(self.begun)
        try:
            if self.begun > MOST:
                raise Fault("build", f"more than {MOST} extensions")
            check(payload)
            place.mkdir()
            self.cache.mkdir(parents=True, exist_ok=True)
        except Fault as fault:
            refusal = fault.record()
            return Build(lambda: {"error": refusal})
        except Exception as problem:  # pylint: disable=broad-except # whatever shape it has
            refusal = Fault("build", f"what is asked for is no extension: {problem}"[:500]).record()
            return Build(lambda: {"error": refusal})
        return Build(lambda: compiled(payload, place, self.cache))


class Build:
    """A process that answers with what `work` gives. All it starts is of its group, in which nothing of a
    candidate's runs."""

    def __init__(self, work):
        self.begun, self.said = time.monotonic(), bytearray()
        self.descriptor, answers = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            begin(work, answers)
        os.close(answers)
        os.set_blocking(self.descriptor, False)

    def answer(self):
        """None where it is not ready."""
        part = some(self.descriptor)
        if part is None:
            return None
        self.said += part
        try:
            said = wire.take(self.said, REPLY)
        except wire.Torn:
            said = {}
        if said is None and part:
            return None
        return said or {"error": Fault("build", "the compiler's process ended").record()}

    def close(self):
        os.close(self.descriptor)
        try:
            os.killpg(self.process, signal.SIGKILL)
        except ProcessLookupError:
            pass


def begin(work, answers):
    """In the build's process, which never returns."""
    try:
        os.setsid()
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        os.dup2(answers, 3)
        os.closerange(4, 1 << 16)
        wire.send(3, work())
    except BaseException as problem:  # pylint: disable=broad-except
        wire.send(3, {"error": Fault("machine", f"the extension cannot be built: {problem!r}"[:1000]).record()})
    finally:
        os._exit(0)


def compiled(payload, place, cache):
    from kernevo_virtual import extension, start
    from kernevo_virtual.building.errors import BuildError

    os.environ.update(HOME=str(place), TMPDIR=str(place), TRITON_CACHE_DIR=str(place), MAX_JOBS="2")
    os.chdir(place)
    cage.confine([start.settings()["toolkit"]], [place, cache], MEMORY, SECONDS, LARGEST, kind="compile")
    try:
        library = extension.build(payload, cache, trusted=False)
    except BuildError as error:
        return {"error": Fault("build", error.text, error.where, error.detail).record()}
    # The candidate sees what was built for it, not the cache.
    return {"path": str(shutil.copy(library, place / f"{payload['name']}.so"))}


def check(payload):
    """A payload is an untrusted program's: names become files of the build."""
    if not isinstance(payload, dict) or len(wire.pack(payload)) > SOURCES:
        raise Fault("build", f"an extension's sources are longer than {SOURCES >> 20} MiB")
    if not WORD.fullmatch(str(payload.get("name"))):
        raise Fault("build", "an extension's name is a word")
    if not GPU.fullmatch(str(payload.get("gpu"))):
        raise Fault("build", "an extension is for a GPU")
    for file in payload.get("files") or []:
        if not FILE.fullmatch(str(file["name"])):
            raise Fault("build", f"'{file['name']}' is no plain name of a file")
    if payload.get("extra_include_paths"):
        raise Fault("build", "an extension's headers are among its files")


# The candidate's side.

def ask_for(descriptor):
    """A builder for kernevo_virtual.extension that asks the stage."""
    from kernevo_virtual.building.errors import BuildError

    def builder(payload, _):
        wire.send(descriptor, payload)
        answer = wire.receive(descriptor, REPLY) or {"error": Fault("build", "no answer").record()}
        if "error" in answer:
            said = answer["error"]
            raise BuildError(said["text"], said["where"], said["detail"])
        return answer["path"]

    return builder
