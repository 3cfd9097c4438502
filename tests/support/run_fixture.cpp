#include "run_fixture.h"

#include <fmt/format.h>

namespace kernevo::run {

void RunFixture::SetUp() {
  folder_.write("vectors/reference.cu", adding_kernel());
}

std::string RunFixture::task(const std::string& more) const {
  return folder_.write("vectors/task.yaml", "op_name: add\nshapes: [[4096]]\ndtype: float32\n"
                                            "target_gpu: A100\nreference_kernel: reference.cu\n" +
                                                more);
}

RunPlan RunFixture::plan(const std::string& more) const {
  RunPlan plan;
  plan.task_file = task(more);
  plan.folder = folder_.path("deep/run");
  return plan;
}

bool RunFixture::anything_left() const {
  return std::filesystem::exists(folder_.path("deep"));
}

std::string adding_kernel(const std::string& extra) {
  return fmt::format(
      "// @launch add<<<ceil_div(N, 128), 128>>>(A, B, C, N)\n"
      "extern \"C\" __global__ void add(const float* A, const float* B, float* C, int N) {{\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  float more = 0;\n"
      "  {}\n"
      "  if (i < N) C[i] = A[i] + B[i] + more;\n"
      "}}\n",
      extra);
}

} // namespace kernevo::run
