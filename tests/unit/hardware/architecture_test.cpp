#include "kernevo/hardware/architecture_table.h"

#include "kernevo/base/files.h"
#include "kernevo/hardware/gpu_table.h"
#include "kernevo/model/gpu.h"
#include "test_folder.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

namespace fs = std::filesystem;

TEST(Architecture, EveryGpuHasOne) {
  const std::vector<Gpu> gpus = load_gpus().value();
  for (const Gpu& gpu : gpus) {
    const auto found = find_architecture(gpu.compute_capability);
    ASSERT_TRUE(found) << gpu.name << ": " << format_error(found.error());
    EXPECT_FALSE(found->source.empty());
    EXPECT_LT(found->shared_latency, found->l1_latency);
    EXPECT_LT(found->l1_latency, found->l2_latency);
    EXPECT_LT(found->l2_latency, found->dram_latency);
  }
}

TEST(Architecture, LanesAgreeWithTheGpusPeak) {
  const std::vector<Gpu> gpus = load_gpus().value();
  for (const Gpu& gpu : gpus) {
    const Architecture a = find_architecture(gpu.compute_capability).value();
    const double tflops = 2 * a.fp32_lanes * gpu.multiprocessors * gpu.clock_ghz / 1e3;
    EXPECT_NEAR(tflops / gpu.fp32_tflops.value(), 1, 0.09) << gpu.name;
  }
}

TEST(Architecture, AnUnknownCapabilityTakesTheNextOlder) {
  EXPECT_EQ(find_architecture(87)->source, find_architecture(86)->source);
  EXPECT_FALSE(find_architecture(60));
}

class ArchitectureFile : public testing::Test {
protected:
  void SetUp() override {
    original_ = read_text_file(share_folder().value() / "architectures" / "sm_80.yaml").value();
    fs::create_directory(folder_ / "gpus");
    fs::create_directory(folder_ / "architectures");
    setenv("KERNEVO_SHARE", folder_.c_str(), 1); // NOLINT(concurrency-mt-unsafe)
  }
  void TearDown() override {
    unsetenv("KERNEVO_SHARE"); // NOLINT(concurrency-mt-unsafe)
  }
  std::string complaint(std::string text) {
    EXPECT_TRUE(write_file_atomically(folder_ / "architectures" / "sm_80.yaml", text));
    const auto found = find_architecture(80);
    return found ? "" : format_error(found.error());
  }
  std::string with(const std::string& from, const std::string& to) const {
    std::string text = original_;
    return text.replace(text.find(from), from.size(), to);
  }

  const TestFolder made_;
  const fs::path folder_ = made_.path();
  std::string original_;
};

TEST_F(ArchitectureFile, MistakesNameFileLineAndKey) {
  EXPECT_EQ(complaint(original_), "");
  EXPECT_NE(complaint(with("fp32_lanes:", "fp32_lane:")).find("did you mean 'fp32_lanes'"),
            std::string::npos);
  EXPECT_NE(complaint(with("l1_latency: 33", "l1_latency: fast")).find("must be a number above 0"),
            std::string::npos);
  EXPECT_NE(complaint(with("l1_latency: 33\n", "")).find("'l1_latency' is missing"),
            std::string::npos);
}

} // namespace
} // namespace kernevo
