// Calibrating the GPU that our driver library plays gives back that GPU's own tables, as far as the
// model that prices the micro-kernels shows them.
#include "../support/run_program.h"
#include "../support/test_folder.h"
#include "kernevo/base/files.h"
#include "places.h"
#include "test_needs.h"
#include "toolchain_test.h"

#include <algorithm>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>

namespace kernevo {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

class Calibrate : public testing::Test {
protected:
  void SetUp() override {
    if (!needed_toolchain())
      return;
    if (libcuda_path().empty()) {
      skip_for_want_of("our CUDA driver library is not built here");
      return;
    }
    fs::create_directory(folder_.path("gpus"));
    settings_ = {{"KERNEVO_LIBCUDA", libcuda_path()}, {"KERNEVO_GPUS", folder_.path("gpus")}};
    ready_ = true;
  }
  SubprocessResult kernevo(const std::vector<std::string>& arguments,
                           const std::map<std::string, std::string>& more = {}) const {
    std::map<std::string, std::string> settings = settings_;
    for (const auto& [name, value] : more)
      settings[name] = value;
    return run_program(program_path(), arguments, settings, 1500);
  }

  bool ready_ = false;
  std::map<std::string, std::string> settings_;
  const TestFolder folder_;
};

TEST_F(Calibrate, TheStandInsTablesComeBack) {
  if (!ready_)
    return;
  const std::string file = folder_.path("gpus/mine.yaml");
  const SubprocessResult run =
      kernevo({"calibrate", "--json", "--output", file, "--name", "Mine 1"});
  ASSERT_EQ(run.exit_status, 0) << run.error_output;
  const json found = json::parse(run.output);
  EXPECT_EQ(found["listed"], "A100");
  EXPECT_EQ(found["method"], "modelled_by_stand_in");
  EXPECT_EQ(found["missing"], json::array()) << found["missing"];
  // Found over listed, and how near the model lets it come. It takes a unit that would fill every
  // issue slot (pairs of halves) to be a little slower, L2 beside L1 likewise; waits for L2 and
  // DRAM are of loaded ones, 2 and 1.3 times an idle one's.
  struct Near {
    double ratio = 1;
    double tolerance = 0.02;
  };
  const std::map<std::string, Near> expected = {
      {"clock_ghz", {1, 0.015}},
      {"launch_us", {1, 0.5}},
      {"fp32_tflops", {}},
      {"fp16_tflops", {0.89, 0.03}},
      {"fp64_tflops", {}},
      {"tensor_fp16_tflops", {}},
      {"tensor_tf32_tflops", {}},
      {"tensor_fp64_tflops", {}},
      {"tensor_int8_tops", {}},
      {"dram_gbps", {}},
      {"l2_bytes_per_clock", {0.97, 0.03}},
      {"fp32_lanes", {}},
      {"integer_multiply_lanes", {}},
      {"fp16_lanes", {0.89, 0.03}},
      {"fp64_lanes", {}},
      {"special_function_lanes", {}},
      {"shared_bytes_per_clock", {}},
      {"shared_latency", {1, 0.05}},
      {"l1_latency", {1, 0.1}},
      {"l2_latency", {2, 0.2}},
      {"dram_latency", {1.3, 0.15}},
  };
  std::size_t compared = 0;
  for (const json& figure : found["figures"]) {
    SCOPED_TRACE(figure.dump());
    if (figure["listed"].is_null())
      continue;
    ++compared;
    const auto near = expected.find(figure["name"].get<std::string>());
    ASSERT_NE(near, expected.end());
    EXPECT_NEAR(figure["value"].get<double>() / figure["listed"].get<double>(), near->second.ratio,
                near->second.tolerance);
  }
  EXPECT_EQ(compared, expected.size());

  // The file is a GPU like any other.
  EXPECT_THAT(kernevo({"devices"}).output, AllOf(HasSubstr("virtual:Mine 1"), HasSubstr(file)));
  const std::string examples = source_folder() + "/examples/softmax/";
  const auto time_on = [&](const std::string& gpu) {
    const SubprocessResult bench = kernevo({"bench", examples + "task.yaml", examples + "online.cu",
                                            "--device", "virtual:" + gpu, "--json"});
    EXPECT_EQ(bench.exit_status, 0) << bench.error_output;
    return json::parse(bench.output)["objective_ns"].get<double>();
  };
  EXPECT_NEAR(time_on("Mine 1") / time_on("A100"), 1, 0.05);
  // And one that the stand-in can play.
  EXPECT_THAT(kernevo({"devices"}, {{"KERNEVO_GPU", "Mine 1"}}).output,
              HasSubstr("played by virtual Mine 1"));
  const SubprocessResult check = kernevo({"check", examples + "task.yaml", examples + "online.cu",
                                          "--device", "cuda:0", "--small-only"},
                                         {{"KERNEVO_GPU", "Mine 1"}});
  EXPECT_EQ(check.exit_status, 0) << check.output << check.error_output;
}

TEST_F(Calibrate, AGpuThatIsNeverQuietIsTheEnd) {
  if (!ready_)
    return;
  if (libnvml_path().empty()) {
    skip_for_want_of("our NVML is not built here");
    return;
  }
  const std::string file = folder_.path("gpus/mine.yaml");
  const SubprocessResult run =
      kernevo({"calibrate", "--output", file}, {{"KERNEVO_CUDA_FAULTS", "throttle=300"}});
  EXPECT_EQ(run.exit_status, 3) << run.output;
  EXPECT_EQ(run.output, "");
  // Another test may have the GPU first; that is told, too.
  const std::size_t last = run.error_output.rfind("\nkernevo: waiting for ");
  const std::size_t own =
      run.error_output.starts_with("kernevo: waiting for ")
          ? run.error_output.find('\n', last == std::string::npos ? 0 : last + 1) + 1
          : 0;
  const std::string said = run.error_output.substr(own);
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << run.error_output;
  EXPECT_THAT(said, HasSubstr("disturbed"));
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(Calibrate, SaysWhatIsWrongBeforeMinutesAreSpent) {
  if (!ready_)
    return;
  const auto line = [&](const std::vector<std::string>& arguments, int status,
                        const testing::Matcher<const std::string&>& what) {
    const SubprocessResult run = kernevo(arguments);
    EXPECT_EQ(run.exit_status, status) << run.output;
    EXPECT_EQ(std::ranges::count(run.error_output, '\n'), 1) << run.error_output;
    EXPECT_THAT(run.error_output, what);
  };
  line({"calibrate", "--device", "virtual:A100"}, 2, HasSubstr("measures nothing"));
  line({"calibrate", "--device", "cuda:7"}, 2, HasSubstr("cannot open cuda:7"));
  const std::string there = folder_.write("there.yaml", "name: x\n");
  line({"calibrate", "--output", there}, 2,
       AllOf(HasSubstr("there already"), HasSubstr("--force")));
}

} // namespace
} // namespace kernevo
