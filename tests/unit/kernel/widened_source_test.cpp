#include "kernevo/kernel/widened_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

std::string widened(const std::string& source) {
  const auto wide = widened_source(source, 0);
  EXPECT_TRUE(wide) << source;
  return wide.value_or("");
}

TEST(WidenedSource, FloatsAreDoublesAndLiteralsStay) {
  EXPECT_THAT(widened("__global__ void f(const float* x, float4 v) { x[0] + 0.1f; }"),
              EndsWith("\n__global__ void f(const double* x, double4 v) { x[0] + 0.1f; }"));
}

TEST(WidenedSource, WordsInTextStay) {
  EXPECT_THAT(widened("// a float\nint floats; char c[] = \"float\";"),
              EndsWith("// a float\nint floats; char c[] = \"float\";"));
}

TEST(WidenedSource, FunctionsAreThoseOfDoubles) {
  EXPECT_THAT(widened("y = fmaxf(a, b) + __expf(a) + rsqrtf(b);"),
              EndsWith("y = fmax(a, b) + wide_exp(a) + wide_rsqrt(b);"));
  EXPECT_THAT(widened("y = powf(a, b) + __fdividef(a, b);"),
              EndsWith("y = wide_pow(a, b) + wide_ratio(a, b);"));
}

// Only what is called is a function.
TEST(WidenedSource, VariablesOfTheSameNameStay) {
  EXPECT_THAT(widened("int exp = 3, log = exp;"), EndsWith("int exp = 3, log = exp;"));
}

TEST(WidenedSource, NoiseIsInTheHelpersAlone) {
  const auto noisy = widened_source("y = expf(x) * x;", 0x1p-20);
  ASSERT_TRUE(noisy);
  EXPECT_THAT(*noisy, HasSubstr("0x1p-20"));
  EXPECT_THAT(widened("y = expf(x) * x;"), Not(HasSubstr("0x1p-20")));
}

TEST(WidenedSource, WhatLooksAtBitsIsNotWidened) {
  for (const char* source :
       {"int i = __float_as_int(x);", "float f = __int_as_float(i);", "asm(\"mov.b32\");",
        "union { float f; int i; };", "__half h;", "half2 h;", "memcpy(a, b, 4);"})
    EXPECT_FALSE(widened_source(source, 0)) << source;
}

TEST(WidenedSource, ExchangesInWarpsAreSeen) {
  EXPECT_TRUE(exchanges_in_warps("v += __shfl_xor_sync(~0u, v, 1);"));
  EXPECT_FALSE(exchanges_in_warps("// __shfl_xor_sync\nv += w;"));
}

} // namespace
} // namespace kernevo
