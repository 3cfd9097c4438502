#include "kernevo/hardware/gpu_table.h"

#include "kernevo/base/files.h"
#include "test_folder.h"

#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace kernevo {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

TEST(Gpus, AllFilesLoadSortedAndNamed) {
  const auto gpus = load_gpus();
  ASSERT_TRUE(gpus) << format_error(gpus.error());
  EXPECT_GE(gpus->size(), 19U);
  std::string previous;
  for (const Gpu& gpu : *gpus) {
    SCOPED_TRACE(gpu.name);
    EXPECT_LT(previous, gpu.name);
    previous = gpu.name;
    EXPECT_FALSE(gpu.source.empty());
    EXPECT_GE(gpu.compute_capability, 70);
    EXPECT_LE(gpu.compute_capability, 121);
  }
}

// The data sheets' fp32 rate is lanes * 2 * clock; a slip in one of the three shows here.
TEST(Gpus, RatesAgreeWithUnitsAndClock) {
  const std::vector<Gpu> gpus = load_gpus().value();
  for (const Gpu& gpu : gpus) {
    SCOPED_TRACE(gpu.name);
    const bool wide = gpu.compute_capability >= 86;
    const double lanes = gpu.multiprocessors * (wide ? 128.0 : 64.0);
    EXPECT_NEAR(gpu.fp32_tflops.value(), lanes * 2 * gpu.clock_ghz / 1000,
                0.02 * gpu.fp32_tflops.value());
    // fp64: half on the compute chips, 1/32 on Turing and 1/64 on the other graphics chips.
    const std::set<int> compute = {70, 80, 90, 100};
    const double ratio = compute.contains(gpu.compute_capability) ? 2
                         : gpu.compute_capability == 75           ? 32
                                                                  : 64;
    EXPECT_NEAR(gpu.fp64_tflops.value(), gpu.fp32_tflops.value() / ratio,
                0.025 * gpu.fp64_tflops.value());
    if (gpu.tensor_tf32_tflops) {
      EXPECT_NEAR(*gpu.tensor_tf32_tflops * 2, gpu.tensor_fp16_tflops.value(),
                  0.03 * *gpu.tensor_fp16_tflops);
    }
    EXPECT_GT(gpu.dram_gbps, 100);
    EXPECT_LT(gpu.dram_gbps, 10000);
  }
}

struct Limits {
  unsigned shared_kib;
  int blocks;
  int threads;
};

TEST(Gpus, LimitsFollowTheComputeCapability) {
  // As the CUDA toolkit's cuda_occupancy.h and arch_traits.h give them.
  const std::map<int, Limits> table = {
      {70, {96, 32, 2048}},  {75, {64, 16, 1024}},  {80, {164, 32, 2048}},  {86, {100, 16, 1536}},
      {89, {100, 24, 1536}}, {90, {228, 32, 2048}}, {100, {228, 32, 2048}}, {120, {100, 24, 1536}},
  };
  const std::vector<Gpu> gpus = load_gpus().value();
  for (const Gpu& gpu : gpus) {
    SCOPED_TRACE(gpu.name);
    ASSERT_TRUE(table.contains(gpu.compute_capability));
    const Limits& limits = table.at(gpu.compute_capability);
    EXPECT_EQ(gpu.shared_per_multiprocessor.value, limits.shared_kib << 10U);
    EXPECT_EQ(gpu.max_blocks_per_multiprocessor, limits.blocks);
    EXPECT_EQ(gpu.max_threads_per_multiprocessor, limits.threads);
    EXPECT_EQ(gpu.max_threads_per_block, 1024);
    EXPECT_EQ(gpu.registers_per_block, 65536);
    EXPECT_EQ(gpu.register_allocation_unit, 256);
    EXPECT_EQ(gpu.warp_allocation_granularity, 4);
    EXPECT_EQ(gpu.shared_allocation_unit.value, gpu.compute_capability >= 80 ? 128U : 256U);
    EXPECT_EQ(gpu.registers_per_multiprocessor, 65536);
    EXPECT_EQ(gpu.max_registers_per_thread, 255);
    EXPECT_EQ(gpu.shared_reserved_per_block.value, gpu.compute_capability >= 80 ? 1024U : 0U);
    EXPECT_EQ(gpu.shared_per_block_optin + gpu.shared_reserved_per_block,
              gpu.shared_per_multiprocessor);
    EXPECT_EQ(gpu.shared_per_block.value, 48U << 10U);
  }
}

TEST(FindGpu, IgnoresCaseSpacesDashesAndBrands) {
  for (const char* name :
       {"RTX 4090", "rtx4090", "rtx-4090", "4090", "NVIDIA GeForce RTX 4090", "GeForce RTX 4090"}) {
    const auto gpu = find_gpu(name);
    ASSERT_TRUE(gpu) << name;
    EXPECT_EQ(gpu->name, "RTX 4090");
    EXPECT_EQ(gpu->compute_capability, 89);
  }
  EXPECT_EQ(find_gpu("Tesla V100-SXM2-16GB").value().name, "V100");
  EXPECT_EQ(find_gpu("NVIDIA A100-SXM4-80GB").value().name, "A100-80GB");
  EXPECT_EQ(find_gpu("a100").value().multiprocessors, 108);
  EXPECT_EQ(find_gpu("A6000").value().name, "RTX A6000");
  EXPECT_EQ(find_gpu("NVIDIA H100 80GB HBM3").value().name, "H100");
}

TEST(FindGpu, SuggestsForUnknownNames) {
  const auto gpu = find_gpu("A1000");
  ASSERT_FALSE(gpu);
  EXPECT_EQ(gpu.error().code, ErrorCode::input);
  EXPECT_EQ(gpu.error().message, "unknown GPU 'A1000' (did you mean 'A100'?)");
  EXPECT_THAT(gpu.error().fix, HasSubstr("A10, A100, A100-80GB"));
  EXPECT_FALSE(find_gpu(""));
  EXPECT_FALSE(find_gpu("NVIDIA"));
}

TEST(Gpu, PeakRateKeepsThePrecision) {
  const Gpu a100 = find_gpu("A100").value();
  EXPECT_DOUBLE_EQ(a100.peak_operations_per_second(DType::float32), 19.5e12); // never TF32
  EXPECT_DOUBLE_EQ(a100.peak_operations_per_second(DType::float16), 312e12);
  EXPECT_DOUBLE_EQ(a100.peak_operations_per_second(DType::bfloat16), 312e12);
  EXPECT_DOUBLE_EQ(a100.peak_operations_per_second(DType::float64), 19.5e12);
  EXPECT_DOUBLE_EQ(a100.peak_operations_per_second(DType::int8), 624e12);
  EXPECT_DOUBLE_EQ(a100.peak_operations_per_second(DType::int32), 19.5e12);
  const Gpu v100 = find_gpu("V100").value();
  EXPECT_DOUBLE_EQ(v100.peak_operations_per_second(DType::float16), 125e12);
  EXPECT_DOUBLE_EQ(v100.peak_operations_per_second(DType::bfloat16), 15.7e12);
  EXPECT_DOUBLE_EQ(v100.peak_operations_per_second(DType::int8), 62.8e12);
  EXPECT_DOUBLE_EQ(v100.peak_operations_per_second(DType::float64), 7.8e12);
}

// A share folder of our own, with the A100's file changed.
class GpuFile : public testing::Test {
protected:
  void SetUp() override {
    original_ = read_text_file(share_folder().value() / "gpus" / "a100.yaml").value();
    fs::create_directory(folder_ / "gpus");
    setenv("KERNEVO_SHARE", folder_.c_str(), 1);
  }
  void TearDown() override { unsetenv("KERNEVO_SHARE"); }
  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_file_atomically(folder_ / "gpus" / name, text));
  }
  std::string changed(const std::string& from, const std::string& to) const {
    std::string text = original_;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }
  // The error of loading a folder that holds only this file, on one line.
  std::string complaint(const std::string& text) {
    write("x.yaml", text);
    const auto gpus = load_gpus();
    if (gpus)
      return "loads";
    EXPECT_EQ(gpus.error().code, ErrorCode::input);
    return format_error(gpus.error());
  }

  const TestFolder made_;
  const fs::path folder_ = made_.path();
  std::string original_;
};

TEST_F(GpuFile, AcceptsItselfAndAbsentRates) {
  EXPECT_EQ(complaint(original_), "loads");
  EXPECT_EQ(complaint(changed("tensor_tf32_tflops: 156\n", "")), "loads");
  EXPECT_EQ(load_gpus()->at(0).tensor_tf32_tflops, std::nullopt);
}

TEST_F(GpuFile, NamesTheLineOfAnUnknownKey) {
  const std::string error = complaint(changed("multiprocessors:", "multiprocesors:"));
  EXPECT_THAT(error, HasSubstr("x.yaml:6:"));
  EXPECT_THAT(error, HasSubstr("unknown key 'multiprocesors' (did you mean 'multiprocessors'?)"));
}

TEST_F(GpuFile, RefusesBadValues) {
  EXPECT_THAT(complaint(changed("clock_ghz: 1.41\n", "")), HasSubstr("'clock_ghz' is missing"));
  EXPECT_THAT(complaint(changed("multiprocessors: 108", "multiprocessors: many")),
              HasSubstr("x.yaml:6:18: 'multiprocessors' must be a whole number"));
  EXPECT_THAT(complaint(changed("multiprocessors: 108", "multiprocessors: 0")),
              HasSubstr("whole number from 1"));
  EXPECT_THAT(complaint(changed("multiprocessors: 108", "multiprocessors: 99999999999")),
              HasSubstr("whole number"));
  EXPECT_THAT(complaint(changed("multiprocessors: 108", "multiprocessors: [1]")),
              HasSubstr("whole number"));
  EXPECT_THAT(complaint(changed("dram_gbps: 1555", "dram_gbps: -1")), HasSubstr("above 0"));
  EXPECT_THAT(complaint(changed("dram_gbps: 1555", "dram_gbps: .nan")), HasSubstr("above 0"));
  EXPECT_THAT(complaint(changed("dram_gbps: 1555", "dram_gbps: .inf")), HasSubstr("above 0"));
  EXPECT_THAT(complaint(changed("name: A100", "name: {}")), HasSubstr("must be a text"));
  EXPECT_THAT(
      complaint(changed("multiprocessors: 108", "multiprocessors: 108\nmultiprocessors: 1")),
      HasSubstr("'multiprocessors' is given twice"));
  EXPECT_THAT(
      complaint(changed("shared_per_block_optin_kib: 163", "shared_per_block_optin_kib: 164")),
      HasSubstr("exceeds the multiprocessor's"));
  EXPECT_THAT(complaint("- 1\n"), HasSubstr("key: value"));
  EXPECT_THAT(complaint(""), HasSubstr("key: value"));
  EXPECT_THAT(complaint("name: [unclosed\n"), HasSubstr("x.yaml:"));
}

TEST_F(GpuFile, RefusesTwoOwnersOfOneName) {
  write("a.yaml", original_);
  EXPECT_THAT(complaint(original_), HasSubstr("already belongs to a.yaml"));
}

TEST_F(GpuFile, AnEmptyFolderIsTheInstallationsFault) {
  const auto gpus = load_gpus();
  ASSERT_FALSE(gpus);
  EXPECT_EQ(gpus.error().code, ErrorCode::infrastructure);
}

} // namespace
} // namespace kernevo
