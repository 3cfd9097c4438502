"""One job in a process of its own: forked, watched, and gone with all it started when it ends."""
import contextlib
import ctypes
import fcntl
import os
import resource
import select
import shutil
import signal
import socket
import time
from dataclasses import dataclass, field

from . import wire
from .fault import Fault

REPLY = 16 << 20     # bytes of a reply
PRINTED = 64 << 10   # characters that are kept of what a job prints
LOOK = 0.05          # seconds between looks at what a job uses
ENTRIES = 20_000     # files and folders of a job
LEAST_FREE = 1 << 30 # bytes of its disk that no job may take
END = 4.0            # seconds in which what was killed must be gone

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass
class Limits:
    seconds: float
    memory: int
    disk: int = 0       # bytes below `folder`
    folder: str = ""


@dataclass
class Ending:
    """What a job left behind: its messages and its prints, or how it came to no reply."""
    messages: list = field(default_factory=list)
    printed: str = ""
    fault: Fault | None = None
    seconds: float = 0.0


def adopt_orphans():
    """What a job's processes start becomes the stage's child when they end, and is found there."""
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children():
    """Of this process, by number."""
    found = []
    own = os.getpid()
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as file:
                    rest = file.read().rpartition(")")[2].split()
            except OSError:
                continue
            if int(rest[1]) == own:
                found.append(int(name))
    return found


def end_all():
    """No child lives on. What dies leaves its own children here, so it is looked again."""
    statuses = {}
    end = time.monotonic() + END
    while time.monotonic() < end:
        left = children()
        for child in left:
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            while True:
                child, status = os.waitpid(-1, os.WNOHANG)
                if child == 0:
                    break
                statuses[child] = status
        except ChildProcessError:
            if not children():
                return statuses
        time.sleep(0.002)
    return statuses


def memory_of(process):
    """Bytes that are the process's own, in memory or swapped out."""
    total = 0
    try:
        with open(f"/proc/{process}/status", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith(("RssAnon:", "RssShmem:", "VmSwap:")):
                    total += int(line.split()[1]) << 10
    except OSError:
        pass  # it has ended
    return total


def disk_of(folder, most):
    """Bytes and entries below a folder. It stops counting at the most there may be."""
    total, entries, folders = 0, 0, [folder]
    while folders:
        try:
            with os.scandir(folders.pop()) as listing:
                for one in listing:
                    entries += 1
                    total += one.stat(follow_symlinks=False).st_blocks * 512
                    if one.is_dir(follow_symlinks=False):
                        folders.append(one.path)
                    if total > most or entries > ENTRIES:
                        return total, entries
        except FileNotFoundError:
            continue  # it was removed meanwhile
        except OSError:
            return total, ENTRIES + 1  # it lies deeper than one can look
    return total, entries


def free_of(folder):
    return shutil.disk_usage(folder).free


class Job:
    """`work(reply, asks)` runs in the child; `reply(value)` sends a message, and `asks` is a socket on which
    it may ask `builds` for extensions. The end of `channel` ends the stage and so the job."""

    def __init__(self, work, limits, channel=None, builds=None):
        self.limits, self.channel, self.builds = limits, channel, builds
        self.ending = Ending()
        self.paused = 0.0  # seconds for which the job waited for builds, which have limits of their own
        self.build = None
        self.base = memory_of(os.getpid())
        self.free = free_of(limits.folder) if limits.folder else 0
        self.results, results = os.pipe()
        self.prints, prints = os.pipe()
        self.asks, asks = socket.socketpair() if builds else (None, None)
        self.buffers = {self.results: bytearray(), self.prints: bytearray()}
        self.begun = time.monotonic()
        self.process = os.fork()
        if self.process == 0:
            begin(work, results, prints, asks.fileno() if asks else None)
        os.close(results)
        os.close(prints)
        if asks:
            asks.close()
            self.buffers[self.asks.fileno()] = bytearray()

    def used(self):
        now = time.monotonic()
        return now - self.begun - self.paused - (now - self.build.begun if self.build else 0)

    def watch(self, enough):
        """Until `enough(messages)`, or its end, or one of its limits."""
        try:
            self.ending.fault = self._watch(enough)
        except wire.Torn as problem:
            self.ending.fault = Fault("died", f"its process gave no answer that one can read: {problem}")
        finally:
            self.ending.seconds = self.used()
            statuses = end_all()
            while len(self.buffers[self.prints]) < PRINTED and (part := some(self.prints)):
                self._keep(self.prints, part)
            self.ending.printed = self.buffers[self.prints].decode("utf-8", "replace")
            os.close(self.results)
            os.close(self.prints)
            if self.asks:
                self.asks.close()
            if self.build:
                self.build.close()
        if self.ending.fault is _ENDED:
            self.ending.fault = ended_with(statuses.get(self.process))
        return self.ending

    def _watch(self, enough):
        self.poll = select.poll()
        for descriptor in self.buffers:
            self.poll.register(descriptor, select.POLLIN)
            os.set_blocking(descriptor, False)
        if self.channel is not None:
            self.poll.register(self.channel, 0)  # its end is always told
        look = 0.0
        while True:
            for descriptor, _ in self.poll.poll(LOOK * 1000):
                if descriptor == self.channel:
                    raise SystemExit(0)
                if self.build and descriptor == self.build.descriptor:
                    self._built()
                    continue
                if (part := some(descriptor)) is None:
                    continue
                if part == b"":
                    self.poll.unregister(descriptor)
                    if descriptor == self.results:
                        return _ENDED
                    continue
                self._keep(descriptor, part)
                if descriptor == self.results:
                    while (value := wire.take(self.buffers[descriptor], REPLY)) is not None:
                        self.ending.messages.append(value)
                    if enough(self.ending.messages):
                        return None
            now = time.monotonic()
            if now >= look:
                look = now + LOOK
                if fault := self._over():
                    return fault

    def _keep(self, descriptor, part):
        buffer = self.buffers[descriptor]
        if len(buffer) > 2 * REPLY:
            raise wire.Torn("it says too much at once")
        buffer += part[:PRINTED - len(buffer)] if descriptor == self.prints else part
        if self.asks and descriptor == self.asks.fileno() and self.build is None:
            if (payload := wire.take(buffer, REPLY)) is not None:
                self.build = self.builds.begin(payload)
                self.poll.register(self.build.descriptor, select.POLLIN)

    def _built(self):
        answer = self.build.answer()
        if answer is None:
            return
        self.poll.unregister(self.build.descriptor)
        self.build.close()
        self.paused += time.monotonic() - self.build.begun
        self.build = None
        try:
            self.asks.send(wire.pack(answer), socket.MSG_DONTWAIT)
        except OSError:
            pass  # who asked no longer listens

    def _over(self):
        limits = self.limits
        if self.used() > limits.seconds:
            return Fault("timeout", f"it did not end within {limits.seconds:g} s")
        if self.build and self.paused + time.monotonic() - self.build.begun > self.builds.seconds:
            return Fault("timeout", f"building its extensions took more than {self.builds.seconds:g} s")
        if memory_of(self.process) - self.base > limits.memory:
            return Fault("memory", f"it took more than {size(limits.memory)} of memory")
        if not limits.folder:
            return None
        total, entries = disk_of(limits.folder, limits.disk)
        if total > limits.disk:
            return Fault("memory", f"it wrote more than {size(limits.disk)} to its folder")
        if entries > ENTRIES:
            return Fault("memory", f"it made more than {ENTRIES} files, or folders too deep")
        # Files without names are on the disk as well.
        free = free_of(limits.folder)
        if free < min(LEAST_FREE, self.free - LEAST_FREE // 4):
            return Fault("memory", "it filled the disk")
        return None


_ENDED = Fault("died", "")


def ended_with(status):
    """A fault for a process that ended before it had replied."""
    if status is None:
        return Fault("died", "its process ended")
    if not os.WIFSIGNALED(status):
        code = os.waitstatus_to_exitcode(status)
        return Fault("died", f"its process ended with code {code} before it had a result")
    number = os.WTERMSIG(status)
    if number == signal.SIGKILL:
        return Fault("memory", "the system killed its process: memory is short")
    if number == signal.SIGSYS:
        return Fault("forbidden", "it asked the system for what it may not have")
    if number == signal.SIGXCPU:
        return Fault("timeout", "it used up its processor time")
    return Fault("died", f"its process was ended by {signal.Signals(number).name}")


def some(descriptor):
    """What is there to read: nothing yet is None, nothing ever again b""."""
    try:
        return os.read(descriptor, 1 << 16)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def size(amount):
    return f"{amount / (1 << 30):.3g} GiB" if amount >= 1 << 29 else f"{amount / (1 << 20):.3g} MiB"


def begin(work, results, prints, asks):
    """In the child, which never returns."""
    try:
        os.setsid()
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write("1000")  # where memory is short, the stage and the judge stay
        results, asks = keep_only(results, prints, asks)
        work(lambda value: wire.send(results, value), asks)
    except BaseException as problem:  # pylint: disable=broad-except
        try:
            wire.send(results, {"error": Fault("machine", f"the stage failed: {problem!r}").record()})
        except BaseException:  # pylint: disable=broad-except
            pass
    finally:
        os._exit(0)


def keep_only(results, prints, asks):
    """Standard streams, where the results go and where builds are asked for; nothing else is open."""
    moved = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, 10) for descriptor in (prints, prints, results, asks)
             if descriptor is not None]
    for target, source in enumerate(moved, 1):
        os.dup2(source, target)
    os.closerange(1 + len(moved), os.sysconf("SC_OPEN_MAX"))
    return 3, None if asks is None else 4
