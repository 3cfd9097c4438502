// Whatever a verdict holds, nothing that depends on a hidden shape reaches a proposer, and the
// owner loses nothing. What must not pass is made of the digits 7, 8 and 9, what may of others.
#include "kernevo/evaluate/result_json.h"
#include "kernevo/evaluate/visible.h"
#include "kernevo/model/json.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <regex>

namespace kernevo {
namespace {

const std::string kSource = "// @launch f<<<1, 32>>>(x, y)\n"
                            "__global__ void f(const float* x, float* y) {\n"
                            "  y[threadIdx.x] = x[threadIdx.x + 1];\n"
                            "}\n";

bool flip() {
  return *rc::gen::arbitrary<bool>();
}

template <class Enum> Enum one_of(Enum last) {
  return static_cast<Enum>(*rc::gen::inRange(0, static_cast<int>(last) + 1));
}

std::uint32_t secret() {
  std::uint32_t number = 0;
  for (int i = 0; i < 5; ++i)
    number = number * 10 + *rc::gen::inRange(7U, 10U);
  return number;
}

std::uint32_t shown() {
  return *rc::gen::inRange(0U, 5U);
}

std::string secret_text() {
  return fmt::format("case {}x{}, y[{}] is 0.{}", secret(), secret(), secret(), secret());
}

CheckedCase hidden_case() {
  return {fmt::format("{}x{}", secret(), secret()),
          "nominal",
          secret(),
          true,
          secret(),
          secret(),
          secret(),
          secret(),
          secret() * 1e-5};
}

CheckedCase shown_case(bool after_hidden) {
  CheckedCase one{"12x40", "nominal", secret(), false, 4000, 4000, 40, 40, shown() * 0.01};
  if (flip()) { // sampled, by what the kernel did before
    one.blocks = 4000000000;
    one.blocks_run = after_hidden ? secret() : shown();
    one.elements = 4000000000;
    one.elements_checked = after_hidden ? secret() : shown();
  }
  return one;
}

Finding hidden_finding() {
  Finding f;
  f.kind = one_of(FindingKind::crash);
  f.message = secret_text();
  f.source_file = flip() ? "kernel.cu" : "cuda_fp16.hpp";
  f.source_line = *rc::gen::inRange(0, 5);
  f.block = {secret(), 0, secret()};
  f.thread = {secret(), 0, 0};
  f.has_thread = flip();
  f.address = secret();
  f.size = secret();
  f.buffer = flip() ? fmt::format("x ({} bytes past its end)", secret()) : secret_text();
  return f;
}

void fail_hidden(Verdict& verdict) {
  verdict.summary = secret_text();
  verdict.rung = flip() ? Rung::small_shapes : Rung::hidden_shapes;
  if (flip()) { // a launch that could not be made
    verdict.diagnostics.push_back(
        {Diagnostic::Severity::error, Place{"kernel.cu", 1, 1}, secret_text()});
    return;
  }
  verdict.cases.push_back(hidden_case());
  verdict.failing_case = verdict.cases.back();
  if (flip())
    verdict.finding = hidden_finding();
  if (flip())
    verdict.mismatch = Mismatch{flip() ? "y" : secret_text(),
                                {secret(), secret()},
                                secret() * 0.1,
                                secret() * 0.1,
                                secret() * 1e-9};
}

void fail_shown(Verdict& verdict, bool after_hidden) {
  verdict.summary = "y[3] is 4, expected 2";
  verdict.rung = Rung::real_shapes;
  verdict.cases.push_back(shown_case(after_hidden));
  verdict.failing_case = verdict.cases.back();
  verdict.mismatch = Mismatch{"y", {3}, 2, 4, 0.1};
}

CheckResult any_check() {
  CheckResult result;
  Verdict& verdict = result.verdict;
  bool after_hidden = false;
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
    after_hidden = true;
    verdict.cases.push_back(hidden_case());
  }
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i)
    verdict.cases.push_back(shown_case(after_hidden));
  verdict.fault = flip() ? std::optional(one_of(FaultKind::candidate_runtime_error)) : std::nullopt;
  verdict.correct = !verdict.fault;
  verdict.summary = secret_text(); // elements and errors of all cases
  if (verdict.fault) {
    verdict.fault_class = one_of(FaultClass::ambiguous);
    if (flip()) {
      after_hidden = true;
      fail_hidden(verdict);
    } else {
      fail_shown(verdict, after_hidden);
    }
  }
  verdict.printed = after_hidden ? secret_text() : "3\n";
  verdict.warnings = {"spills 4 bytes"};
  for (const CheckedCase& one : verdict.cases)
    if (one.hidden)
      verdict.warnings.push_back(fmt::format("prints too much in case {}", one.case_id));
  verdict.hidden_warnings = {secret_text()};
  result.seed = secret();
  result.wall_seconds = secret() * 1e-4;
  return result;
}

TEST(Visible, NoHiddenShapeReachesAProposer) {
  static const std::regex secrets("[789]{3}");
  EXPECT_TRUE(rc::check("what a proposer sees", [] {
    const CheckResult all = any_check();
    const VisibleCheck seen = visible(all, kSource, Audience::proposer);
    std::string text = to_json(seen) + to_json(seen.result);
    if (seen.diagnosis)
      text += to_text(*seen.diagnosis);
    RC_LOG() << text;
    RC_ASSERT(!std::regex_search(text, secrets));
    RC_ASSERT(seen.result.verdict.correct == all.verdict.correct);
    RC_ASSERT(seen.result.verdict.fault == all.verdict.fault);
    RC_ASSERT(seen.diagnosis.has_value() == all.verdict.fault.has_value());
  }));
}

TEST(Visible, TheOwnerLosesNothing) {
  EXPECT_TRUE(rc::check("what the owner sees", [] {
    const CheckResult all = any_check();
    const VisibleCheck seen = visible(all, kSource, Audience::owner);
    RC_ASSERT(to_json(seen.result) == to_json(all));
    RC_ASSERT(!seen.hidden_cases && !seen.diagnosis);
  }));
}

} // namespace
} // namespace kernevo
