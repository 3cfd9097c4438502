// A calibrated GPU's file is one that the tables take.
#include "kernevo/calibrate/gpu_file.h"

#include "kernevo/base/files.h"
#include "kernevo/hardware/gpu_table.h"
#include "test_folder.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo::calibrate {
namespace {

using testing::HasSubstr;

Figures figures() {
  Figures found;
  found.known = {{"clock_ghz", "GHz", "chain", 1.755, 0.004, std::nullopt, true, ""},
                 {"dram_gbps", "GB/s", "dram_read", 864.25, 0.01, std::nullopt, true, "a \"note\""},
                 {"fp32_tflops", "TFLOP/s", "fp32", 57.5, 0.02, std::nullopt, true, ""},
                 {"l1_latency", "clk", "chase_l1", 33, 0.02, std::nullopt, false, ""}};
  found.missing = {{"fp64_tflops", "noise hides it by 12 %"}};
  return found;
}
const Provenance kFrom{"2026-11-19", "cuda:0 (NVIDIA \"X\", driver 13.0)", "as others have it",
                       "0.1.0", 240};

TEST(GpuFile, IsOneTheTablesTake) {
  const TestFolder folder;
  const Gpu like = find_gpu("A100").value();
  const auto text = gpu_file(like, "My \"fast\" GPU\\", figures(), kFrom);
  ASSERT_TRUE(text) << format_error(text.error());
  ASSERT_TRUE(write_file_atomically(folder.path("mine.yaml"), *text));
  setenv("KERNEVO_GPUS", folder.path().c_str(), 1);
  const auto read = find_gpu("My fast GPU");
  unsetenv("KERNEVO_GPUS");
  ASSERT_TRUE(read) << format_error(read.error());
  EXPECT_EQ(read->name, "My \"fast\" GPU\\");
  EXPECT_EQ(read->clock_ghz, 1.755);
  EXPECT_NEAR(read->dram_gbps, 864.25, 0.1);
  EXPECT_EQ(read->fp32_tflops, 57.5);
  EXPECT_EQ(read->fp64_tflops, std::nullopt) << "never guessed";
  EXPECT_EQ(read->tensor_fp16_tflops, std::nullopt);
  EXPECT_EQ(read->multiprocessors, like.multiprocessors);
  EXPECT_EQ(read->l2_cache, like.l2_cache);
  EXPECT_THAT(read->source, HasSubstr("calibrated on 2026-11-19 by kernevo 0.1.0"));
  EXPECT_THAT(*text, HasSubstr("# fp64_tflops was not found: noise hides it by 12 %"));
  EXPECT_THAT(*text, HasSubstr("fp32_tflops: 57.5 # calibrated on 2026-11-19, spread 2.0 %"));
}

TEST(GpuFile, NeedsWhatTheFormatNeeds) {
  Figures without = figures();
  without.known.erase(without.known.begin() + 1);
  without.missing.push_back({"dram_gbps", "a shot takes 9.0 s here"});
  const auto text = gpu_file(find_gpu("A100").value(), "Mine", without, kFrom);
  ASSERT_FALSE(text);
  EXPECT_THAT(format_error(text.error()),
              HasSubstr("dram_gbps is not known (a shot takes 9.0 s here)"));
}

TEST(GpuFile, HasAPlainName) {
  EXPECT_EQ(file_name_of("NVIDIA L40S"), "nvidia_l40s.yaml");
  EXPECT_EQ(file_name_of("../../x y "), "x_y.yaml");
  EXPECT_EQ(file_name_of("\xC3\xA9"), "gpu.yaml");
}

} // namespace
} // namespace kernevo::calibrate
