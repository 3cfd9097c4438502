// Figures follow from rates; what was not found is missing, with the reason.
#include "kernevo/calibrate/figures.h"

#include "kernevo/hardware/architecture_table.h"
#include "kernevo/hardware/gpu_table.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace kernevo::calibrate {
namespace {

// Times of a GPU that does exactly what its tables say.
class Figured : public testing::Test {
protected:
  double work(const std::string& name) const {
    for (const Probe& probe : probes_for(gpu_))
      if (probe.name == name)
        return probe.work_per_size;
    ADD_FAILURE() << name;
    return 0;
  }
  // `rate`: work in a nanosecond.
  void add(const std::string& probe, double rate, double spread = 0.01) {
    times_.push_back({probe, Fit{work(probe) / rate, spread}, std::nullopt, "", 24});
  }
  Figures figures() const { return figures_of(gpu_, times_, &gpu_, &architecture_); }

  Gpu gpu_ = find_gpu("A100").value();
  Architecture architecture_ = find_architecture(80).value();
  std::vector<ProbeTime> times_;
};

TEST_F(Figured, OfAGpuThatDoesWhatItsTablesSay) {
  const double clock = 1.41;
  const double all = clock * gpu_.multiprocessors;
  add("chain", clock / 4);
  add("fp32", 19500);
  add("dram_read", 1555 * 0.9);
  add("l2_read", 5120 * clock);
  add("shared_read", 98 * all);
  add("special", 16 * all);
  add("chase_dram", clock / 466);
  const Figures found = figures();
  for (const char* name : {"clock_ghz", "fp32_tflops", "dram_gbps", "l2_bytes_per_clock",
                           "shared_bytes_per_clock", "special_function_lanes", "dram_latency"}) {
    const Figure* const figure = found.find(name);
    ASSERT_NE(figure, nullptr) << name;
    ASSERT_TRUE(figure->listed) << name;
    EXPECT_NEAR(figure->value / *figure->listed, 1, 1e-9) << name;
  }
  EXPECT_DOUBLE_EQ(found.find("fp32_tflops")->spread, 0.01);
  EXPECT_DOUBLE_EQ(found.find("dram_latency")->spread, 0.02) << "the clock's is in it";
  EXPECT_NEAR(found.find("dram_read")->value, 1555 * 0.9, 1e-9) << "as reached";
}

TEST_F(Figured, WithoutAClockNothingThatCountsClocks) {
  times_.push_back({"chain", std::nullopt, std::nullopt, "noise hides it by 40 %", 24});
  add("fp32", 19500);
  add("l2_read", 7000);
  const Figures found = figures();
  EXPECT_NE(found.find("fp32_tflops"), nullptr);
  EXPECT_EQ(found.find("fp32_lanes"), nullptr);
  EXPECT_EQ(found.find("l2_bytes_per_clock"), nullptr);
  const auto missing = [&](const std::string& name) {
    const auto at = std::ranges::find(found.missing, name, &Missing::name);
    return at == found.missing.end() ? std::string() : at->why;
  };
  EXPECT_EQ(missing("clock_ghz"), "noise hides it by 40 %");
  EXPECT_EQ(missing("fp32_lanes"), "the clock is not known");
  EXPECT_NE(missing("dram_gbps"), "");
}

TEST(Probes, FollowTheArchitecture) {
  const auto has = [](const char* gpu, const std::string& name) {
    return std::ranges::any_of(probes_for(find_gpu(gpu).value()),
                               [&](const Probe& probe) { return probe.name == name; });
  };
  EXPECT_TRUE(has("A100", "tensor_fp64"));
  EXPECT_FALSE(has("RTX 4090", "tensor_fp64"));
  EXPECT_TRUE(has("T4", "tensor_fp16"));
  EXPECT_FALSE(has("T4", "tensor_tf32"));
  EXPECT_FALSE(has("V100", "tensor_fp16"));
  EXPECT_FALSE(has("H100", "tensor_fp16")) << "wgmma's rate is another";
  EXPECT_TRUE(has("RTX 5090", "tensor_fp16"));
  for (const Probe& probe : probes_for(find_gpu("A100").value())) {
    const LaunchPlan plan = probe.plan(find_gpu("A100").value(), probe.first);
    EXPECT_FALSE(plan.launches.empty()) << probe.name;
    for (const Launch& launch : plan.launches)
      for (const LaunchArgument& argument : launch.arguments)
        if (const auto* buffer = std::get_if<BufferArgument>(&argument.value)) {
          EXPECT_LT(buffer->index, plan.scratch.size()) << probe.name;
        }
  }
}

} // namespace
} // namespace kernevo::calibrate
