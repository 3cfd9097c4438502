#include "kernevo/hardware/gpu_table.h"
#include "kernevo/model/occupancy.h"
#include "test_needs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// NVIDIA's own calculator, when the build found the toolkit's headers.
#if __has_include(<cuda_occupancy.h>)
#define KERNEVO_HAS_VENDOR_CALCULATOR 1
#include <climits>
#include <cuda_occupancy.h>
#endif

namespace kernevo {
namespace {

using ::testing::HasSubstr;

struct Known {
  const char* gpu;
  int threads;
  int registers;
  std::uint64_t shared;
  int blocks;
  double percent;
  OccupancyLimiter limiter;
};

// Worked out by hand from the tables of the CUDA programming guide.
TEST(Occupancy, MatchesHandWorkedValues) {
  const std::vector<Known> rows = {
      // 32 registers: 64 warps exactly fill 65536 registers.
      {"A100", 256, 32, 0, 8, 100, OccupancyLimiter::threads},
      // 33 round up to 40 a thread, 1280 a warp: 12 warps per partition, 48 in all.
      {"A100", 256, 33, 0, 6, 75, OccupancyLimiter::registers},
      {"A100", 1024, 64, 0, 1, 50, OccupancyLimiter::registers},
      // 48 warps fit, 32 of them used.
      {"A100", 1024, 33, 0, 1, 50, OccupancyLimiter::registers},
      {"A100", 32, 16, 0, 32, 50, OccupancyLimiter::blocks},
      // 48 KiB + 1 KiB reserved: three in 164 KiB.
      {"A100", 128, 32, 49152, 3, 18.75, OccupancyLimiter::shared_memory},
      {"A100", 128, 32, 163 * 1024, 1, 6.25, OccupancyLimiter::shared_memory},
      // One byte more than a unit takes the next one: 164 KiB / (20.5 KiB) = 8, / (20.625) = 7.
      {"A100", 64, 32, 19 * 1024 + 512, 8, 25, OccupancyLimiter::shared_memory},
      {"A100", 64, 32, 19 * 1024 + 513, 7, 21.875, OccupancyLimiter::shared_memory},
      // No reservation before sm_80: two of 48 KiB in 96 KiB.
      {"V100", 128, 32, 49152, 2, 12.5, OccupancyLimiter::shared_memory},
      {"V100", 128, 0, 0, 16, 100, OccupancyLimiter::threads},
      {"T4", 64, 64, 0, 16, 100, OccupancyLimiter::threads},
      {"T4", 32, 64, 0, 16, 50, OccupancyLimiter::blocks},
      {"RTX 3090", 1024, 32, 0, 1, 100 * 2.0 / 3, OccupancyLimiter::threads},
      {"RTX 4090", 64, 40, 0, 24, 100, OccupancyLimiter::threads},
      {"H100", 384, 168, 200 * 1024, 1, 18.75, OccupancyLimiter::registers},
      {"H100", 128, 255, 0, 2, 12.5, OccupancyLimiter::registers},
      {"B200", 128, 128, 227 * 1024, 1, 6.25, OccupancyLimiter::shared_memory},
      {"RTX 5090", 33, 16, 0, 24, 100, OccupancyLimiter::threads},
  };
  for (const Known& row : rows) {
    SCOPED_TRACE(testing::Message() << row.gpu << " " << row.threads << " threads, "
                                    << row.registers << " registers, " << row.shared << " bytes");
    const auto gpu = find_gpu(row.gpu);
    ASSERT_TRUE(gpu);
    const auto result = compute_occupancy(*gpu, row.threads, row.registers, Bytes{row.shared});
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->blocks_per_multiprocessor, row.blocks);
    EXPECT_EQ(result->active_warps, row.blocks * ((row.threads + 31) / 32));
    EXPECT_NEAR(result->fraction * 100, row.percent, 1e-9);
    EXPECT_EQ(name_of(result->limiter), name_of(row.limiter));
  }
}

TEST(Occupancy, SaysWhatDoesNotFit) {
  const Gpu gpu = find_gpu("A100").value();
  auto message = [&](int threads, int registers, std::uint64_t shared) {
    const auto result = compute_occupancy(gpu, threads, registers, Bytes{shared});
    return result ? std::string("fits") : result.error().message;
  };
  EXPECT_THAT(message(0, 32, 0), HasSubstr("0 threads"));
  EXPECT_THAT(message(1025, 32, 0), HasSubstr("1025 threads, the A100 allows 1 to 1024"));
  EXPECT_THAT(message(1000000, 32, 0), HasSubstr("1000000 threads"));
  EXPECT_THAT(message(128, 256, 0), HasSubstr("256 registers, the A100 allows 255"));
  EXPECT_THAT(message(128, -1, 0), HasSubstr("-1 registers"));
  EXPECT_THAT(message(1024, 65, 0), HasSubstr("73728 registers"));
  EXPECT_THAT(message(128, 32, 163 * 1024 + 1), HasSubstr("166913 bytes"));
  EXPECT_THAT(message(128, 32, UINT64_MAX), HasSubstr("of shared memory"));
  EXPECT_EQ(message(128, 32, 163 * 1024), "fits");
  // 9 warps are counted as 12 by the launch check: 12 * 32 * 176 > 65536.
  EXPECT_THAT(message(288, 176, 0), HasSubstr("67584 registers"));
}

TEST(Occupancy, AgreesWithTheVendorCalculator) {
#ifdef KERNEVO_HAS_VENDOR_CALCULATOR
  const auto gpus = load_gpus();
  ASSERT_TRUE(gpus);
  const std::vector<int> sizes = {1,   31,  32,  33,  64,  96,  128, 160, 192, 224,  256,
                                  257, 288, 320, 384, 448, 512, 640, 768, 896, 1023, 1024};
  for (const Gpu& gpu : *gpus) {
    cudaOccDeviceProp device;
    device.computeMajor = gpu.compute_capability / 10;
    device.computeMinor = gpu.compute_capability % 10;
    device.maxThreadsPerBlock = gpu.max_threads_per_block;
    device.maxThreadsPerMultiprocessor = gpu.max_threads_per_multiprocessor;
    device.regsPerBlock = gpu.registers_per_block;
    device.regsPerMultiprocessor = gpu.registers_per_multiprocessor;
    device.warpSize = 32;
    device.sharedMemPerBlock = gpu.shared_per_block.value;
    device.sharedMemPerMultiprocessor = gpu.shared_per_multiprocessor.value;
    device.numSms = gpu.multiprocessors;
    device.sharedMemPerBlockOptin = gpu.shared_per_block_optin.value;
    device.reservedSharedMemPerBlock = gpu.shared_reserved_per_block.value;
    const cudaOccDeviceState state;
    for (const int threads : sizes) {
      for (int registers = 0; registers <= 255; ++registers) {
        const std::uint64_t most = gpu.shared_per_block_optin.value + 1;
        // A different odd step for every pair, so that all residues of the unit are met.
        const std::uint64_t step = 3571 + static_cast<std::uint64_t>(threads + registers) % 509;
        for (std::uint64_t shared = 0; shared <= most; shared += step) {
          cudaOccFuncAttributes function;
          function.maxThreadsPerBlock = INT_MAX;
          function.numRegs = registers;
          function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
          function.maxDynamicSharedSizeBytes = shared;
          cudaOccResult expected;
          ASSERT_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(&expected, &device, &function, &state,
                                                            threads, shared),
                    CUDA_OCC_SUCCESS);
          const auto actual = compute_occupancy(gpu, threads, registers, Bytes{shared});
          const int blocks = actual ? actual->blocks_per_multiprocessor : 0;
          ASSERT_EQ(blocks, expected.activeBlocksPerMultiprocessor)
              << gpu.name << " " << threads << " threads, " << registers << " registers, " << shared
              << " bytes";
          if (!actual)
            continue;
          unsigned bit = 0;
          switch (actual->limiter) {
          case OccupancyLimiter::threads: bit = OCC_LIMIT_WARPS; break;
          case OccupancyLimiter::registers: bit = OCC_LIMIT_REGISTERS; break;
          case OccupancyLimiter::shared_memory: bit = OCC_LIMIT_SHARED_MEMORY; break;
          case OccupancyLimiter::blocks: bit = OCC_LIMIT_BLOCKS; break;
          }
          ASSERT_NE(expected.limitingFactors & bit, 0U) << gpu.name << " " << threads;
        }
      }
    }
  }
#else
  skip_for_want_of("the CUDA header cuda_occupancy.h, not found when this was built");
#endif
}

} // namespace
} // namespace kernevo
