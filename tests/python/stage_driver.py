"""A stage as the judge starts it: descriptor 3 is the channel, and nothing of this process's environment goes along."""
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

BUILD = os.environ["KERNEVO_BUILD"]
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PYTHON = os.path.join(SOURCE, "python")
sys.path.append(PYTHON)

from kernevo_judge import wire  # noqa: E402

TASK = """
import torch
N = 3000
class Model(torch.nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(N))
        self.factor = factor
    def forward(self, x, y):
        return x * self.weight * self.factor + y
def get_inputs():
    return [torch.rand(N), torch.rand(N)]
def get_init_inputs():
    return [2.0]
"""


class Stage:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="stage-test-")
        home = os.path.join(self.folder, "home")
        os.makedirs(home)
        self.ours, theirs = socket.socketpair()
        environment = {"PATH": os.environ["PATH"], "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8",
                       "LD_LIBRARY_PATH": os.path.join(BUILD, "cuda"), "PYTHONPATH": PYTHON,
                       "KERNEVO_PROGRAM": os.environ.get("KERNEVO_PROGRAM", os.path.join(BUILD, "kernevo")), "PYTHONDONTWRITEBYTECODE": "1"}
        if "KERNEVO_FILE_LAYER" in os.environ:
            environment["KERNEVO_FILE_LAYER"] = os.environ["KERNEVO_FILE_LAYER"]
        program = (f"import os; os.dup2({theirs.fileno()}, 3); os.closerange(4, 100); "
                   f"os.execv({sys.executable!r}, [{sys.executable!r}, '-m', 'kernevo_judge'])")
        self.process = subprocess.Popen([sys.executable, "-I", "-S", "-c", program], env=environment,
                                        pass_fds=[theirs.fileno()], start_new_session=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        theirs.close()
        self.hello = wire.receive(self.ours.fileno())
        self.asked = 0
        self.places = 0

    def ask(self, do, **more):
        self.asked += 1
        wire.send(self.ours.fileno(), {**more, "do": do, "id": self.asked})
        reply = wire.receive(self.ours.fileno())
        assert reply is not None and reply["id"] == self.asked, reply
        return reply

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def prepare(self, task=TASK):
        """The files of a task, as the judge has them made."""
        file = self.write("task/task.py", task)
        place = os.path.join(self.folder, "judged")
        os.makedirs(place, exist_ok=True)
        self.prepared = self.ask("prepare", task=file, precision="fp32", case={"id": "real", "globals": {}}, seed=7,
                                 variants=["nominal"], place=place)
        assert self.prepared["ok"], self.prepared

    def request(self, text, **more):
        self.places += 1
        place = os.path.join(self.folder, f"place-{self.places}")
        os.makedirs(place)
        program = self.write(f"programs/program{self.places}.py", text)
        return {"id": 0, "do": "record", "program": program, "class": "ModelNew", "precision": "fp32", "seed": 7, "place": place,
                "gpu": "A100", "execute": "all", "seconds": 60, "memory": 4 << 30, "mode": "eval",
                "init": self.prepared["init"], "decoy": self.prepared["decoy"], **more}

    def record(self, text, **more):
        request = self.request(text, **more)
        began = time.monotonic()
        reply = self.ask(**request)
        self.took = time.monotonic() - began
        return reply

    def close(self):
        self.ours.close()
        code = self.process.wait(20)
        shutil.rmtree(self.folder, ignore_errors=True)
        return code
