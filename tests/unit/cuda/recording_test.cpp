// What is written down of a program, and what is executed meanwhile.
#include "cuda_program.h"
#include "kernevo/base/temporary_folder.h"

#include <cstdint>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

extern "C" {
int kernevo_reserve_window(std::uint64_t bytes);
int kernevo_execution(int mode);
int kernevo_record(const char* folder);
int kernevo_snapshot(const char* file);
std::uint64_t kernevo_read_back_bytes();
const char* kernevo_last_words();
}

namespace {

using Lines = std::vector<nlohmann::json>;

// A program that is recorded begins like this, before it has any memory.
class Recording : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(kernevo_reserve_window(std::uint64_t{1} << 36U), 0) << kernevo_last_words();
    ASSERT_EQ(set_factor(2), cudaSuccess);
    data_ = device_vector({1, 2, 3});
    auto folder = kernevo::TemporaryFolder::make();
    ASSERT_TRUE(folder);
    folder_.emplace(std::move(*folder));
    ASSERT_EQ(kernevo_record(folder_->path().c_str()), 0) << kernevo_last_words();
  }
  void TearDown() override {
    kernevo_record(nullptr);
    kernevo_execution(0);
    cudaFree(data_);
    (void)cudaGetLastError();
  }

  Lines end() {
    EXPECT_EQ(kernevo_record(nullptr), 0);
    Lines lines;
    std::ifstream file(folder_->path() / "trace.jsonl");
    for (std::string line; std::getline(file, line);)
      lines.push_back(nlohmann::json::parse(line));
    return lines;
  }
  static Lines of_kind(const Lines& lines, const std::string& kind) {
    Lines found;
    for (const auto& line : lines)
      if (line.at("do") == kind)
        found.push_back(line);
    return found;
  }

  float* data_ = nullptr;
  std::optional<kernevo::TemporaryFolder> folder_;
};

TEST_F(Recording, SaysWhatWasAskedInOrder) {
  ASSERT_EQ(launch_scale(data_, 3), cudaSuccess);
  ASSERT_EQ(cudaMemset(data_, 0, 4), cudaSuccess);
  void* other = nullptr;
  ASSERT_EQ(cudaMalloc(&other, 12), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(other, data_, 12, cudaMemcpyDeviceToDevice), cudaSuccess);
  EXPECT_EQ(host_vector(other, 3), (std::vector<float>{0, 4, 6}));
  ASSERT_EQ(cudaFree(other), cudaSuccess);
  EXPECT_EQ(kernevo_read_back_bytes(), 12U);
  const Lines lines = end();
  std::vector<std::string> kinds;
  for (const auto& line : lines)
    if (line.at("do") != "sync")
      kinds.push_back(line.at("do"));
  EXPECT_EQ(kinds, (std::vector<std::string>{"begin", "stream", "module", "launch", "fill", "alloc",
                                             "copy", "copy", "free", "end"}));
  const auto address = reinterpret_cast<std::uint64_t>(data_);
  EXPECT_EQ(of_kind(lines, "fill").front().at("to"), address);
  EXPECT_EQ(of_kind(lines, "copy").front().at("kind"), "on");
  EXPECT_EQ(of_kind(lines, "copy").back().at("kind"), "out");
  const auto globals = of_kind(lines, "module").front().at("globals");
  ASSERT_EQ(globals.size(), 1U);
  EXPECT_EQ(globals[0][0], "factor");
}

TEST_F(Recording, IsTheSameWhenNothingIsExecuted) {
  ASSERT_EQ(launch_scale(data_, 3), cudaSuccess);
  const Lines whole = end();
  ASSERT_EQ(kernevo_execution(1), 0);
  ASSERT_EQ(kernevo_record(folder_->path().c_str()), 0);
  ASSERT_EQ(launch_scale(data_, 3), cudaSuccess);
  EXPECT_EQ(end(), whole);
  EXPECT_EQ(host_vector(data_, 3), (std::vector<float>{2, 4, 6})); // scaled once
}

TEST_F(Recording, OrderIsWrittenDown) {
  cudaStream_t side = nullptr;
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  ASSERT_EQ(launch_scale(data_, 3, side), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(event, side), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(nullptr, event, 0), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(side), cudaSuccess);
  const Lines lines = end();
  const auto record = of_kind(lines, "record").at(0);
  const auto wait = of_kind(lines, "wait").at(0);
  EXPECT_EQ(record.at("point"), wait.at("point"));
  EXPECT_NE(record.at("stream"), wait.at("stream"));
  EXPECT_EQ(of_kind(lines, "sync").at(0).at("stream"), record.at("stream"));
  EXPECT_EQ(of_kind(lines, "launch").at(0).at("stream"), record.at("stream"));
  cudaEventDestroy(event);
  cudaStreamDestroy(side);
}

TEST_F(Recording, RefusesWhatTheHostDoesInAStream) {
  ASSERT_EQ(cudaLaunchHostFunc(nullptr, [](void*) {}, nullptr), cudaSuccess);
  EXPECT_EQ(of_kind(end(), "refused").size(), 1U);
}

TEST_F(Recording, BeginsAndEndsOnce) {
  EXPECT_NE(kernevo_record(folder_->path().c_str()), 0);
  end();
  EXPECT_NE(kernevo_record(nullptr), 0);
}

TEST_F(Recording, ASnapshotHoldsWhatMemoryDoes) {
  const auto file = folder_->path() / "snapshot";
  ASSERT_EQ(kernevo_snapshot(file.c_str()), 0);
  std::ifstream stream(file, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(stream), {}};
  const std::vector<float> values = {1, 2, 3};
  EXPECT_NE(content.find(std::string(reinterpret_cast<const char*>(values.data()), 12)),
            std::string::npos);
}

} // namespace
