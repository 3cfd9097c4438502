// The .approx functions over dense samples against double precision: within what PTX promises, and
// within what approx.h says.
#include "kernevo/vgpu/semantics/approx.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace kernevo::vgpu::semantics {
namespace {

// Every float has a turn: 2^32 / stride of them, all exponents and both signs.
constexpr std::uint64_t kStride = 2'053;

template <class F> void for_floats(F&& f) {
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += kStride) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (!std::isnan(x))
      f(x);
  }
}

// Distance in units of the last place of the exact value's f32.
double ulps(float actual, double exact) {
  const float nearest = std::abs(static_cast<float>(exact));
  const float next = std::nextafter(nearest, std::numeric_limits<float>::infinity());
  if (std::isinf(next))
    return static_cast<float>(exact) == actual ? 0 : std::isinf(actual) ? 0.5 : 1e9;
  return std::abs(static_cast<double>(actual) - exact) /
         (static_cast<double>(next) - static_cast<double>(nearest));
}

// What is no number is as wrong as can be; std::max() would pass it over.
double larger(double worst, double error) {
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
}

TEST(Approximation, Ex2IsWithinAnUlp) {
  double worst = 0;
  for_floats([&](float x) {
    worst = larger(worst, ulps(ex2_approx<false>(x), std::exp2(static_cast<double>(x))));
  });
  EXPECT_LT(worst, 1.0);
}

TEST(Approximation, Lg2IsWithinAnUlp) {
  double worst = 0;
  for_floats([&](float x) {
    if (x > 0 && !std::isinf(x))
      worst = larger(worst, ulps(lg2_approx<false>(x), std::log2(static_cast<double>(x))));
  });
  EXPECT_LT(worst, 1.0);
}

TEST(Approximation, RsqrtIsWithinTheBound) {
  double worst = 0;
  for_floats([&](float x) {
    if (x <= 0 || std::isinf(x))
      return;
    const double exact = 1 / std::sqrt(static_cast<double>(x));
    worst = larger(worst, std::abs(rsqrt_approx<false>(x) / exact - 1));
  });
  EXPECT_LT(worst, std::exp2(-22.9));
}

TEST(Approximation, SinAndCosAreWithinTheBound) {
  double worst = 0;
  for_floats([&](float x) {
    if (std::abs(x) >= 0x1p48F)
      return;
    const double wide = x;
    worst = larger(worst, std::abs(sin_approx<false>(x) - std::sin(wide)));
    worst = larger(worst, std::abs(cos_approx<false>(x) - std::cos(wide)));
  });
  constexpr double two_pi = 6.283185307179586;
  constexpr int steps = 1'000'000;
  for (int i = -steps; i <= steps; ++i) {
    const auto x = static_cast<float>(i * two_pi / steps);
    worst = larger(worst, std::abs(sin_approx<false>(x) - std::sin(static_cast<double>(x))));
    worst = larger(worst, std::abs(cos_approx<false>(x) - std::cos(static_cast<double>(x))));
  }
  EXPECT_LT(worst, 0x1p-23);
}

TEST(Approximation, SinOfHugeNumbersStaysInRange) {
  for_floats([&](float x) {
    if (std::isinf(x)) {
      ASSERT_TRUE(std::isnan(sin_approx<false>(x)) && std::isnan(cos_approx<false>(x)));
      return;
    }
    ASSERT_LE(std::abs(sin_approx<false>(x)), 1) << x;
    ASSERT_LE(std::abs(cos_approx<false>(x)), 1) << x;
  });
}

TEST(Approximation, SmallOddFunctionsKeepTheirSign) {
  EXPECT_TRUE(std::signbit(sin_approx<false>(-0.0F)));
  EXPECT_TRUE(std::signbit(tanh_approx(-0.0F)));
  EXPECT_EQ(sin_approx<false>(-0x1p-149F), -0x1p-149F);
  EXPECT_EQ(tanh_approx(0x1p-149F), 0x1p-149F);
  EXPECT_EQ(sin_approx<true>(-0x1p-149F), 0);
}

TEST(Approximation, TanhIsWithinThreeUlp) {
  double worst = 0;
  for_floats([&](float x) {
    worst = larger(worst, ulps(tanh_approx(x), std::tanh(static_cast<double>(x))));
  });
  EXPECT_LT(worst, 3.0);
}

// All 65536 of them: not a unit of the last place away from the nearest.
template <class Format, class Function, class Exact>
void expect_half(Function function, Exact exact, double largest_ulps) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto a = static_cast<std::uint16_t>(bits);
    if (is_nan_half<Format>(a)) {
      ASSERT_EQ(function(a), kHalfNan);
      continue;
    }
    const std::uint16_t nearest = Format::narrow(exact(static_cast<double>(Format::widen(a))));
    ASSERT_LE(std::abs(function(a) - nearest), largest_ulps) << bits;
  }
}

TEST(Approximation, HalfPrecisionIsNearlyTheNearest) {
  const auto power = [](double x) { return std::exp2(x); };
  const auto tangent = [](double x) { return std::tanh(x); };
  expect_half<Half>(ex2_half<Half, false>, power, 1);
  expect_half<Bfloat>(ex2_half<Bfloat, false>, power, 1);
  expect_half<Half>(tanh_half<Half>, tangent, 1);
  expect_half<Bfloat>(tanh_half<Bfloat>, tangent, 1);
}

} // namespace
} // namespace kernevo::vgpu::semantics
