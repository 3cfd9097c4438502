// What the strict readers refuse, and with which words.
#include "kernevo/model/json.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/model/launch_counts.h"
#include "kernevo/model/program_report.h"
#include "kernevo/model/run_event.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

using testing::HasSubstr;

template <class T> std::string refusal(const std::string& text) {
  const auto read =
      read_json(text, "record", [](const Json& json) { return json.at("v").get<T>(); });
  return read ? "" : read.error().message;
}

TEST(StrictJson, NumbersAreNotTurnedIntoEachOther) {
  EXPECT_EQ(refusal<int>(R"({"v":-3})"), "");
  EXPECT_EQ(refusal<std::uint64_t>(R"({"v":18446744073709551615})"), "");
  EXPECT_EQ(refusal<double>(R"({"v":3})"), "");
  EXPECT_THAT(refusal<int>(R"({"v":3.0})"), HasSubstr("no integer"));
  EXPECT_THAT(refusal<int>(R"({"v":2147483648})"), HasSubstr("no integer of 32 bits"));
  EXPECT_THAT(refusal<int>(R"({"v":true})"), HasSubstr("no integer"));
  EXPECT_THAT(refusal<unsigned>(R"({"v":-1})"), HasSubstr("no count"));
  EXPECT_THAT(refusal<std::int64_t>(R"({"v":18446744073709551615})"), HasSubstr("no integer"));
  EXPECT_NE(refusal<double>(R"({"v":1e999})"), "");
  EXPECT_NE(refusal<double>(R"({"v":NaN})"), "");
  EXPECT_NE(refusal<double>(R"({"v":null})"), "");
  EXPECT_NE(refusal<double>(R"({"v":"1"})"), "");
  EXPECT_NE(refusal<bool>(R"({"v":1})"), "");
  EXPECT_THAT((refusal<std::array<int, 3>>(R"({"v":[1,2]})")), HasSubstr("array of 3"));
  EXPECT_THAT((refusal<std::array<int, 3>>(R"({"v":[1,2,3,4]})")), HasSubstr("array of 3"));
  EXPECT_NE(refusal<std::vector<unsigned>>(R"({"v":[1,-2]})"), "");
}

TEST(StrictJson, KeysDepthAndSizeHaveLimits) {
  EXPECT_THAT(refusal<int>(R"({"v":1,"v":1})"), HasSubstr("'v' stands twice"));
  EXPECT_THAT(refusal<int>(R"({"v":1,"w":{"a":[{"b":1,"b":2}]}})"), HasSubstr("'b' stands twice"));
  EXPECT_EQ(refusal<int>(R"({"v":1,"w":{"v":1}})"), "");
  EXPECT_THAT(refusal<int>("{\"v\":" + std::string(1000, '[')), HasSubstr("nested deeper"));
  std::string keys = "{\"v\":1";
  for (int i = 0; i < 5000; ++i)
    keys += ",\"" + std::to_string(i) + "\":1";
  EXPECT_THAT(refusal<int>(keys + "}"), HasSubstr("more than 4096 keys"));
  const auto large = read_json(
      "[1,2,3]", "record", [](const Json&) { return 0; }, JsonLimits{4, 128, 4096, false});
  ASSERT_FALSE(large);
  EXPECT_THAT(large.error().message, HasSubstr("7 bytes of JSON"));
}

TEST(ProgramReport, OperatorsOfAFrameworkComeBackAsTheyWent) {
  ProgramReport report;
  report.program = "python";
  report.gpu = "A100";
  report.operators = {{"aten::mm", 3, 1U << 20U, 2e9, {4.5e6}}};
  const auto read = program_report_from_json(to_json(report));
  ASSERT_TRUE(read);
  ASSERT_EQ(read->operators.size(), 1U);
  EXPECT_EQ(read->operators[0].name, "aten::mm");
  EXPECT_EQ(read->operators[0].calls, 3U);
  EXPECT_EQ(read->operators[0].bytes, 1U << 20U);
  EXPECT_EQ(read->operators[0].flops, 2e9);
  EXPECT_EQ(read->operators[0].time.value, 4.5e6);
  std::string odd = to_json(report);
  odd.replace(odd.find("flops"), 5, "flop");
  EXPECT_FALSE(program_report_from_json(odd));
}

TEST(StrictJson, ComplaintsAreOneShortLine) {
  const std::string text = refusal<int>("{\"v\":\"" + std::string(100'000, 'x') + "\n\"}");
  EXPECT_LT(text.size(), 500U);
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from << " in " << text;
  return text.replace(at, from.size(), to);
}

TEST(VerdictJson, ContradictionsAreRefused) {
  Verdict wrong;
  wrong.fault = FaultKind::memory_safety_error;
  wrong.fault_class = FaultClass::candidate;
  const std::string text = to_json(wrong);
  ASSERT_TRUE(verdict_from_json(text));
  EXPECT_FALSE(verdict_from_json(with(text, "\"correct\":false", "\"correct\":true")));
  EXPECT_FALSE(verdict_from_json(with(text, "\"candidate\"", "null")));
  EXPECT_FALSE(verdict_from_json(with(text, "memory_safety_error", "no_such_fault")));
  EXPECT_FALSE(verdict_from_json(with(text, "\"parse\"", "6")));
  EXPECT_FALSE(verdict_from_json(with(text, "\"cases\":[]", "\"cases\":{}")));
}

TEST(BuildJson, AHostileCompilerIsRefused) {
  Build build;
  build.ok = true;
  build.resources.push_back({"k", "k", 32, {}, {}, {}, {}, {}, 1});
  build.diagnostics.push_back({Diagnostic::Severity::warning, Place{"k.cu", 3}, "unused"});
  const std::string text = to_json(build);
  ASSERT_TRUE(build_from_json(text));
  EXPECT_FALSE(build_from_json(with(text, "\"registers\":32", "\"registers\":-32")));
  EXPECT_FALSE(build_from_json(with(text, "\"barriers\":1", "\"barriers\":4294967297")));
  EXPECT_FALSE(build_from_json(with(text, "\"line\":3", "\"line\":-3")));
  EXPECT_FALSE(build_from_json(with(text, "\"warning\"", "\"fatal\"")));
  EXPECT_FALSE(build_from_json(with(text, "\"syntax_error\":false", "\"syntax_error\":true")));
  EXPECT_FALSE(build_from_json(with(text, "\"lowered_names\":{}", "\"lowered_names\":[]")));
  EXPECT_FALSE(build_from_json(with(text, "\"ok\":true", "\"ok\":1")));
}

TEST(PlanJson, AnUnknownTypeIsNotFloat32) {
  LaunchPlan plan;
  plan.scratch.push_back({"s", DType::int8, 4});
  const std::string text = to_json(plan);
  ASSERT_TRUE(launch_plan_from_json(text));
  EXPECT_FALSE(launch_plan_from_json(with(text, "int8", "int7")));
}

TEST(CandidateJson, ALanguageThatIsNotSaidIsCuda) {
  const std::string old =
      R"({"step":1,"source":"ab","parents":[0],"proposer":"p","title":"t","genes":[],"tokens":0})";
  const auto read = candidate_from_json(old);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->language, KernelLanguage::cuda);
  // Runs of one language are written as they always were.
  EXPECT_EQ(to_json(*read).find("language"), std::string::npos);
  Candidate triton = *read;
  triton.language = KernelLanguage::triton;
  const auto again = candidate_from_json(to_json(triton));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->language, KernelLanguage::triton);
  EXPECT_FALSE(candidate_from_json(with(to_json(triton), "triton", "fortran")));
}

} // namespace
} // namespace kernevo
