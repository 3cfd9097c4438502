// The scalar meaning of instructions against other ways to compute it: the host's own rounding
// modes, quadruple precision, and the C library. The .ptx files beside this one check selected
// values; here many random ones.
#include "kernevo/vgpu/semantics/approx.h"
#include "kernevo/vgpu/semantics/convert.h"
#include "kernevo/vgpu/semantics/float.h"
#include "kernevo/vgpu/semantics/half.h"
#include "kernevo/vgpu/semantics/integer.h"

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace kernevo::vgpu::semantics {
namespace {

__extension__ using Quad = __float128;

constexpr int kSamples = 100'000;

// Any bits, or exponents near each other so that results cancel, round and underflow.
class Floats {
public:
  float any() { return std::bit_cast<float>(static_cast<std::uint32_t>(engine_())); }
  float near(int centre) {
    const auto exponent =
        static_cast<std::uint32_t>(centre + static_cast<int>(engine_() % 24) - 12);
    const auto bits = static_cast<std::uint32_t>(engine_());
    return std::bit_cast<float>((bits & 0x807FFFFFU) | (exponent & 0xFFU) << 23);
  }
  float mixed() {
    switch (engine_() % 4) {
    case 0: return any();
    case 1: return near(127);
    case 2: return near(12); // subnormal products, sums and quotients
    default: return near(66);
    }
  }
  std::uint16_t half() { return static_cast<std::uint16_t>(engine_()); }

private:
  std::mt19937_64 engine_{20240607};
};

std::uint32_t bits_of(float value) {
  return std::bit_cast<std::uint32_t>(canonical(value));
}

template <Rounding Mode, class Operation>
float on_host(Operation operation, float a, float b, float c) {
  volatile float x = a;
  volatile float y = b;
  volatile float z = c;
  const HostRounding rounding(Mode);
  volatile float result = operation(x, y, z);
  return result;
}

template <Rounding Mode> void check_mode() {
  Floats floats;
  for (int i = 0; i < kSamples; ++i) {
    const float a = floats.mixed();
    const float b = floats.mixed();
    const float c = floats.mixed();
    SCOPED_TRACE(testing::Message() << std::hexfloat << a << " " << b << " " << c);
    ASSERT_EQ(bits_of(add_f32<Mode, false, false>(a, b)),
              bits_of(on_host<Mode>([](float x, float y, float) { return x + y; }, a, b, c)));
    ASSERT_EQ(bits_of(sub_f32<Mode, false, false>(a, b)),
              bits_of(on_host<Mode>([](float x, float y, float) { return x - y; }, a, b, c)));
    ASSERT_EQ(bits_of(mul_f32<Mode, false, false>(a, b)),
              bits_of(on_host<Mode>([](float x, float y, float) { return x * y; }, a, b, c)));
    ASSERT_EQ(bits_of(fma_f32<Mode, false, false>(a, b, c)),
              bits_of(on_host<Mode>([](float x, float y, float z) { return std::fma(x, y, z); }, a,
                                    b, c)));
    ASSERT_EQ(bits_of(div_f32<Mode, false>(a, b)),
              bits_of(on_host<Mode>([](float x, float y, float) { return x / y; }, a, b, c)));
    ASSERT_EQ(bits_of(sqrt_f32<Mode, false>(a)),
              bits_of(on_host<Mode>([](float x, float, float) { return std::sqrt(x); }, a, b, c)));
  }
}

TEST(Semantics, RoundsF32LikeTheHost) {
  check_mode<Rounding::rn>();
  check_mode<Rounding::rz>();
  check_mode<Rounding::rm>();
  check_mode<Rounding::rp>();
}

TEST(Semantics, LeavesTheHostsRoundingModeAlone) {
  EXPECT_EQ(add_f64<Rounding::rp>(1.0, 0x1p-60), 1.0 + 0x1p-52);
  EXPECT_EQ(add_f64<Rounding::rz>(1.0, 0x1p-60), 1.0);
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

Quad widen(std::uint16_t bits) {
  return static_cast<Quad>(half_to_float(bits));
}

// `result` is the f16 nearest to the exact value, the even one of two equally near.
void expect_nearest_half(Quad exact, std::uint16_t result) {
  const Quad limit = 65520; // halfway from the largest f16 to the next power of two
  const Quad magnitude = exact < 0 ? -exact : exact;
  if (magnitude >= limit) {
    ASSERT_EQ(result & 0x7FFFU, 0x7C00U);
    return;
  }
  const auto distance = [&](std::uint16_t candidate) {
    const Quad d = widen(candidate) - exact;
    return d < 0 ? -d : d;
  };
  const Quad here = distance(result);
  for (const int step : {-1, 1}) {
    const int neighbour = (result & 0x7FFF) + step;
    if (neighbour < 0 || neighbour >= 0x7C00)
      continue;
    const Quad there =
        distance(static_cast<std::uint16_t>((result & 0x8000U) | static_cast<unsigned>(neighbour)));
    ASSERT_TRUE(here < there || (here == there && (result & 1U) == 0));
  }
}

TEST(Semantics, RoundsF16Once) {
  Floats floats;
  for (int i = 0; i < kSamples; ++i) {
    const std::uint16_t a = floats.half();
    const std::uint16_t b = floats.half();
    const std::uint16_t c = floats.half();
    if (!std::isfinite(half_to_float(a)) || !std::isfinite(half_to_float(b)) ||
        !std::isfinite(half_to_float(c)))
      continue;
    SCOPED_TRACE(testing::Message() << std::hex << a << " " << b << " " << c);
    expect_nearest_half(widen(a) + widen(b), add_half<Half, HalfMode{}>(a, b));
    expect_nearest_half(widen(a) - widen(b), sub_half<Half, HalfMode{}>(a, b));
    expect_nearest_half(widen(a) * widen(b), mul_half<Half, HalfMode{}>(a, b));
    expect_nearest_half(widen(a) * widen(b) + widen(c), fma_half<Half, HalfMode{}>(a, b, c));
    if (testing::Test::HasFatalFailure())
      return;
  }
}

// 2048 + 1 + a little: rounding to double or float first would make it a tie.
TEST(Semantics, DoesNotRoundF16Twice) {
  const std::uint16_t big = double_to_half(2048);
  const std::uint16_t nearly_one = 0x3C00;
  const std::uint16_t tiny = 0x0001;
  const std::uint16_t root = double_to_half(0x1p-12);
  EXPECT_EQ((fma_half<Half, HalfMode{}>(big, nearly_one, tiny)), big);
  EXPECT_EQ((fma_half<Bfloat, HalfMode{}>(0x3F81, 0x3F81, 0x0001)),
            double_to_bfloat(1.0078125 * 1.0078125 + 0x1p-60));
  EXPECT_EQ((fma_half<Half, HalfMode{}>(root, root, double_to_half(1.0))), 0x3C00);
}

int ulps_apart(float a, float b) {
  const auto order = [](float x) {
    const auto bits = static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(x));
    return (bits & 0x80000000) != 0 ? -(bits & 0x7FFFFFFF) : bits;
  };
  const std::int64_t distance = std::abs(order(a) - order(b));
  return static_cast<int>(std::min<std::int64_t>(distance, std::numeric_limits<int>::max()));
}

TEST(Semantics, ApproximationsAreWithinOneUlp) {
  constexpr std::uint64_t stride = 4'099;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += stride) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (std::isnan(x))
      continue;
    const auto power = static_cast<float>(std::exp2(static_cast<double>(x)));
    ASSERT_LE(ulps_apart(ex2_approx<false>(x), power), 1) << x;
    if (x > 0) {
      const auto logarithm = static_cast<float>(std::log2(static_cast<double>(x)));
      ASSERT_LE(ulps_apart(lg2_approx<false>(x), logarithm), 1) << x;
    }
  }
}

TEST(Semantics, IntegerDivisionNeverTraps) {
  constexpr auto lowest = std::numeric_limits<std::int32_t>::min();
  constexpr auto lowest64 = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(divide(lowest, -1), lowest);
  EXPECT_EQ(remainder(lowest, -1), 0);
  EXPECT_EQ(divide(lowest64, std::int64_t{-1}), lowest64);
  EXPECT_EQ(divide(7U, 0U), 0xFFFFFFFFU);
  EXPECT_EQ(remainder(std::int64_t{7}, std::int64_t{0}), -1);
}

TEST(Semantics, ConvertsBigIntegersWithOneRounding) {
  // Just above a tie of f32 by less than a double can hold.
  constexpr std::uint64_t above_tie = (std::uint64_t{1} << 63) + (std::uint64_t{1} << 39) + 1;
  EXPECT_EQ((integer_to_float<F32, std::uint64_t, Rounding::rn>(above_tie)), 0x1.000002p63F);
  EXPECT_EQ((integer_to_float<F32, std::uint64_t, Rounding::rn>(above_tie - 1)), 0x1p63F);
  EXPECT_EQ((integer_to_float<F32, std::uint64_t, Rounding::rz>(~std::uint64_t{0})),
            0x1.fffffep63F);
}

} // namespace
} // namespace kernevo::vgpu::semantics
