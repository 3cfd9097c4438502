#include "kernevo/hardware/gpu_table.h"
#include "kernevo/predict/predict.h"

#include <gtest/gtest.h>

namespace kernevo {
namespace {

// From PTX alone: `loads` coalesced loads and `fmas` multiply-adds for every warp of 256 threads.
LaunchCounts kernel(std::uint32_t blocks, std::uint64_t loads, std::uint64_t fmas) {
  LaunchCounts counts;
  counts.kernel = "k";
  counts.grid = {blocks, 1, 1};
  counts.block = {256, 1, 1};
  constexpr std::uint64_t warps = 8;
  InstructionCounts load;
  load.ptx_line = 1;
  load.opcode = "ld.global.f32";
  load.executions = loads * warps;
  load.threads = load.executions * 32;
  AccessCounts access{MemorySpace::global, MemoryAction::load};
  access.requests = loads * warps;
  access.threads = access.requests * 32;
  access.useful_bytes = access.requests * 128;
  access.sectors = access.requests * 4;
  access.lines = access.requests;
  load.accesses = {access};
  InstructionCounts fma;
  fma.ptx_line = 2;
  fma.opcode = "fma.rn.f32";
  fma.executions = fmas * warps;
  fma.threads = fma.executions * 32;
  counts.instructions = {load, fma};
  counts.footprints = {{"x",
                        std::uint64_t{blocks} * loads * warps * 128,
                        static_cast<double>(loads * warps * 4),
                        0,
                        {0.0},
                        {}}};
  counts.blocks = {{0, (loads + fmas) * warps, loads * warps * 4}};
  return counts;
}

Prediction predict(const LaunchCounts& counts, const char* gpu = "A100") {
  KernelResources resources;
  resources.registers = 32;
  const auto prediction = predict_launch(find_gpu(gpu).value(), counts, resources, nullptr);
  EXPECT_TRUE(prediction) << format_error(prediction.error());
  return prediction.value_or(Prediction{});
}

TEST(Predict, AStreamIsBoundByDram) {
  const Prediction p = predict(kernel(200000, 4, 1));
  EXPECT_EQ(p.limiter().name, "dram");
  const double bytes = 200000.0 * 4 * 8 * 128;
  const double rate = bytes / p.time.value; // GB/s
  EXPECT_GT(rate, 0.80 * 1555);
  EXPECT_LT(rate, 0.95 * 1555);
}

TEST(Predict, ArithmeticIsBoundByItsPipe) {
  const Prediction p = predict(kernel(108 * 8 * 20, 1, 4000));
  EXPECT_EQ(p.limiter().name, "fma");
  const double flops = 108.0 * 8 * 20 * 4000 * 256 * 2;
  const double peak = flops / p.time.value / 1e3; // TFLOPS
  EXPECT_GT(peak, 0.85 * 19.5);
  EXPECT_LT(peak, 19.6);
}

TEST(Predict, NoBoundExceedsTheTime) {
  for (const auto& counts : {kernel(1, 1, 1), kernel(1000, 10, 10), kernel(5000, 1, 500)}) {
    const Prediction p = predict(counts);
    for (const TimingTerm& term : p.bounds)
      EXPECT_LE(term.time.value, p.time.value * 1.0001) << term.name;
    EXPECT_GT(p.error, 0);
  }
}

TEST(Predict, AGpuOfTwiceTheBandwidthHalvesAStream) {
  const double slow = predict(kernel(400000, 4, 1), "A100").time.value; // 1555 GB/s
  const double fast = predict(kernel(400000, 4, 1), "H100").time.value; // 3352 GB/s
  EXPECT_NEAR(slow / fast, 3352.0 / 1555, 0.25);
}

TEST(Predict, ALastWaveThatIsNearlyEmptyCosts) {
  // One block more than fits: all but one multiprocessor wait for it.
  const Prediction even = predict(kernel(108 * 8, 1, 4000));
  const Prediction over = predict(kernel(108 * 8 + 1, 1, 4000));
  EXPECT_GT(over.time.value, even.time.value);
  EXPECT_GT(over.share_of("tail"), even.share_of("tail"));
}

TEST(Predict, ManyTinyBlocksAreBoundByTheirStart) {
  LaunchCounts counts = kernel(2'000'000, 0, 1);
  counts.instructions.erase(counts.instructions.begin());
  counts.footprints.clear();
  counts.block = {32, 1, 1};
  counts.instructions[0].executions = 1;
  const Prediction p = predict(counts);
  EXPECT_GT(p.share_of("launch"), 0.3);
  EXPECT_LT(p.share_of("fma"), 0.05);
}

TEST(Predict, ALaunchThatDoesNotFitIsAnError) {
  KernelResources resources;
  resources.registers = 255;
  LaunchCounts counts = kernel(1, 1, 1);
  counts.block = {1024, 1, 1};
  const auto p = predict_launch(find_gpu("A100").value(), counts, resources, nullptr);
  ASSERT_FALSE(p);
  EXPECT_NE(p.error().message.find("registers"), std::string::npos);
}

TEST(Predict, IsTheSameEveryTime) {
  const LaunchCounts counts = kernel(1234, 5, 67);
  EXPECT_EQ(predict(counts).time.value, predict(counts).time.value);
}

} // namespace
} // namespace kernevo
