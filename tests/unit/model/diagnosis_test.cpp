#include "kernevo/model/diagnosis.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

using testing::ElementsAre;

const std::string kSource = "// @launch f<<<1, 32>>>(x, y)\n"
                            "__global__ void f(const float* x, float* y) {\n"
                            "  y[threadIdx.x] = x[threadIdx.x + 1];\n"
                            "}\n";

Diagnostic error_at(int line, std::string message, std::string file = "kernel.cu") {
  return {Diagnostic::Severity::error, Place{std::move(file), line, 3}, std::move(message)};
}

TEST(Diagnosis, QuotesTheLinesOfCompilerErrors) {
  Build build;
  build.diagnostics = {{Diagnostic::Severity::warning, Place{"kernel.cu", 1, 1}, "unused"},
                       error_at(3, "identifier \"z\" is\nundefined"),
                       error_at(40, "no such line here"),
                       error_at(12, "in a header", "/usr/include/cuda_fp16.hpp")};
  const Diagnosis diagnosis = diagnose(build, kSource);
  EXPECT_EQ(diagnosis.fault, FaultKind::semantic_compile_error);
  EXPECT_EQ(diagnosis.rung, Rung::compile);
  EXPECT_EQ(diagnosis.summary, "line 3: identifier \"z\" is undefined");
  EXPECT_THAT(diagnosis.details,
              ElementsAre("line 3: identifier \"z\" is undefined",
                          "  3 | y[threadIdx.x] = x[threadIdx.x + 1];",
                          "line 40: no such line here", "cuda_fp16.hpp:12: in a header"));
}

TEST(Diagnosis, ShowsAtMostEightErrors) {
  Build build;
  build.syntax_error = true;
  for (int i = 0; i < 20; ++i)
    build.diagnostics.push_back(error_at(0, fmt::format("error {}", i)));
  const Diagnosis diagnosis = diagnose(build, kSource);
  EXPECT_EQ(diagnosis.fault, FaultKind::syntax_error);
  EXPECT_EQ(diagnosis.details.size(), 9U);
  EXPECT_EQ(diagnosis.details.back(), "and 12 more errors");
}

TEST(Diagnosis, SurvivesJson) {
  Build build;
  build.diagnostics = {error_at(3, "bad")};
  for (const Diagnosis& diagnosis :
       {diagnose(build, kSource), Diagnosis{std::nullopt, Rung::parse, true, "no kernel", {}}}) {
    const auto back = diagnosis_from_json(to_json(diagnosis));
    ASSERT_TRUE(back) << format_error(back.error());
    EXPECT_EQ(*back, diagnosis);
  }
  EXPECT_FALSE(diagnosis_from_json("{}"));
  EXPECT_FALSE(diagnosis_from_json("["));
  EXPECT_FALSE(diagnosis_from_json(
      R"({"fault":"no","rung":"parse","hidden":false,"summary":"","details":[]})"));
}

} // namespace
} // namespace kernevo
