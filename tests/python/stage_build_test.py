"""CUDA extensions of a candidate: built for it by the stage, from its sources alone."""
import os
import subprocess
import unittest

from stage_programs import HONEST, Staged, program, setUpModule, tearDownModule

from kernevo_judge import cage

DEVICE = r"""
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
__global__ void scaled(const float* x, const float* w, const float* y, float* out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] * w[i] * factor + y[i];
}
at::Tensor forward(at::Tensor x, at::Tensor w, at::Tensor y, double factor) {
  auto out = at::empty_like(x);
  int n = x.numel();
  scaled<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), w.data_ptr<float>(), y.data_ptr<float>(), out.data_ptr<float>(),
                                   factor, n);
  return out;
}
"""
HEADER = "#include <ATen/core/Tensor.h>\nat::Tensor forward(at::Tensor x, at::Tensor w, at::Tensor y, double factor);\n"


def extension(device=DEVICE, more="", name="scaled"):
    return program("return built.forward(x, self.weight, y, self.factor)", head=(
        "from torch.utils.cpp_extension import load_inline\n"
        f"SOURCE = {device!r}\n"
        f"built = load_inline(name={name!r}, cpp_sources={HEADER!r}, cuda_sources=SOURCE, functions=['forward']{more})\n"))


class Built(Staged):
    def test_what_it_asks_for_is_recorded(self):
        reply = self.recorded(extension(), seconds=30)
        self.assertEqual((reply["launches"], reply["outputs"][0]["shape"]), (1, [3000]))

    def test_compilers_read_no_other_files(self):
        source = self.stage.write("home/reads.cpp", '#include <vector>\n#include "/etc/passwd"\n')
        plain = self.stage.write("home/plain.cpp", "#include <vector>\n")
        home = os.path.dirname(source)
        child = os.fork()
        if child == 0:
            cage.confine([], [home], 4 << 30, 60, 1 << 30, kind="compile")
            with open("said", "w", encoding="utf-8") as said:
                for file in (plain, source):
                    code = subprocess.run(["g++", "-E", file], stdout=said, stderr=said, check=False).returncode
                    said.write(f"\nended with {code}\n")
            os._exit(0)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        with open(os.path.join(home, "said"), encoding="utf-8") as said:
            text = said.read()
        self.assertNotIn("root:", text)
        self.assertIn("ended with 0\n", text)
        self.assertIn("ended with 1\n", text)

    def test_flags_that_would_run_something(self):
        for flags in ("extra_cflags=['-fplugin=x.so']", "extra_cuda_cflags=['-Xcompiler', '-B/tmp']",
                      "extra_ldflags=['-Wl,--dynamic-linker=x']", "extra_include_paths=['/etc']",
                      "extra_cuda_cflags=['--compiler-bindir=/tmp']"):
            self.refused(extension(more=", " + flags), "build", then_honest=False)
        for name in ("../scaled", "a/b", ""):
            self.refused(extension(name=name), "build", "raised", then_honest=False)
        self.recorded(HONEST)

    def test_asks_of_its_own(self):
        """Whatever it says where builds are asked for, its build is refused or its own."""
        for said in ("{}", "[]", "{'name': 'x', 'gpu': 'sm_80', 'files': [{'name': '../../x', 'text': ''}]}",
                     "{'name': 'x', 'gpu': 'sm_80', 'files': 3}", "{'name': 'x', 'gpu': 'sm_80', 'cuda_sources': [1]}"):
            reply = self.stage.record(program(f"""
                import json
                text = json.dumps({said}).encode()
                os.write(4, len(text).to_bytes(8, 'little') + text)
                print(os.read(4, 4096)[8:])
                return x
            """), seconds=20)
            self.assertTrue(reply["ok"], reply)
            self.assertIn("error", reply["printed"])


if __name__ == "__main__":
    unittest.main()
