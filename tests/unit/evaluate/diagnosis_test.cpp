#include "kernevo/evaluate/visible.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

const std::string kSource = "// @launch f<<<1, 32>>>(x, y)\n"
                            "__global__ void f(const float* x, float* y) {\n"
                            "  y[threadIdx.x] = x[threadIdx.x + 1];\n"
                            "}\n";

Diagnostic error_at(int line, std::string message, std::string file = "kernel.cu") {
  return {Diagnostic::Severity::error, Place{std::move(file), line, 3}, std::move(message)};
}

Verdict failed(FaultKind kind, Rung rung) {
  Verdict verdict;
  verdict.fault = kind;
  verdict.rung = rung;
  verdict.summary = "said of case 7919x31";
  return verdict;
}

CheckedCase case_of(std::string id, bool hidden) {
  CheckedCase one;
  one.case_id = std::move(id);
  one.distribution = "wide_range";
  one.seed = 424242;
  one.hidden = hidden;
  return one;
}

Finding out_of_bounds() {
  Finding finding;
  finding.kind = FindingKind::out_of_bounds;
  finding.message = "reads 4 bytes past the end of x, by thread (31,0,0) of block (7919,0,0)";
  finding.source_file = "kernel.cu";
  finding.source_line = 3;
  finding.block = {7919, 0, 0};
  finding.thread = {31, 0, 0};
  finding.has_thread = true;
  finding.size = 4;
  finding.buffer = "x (7919 bytes past its end)";
  return finding;
}

TEST(Diagnosis, TellsTheWrongElementOfAShownCase) {
  Verdict verdict = failed(FaultKind::correctness_mismatch, Rung::small_shapes);
  verdict.mismatch = Mismatch{"y", {2, 5}, 0.5, 0.25, 1e-6};
  verdict.failing_case = case_of("12x40", false);
  const Diagnosis diagnosis = diagnose(verdict, kSource);
  EXPECT_FALSE(diagnosis.hidden);
  EXPECT_EQ(diagnosis.summary, "y[2, 5] is 0.25, expected 0.5 within 1e-06 (shape 12x40, "
                               "wide_range inputs)");
  verdict.fault = FaultKind::race_or_sync_error;
  EXPECT_THAT(diagnose(verdict, kSource).summary, HasSubstr("depends on the order"));
  EXPECT_THAT(to_text(diagnose(verdict, kSource)), Not(HasSubstr("424242")));
}

TEST(Diagnosis, TellsTheFindingOfAShownCase) {
  Verdict verdict = failed(FaultKind::memory_safety_error, Rung::small_shapes);
  verdict.finding = out_of_bounds();
  verdict.failing_case = case_of("12x40", false);
  const Diagnosis diagnosis = diagnose(verdict, kSource);
  EXPECT_THAT(diagnosis.summary, HasSubstr("past the end of x"));
  EXPECT_THAT(diagnosis.summary, HasSubstr("shape 12x40"));
  EXPECT_THAT(diagnosis.details, ElementsAre("  3 | y[threadIdx.x] = x[threadIdx.x + 1];",
                                             "block (7919, 0, 0), thread (31, 0, 0)",
                                             "4 bytes of x (7919 bytes past its end)"));
}

TEST(Diagnosis, SaysNothingOfAHiddenShape) {
  Verdict with_finding = failed(FaultKind::memory_safety_error, Rung::hidden_shapes);
  with_finding.finding = out_of_bounds();
  with_finding.failing_case = case_of("7919x31", true);
  Verdict with_mismatch = failed(FaultKind::correctness_mismatch, Rung::small_shapes);
  with_mismatch.mismatch = Mismatch{"y", {7918, 5}, 0.7919, 79.19, 7919e-6};
  with_mismatch.failing_case = case_of("7919x31", true);
  Verdict unwritten = failed(FaultKind::uninitialized_memory_error, Rung::hidden_shapes);
  unwritten.failing_case = case_of("7919x31", true);
  // A launch that cannot be made for a shape leaves no case.
  Verdict launch = failed(FaultKind::interface_contract_error, Rung::hidden_shapes);
  launch.diagnostics = {error_at(1, "the grid has 7919 blocks")};
  Verdict small_launch = launch;
  small_launch.rung = Rung::small_shapes;

  for (const Verdict& verdict : {with_finding, with_mismatch, unwritten, launch, small_launch}) {
    const Diagnosis diagnosis = diagnose(verdict, kSource);
    EXPECT_TRUE(diagnosis.hidden);
    const std::string text = to_text(diagnosis) + to_json(diagnosis);
    for (const char* secret : {"7919", "7918", "79.19", "31", "(0", "424242", "wide_range", "said"})
      EXPECT_THAT(text, Not(HasSubstr(secret)));
    EXPECT_THAT(text, HasSubstr("on a shape that is not shown; sizes need not be multiples"));
  }
  // A kernel can choose line and buffer by the shape it meets.
  EXPECT_THAT(diagnose(with_finding, kSource).summary, StartsWith("an access out of bounds, on"));
  EXPECT_THAT(diagnose(with_finding, kSource).details, IsEmpty());
  EXPECT_THAT(diagnose(with_mismatch, kSource).summary, StartsWith("wrong numbers, on"));
  EXPECT_THAT(diagnose(launch, kSource).details, IsEmpty());
}

TEST(Diagnosis, KeepsTheSummaryOfAFaultWithoutCase) {
  Verdict verdict = failed(FaultKind::interface_contract_error, Rung::resources);
  verdict.summary = "kernel.cu:1: 2048 threads are too many";
  EXPECT_EQ(diagnose(verdict, kSource).summary, verdict.summary);
}

} // namespace
} // namespace kernevo
