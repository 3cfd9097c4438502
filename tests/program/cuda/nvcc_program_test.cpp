// Programs as nvcc makes them when it is told nothing but to share the runtime.
#include "kernevo/base/subprocess.h"
#include "places.h"
#include "test_folder.h"
#include "toolchain_test.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace kernevo {
namespace {
namespace fs = std::filesystem;

constexpr const char* kTwoFiles = R"(
#include <cstdio>
extern __device__ float twice(float);
__global__ void scale(float* x) { x[threadIdx.x] = twice(x[threadIdx.x]); }
int main() {
  float* x;
  cudaMallocManaged(&x, 32 * sizeof *x);
  for (int i = 0; i < 32; ++i) x[i] = i;
  scale<<<1, 32>>>(x);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s, %g\n", cudaGetErrorString(error), x[31]);
}
)";
constexpr const char* kTwice = "__device__ float twice(float x) { return x + x; }\n";
constexpr const char* kOneFile = R"(
#include <cstdio>
__device__ int total;
__global__ void count(int first) { atomicAdd(&total, first + threadIdx.x); }
int main() {
  count<<<2, 100>>>(1);
  int all = 0;
  cudaMemcpyFromSymbol(&all, total, sizeof all);
  std::printf("%d\n", all);
}
)";

class NvccProgram : public testing::Test {
protected:
  void SetUp() override {
    const auto found = needed_toolchain({&Toolchain::nvcc});
    if (!found)
      return;
    nvcc_ = found->nvcc.string();
    libraries_ = fs::path(cudart_path()).parent_path();
    // The name a toolkit's installation has for linking.
    fs::create_symlink(cudart_path(), folder_.path() / "libcudart.so");
  }
  SubprocessResult run(std::vector<std::string> command) {
    SubprocessRequest request;
    request.arguments = std::move(command);
    request.environment = {"PATH=/usr/bin:/bin", "TMPDIR=" + folder_.path().string(),
                           "HOME=" + folder_.path().string(),
                           "LD_LIBRARY_PATH=" + libraries_.string()};
    request.folder = folder_.path();
    request.time_limit_seconds = 240;
    return run_subprocess(request).value();
  }
  // What the program says that nvcc makes with these arguments.
  std::string output_of(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(),
                     {nvcc_, "-cudart", "shared", "-o", "program", "-L" + folder_.path().string()});
    const SubprocessResult compiled = run(std::move(arguments));
    EXPECT_TRUE(compiled.succeeded()) << compiled.output << compiled.error_output;
    const SubprocessResult ran = run({folder_.path("program")});
    EXPECT_TRUE(ran.succeeded()) << ran.error_output;
    return ran.output;
  }

  TestFolder folder_;
  std::string nvcc_;
  fs::path libraries_;
};

TEST_F(NvccProgram, RunsAsItIsHoweverItsCodeIsPacked) {
  if (IsSkipped())
    return;
  folder_.write("one.cu", kOneFile);
  EXPECT_EQ(output_of({"one.cu"}), "10100\n");
  EXPECT_EQ(output_of({"one.cu", "-compress-mode=speed", "-arch=sm_80"}), "10100\n");
}

TEST_F(NvccProgram, DeviceCodeOfSeveralFilesIsLinked) {
  if (IsSkipped())
    return;
  folder_.write("scale.cu", kTwoFiles);
  folder_.write("twice.cu", kTwice);
  EXPECT_EQ(output_of({"-rdc=true", "scale.cu", "twice.cu"}), "no error, 62\n");
}

} // namespace
} // namespace kernevo
