"""Serves the judge's requests one at a time, each in a child of its own. The stage itself runs nothing of a
candidate's and computes nothing: it has imported what takes long, forks, watches and reports."""
import gc
import importlib
import os
import platform
import subprocess
import sys
import tempfile
import traceback
from dataclasses import dataclass

from . import cage, child, warm, wire
from .building import Builds, ask_for
from .fault import Fault

SECONDS = 60      # of a job that names no limit
MEMORY = 8 << 30  # bytes
SPARE = 256 << 20 # bytes a job may write beside what it may hold


@dataclass
class Role:
    module: str
    function: str
    reads: tuple = ()    # keys of the request that name files or folders
    writes: bool = False # into `place`


ROLES = {
    "describe": Role("tasks", "describe", ("task",)),
    "prepare": Role("tasks", "prepare", ("task",), True),
    "record": Role("candidate", "record", ("program",)),
    "replay": Role("replay", "replay", ("trace", "snapshot", "inputs"), True),
    "compare": Role("compare", "compare", ("expected", "outputs")),
    "find": Role("kernelbench", "find", ("dir",)),
    "list": Role("kernelbench", "list_problems", ("dir",)),
}


def trouble(problem):
    """One line, with what to do."""
    if isinstance(problem, Fault):
        return problem.text
    if isinstance(problem, ImportError):
        return f"PyTorch and Triton cannot be imported ({problem}); run 'kernevo setup python'"
    return f"the Python that judges programs does not start ({type(problem).__name__}: {problem}); " \
           "run 'kernevo setup python' again"


def cache_folder():
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(home, "kernevo")


class Stage:
    def __init__(self, channel):
        self.channel, self.cache = channel, cache_folder()
        os.makedirs(self.cache, exist_ok=True)
        self.torch, self.triton = warm.start_torch(), warm.start_triton(self.cache)
        for role in ROLES.values():
            importlib.import_module(f"kernevo_judge.{role.module}")
        cage.entry("kernevo_confine")
        if warm.threads() != 1:
            raise Fault("machine", "threads run in the stage before anything was asked of it; report this")
        child.adopt_orphans()
        gc.collect()
        gc.freeze()

    def hello(self):
        return {"hello": 1, "torch": self.torch.__version__.split("+")[0], "triton": self.triton.__version__,
                "python": platform.python_version()}

    def serve(self):
        """Until the channel closes."""
        while (request := wire.receive(self.channel)) is not None:
            try:
                reply = {"id": request.get("id"), "ok": True, **self.answer(request)}
            except Fault as fault:
                reply = {"id": request.get("id"), "ok": False, "error": fault.record()}
            except Exception as problem:  # pylint: disable=broad-except
                reply = {"id": request.get("id"), "ok": False, "error": Fault(
                    "machine", trouble(problem), None, traceback.format_exc().splitlines()[-8:]).record()}
            wire.send(self.channel, reply)

    def answer(self, request):
        role = ROLES.get(request.get("do"))
        if role is None:
            raise Fault("machine", f"'{request.get('do')}' is not served here")
        # A file may lie in a folder that is gone when a relative name is looked up.
        for key in (*role.reads, "place", "init", "decoy"):
            if isinstance(request.get(key), str):
                request[key] = os.path.abspath(request[key])
        return self.recorded(request) if request["do"] == "record" else self.done(request, role)

    def limits(self, request, folder, disk):
        return child.Limits(float(request.get("seconds") or SECONDS), int(request.get("memory") or MEMORY),
                            disk, folder)

    def done(self, request, role):
        """A job whose code is ours and whose reply is trusted."""
        scratch = tempfile.mkdtemp(prefix="kernevo-job-")
        try:
            limits = self.limits(request, scratch, int(request.get("memory") or MEMORY) + SPARE)

            def work(tell, _):
                module = importlib.import_module(f"kernevo_judge.{role.module}")
                settle(request, scratch)
                if before := getattr(module, "before_confinement", None):
                    before(request)
                reads = [request[key] for key in role.reads if isinstance(request.get(key), str)]
                if role.module == "tasks":
                    reads += [os.path.dirname(path) for path in reads if os.path.isfile(path)]
                writes = [scratch, *([request["place"]] if role.writes else [])]
                cage.confine(reads, writes, limits.memory, limits.seconds, limits.disk)
                tell({"reply": getattr(module, role.function)(request)})

            ending = child.Job(reporting(work), limits, self.channel).watch(bool)
            return reply_of(ending)
        finally:
            clear(scratch)

    def recorded(self, request):
        """A candidate's job. Its folder and what is built for it are all it shares with anybody."""
        from . import candidate, record_reply

        folder = tempfile.mkdtemp(prefix="record-", dir=request["place"])
        built = tempfile.mkdtemp(prefix="built-", dir=request["place"])
        limits = self.limits(request, folder, int(request.get("memory") or MEMORY) + SPARE)

        def work(tell, asks):
            from kernevo_virtual import extension

            extension.builder = ask_for(asks)
            settle(request, folder)
            opened = candidate.before_confinement(request)
            asked = {**request, "folder": folder}
            cage.confine([request["program"], built], [folder], limits.memory, limits.seconds, limits.disk)
            try:
                tell({"reply": candidate.record(asked, opened, tell)})
            finally:
                candidate.flush()

        builds = Builds(built, os.path.join(self.cache, "extensions"), request.get("build_seconds"))
        job = child.Job(reporting(work), limits, self.channel, builds)
        # Where its inputs are, and then its reply or why there is none.
        ending = job.watch(lambda messages: len(messages) > 1 or bool(messages) and "inputs" not in messages[0])
        kept = ()
        try:
            reply_of(ending)
            reply = record_reply.checked(ending.messages, folder, ending.printed)
            kept = record_reply.FILES
            return reply
        finally:
            clear(folder, kept)
            clear(built)


def clear(folder, kept=()):
    """Removes a folder, however deep it is, or all of it but these files."""
    find = ["find", folder, "-depth", "-mindepth", "1"]
    for path in kept:
        find += ["!", "-path", os.path.join(folder, path)]
    command = [*find, "-delete"] if kept else ["rm", "-rf", folder]
    subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   timeout=60, check=False)


def settle(request, folder):
    """The child's surroundings."""
    os.chdir(folder)
    os.environ.update(HOME=folder, TMPDIR=folder, XDG_CACHE_HOME=folder,
                      TRITON_CACHE_DIR=os.path.join(folder, "triton"),
                      TORCHINDUCTOR_CACHE_DIR=os.path.join(folder, "inductor"),
                      KERNEVO_GPU=request.get("gpu") or "A100")
    tempfile.tempdir = None
    sys.stdout = open(1, "w", buffering=1, encoding="utf-8", errors="replace", closefd=False)
    sys.stderr = open(2, "w", buffering=1, encoding="utf-8", errors="replace", closefd=False)


def reporting(work):
    """The work, with its faults as messages."""
    def run(tell, asks):
        try:
            work(tell, asks)
        except Fault as fault:
            tell({"error": fault.record()})
        except MemoryError:
            tell({"error": Fault("memory", "memory ran out").record()})
        except Exception as problem:  # pylint: disable=broad-except
            lines = traceback.format_exc().splitlines()
            text = f"{type(problem).__name__}: {problem}"[:500]
            tell({"error": Fault("machine", text, None, lines[-12:]).record()})
    return run


def reply_of(ending):
    """The last message is the reply or why there is none. It may be a hostile program's."""
    try:
        return checked_reply(ending)
    except Fault as fault:
        told = [line[:500] for line in ending.printed.splitlines() if line.startswith("kernevo: ")]
        fault.detail += told[:10]
        raise


def checked_reply(ending):
    if ending.fault is not None:
        raise ending.fault
    last = ending.messages[-1]
    if not isinstance(last, dict) or ("error" in last) == ("reply" in last):
        raise Fault("died", "its process gave no answer that one can read")
    if "error" in last:
        fault = fault_from(last["error"])
        # A program may say what it likes once it runs, but not that the machine or the task is at fault.
        if len(ending.messages) > 1 and fault.kind in ("machine", "task"):
            fault.kind = "died"
        raise fault
    if not isinstance(last["reply"], dict):
        raise Fault("died", "its process gave no answer that one can read")
    return last["reply"]


KINDS = ("syntax", "build", "raised", "died", "timeout", "memory", "forbidden", "contract", "unordered",
         "host", "unsupported", "task", "machine")


def fault_from(said):
    try:
        kind, text, where, detail = said["kind"], said["text"], said["where"], said["detail"]
        if kind in KINDS and isinstance(text, str) and (where is None or isinstance(where, str)) and \
                isinstance(detail, list):
            return Fault(kind, text[:2000], where and where[:300], [str(line)[:500] for line in detail[:60]])
    except (KeyError, TypeError):
        pass
    return Fault("died", "its process gave no answer that one can read")
