#include "kernevo/evaluate/output_check.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>

namespace kernevo {
namespace {

BufferSpec vector_of(DType dtype, std::int64_t elements) {
  return {"y", Direction::out, dtype, {elements}, {}, false};
}

OutputCheck check(DType dtype, const std::vector<double>& actual,
                  const std::vector<Expected>& expected,
                  std::optional<double> declared = std::nullopt) {
  const BufferSpec buffer = vector_of(dtype, static_cast<std::int64_t>(actual.size()));
  std::vector<std::byte> bytes(buffer.bytes());
  std::vector<std::int64_t> points(actual.size());
  std::iota(points.begin(), points.end(), 0);
  for (std::size_t i = 0; i < actual.size(); ++i)
    store_element(dtype, bytes.data(), static_cast<std::int64_t>(i), actual[i]);
  return check_output(buffer, bytes, points, expected, declared);
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(OutputCheck, AcceptsWithinToleranceAndReportsTheRatio) {
  const OutputCheck result = check(DType::float32, {1.0, 2.5}, {{1.0, 0.1}, {2.0, 1.0}});
  EXPECT_FALSE(result.mismatch);
  EXPECT_DOUBLE_EQ(result.worst_ratio, 0.5);
  EXPECT_EQ(result.checked, 2U);
}

TEST(OutputCheck, NamesTheFirstElementOutside) {
  const OutputCheck result =
      check(DType::float32, {1.0, 9.0, 8.0}, {{1.0, 0.1}, {2.0, 0.1}, {2.0, 0.1}});
  ASSERT_TRUE(result.mismatch);
  EXPECT_EQ(result.mismatch->index, std::vector<std::int64_t>{1});
  EXPECT_DOUBLE_EQ(result.mismatch->expected, 2.0);
  EXPECT_DOUBLE_EQ(result.mismatch->actual, 9.0);
}

// A tolerance that is a share of an infinite answer is infinite, too.
TEST(OutputCheck, NothingFiniteIsNearAnInfinity) {
  for (const double actual : {0.0, 1e30, -kInfinity})
    for (const std::optional<double> declared : {std::optional<double>(), std::optional(0.1)}) {
      EXPECT_TRUE(check(DType::float32, {actual}, {{kInfinity, kInfinity}}, declared).mismatch);
      EXPECT_TRUE(check(DType::float32, {actual}, {{kInfinity, 0}}, declared).mismatch);
    }
  EXPECT_FALSE(check(DType::float32, {kInfinity}, {{kInfinity, kInfinity}}, 0.1).mismatch);
}

TEST(OutputCheck, NanIsNeverWithinTolerance) {
  EXPECT_TRUE(check(DType::float32, {kNan}, {{1.0, 1e30}}).mismatch);
  EXPECT_TRUE(check(DType::float32, {kNan}, {{1.0, 1e30}}, 0.5).mismatch);
  EXPECT_TRUE(check(DType::float32, {1.0}, {{kNan, 1e30}}).mismatch);
}

TEST(OutputCheck, InfinityIsRightOnlyWhereTheFormatOverflows) {
  EXPECT_TRUE(check(DType::float32, {kInfinity}, {{1.0, 1e30}}).mismatch);
  EXPECT_FALSE(check(DType::float16, {kInfinity}, {{70000.0, 1.0}}).mismatch);
  EXPECT_TRUE(check(DType::float16, {-kInfinity}, {{70000.0, 1.0}}).mismatch);
  EXPECT_FALSE(check(DType::float16, {65504.0}, {{70000.0, 1.0}}).mismatch);
}

TEST(OutputCheck, DeclaredToleranceIsRelativeToTheScaleOfTheOutput) {
  // Twice the rms of {100, 0} is about 141: an error of 7 on the zero is within 5 % of it.
  EXPECT_FALSE(check(DType::float32, {100.0, 7.0}, {{100.0, 1e-6}, {0.0, 1e-6}}, 0.05).mismatch);
  EXPECT_TRUE(check(DType::float32, {100.0, 7.2}, {{100.0, 1e-6}, {0.0, 1e-6}}, 0.05).mismatch);
}

TEST(OutputCheck, DeclaredToleranceKeepsTheStrictRatio) {
  const OutputCheck result = check(DType::float32, {1.01}, {{1.0, 1e-4}}, 0.05);
  EXPECT_FALSE(result.mismatch);
  EXPECT_NEAR(result.worst_strict_ratio, 100, 1);
}

TEST(OutputCheck, IntegersStayExactWhateverIsDeclared) {
  EXPECT_TRUE(check(DType::int32, {101}, {{100, 0}}, 0.5).mismatch);
  EXPECT_FALSE(check(DType::int32, {100}, {{100, 0}}).mismatch);
}

TEST(OutputCheck, FindsTheFirstElementNotWhollyWritten) {
  const BufferSpec buffer = vector_of(DType::float32, 3);
  std::vector<std::byte> written(12, std::byte{1});
  EXPECT_FALSE(first_unwritten(buffer, written));
  written[9] = std::byte{0};
  EXPECT_EQ(first_unwritten(buffer, written), 2);
}

TEST(OutputCheck, CoordinatesAreRowMajor) {
  EXPECT_EQ(coordinates({2, 3, 4}, 23), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(coordinates({}, 0), std::vector<std::int64_t>{});
}

} // namespace
} // namespace kernevo
