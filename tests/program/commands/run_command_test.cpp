// `kernevo run` through the real program.
#include "places.h"
#include "run_program.h"
#include "test_folder.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kernevo {
namespace {

namespace fs = std::filesystem;

// out[i] = in[i] * factor; thread 3 of a block of more than 4 stores out of bounds.
constexpr const char* kScale = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 in, .param .u64 out, .param .f32 factor)
{
  .reg .u32 %r<3>;
  .reg .u64 %rd<6>;
  .reg .f32 %f<4>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  ld.param.f32 %f1, [factor];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.f32 %f2, [%rd4];
  mul.f32 %f3, %f2, %f1;
  st.global.f32 [%rd5], %f3;
  ret;
}
)";

class RunCommand : public testing::Test {
protected:
  void SetUp() override {
    folder_.write("scale.ptx", kScale);
    const std::array<float, 4> values = {1, 2, 3, 4};
    std::ofstream(path("in.bin"), std::ios::binary)
        .write(reinterpret_cast<const char*>(values.data()), sizeof values); // NOLINT
  }

  std::string path(const std::string& name) const { return folder_.path(name); }
  SubprocessResult run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"run", path("scale.ptx")});
    return run_program(program_path(), arguments, {});
  }
  SubprocessResult scale(const std::string& threads, const std::string& out) const {
    return run({"--block", threads, "--arg", "in:f32:" + path("in.bin"), "--arg", out, "--arg",
                "f32:2.5"});
  }
  const TestFolder folder_;
};

TEST_F(RunCommand, SavesWhatTheKernelWrote) {
  const auto result = scale("4", "out:f32:4:" + path("out.bin"));
  EXPECT_EQ(result.exit_status, 0) << result.error_output;
  std::array<float, 4> values{};
  std::ifstream(path("out.bin"), std::ios::binary)
      .read(reinterpret_cast<char*>(values.data()), sizeof values); // NOLINT
  EXPECT_EQ(values, (std::array<float, 4>{2.5, 5, 7.5, 10}));
}

TEST_F(RunCommand, ShowsTheFirstElements) {
  const auto result = scale("4", "out:f32:4");
  EXPECT_NE(result.output.find("2.5 5 7.5 10"), std::string::npos) << result.output;
}

TEST_F(RunCommand, AFaultIsANo) {
  const auto result = scale("8", "out:f32:4");
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_NE(result.output.find("out_of_bounds"), std::string::npos) << result.output;
}

TEST_F(RunCommand, ListsKernels) {
  const auto result = run({"--load-only", "--json"});
  ASSERT_EQ(result.exit_status, 0) << result.error_output;
  const auto json = nlohmann::json::parse(result.output);
  ASSERT_EQ(json["kernels"].size(), 1U);
  EXPECT_EQ(json["kernels"][0]["name"], "scale");
  EXPECT_EQ(json["kernels"][0]["parameters"], 3);
}

TEST_F(RunCommand, RefusesWhatDoesNotFit) {
  EXPECT_EQ(run({}).exit_status, 2);                                            // no arguments
  EXPECT_EQ(run({"--kernel", "scael"}).exit_status, 2);                         // unknown kernel
  EXPECT_EQ(run({"--grid", "0"}).exit_status, 2);                               // empty grid
  EXPECT_EQ(run({"--gpu", "B52", "--load-only"}).exit_status, 2);               // unknown GPU
  EXPECT_EQ(run({"--arg", "in:f32:" + path("missing")}).exit_status, 2);        // no such file
  EXPECT_EQ(run({"-a", "i32:1", "-a", "i32:1", "-a", "f32:1"}).exit_status, 2); // wrong sizes
  folder_.write("scale.ptx", "not ptx");
  EXPECT_EQ(run({"--load-only"}).exit_status, 2);
}

} // namespace
} // namespace kernevo
