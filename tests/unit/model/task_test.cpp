#include "kernevo/model/task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Expression expression(const std::string& text, int line = 3) {
  return Expression::parse(text, Place{"task.yaml", line, 5}).value();
}

Task matmul() {
  Task task;
  task.operation = "matmul";
  task.dtype = DType::float16;
  task.arguments = {
      {"A", Direction::in, DType::float16, {expression("M"), expression("K")}, {}, false},
      {"B", Direction::in, DType::float16, {expression("K"), expression("N")}, {}, true},
      {"C", Direction::out, DType::float32, {expression("M * N / 2"), expression("2")}, {}, false},
      {"flag", Direction::inout, DType::int32, {}, {}, false},
  };
  task.scalars = {{"alpha", DType::float32, 0.5}};
  task.tolerance = 0.01;
  return task;
}

TEST(MakeProblem, EvaluatesEveryShape) {
  const auto problem = make_problem(matmul(), {"s", {{"M", 4}, {"N", 6}, {"K", 10}}, 1, {}, false});
  ASSERT_TRUE(problem) << problem.error().message;
  ASSERT_EQ(problem->buffers.size(), 4U);
  EXPECT_THAT(problem->buffers[0].shape, ElementsAre(4, 10));
  EXPECT_THAT(problem->buffers[2].shape, ElementsAre(12, 2));
  EXPECT_EQ(problem->buffers[2].bytes(), 96U);
  EXPECT_EQ(problem->buffers[3].elements(), 1);
  EXPECT_TRUE(problem->buffers[1].fixed_distribution);
  EXPECT_EQ(problem->scalars.at(0).value, 0.5);
  EXPECT_EQ(problem->tolerance, 0.01);
  ASSERT_NE(problem->find_buffer("C"), nullptr);
  EXPECT_EQ(problem->find_buffer("C")->dtype, DType::float32);
  EXPECT_EQ(problem->find_buffer("D"), nullptr);
}

TEST(MakeProblem, TheCaseToleranceWins) {
  const auto problem =
      make_problem(matmul(), {"s", {{"M", 4}, {"N", 6}, {"K", 10}}, 1, 0.5, false});
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->tolerance, 0.5);
}

TEST(MakeProblem, RefusesAnEmptyExtent) {
  const auto problem =
      make_problem(matmul(), {"tiny", {{"M", 1}, {"N", 1}, {"K", 8}}, 1, {}, false});
  ASSERT_FALSE(problem);
  EXPECT_EQ(problem.error().code, ErrorCode::input);
  EXPECT_THAT(problem.error().message, HasSubstr("argument 'C' has extent M * N / 2 = 0"));
  EXPECT_THAT(problem.error().message, HasSubstr("case 'tiny'"));
  EXPECT_EQ(problem.error().place, (Place{"task.yaml", 3, 5}));
}

TEST(MakeProblem, RefusesNegativeExtents) {
  EXPECT_FALSE(make_problem(matmul(), {"s", {{"M", -4}, {"N", -6}, {"K", 10}}, 1, {}, false}));
}

TEST(MakeProblem, RefusesMoreThanAGpuCanHold) {
  const std::int64_t huge = std::int64_t{1} << 31;
  const auto problem =
      make_problem(matmul(), {"huge", {{"M", huge}, {"N", 2}, {"K", huge}}, 1, {}, false});
  ASSERT_FALSE(problem);
  EXPECT_THAT(problem.error().message, HasSubstr("argument 'A' is larger than 1 TiB"));
}

TEST(MakeProblem, NamesAnUnknownDimension) {
  const auto problem = make_problem(matmul(), {"s", {{"M", 4}, {"N", 6}}, 1, {}, false});
  ASSERT_FALSE(problem);
  EXPECT_THAT(problem.error().message, HasSubstr("K"));
}

TEST(MakeProblem, PassesOnArithmeticErrors) {
  Task task = matmul();
  task.arguments[0].shape = {expression("M / (K - K)")};
  EXPECT_FALSE(make_problem(task, {"s", {{"M", 4}, {"N", 6}, {"K", 10}}, 1, {}, false}));
}

} // namespace
} // namespace kernevo
