#include "kernevo/device/cuda_code.h"
#include "kernevo/device/cuda_facts.h"
#include "kernevo/hardware/gpu_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

CudaFacts a100() {
  CudaFacts facts;
  facts.name = "NVIDIA A100-SXM4-40GB";
  facts.compute_capability = 80;
  facts.multiprocessors = 108;
  facts.memory = Bytes{42'000'000'000};
  facts.clock_khz = 1'410'000;
  facts.l2_bytes = 41'943'040;
  return facts;
}

TEST(CudaFacts, AListedGpuIsItsTableWithItsOwnMemory) {
  const Gpu gpu = gpu_of(a100()).value();
  const Gpu listed = find_gpu("A100").value();
  EXPECT_EQ(gpu.name, listed.name);
  EXPECT_EQ(gpu.dram_gbps, listed.dram_gbps);
  EXPECT_EQ(gpu.fp32_tflops, listed.fp32_tflops);
  EXPECT_EQ(gpu.memory.value, 42'000'000'000U);
  // What it does not say stays.
  EXPECT_EQ(gpu.max_threads_per_multiprocessor, listed.max_threads_per_multiprocessor);
}

TEST(CudaFacts, APartOfAGpuHasItsShareOfTheRates) {
  CudaFacts part = a100();
  part.multiprocessors = 54;
  const Gpu gpu = gpu_of(part).value();
  EXPECT_EQ(gpu.multiprocessors, 54);
  EXPECT_NEAR(*gpu.fp32_tflops, *find_gpu("A100").value().fp32_tflops / 2, 1e-9);
}

TEST(CudaFacts, AGpuThatIsNotListedIsScaledFromItsNextOfKin) {
  CudaFacts facts = a100();
  facts.name = "NVIDIA GeForce RTX 4060";
  facts.compute_capability = 89;
  facts.multiprocessors = 24;
  facts.clock_khz = 2'460'000;
  facts.memory_clock_khz = 8'501'000;
  facts.memory_bus_bits = 128;
  const Gpu gpu = gpu_of(facts).value();
  EXPECT_EQ(gpu.name, facts.name);
  EXPECT_EQ(gpu.compute_capability, 89);
  EXPECT_NEAR(gpu.clock_ghz, 2.46, 1e-9);
  EXPECT_NEAR(gpu.dram_gbps, 272, 0.1); // as its data sheet has it
  EXPECT_NEAR(*gpu.fp32_tflops, 24 * 128 * 2 * 2.46e-3, 0.5);
  EXPECT_THAT(gpu.source, testing::HasSubstr("scaled from"));
}

TEST(CudaCode, MachineCodeRunsOnItsGenerationAndPtxOnWhatFollows) {
  EXPECT_TRUE(runs_as_machine_code("sm_80", 80));
  EXPECT_TRUE(runs_as_machine_code("sm_80", 86));
  EXPECT_FALSE(runs_as_machine_code("sm_86", 80));
  EXPECT_FALSE(runs_as_machine_code("sm_80", 90));
  EXPECT_TRUE(runs_as_machine_code("sm_90a", 90));
  EXPECT_FALSE(runs_as_machine_code("sm_100a", 103));
  EXPECT_TRUE(runs_as_ptx("sm_80", 120));
  EXPECT_FALSE(runs_as_ptx("sm_90", 80));
  EXPECT_FALSE(runs_as_ptx("sm_90a", 100)); // of this GPU alone
}

TEST(CudaCode, TheTargetIsReadOffTheText) {
  EXPECT_EQ(target_of_ptx(".version 8.0\n.target sm_90a\n.address_size 64\n"), "sm_90a");
  EXPECT_EQ(target_of_ptx(".version 8.0\n.target sm_80, debug\n"), "sm_80");
  EXPECT_EQ(target_of_ptx("nothing"), "");
}

} // namespace
} // namespace kernevo
