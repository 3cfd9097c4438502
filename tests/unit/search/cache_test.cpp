#include "fixture.h"
#include "kernevo/base/files.h"
#include "kernevo/search/kernel_tuner_cache.h"
#include "test_folder.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo::search {
namespace {

using testing::HasSubstr;

class KernelTunerCacheTest : public testing::Test {
protected:
  const TestFolder folder_;
  const std::filesystem::path path_ = folder_.path("file.json");
  RecordedSpace recorded_ = made_up_space();
  CacheHeader header_{"NVIDIA A100", "scale", {4096, 4096}};
};

TEST_F(KernelTunerCacheTest, ReadsWhatItWrites) {
  std::vector<Trial> trials = recorded_.trials;
  trials[3].counters = {{"sectors", 12.5}};
  trials[3].compile_time = Nanoseconds{5e8};
  ASSERT_TRUE(write_kernel_tuner_cache(path_, header_, recorded_.space, trials));
  const auto read = read_kernel_tuner_cache(path_, header_, recorded_.space);
  ASSERT_TRUE(read) << format_error(read.error());
  ASSERT_EQ(read->size(), trials.size());
  for (std::size_t i = 0; i < trials.size(); ++i) {
    EXPECT_EQ((*read)[i].configuration, trials[i].configuration);
    EXPECT_EQ((*read)[i].outcome, trials[i].outcome);
    ASSERT_EQ((*read)[i].time.has_value(), trials[i].time.has_value());
    if (trials[i].time) {
      EXPECT_DOUBLE_EQ((*read)[i].time->value, trials[i].time->value);
    }
  }
  EXPECT_EQ((*read)[3].counters, trials[3].counters);
  EXPECT_DOUBLE_EQ((*read)[3].compile_time->value, 5e8);
  // As a recording it is the same space.
  const auto replayed = load_recorded_space(path_);
  ASSERT_TRUE(replayed) << format_error(replayed.error());
  EXPECT_EQ(replayed->space.id(), recorded_.space.id());
  EXPECT_EQ(replayed->device, "NVIDIA A100");
  EXPECT_DOUBLE_EQ(replayed->best.value, recorded_.best.value);
}

// As Kernel Tuner writes one while it runs: not closed, old and new ways to say that one failed, a
// parameter of strings.
constexpr const char* kOpen = R"({
"device_name": "NVIDIA A100",
"kernel_name": "scale",
"problem_size": [
4096
],
"tune_params_keys": ["block_size_x", "layout"],
"tune_params": {"block_size_x": [64, 32, 128], "layout": ["row", "column"]},
"objective": "time",
"cache": {
"64,row": {"block_size_x": 64, "layout": "row", "time": 1.5, "times": [1.4, 1.6], "compile_time": 200.5},
"32,row": {"block_size_x": 32, "layout": "row", "time": "CompilationFailedConfig"},
"128,row": {"block_size_x": 128, "layout": "row", "time": 1e+20},
"128,column": {"block_size_x": 128, "layout": "column", "__error__": "RuntimeFailedConfig"},
"64,column": {"block_size_x": 64, "layout": "column", "time": 1.25},)";

TEST_F(KernelTunerCacheTest, ReadsAnOpenFileWithEveryKindOfFailure) {
  std::ofstream(path_) << kOpen;
  const auto recorded = load_recorded_space(path_);
  ASSERT_TRUE(recorded) << format_error(recorded.error());
  EXPECT_EQ(recorded->space.size(), 5U);
  std::map<std::string, std::string> outcomes;
  for (const Trial& trial : recorded->trials)
    outcomes[recorded->space.text(trial.configuration)] = name_of(trial.outcome);
  const std::map<std::string, std::string> expected = {
      {"block_size_x=64 layout=\"row\"", "ok"},      {"block_size_x=32 layout=\"row\"", "compile"},
      {"block_size_x=128 layout=\"row\"", "failed"}, {"block_size_x=128 layout=\"column\"", "run"},
      {"block_size_x=64 layout=\"column\"", "ok"},
  };
  EXPECT_EQ(outcomes, expected);
  EXPECT_DOUBLE_EQ(recorded->best.value, 1.25e6);
}

TEST_F(KernelTunerCacheTest, AnotherKernelsFileIsRefusedInOneLineAndLeftAlone) {
  ASSERT_TRUE(write_kernel_tuner_cache(path_, header_, recorded_.space, recorded_.trials));
  const std::string before = *read_text_file(path_);
  auto refused = [&](const CacheHeader& header, const SearchSpace& space) {
    const auto read = read_kernel_tuner_cache(path_, header, space);
    EXPECT_FALSE(read);
    const std::string message = read ? "" : format_error(read.error());
    EXPECT_EQ(message.find('\n'), std::string::npos);
    return message;
  };
  EXPECT_EQ(refused({"NVIDIA A100", "softmax", {4096, 4096}}, recorded_.space),
            path_.string() +
                ": this cache is of another kernel: 'scale', not 'softmax'; name another "
                "cache file; this one was left as it is");
  EXPECT_THAT(refused({"NVIDIA H100", "scale", {4096, 4096}}, recorded_.space),
              HasSubstr("another device: 'NVIDIA A100', not 'NVIDIA H100'"));
  EXPECT_THAT(refused({"NVIDIA A100", "scale", {64}}, recorded_.space),
              HasSubstr("another problem size: '4096 x 4096', not '64'"));
  SpaceDescription description;
  description.parameters = {{"TILE", {1, 2}}};
  EXPECT_THAT(refused(header_, *SearchSpace::construct(description)),
              HasSubstr("another space, with parameters: 'BX, BY, TX, TY, SHARED', not 'TILE'"));
  EXPECT_EQ(*read_text_file(path_), before);
}

TEST_F(KernelTunerCacheTest, WhatIsNotACacheFileIsRefused) {
  for (const char* text : {"{\"cells\": []}", "{]", "{\"device_name\": 3}"}) {
    std::ofstream(path_) << text;
    const auto read = read_kernel_tuner_cache(path_, header_, recorded_.space);
    ASSERT_FALSE(read);
    EXPECT_THAT(format_error(read.error()), HasSubstr("not a Kernel Tuner cache file"));
  }
}

} // namespace
} // namespace kernevo::search
