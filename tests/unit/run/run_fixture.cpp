#include "run_fixture.h"

#include "kernevo/base/worker_process.h"
#include "places.h"

#include <fmt/format.h>
#include <fstream>
#include <unistd.h>

namespace kernevo::run {

namespace fs = std::filesystem;

void RunFixture::SetUpTestSuite() {
  set_worker_program(program_path());
}

void RunFixture::SetUp() {
  folder_ = fs::temp_directory_path() /
            fmt::format("kernevo-run-{}-{}", getpid(),
                        testing::UnitTest::GetInstance()->current_test_info()->name());
  fs::create_directories(folder_ / "vectors");
  std::ofstream(folder_ / "vectors/reference.cu") << adding_kernel();
}

void RunFixture::TearDown() {
  fs::remove_all(folder_);
}

std::string RunFixture::task(const std::string& more) const {
  const std::string file = (folder_ / "vectors/task.yaml").string();
  std::ofstream(file) << "op_name: add\nshapes: [[4096]]\ndtype: float32\ntarget_gpu: A100\n"
                         "reference_kernel: reference.cu\n"
                      << more;
  return file;
}

RunPlan RunFixture::plan(const std::string& more) const {
  RunPlan plan;
  plan.task_file = task(more);
  plan.folder = (folder_ / "deep/run").string();
  return plan;
}

bool RunFixture::anything_left() const {
  return fs::exists(folder_ / "deep");
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
