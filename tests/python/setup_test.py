#!/usr/bin/env python3
"""`kernevo setup python`: what it refuses, and the stand-ins it makes. Needs neither network nor torch.
    setup_test.py KERNEVO"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import environment  # noqa: E402
import stand_ins  # noqa: E402

PROGRAM = sys.argv.pop(1) if len(sys.argv) > 1 else "kernevo"


def kernevo(*arguments, **settings):
    values = {**os.environ, **settings}
    for name in ("KERNEVO_PYTHON", "KERNEVO_PYTHON_PLACE", "VIRTUAL_ENV"):
        if name not in settings:
            values.pop(name, None)
    return subprocess.run([PROGRAM, *arguments], env=values, check=False, capture_output=True, text=True)


class InFolder(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)


class Refusals(InFolder):
    def expect(self, code, words, *arguments, **settings):
        ran = kernevo(*arguments, **settings)
        self.assertEqual(ran.returncode, code, ran.stderr)
        self.assertEqual(ran.stderr.count("\n"), 1, ran.stderr)
        for word in words:
            self.assertIn(word, ran.stderr)

    def test_what_to_set_up(self):
        self.expect(2, ["nothing is named", "kernevo setup python"], "setup")
        self.expect(2, ["'pyton'", "python"], "setup", "pyton")

    def test_a_python_that_will_not_do(self):
        self.expect(2, ["is no Python that runs"], "setup", "python", KERNEVO_PYTHON=str(self.folder / "none"))
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(self.folder / "venv")], check=True)
        python = self.folder / "venv" / "bin" / "python"
        self.expect(2, ["has no torch", "2.15.0"], "setup", "python", KERNEVO_PYTHON=str(python))
        packages = Path(environment.ask(python)["packages"])
        for name, version in (("torch", "2.1.0"), ("triton", "3.9.0")):
            about = packages / f"{name}-{version}.dist-info"
            about.mkdir()
            (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        self.expect(2, ["has torch 2.1.0; 2.15.0 is needed"], "setup", "python", KERNEVO_PYTHON=str(python))
        self.assertEqual([file.name for file in packages.glob("kernevo*")], [])  # it was left alone

    def test_no_room(self):
        full = mock.Mock(free=1_000_000_000)
        with mock.patch.object(shutil, "disk_usage", return_value=full):
            with self.assertRaisesRegex(environment.Trouble, "1.0 GB are free in .*, 5 GB are needed"):
                environment.check_room(self.folder / "not" / "there")

    def test_missing_tools(self):
        with mock.patch.object(shutil, "which", side_effect=lambda tool: None if tool == "g++" else tool):
            with self.assertRaisesRegex(environment.Trouble, "'g\\+\\+' is missing; install g\\+\\+"):
                environment.check_machine(mock.Mock(ours=True))


class HalfMade(InFolder):
    def test_is_not_used(self):
        (self.folder / "bin").mkdir()
        (self.folder / "bin" / "python").symlink_to("/bin/false")
        called = self.folder / "path"
        called.mkdir()
        (called / "python").symlink_to("/bin/true")
        settings = {"KERNEVO_PYTHON_PLACE": str(self.folder), "PATH": f"{called}:{os.environ['PATH']}"}
        stamp = self.folder / environment.STAMP
        for text in (None, '{"packages": "1"}'):
            if text:
                stamp.write_text(text)
            self.assertEqual(kernevo("run", "--quiet", "--", "python", **settings).returncode, 0)
        stamp.write_text('{"packages": "1", "layer": "2"}')
        self.assertEqual(kernevo("run", "--quiet", "--", "python", **settings).returncode, 1)
        # An active environment goes before.
        self.assertEqual(kernevo("run", "--quiet", "--", "python", VIRTUAL_ENV="/v", **settings).returncode, 0)


class StandIns(InFolder):
    def library(self, name, source, *options):
        (self.folder / "s.c").write_text(source)
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", str(self.folder / name), str(self.folder / "s.c"),
                        f"-Wl,-soname,{name}", *options], check=True)

    def test_define_what_is_imported_under_its_version(self):
        (self.folder / "map").write_text("libcublas.so.13 { global: *; };\n")
        self.library("libcublas.so.13", "int cublasCreate_v2(void) { return 0; } int cublasOther(void) { return 0; }"
                     "const char* cublasGetStatusString(int s) { return 0; }",
                     f"-Wl,--version-script={self.folder / 'map'}")
        self.library("libnccl.so.2", "int ncclInit(void) { return 0; }")
        self.library("libuser.so", """
            int cublasCreate_v2(void); int cublasOther(void); int ncclInit(void); const char* cublasGetStatusString(int);
            int a(void) { return cublasCreate_v2(); } int b(void) { return cublasOther(); } int c(void) { return ncclInit(); }
            const char* d(void) { return cublasGetStatusString(15); }""",
                     str(self.folder / "libcublas.so.13"), str(self.folder / "libnccl.so.2"))
        made = self.folder / "made"
        made.mkdir()
        self.assertEqual(stand_ins.make([self.folder / "libuser.so"], made), ["libcublas.so.13", "libnccl.so.2"])
        tell = ("import ctypes; l = ctypes.CDLL('libuser.so', mode=ctypes.RTLD_GLOBAL | 2); l.d.restype = ctypes.c_char_p;"
                "print(l.a(), l.a(), l.b(), l.c(), l.d().decode())")
        said = subprocess.run([sys.executable, "-c", tell], check=True, capture_output=True, text=True,
                              env={**os.environ, "LD_LIBRARY_PATH": f"{made}:{self.folder}"})
        self.assertEqual(said.stdout, "15 15 15 5 cuBLAS is not on the virtual GPU\n")
        self.assertEqual(said.stderr, "kernevo: the program needs cuBLAS (cublasCreate_v2): not on the virtual GPU\n"
                                      "kernevo: the program needs cuBLAS (cublasOther): not on the virtual GPU\n"
                                      "kernevo: the program needs NCCL (ncclInit): not on the virtual GPU\n")


if __name__ == "__main__":
    unittest.main()
