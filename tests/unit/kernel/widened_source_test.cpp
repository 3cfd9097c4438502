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
        "union { float f; int i; };", "__half_raw h;", "h = __ushort_as_half(i);",
        "h = __float2half_rz(x);", "h = __hfma_relu(a, b, c);", "memcpy(a, b, 4);",
        "wmma::fragment<float> f;"})
    EXPECT_FALSE(widened_source(source, 0)) << source;
}

TEST(WidenedSource, HalvesAreDoublesAndTheirFunctionsOnesOfDoubles) {
  EXPECT_THAT(widened("__half h = __float2half(__half2float(x[i]) * 2.0f);"),
              EndsWith("double h = double(double(x[i]) * 2.0f);"));
  EXPECT_THAT(widened("const __nv_bfloat16* x; y = __hfma(a, __hadd(b, c), hexp(d));"),
              EndsWith("const double* x; y = fma(a, wide_add(b, c), wide_exp(d));"));
  EXPECT_THAT(widened("half2 p = __hmul2(a, __float2half2_rn(0.5f)); y = __low2float(p);"),
              EndsWith("double2 p = wide_mul(a, wide_twice(0.5f)); y = wide_low(p);"));
}

// A kernel may have operators of its own for the pairs it uses.
TEST(WidenedSource, HelpersAreThoseThatAreNeeded) {
  EXPECT_THAT(widened("float2 v;"), Not(HasSubstr("operator+")));
  EXPECT_THAT(widened("__half v;"), Not(HasSubstr("operator+")));
  EXPECT_THAT(widened("__half2 v;"), HasSubstr("operator+"));
}

TEST(WidenedSource, ExchangesInWarpsAreSeen) {
  EXPECT_TRUE(exchanges_in_warps("v += __shfl_xor_sync(~0u, v, 1);"));
  EXPECT_FALSE(exchanges_in_warps("// __shfl_xor_sync\nv += w;"));
}

} // namespace
} // namespace kernevo
