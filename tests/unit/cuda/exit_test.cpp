// How programs end: with a kernel that never does, and after a fault.
#include <dlfcn.h>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run_program.h"

namespace kernevo {
namespace {

// Beside the test program.
std::string exit_program() {
  std::error_code error;
  return (std::filesystem::read_symlink("/proc/self/exe", error).parent_path() /
          "cuda_exit_program")
      .string();
}

TEST(CudaExit, DoesNotWaitForAKernelThatNeverEnds) {
  const SubprocessResult run = run_program(exit_program(), {"spin"});
  EXPECT_EQ(run.exit_status, 0) << run.error_output;
}

TEST(CudaExit, AFaultSticksToTheContext) {
  const SubprocessResult run = run_program(exit_program(), {"fault"});
  EXPECT_EQ(run.exit_status, 0) << run.error_output;
  EXPECT_THAT(run.error_output, testing::HasSubstr("out_of_bounds"))
      << "behind the piece of memory that the bytes asked for are in";
}

} // namespace
} // namespace kernevo
