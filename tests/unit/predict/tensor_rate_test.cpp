#include "kernevo/hardware/gpu_table.h"
#include "kernevo/predict/tensor_rate.h"

#include "kernevo/sass/parse_instruction.h"

#include <gtest/gtest.h>

namespace kernevo {
namespace {

double operations(const char* text) {
  return tensor_operations(sass::parse_instruction(text));
}

TEST(TensorRate, CountsTheMultiplyAddsOfAShape) {
  EXPECT_EQ(operations("HMMA.16816.F32 R4, R8, R12, R4"), 2 * 16 * 8 * 16);
  EXPECT_EQ(operations("HMMA.1688.F32.TF32 R4, R8, R12, R4"), 2 * 16 * 8 * 8);
  EXPECT_EQ(operations("IMMA.16832.S8.S8 R4, R8, R12, R4"), 2 * 16 * 8 * 32);
  EXPECT_EQ(operations("DMMA.884 R4, R8, R12, R4"), 2 * 8 * 8 * 4);
  // Four warps share it.
  EXPECT_EQ(operations("HGMMA.64x128x16.F32 R24, gdesc[UR4], R24"), 2 * 64 * 128 * 16 / 4);
  EXPECT_EQ(operations("FFMA R4, R8, R12, R4"), 0);
}

TEST(TensorRate, FollowsTheDenseRateOfTheOperands) {
  const Gpu a100 = find_gpu("A100").value();
  // 312 TFLOPS over 108 multiprocessors at 1.41 GHz: 2049 operations a cycle, so 4096 take 2.
  EXPECT_NEAR(tensor_cycles(sass::parse_instruction("HMMA.16816.F32 R4, R8, R12, R4"), a100), 2.0,
              0.01);
  // TF32 has half the rate: half the operations take as long.
  EXPECT_NEAR(tensor_cycles(sass::parse_instruction("HMMA.1688.F32.TF32 R4, R8, R12, R4"), a100),
              2.0, 0.01);
}

} // namespace
} // namespace kernevo
