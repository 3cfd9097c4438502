#include "scoped_environment.h"

#include "kernevo/base/files.h"
#include "kernevo/toolchain/toolchain.h"
#include "test_folder.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace kernevo {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class FindToolchain : public testing::Test {
protected:
  void SetUp() override {
    fs::create_directories(root_ / "bin");
    fs::create_directories(root_ / "lib64");
    fs::create_directories(root_ / "include");
  }

  void put(const fs::path& file, const std::string& text, bool executable = false) {
    ASSERT_TRUE(write_file_atomically(root_ / file, text));
    if (executable)
      fs::permissions(root_ / file, fs::perms::owner_all);
  }

  const TestFolder made_;
  const fs::path root_ = made_.path();
};

TEST_F(FindToolchain, takes_the_folder_that_was_set) {
  put("include/cuda.h", "#define CUDA_VERSION 12080\n");
  put("bin/ptxas", "", true);
  put("lib64/libnvrtc.so.12", "");
  const ScopedEnvironment set("KERNEVO_CUDA", root_.c_str());
  const auto found = find_toolchain();
  ASSERT_TRUE(found) << format_error(found.error());
  EXPECT_EQ(found->version, "12.8");
  EXPECT_EQ(found->nvrtc, root_ / "lib64/libnvrtc.so.12");
  EXPECT_EQ(found->ptxas, root_ / "bin/ptxas");
  EXPECT_TRUE(found->nvcc.empty());
  EXPECT_EQ(found->origin, "KERNEVO_CUDA");
}

TEST_F(FindToolchain, a_wrong_setting_is_an_error_not_a_detour) {
  const ScopedEnvironment set("KERNEVO_CUDA", root_.c_str());
  const auto empty = find_toolchain();
  ASSERT_FALSE(empty);
  EXPECT_EQ(exit_code(empty.error().code), 3);
  EXPECT_THAT(empty.error().message, HasSubstr("no include/cuda.h"));
  put("include/cuda.h", "#define CUDA_VERSION 13020\n");
  const auto no_compiler = find_toolchain();
  ASSERT_FALSE(no_compiler);
  EXPECT_THAT(no_compiler.error().message, HasSubstr("neither libnvrtc nor bin/nvcc"));
  EXPECT_THAT(no_compiler.error().fix, HasSubstr("make setup"));
}

TEST_F(FindToolchain, a_library_that_is_none_is_the_machines_trouble) {
  put("include/cuda.h", "#define CUDA_VERSION 13020\n");
  put("lib64/libnvrtc.so.13", "not a library");
  const ScopedEnvironment set("KERNEVO_CUDA", root_.c_str());
  const ScopedEnvironment cache("KERNEVO_CACHE", "off");
  const auto found = find_toolchain();
  ASSERT_TRUE(found);
  CompileRequest request;
  request.source = "__global__ void k() {}";
  request.file = "k.cu";
  const auto build = compile(*found, request);
  ASSERT_FALSE(build);
  EXPECT_EQ(build.error().code, ErrorCode::infrastructure);
  EXPECT_THAT(build.error().message, HasSubstr("cannot load NVRTC"));
}

} // namespace
} // namespace kernevo
