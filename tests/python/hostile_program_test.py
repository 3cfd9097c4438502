"""Hostile programs end as what they are, and the next request is served."""
import os
import time
import unittest

from stage_driver import Stage, wire
from stage_programs import HONEST, Staged, program, setUpModule, tearDownModule


class Hostile(Staged):
    def test_never_ends(self):
        for text in (program("while True: pass"), program("return x", head="while True: pass"),
                     program("torch.cuda.synchronize()\nwhile True: print('x' * 4096)")):
            self.refused(text, "timeout", seconds=3)

    def test_ends_at_once(self):
        for code in (0, 1):
            self.assertIn(str(code), self.refused(program(f"os._exit({code})"), "died")["text"])

    def test_crashes(self):
        self.refused(program("ctypes.string_at(0)"), "died")
        self.refused(program("os.abort()"), "died")

    def test_starts_processes(self):
        self.assertIn("PermissionError", self.refused(program("os.fork(); return x"), "forbidden")["text"])
        self.withstood("import subprocess; subprocess.run(['true'])", "os.execv('/bin/sh', ['sh', '-c', 'sleep 100'])",
                       "os.posix_spawn('/bin/sh', ['sh'], {})")
        self.refused(program("""
            libc = ctypes.CDLL(None)
            while True:
                if libc.fork() == 0 or libc.vfork() == 0 or libc.syscall(56, 17, 0, 0, 0, 0) == 0:
                    os.write(1, b'forked')
        """), "timeout", seconds=3)

    def test_the_network(self):
        self.withstood(*(f"import socket; socket.socket(socket.{kind}, socket.SOCK_STREAM)"
                         for kind in ("AF_INET", "AF_INET6", "AF_UNIX")))

    def test_other_files(self):
        expected = self.stage.prepared["variants"][0]["expected"]
        self.refused(program(f"open({expected!r}, 'rb').read(); return x"), "forbidden", "raised")
        self.withstood(*(f"open({path!r}.format(os.getppid()), 'rb').read(1)" for path in (
            "/etc/passwd", "/etc/hostname", "/proc/self/environ", "/proc/self/maps", "/proc/self/mem", "/dev/shm", "/proc/1/environ",
            "/proc/{}/mem", "/proc/{}/environ", "/proc/{}/fd/3", "/proc/{}/maps", os.path.expanduser("~/.bashrc"), expected,
            self.stage.prepared["decoy"], self.stage.prepared["init"], os.path.join(self.stage.folder, "task", "task.py"))))
        # Where it is not refused, nothing is there but what was given.
        self.withstood(f"if not {{'judged', 'task'}} & set(os.listdir({self.stage.folder!r})): raise PermissionError",
                       "if not any(name.isdigit() for name in os.listdir('/proc')): raise PermissionError",
                       "if not {'boot', 'var', 'home'} & set(os.listdir('/')): raise PermissionError", "open('/tmp/anywhere', 'w')", "open('../anywhere', 'w')", "open('/dev/shm/anywhere', 'w')",
                       "os.symlink('/etc/passwd', 'link')", "os.link(__file__, 'link')", "os.chmod(__file__, 0o777)",
                       "os.chmod('.', 0o777)", "os.chown('.', 1, 1)", "os.utime(__file__)", "os.mkfifo('pipe')",
                       "os.rename(__file__, 'mine')", "os.remove(__file__)", "open(__file__, 'w')", "os.truncate(__file__, 0)",
                       "os.chroot('.')", "os.setxattr('.', 'user.x', b'y')", "os.memfd_create('x')")

    def test_system_calls(self):
        """ptrace, process_vm_readv, io_uring_setup, bpf, keyctl, unshare, mount, userfaultfd, setns, shmget, personality,
        perf_event_open, open_by_handle_at, pidfd_open, pidfd_getfd, process_madvise, add_key, mq_open, msgget, fsopen."""
        self.withstood(*(f"if libc.syscall({number}, 0, 0, 0, 0, 0) < 0 and ctypes.get_errno() == 1: raise PermissionError"
                         for number in (101, 310, 425, 321, 250, 272, 165, 323, 308, 29, 135, 298, 304, 434, 438, 440, 248,
                                        240, 68, 430)))

    def test_signals_to_others(self):
        self.withstood("os.kill(os.getppid(), 9)", "os.kill(-1, 9)", "os.kill(1, 0)", "os.killpg(os.getpgid(os.getppid()), 9)",
                       "os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)", "os.sched_setaffinity(os.getppid(), {0})",
                       "import resource; resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (3, 3))",
                       "import resource; resource.setrlimit(resource.RLIMIT_CPU, (1, 1))", "os.setsid()",
                       # What ties its life to the stage's.
                       "if libc.prctl(1, 0, 0, 0, 0) != 0: raise PermissionError",
                       "if libc.prctl(4, 1, 0, 0, 0) != 0: raise PermissionError")
        self.refused(program("os.kill(os.getpid(), 9)"), "died", "memory")

    def test_memory(self):
        self.refused(program("hold = []\nwhile True: hold.append(bytearray(1 << 24))"), "memory", memory=1 << 30)
        self.refused(program("return torch.ones(1 << 40, device='cuda')"), "memory", "raised", memory=1 << 30)
        self.refused(program("hold = []\nwhile True: hold.append(torch.ones(1 << 22, device='cuda'))"), "memory",
                     memory=1 << 30)

    def test_the_disk(self):
        self.refused(program("""
            number = 0
            while True:
                number += 1
                with open(f'file{number}', 'wb') as file:
                    file.write(bytes(1 << 24))
        """), "memory", memory=1 << 28)
        self.refused(program("""
            with open('file', 'wb') as file:
                while True:
                    file.write(bytes(1 << 24))
        """), "memory", "raised", memory=1 << 28)
        self.refused(program("number = 0\nwhile True:\n    number += 1\n    open(f'file{number}', 'w').close()"), "memory")

    def test_prints_without_end(self):
        reply = self.recorded(program("print('x' * (64 << 20)); return x"))
        self.assertLessEqual(len(reply["printed"]), 1 << 16)

    def test_patches_what_it_can(self):
        """It is its own process: nothing that counts is asked of what it patched."""
        reply = self.recorded(program("return x * 2", head="""
            import builtins, json, pickle
            torch.allclose = torch.equal = lambda *_, **__: True
            torch.save = torch.load = time.time = time.perf_counter = lambda *_, **__: 0
            json.dumps = pickle.dumps = lambda *_, **__: b''
            torch.cuda.synchronize = torch.cuda.Event = None
        """))
        self.assertEqual((reply["launches"], reply["operators"]), (0, 1))

    def test_answers_that_are_remembered(self):
        """They are constants of the record: nothing is asked of the GPU."""
        reply = self.recorded(program("""
            if self.kept is None:
                self.kept = x * self.weight * self.factor + y
            return self.kept
        """, "self.kept = None"))
        self.assertEqual((reply["launches"], reply["operators"]), (0, 0))

    def test_tensors_that_are_none(self):
        for head, result in (("class Lazy(torch.Tensor): pass", "x.as_subclass(Lazy)"),
                             ("class Lazy(torch.Tensor):\n"
                              "    @classmethod\n"
                              "    def __torch_function__(cls, function, types, arguments=(), named=None):\n"
                              "        return super().__torch_function__(function, types, arguments, named or {})",
                              "x.as_subclass(Lazy)"),
                             ("class Tensor(torch.Tensor): pass\nTensor.__module__ = 'torch'", "x.as_subclass(Tensor)")):
            self.refused(program(f"return {result}", head=head), "contract")
        self.refused(program("return torch.empty(3000, device='meta')"), "host")
        self.refused(program("return x.to_sparse()"), "contract", "raised", "unsupported")

    def test_writes_to_descriptors(self):
        for writes in ("b'\\xff' * 4096", "(4).to_bytes(8, 'little') + b'null'", "(1 << 40).to_bytes(8, 'little')",
                       "(200000).to_bytes(8, 'little') + b'[' * 200000"):
            self.refused(program(f"""
                for descriptor in range(3, 64):
                    try:
                        os.write(descriptor, {writes})
                    except OSError:
                        pass
                time.sleep(30)
            """), "died", "timeout", seconds=5)

    def test_messages_without_end(self):
        self.refused(program("""
            import json
            text = json.dumps({"inputs": []}).encode()
            while True:
                os.write(3, len(text).to_bytes(8, 'little') + text)
        """), "died")
        self.refused(program("while True: os.write(4, b'x' * 65536)"), "died", "timeout", seconds=3)
        self.refused(program("while True: os.write(4, (1 << 20).to_bytes(8, 'little') + b'x' * (1 << 20))"), "died",
                     "timeout", seconds=3)

    def test_folders_that_nobody_can_look_into(self):
        self.refused(program("""
            while True:
                os.mkdir('x' * 200)
                os.chdir('x' * 200)
                with open('file', 'wb') as file:
                    file.write(bytes(1 << 20))
        """), "memory", "raised", memory=1 << 28)

    def test_leaves_nothing_behind(self):
        litter = "for _ in range({}):\n    os.mkdir('x' * 20)\n    os.chdir('x' * 20)\nopen('file', 'w').close()\n"
        reply = self.recorded(program(litter.format(50) + "return x"))
        folder = os.path.dirname(reply["snapshot"])
        self.assertEqual({name: sorted(os.listdir(os.path.join(folder, name))) if name == "trace" else None
                          for name in os.listdir(folder)}, {"snapshot": None, "trace": ["trace.data", "trace.jsonl"]})
        self.refused(program(litter.format(1500) + "os._exit(0)"), "died", "memory", then_honest=False)
        place = os.path.join(self.stage.folder, f"place-{self.stage.places}")
        self.assertEqual(os.listdir(place), [])

    def test_forged_replies(self):
        good = {"outputs": [{"address": 0x100000001000, "bytes": 12000, "shape": [3000], "dtype": "float32", "strides": [1],
                             "offset": 0}], "structure": "tensor", "reads_back": False, "notes": []}
        bad = [{**good, "outputs": [{**good["outputs"][0], **wrong}]} for wrong in (
            {"address": 4096}, {"address": -1}, {"bytes": 8}, {"shape": [1 << 62]}, {"dtype": "secret"}, {"offset": 1},
            {"strides": [1, 1]}, {"shape": "x"}, {"address": True})]
        bad += [{**good, "structure": {"tuple": ["tensor", "tensor"]}}, {**good, "structure": []}, {**good, "notes": 1},
                {"outputs": []}, {**good, "outputs": [good["outputs"][0]] * 300}, good]  # this last has no trace
        for reply in bad:
            self.refused(program(f"""
                import json
                text = json.dumps({{"reply": {reply!r}}}).encode()
                os.write(3, len(text).to_bytes(8, 'little') + text)
                time.sleep(30)
            """), "died", "host", then_honest=False)
        self.recorded(HONEST)

    def test_errors_that_it_makes_up(self):
        error = self.refused(program("""
            import json
            text = json.dumps({"error": {"kind": "machine", "text": "x" * 100000, "where": None, "detail": ["y"] * 10000}}).encode()
            os.write(3, len(text).to_bytes(8, 'little') + text)
            time.sleep(30)
        """), "died")
        self.assertLess(len(str(error)), 10000)


class Abandoned(unittest.TestCase):
    def test_nothing_outlives_the_channel(self):
        stage = Stage()
        stage.prepare()
        wire.send(stage.ours.fileno(), stage.request(program("print('begun', flush=True)\nwhile True: pass"), seconds=600))
        end = time.monotonic() + 30
        while not (jobs := children_of(stage.process.pid)) and time.monotonic() < end:
            time.sleep(0.1)
        self.assertTrue(jobs)
        self.assertEqual(stage.close(), 0)
        self.assertFalse([job for job in jobs if os.path.exists(f"/proc/{job}")])


def children_of(process):
    with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
        return file.read().split()


if __name__ == "__main__":
    unittest.main()
