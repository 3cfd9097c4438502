#include "kernevo/evaluate/negative_controls.h"

#include "kernevo/task/load_task.h"

#include <gtest/gtest.h>

namespace kernevo {
namespace {

Result<std::vector<std::string>> controls_of(const std::string& yaml) {
  KERNEVO_TRY(loaded, parse_task(yaml, "task.yaml"));
  KERNEVO_TRY(problem, make_problem(loaded.task, loaded.task.shapes.front()));
  const CaseInputs inputs = make_inputs(problem, InputSet::nominal, 5);
  return negative_controls(
      inputs, [](const CaseInputs& in, std::size_t output, std::span<const std::int64_t> points) {
        OracleInputs spans;
        for (const auto& bytes : in.initial)
          spans.emplace_back(bytes);
        return expected_values(in.problem, spans, output, points);
      });
}

TEST(NegativeControls, AnHonestTaskHasNoTrivialAnswer) {
  const auto warnings =
      controls_of("op_name: softmax\nshapes: [[16, 64]]\ndtype: float32\ntarget_gpu: A100\n");
  ASSERT_TRUE(warnings) << format_error(warnings.error());
  EXPECT_TRUE(warnings->empty());
}

TEST(NegativeControls, ACopyIsReported) {
  const auto warnings =
      controls_of("op_name: copy\nshapes: [[256]]\ndtype: float32\ntarget_gpu: A100\n");
  ASSERT_TRUE(warnings) << format_error(warnings.error());
  ASSERT_EQ(warnings->size(), 1U);
  EXPECT_NE(warnings->front().find("a copy of input 'x' passes"), std::string::npos)
      << warnings->front();
}

TEST(NegativeControls, AToleranceThatLetsAConstantThroughIsReported) {
  // The softmax of a row of 4096 values is about 1/4096 everywhere: a declared tolerance of 10
  // times the scale says nothing.
  const auto warnings = controls_of(
      "op_name: softmax\nshapes: [[4, 64]]\ndtype: float32\ntarget_gpu: A100\ntolerance: 0.9999\n");
  ASSERT_TRUE(warnings) << format_error(warnings.error());
  EXPECT_FALSE(
      controls_of("op_name: relu\nshapes: [[256]]\ndtype: float32\ntarget_gpu: A100\n")->size() >
      0);
}

} // namespace
} // namespace kernevo
