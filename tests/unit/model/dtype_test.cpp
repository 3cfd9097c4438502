#include "kernevo/model/dtype.h"

#include "kernevo/base/small_floats.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>

namespace kernevo {
namespace {

constexpr std::array kAll = {DType::float32, DType::float16, DType::bfloat16, DType::float64,
                             DType::int32,   DType::int8,    DType::int64};

double load_bits(DType dtype, std::uint16_t bits) {
  std::array<std::byte, 2> memory{};
  std::memcpy(memory.data(), &bits, 2);
  return load_element(dtype, memory.data(), 0);
}

std::uint16_t store_bits(DType dtype, double value) {
  std::array<std::byte, 2> memory{};
  store_element(dtype, memory.data(), 0, value);
  std::uint16_t bits = 0;
  std::memcpy(&bits, memory.data(), 2);
  return bits;
}

// From the definition of a binary format, without any bit tricks.
double value_by_definition(std::uint16_t bits, int mantissa_bits, int exponent_bits) {
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const int exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double sign = (bits & 0x8000U) != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1)
    return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0)
    return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp((1 << mantissa_bits) + mantissa, exponent - bias - mantissa_bits);
}

struct SmallFormat {
  DType dtype;
  int mantissa_bits;
  int exponent_bits;
};

class SmallFloat : public testing::TestWithParam<SmallFormat> {};

TEST_P(SmallFloat, EveryPatternLoadsAsDefinedAndRoundTrips) {
  const auto [dtype, mantissa_bits, exponent_bits] = GetParam();
  for (unsigned pattern = 0; pattern <= 0xFFFF; ++pattern) {
    const auto bits = static_cast<std::uint16_t>(pattern);
    const double expected = value_by_definition(bits, mantissa_bits, exponent_bits);
    const double actual = load_bits(dtype, bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(actual)) << pattern;
      ASSERT_TRUE(std::isnan(load_bits(dtype, store_bits(dtype, actual)))) << pattern;
      continue;
    }
    ASSERT_EQ(actual, expected) << pattern;
    ASSERT_EQ(std::signbit(actual), std::signbit(expected)) << pattern;
    ASSERT_EQ(store_bits(dtype, actual), bits) << pattern;
  }
}

TEST_P(SmallFloat, RoundsToNearestAndTiesToEven) {
  const auto [dtype, mantissa_bits, exponent_bits] = GetParam();
  const unsigned infinity = ((1U << exponent_bits) - 1) << mantissa_bits;
  for (unsigned low = 0; low + 1 < infinity; ++low) {
    const auto below = static_cast<std::uint16_t>(low);
    const auto above = static_cast<std::uint16_t>(low + 1);
    const double a = load_bits(dtype, below);
    const double b = load_bits(dtype, above);
    const double middle = (a + b) / 2; // exact in double
    const std::uint16_t even = (low & 1U) == 0 ? below : above;
    ASSERT_EQ(store_bits(dtype, middle), even) << low;
    ASSERT_EQ(store_bits(dtype, std::nextafter(middle, 0)), below) << low;
    ASSERT_EQ(store_bits(dtype, std::nextafter(middle, b)), above) << low;
    ASSERT_EQ(store_bits(dtype, -middle), even | 0x8000U) << low;
  }
}

TEST_P(SmallFloat, OverflowsToInfinityAtHalfAnUlpPastTheLargest) {
  const auto [dtype, mantissa_bits, exponent_bits] = GetParam();
  const auto infinity = static_cast<std::uint16_t>(((1U << exponent_bits) - 1) << mantissa_bits);
  const double largest = largest_value(dtype);
  EXPECT_EQ(load_bits(dtype, infinity - 1), largest);
  const double ulp = largest - load_bits(dtype, infinity - 2);
  EXPECT_EQ(store_bits(dtype, largest + ulp / 2), infinity);
  EXPECT_EQ(store_bits(dtype, std::nextafter(largest + ulp / 2, 0)), infinity - 1);
  EXPECT_EQ(store_bits(dtype, 1e300), infinity);
  EXPECT_EQ(store_bits(dtype, -1e300), infinity | 0x8000U);
  EXPECT_EQ(store_bits(dtype, 1e-300), 0);
  EXPECT_EQ(store_bits(dtype, -1e-300), 0x8000U);
  EXPECT_EQ(store_bits(dtype, std::numeric_limits<double>::denorm_min()), 0);
}

INSTANTIATE_TEST_SUITE_P(Formats, SmallFloat,
                         testing::Values(SmallFormat{DType::float16, 10, 5},
                                         SmallFormat{DType::bfloat16, 7, 8}),
                         [](const auto& test) { return std::string(name_of(test.param.dtype)); });

// A double just above a tie of half would be pulled onto the tie by rounding to float first.
TEST(DType, NarrowsDoubleOnce) {
  const double just_above_tie = 1.0 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(static_cast<double>(static_cast<float>(just_above_tie)), 1.0 + 0x1p-11);
  EXPECT_EQ(load_bits(DType::float16, store_bits(DType::float16, just_above_tie)), 1.0 + 0x1p-10);
}

TEST(DType, NamesParseBack) {
  for (const DType dtype : kAll)
    EXPECT_EQ(parse_dtype(name_of(dtype)), dtype);
  EXPECT_EQ(parse_dtype("half"), DType::float16);
  EXPECT_EQ(parse_dtype("bf16"), DType::bfloat16);
  EXPECT_EQ(parse_dtype("double"), DType::float64);
  EXPECT_EQ(parse_dtype(""), std::nullopt);
  EXPECT_EQ(parse_dtype("float8"), std::nullopt);
  EXPECT_EQ(parse_dtype("Float32"), std::nullopt);
}

TEST(DType, SizesAndRoundoffFitTheFormat) {
  EXPECT_EQ(size_of(DType::float64), 8U);
  EXPECT_EQ(size_of(DType::int8), 1U);
  EXPECT_EQ(unit_roundoff(DType::float32), std::numeric_limits<float>::epsilon() / 2);
  EXPECT_EQ(unit_roundoff(DType::float64), std::numeric_limits<double>::epsilon() / 2);
  EXPECT_EQ(unit_roundoff(DType::int32), 0);
  for (const DType dtype : {DType::float16, DType::bfloat16}) {
    const double next = load_bits(dtype, static_cast<std::uint16_t>(store_bits(dtype, 1.0) + 1));
    EXPECT_EQ(unit_roundoff(dtype), (next - 1.0) / 2) << name_of(dtype);
  }
  for (const DType dtype : kAll)
    EXPECT_EQ(is_floating(dtype), unit_roundoff(dtype) > 0) << name_of(dtype);
}

TEST(DType, ElementsDoNotTouchTheirNeighbours) {
  for (const DType dtype : kAll) {
    std::vector<std::byte> memory(size_of(dtype) * 3, std::byte{0x5A});
    store_element(dtype, memory.data(), 1, -3);
    EXPECT_EQ(load_element(dtype, memory.data(), 1), -3) << name_of(dtype);
    for (std::size_t i = 0; i < memory.size(); ++i) {
      const bool inside = i / size_of(dtype) == 1;
      if (!inside) {
        EXPECT_EQ(memory[i], std::byte{0x5A}) << name_of(dtype) << " byte " << i;
      }
    }
  }
}

TEST(DType, IntegersSaturateAndRoundToNearestEven) {
  std::array<std::byte, 8> memory{};
  auto through = [&](DType dtype, double value) {
    store_element(dtype, memory.data(), 0, value);
    return load_element(dtype, memory.data(), 0);
  };
  EXPECT_EQ(through(DType::int8, 127.4), 127);
  EXPECT_EQ(through(DType::int8, 128), 127);
  EXPECT_EQ(through(DType::int8, -1e9), -128);
  EXPECT_EQ(through(DType::int8, 2.5), 2);
  EXPECT_EQ(through(DType::int8, 3.5), 4);
  EXPECT_EQ(through(DType::int8, -0.5), 0);
  EXPECT_EQ(through(DType::int32, 2147483648.0), 2147483647.0);
  EXPECT_EQ(through(DType::int32, -2147483649.0), -2147483648.0);
  EXPECT_EQ(through(DType::int32, std::numeric_limits<double>::infinity()), 2147483647.0);
  EXPECT_EQ(through(DType::int32, std::nan("")), 0);
  store_element(DType::int64, memory.data(), 0, 1e30);
  EXPECT_EQ(std::bit_cast<std::int64_t>(memory), std::numeric_limits<std::int64_t>::max());
}

TEST(DType, Float32MatchesTheHardwareConversion) {
  std::mt19937_64 random(7);
  std::array<std::byte, 4> memory{};
  for (int i = 0; i < 200000; ++i) {
    const auto value = std::bit_cast<double>(random());
    store_element(DType::float32, memory.data(), 0, value);
    const auto expected = static_cast<float>(value);
    const double actual = load_element(DType::float32, memory.data(), 0);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(actual));
    } else {
      ASSERT_EQ(actual, static_cast<double>(expected));
    }
  }
}

} // namespace
} // namespace kernevo
