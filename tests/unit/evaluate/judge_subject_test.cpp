// The ladder over a subject that is neither a kernel nor on a device: a function of this program
// that fills the outputs, as any language's program may.
#include "kernevo/evaluate/judge_subject.h"

#include "kernevo/task/drawn_shapes.h"
#include "kernevo/task/load_task.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <numeric>
#include <regex>
#include <set>

namespace kernevo {
namespace {

constexpr std::int64_t kReal = 100'000;
const std::string kAddTask =
    "op_name: add\nshapes: [[" + std::to_string(kReal) + "]]\ndtype: float32\ntarget_gpu: A100\n";

// C = A + B, or what somebody makes of it, element by element.
using Addition =
    std::function<std::optional<float>(std::int64_t i, std::int64_t n, float a, float b)>;

struct Script {
  Addition add;
  std::function<std::optional<Finding>(std::int64_t n)> finding = nullptr;
  std::function<bool(std::int64_t n)> fits = nullptr;
  bool separable = false;
  bool instrumented = true;
  std::uint64_t instructions_per_block = 1;
  std::vector<std::string> left_over = {}; // module variables that each run changes
  std::vector<SubjectRun> runs = {};       // what was asked
  std::vector<std::array<std::int64_t, 3>> parts = {};
  std::vector<ScratchBuffer> scratch = {};
  std::optional<Finding> part_finding = {};
  std::vector<SubjectRun> part_runs = {};
};

// An element of an input: in the arena, or made of its recipe where inputs are made on demand.
float element(const SubjectRun& run, const Arena& arena, std::size_t tensor, std::int64_t i) {
  float value = 0;
  if (const auto& recipe = run.tensors[tensor].recipe)
    fill_elements(*recipe, static_cast<std::uint64_t>(i),
                  std::as_writable_bytes(std::span(&value, 1)));
  else
    std::memcpy(&value, arena.region(run.tensors[tensor].region).data() + i * 4, sizeof value);
  return value;
}

class BoundAddition final : public BoundSubject {
public:
  BoundAddition(Script& script, std::int64_t n) : script_(script), n_(n) {}

  std::uint64_t blocks() const override { return static_cast<std::uint64_t>(n_); }
  std::optional<std::array<std::int64_t, 3>> separable_grid() const override {
    if (!script_.separable)
      return std::nullopt;
    return std::array<std::int64_t, 3>{n_, 1, 1};
  }
  std::vector<std::array<std::int64_t, 3>> parts() const override { return script_.parts; }
  std::vector<ScratchBuffer> scratch() const override { return script_.scratch; }
  Result<RunOutcome> run_part(std::size_t part, const SubjectRun& run, const Arena&) override {
    EXPECT_EQ(part, script_.part_runs.size());
    script_.part_runs.push_back(run);
    return script_.part_finding ? RunOutcome::stopped_by(*script_.part_finding) : RunOutcome();
  }
  Result<RunOutcome> run(const SubjectRun& run, const Arena& arena) override {
    script_.runs.push_back(run);
    if (script_.finding)
      if (const auto finding = script_.finding(n_))
        return RunOutcome::stopped_by(*finding);
    auto* c = reinterpret_cast<float*>(arena.region(run.tensors[2].region).data());
    const auto& flags = run.tensors[2].written_region;
    std::vector<std::uint64_t> chosen = run.instruments.only_blocks;
    if (chosen.empty()) {
      chosen.resize(blocks());
      std::iota(chosen.begin(), chosen.end(), 0U);
    }
    for (const std::uint64_t block : chosen) {
      const auto i = static_cast<std::int64_t>(block);
      if (const auto sum =
              script_.add(i, n_, element(run, arena, 0, i), element(run, arena, 1, i))) {
        c[i] = *sum;
        if (flags)
          std::fill_n(arena.region(*flags).begin() + i * 4, 4, std::byte{1});
      }
    }
    RunOutcome outcome;
    outcome.warp_instructions = script_.instructions_per_block * chosen.size();
    outcome.blocks_run = chosen.size();
    outcome.changed_variables = script_.left_over;
    return outcome;
  }

private:
  Script& script_;
  std::int64_t n_;
};

class AdditionSubject final : public Subject {
public:
  explicit AdditionSubject(Script& script) : script_(script) {}
  KernelLanguage language() const override { return KernelLanguage::python; }
  bool instrumented() const override { return script_.instrumented; }
  Result<std::unique_ptr<BoundSubject>> bind(const Problem& problem) override {
    const std::int64_t n = problem.dims.at("N");
    if (script_.fits && !script_.fits(n))
      return fail(ErrorCode::input, "takes multiples of four", Place{"program.py", 3, 1});
    return std::make_unique<BoundAddition>(script_, n);
  }

private:
  Script& script_;
};

Verdict judged(Script& script, JudgeOptions options = {}, const std::string& more = "") {
  const auto task = parse_task(kAddTask + more, "task.yaml");
  EXPECT_TRUE(task);
  options.file = "program.py";
  options.drawn = draw_shapes(task->task, options.seed);
  AdditionSubject subject(script);
  const ExpectationSource oracle = [](const CaseInputs& inputs, std::size_t output,
                                      std::span<const std::int64_t> points) {
    return expected_values(inputs.problem, oracle_inputs(inputs), output, points);
  };
  Verdict verdict;
  const auto done = judge_subject(subject, task->task, oracle, options, verdict);
  EXPECT_TRUE(done) << (done ? "" : format_error(done.error()));
  return verdict;
}

const Addition kRight = [](std::int64_t, std::int64_t, float a, float b) { return a + b; };

TEST(JudgeSubject, AcceptsARightProgramOnEveryRung) {
  Script script{kRight};
  const Verdict verdict = judged(script);
  EXPECT_FALSE(verdict.fault) << verdict.summary;
  EXPECT_EQ(verdict.rung, Rung::real_shapes);
  EXPECT_GE(verdict.cases.size(), 6U);
  EXPECT_TRUE(std::any_of(verdict.cases.begin(), verdict.cases.end(),
                          [](const CheckedCase& c) { return c.hidden; }));
  // What cannot be run block by block has the sanitizers on at its real shape, from its start.
  EXPECT_EQ(script.runs.size(), verdict.cases.size() + 1);
}

TEST(JudgeSubject, TellsWhoeverWaitsHowFarItIs) {
  Script script{kRight};
  std::vector<CheckProgress> seen;
  JudgeOptions options;
  options.observer = [&](const CheckProgress& progress) { seen.push_back(progress); };
  const Verdict verdict = judged(script, std::move(options));
  ASSERT_EQ(seen.size(), 4U); // small, hidden, two kinds of inputs on the real shape
  EXPECT_EQ(seen[0].rung, Rung::small_shapes);
  EXPECT_EQ(seen[1].rung, Rung::hidden_shapes);
  EXPECT_EQ(seen[0].shape + seen[1].shape, ""); // not the task's own: not named
  for (std::size_t run = 1; run <= 2; ++run) {
    EXPECT_EQ(seen[run + 1].rung, Rung::real_shapes);
    EXPECT_EQ(seen[run + 1].shape, std::to_string(kReal));
    EXPECT_EQ(seen[run + 1].run, run);
    EXPECT_EQ(seen[run + 1].runs, 2U);
    EXPECT_TRUE(seen[run + 1].seconds_left);
  }
}

TEST(JudgeSubject, OneWrongElementIsFoundOnWhicheverRungItStands) {
  for (const std::int64_t only : {std::int64_t{0}, kReal}) {
    Script script{[&](std::int64_t i, std::int64_t n, float a, float b) {
      return i == n - 1 && (only == 0 || n == only) ? a + b + 1 : a + b;
    }};
    const Verdict verdict = judged(script);
    ASSERT_EQ(verdict.fault, FaultKind::correctness_mismatch) << verdict.summary;
    EXPECT_EQ(verdict.rung, only == 0 ? Rung::small_shapes : Rung::real_shapes);
    ASSERT_TRUE(verdict.mismatch);
    EXPECT_EQ(verdict.mismatch->buffer, "C");
  }
}

TEST(JudgeSubject, AnElementThatIsNotWrittenIsAFault) {
  Script script{[](std::int64_t i, std::int64_t n, float a, float b) {
    return i + 1 == n ? std::optional<float>() : a + b;
  }};
  EXPECT_EQ(judged(script).fault, FaultKind::uninitialized_memory_error);
}

TEST(JudgeSubject, WhatTheRunFoundIsTheFault) {
  Script script{kRight, [](std::int64_t n) {
                  Finding finding;
                  finding.kind = FindingKind::out_of_bounds;
                  finding.message = "past the end";
                  return n == kReal ? std::optional(finding) : std::nullopt;
                }};
  const Verdict verdict = judged(script);
  EXPECT_EQ(verdict.fault, FaultKind::memory_safety_error);
  EXPECT_EQ(verdict.rung, Rung::real_shapes);
  EXPECT_NE(verdict.summary.find("past the end"), std::string::npos) << verdict.summary;
}

bool is_later(const SubjectRun& run) {
  return run.instruments.go_on;
}

TEST(JudgeSubject, LaunchesAgainAndAgainOnOneMachine) {
  Script script{kRight};
  EXPECT_FALSE(judged(script).fault);
  EXPECT_EQ(std::count_if(script.runs.begin(), script.runs.end(), is_later), 2)
      << "once on the first small shape, once on the real one";
  EXPECT_TRUE(script.runs.back().instruments.order.shuffled);
}

Finding finding_of(FindingKind kind) {
  Finding finding;
  finding.kind = kind;
  finding.message = "found in a part";
  return finding;
}

// Where blocks depend on each other, some of each launch are sanitized alone.
TEST(JudgeSubject, LaunchesOfAPlanAreSanitizedOneByOne) {
  Script script{kRight};
  script.parts = {{64, 2, 1}, {8, 1, 1}};
  script.scratch = {{"sums", DType::float32, 100}, {"places", DType::int32, 100}};
  EXPECT_FALSE(judged(script).fault);
  ASSERT_EQ(script.part_runs.size(), 2U);
  for (const SubjectRun& run : script.part_runs) {
    EXPECT_TRUE(run.instruments.sanitize && run.instruments.on_demand);
    EXPECT_EQ(run.instruments.only_blocks.size(), 4U);
    ASSERT_EQ(run.tensors.size(), 5U);
    EXPECT_TRUE(run.tensors[2].initialized && run.tensors[2].recipe) << "an output";
    EXPECT_TRUE(run.tensors[3].initialized && run.tensors[3].recipe);
    EXPECT_FALSE(run.tensors[4].initialized) << "integers may be places";
  }
}

TEST(JudgeSubject, OfAPartOnlyRacesCount) {
  for (const auto& [kind, fault] :
       {std::pair(FindingKind::shared_race, std::optional(FaultKind::race_or_sync_error)),
        std::pair(FindingKind::uninitialized_read, std::optional<FaultKind>()),
        std::pair(FindingKind::out_of_bounds, std::optional<FaultKind>())}) {
    Script script{kRight};
    script.parts = {{64, 1, 1}};
    script.part_finding = finding_of(kind);
    const Verdict verdict = judged(script);
    EXPECT_EQ(verdict.fault, fault) << verdict.summary;
    EXPECT_EQ(script.part_runs.size(), 1U);
  }
}

TEST(JudgeSubject, BlocksThatCanRunApartNeedNoParts) {
  Script script{kRight};
  script.separable = true;
  script.parts = {{64, 1, 1}};
  EXPECT_FALSE(judged(script).fault);
  EXPECT_TRUE(script.part_runs.empty());
}

TEST(JudgeSubject, ALaterLaunchThatDoesNothingIsBlamedForWhatItRemembers) {
  Script script{nullptr};
  script.add = [&](std::int64_t, std::int64_t n, float a, float b) {
    return n == kReal && is_later(script.runs.back()) ? std::optional<float>() : a + b;
  };
  const Verdict verdict = judged(script);
  EXPECT_EQ(verdict.fault, FaultKind::uninitialized_memory_error);
  EXPECT_NE(verdict.summary.find("has run before"), std::string::npos) << verdict.summary;
}

TEST(JudgeSubject, WhatLaunchesLeaveBehindIsScrambled) {
  Script script{nullptr};
  script.left_over = {"count"};
  script.add = [&](std::int64_t, std::int64_t n, float a, float b) {
    return n == kReal && script.runs.back().instruments.scramble ? 0 : a + b;
  };
  EXPECT_EQ(judged(script).fault, FaultKind::correctness_mismatch);
  script.add = kRight;
  const Verdict verdict = judged(script);
  EXPECT_FALSE(verdict.fault) << verdict.summary;
  ASSERT_FALSE(verdict.warnings.empty());
  EXPECT_NE(verdict.warnings.front().find("'count'"), std::string::npos);
}

// Two billion warp instructions a block: hours.
constexpr std::uint64_t kLong = 2'000'000'000;

TEST(JudgeSubject, WhatCannotBeRunIsUnproven) {
  Script script{kRight};
  script.instructions_per_block = kLong;
  const Verdict verdict = judged(script);
  EXPECT_EQ(verdict.fault, FaultKind::unproven) << verdict.summary;
  EXPECT_EQ(verdict.fault_class, FaultClass::ambiguous);
  EXPECT_NE(verdict.summary.find("--patience"), std::string::npos) << verdict.summary;
  JudgeOptions patient;
  patient.patience_minutes = 1e6;
  EXPECT_FALSE(judged(script, patient).fault);
}

// What a kernel did on a hidden shape is no number that a proposer is told.
TEST(JudgeSubject, AnEstimateByHiddenShapesIsTheOwnersAlone) {
  Script script{kRight};
  script.instructions_per_block = kLong;
  EXPECT_TRUE(std::regex_search(judged(script).summary, std::regex("billion")));
  const Verdict verdict = judged(script, {}, "check_shapes: [[37]]\n");
  EXPECT_EQ(verdict.fault, FaultKind::unproven);
  EXPECT_FALSE(std::regex_search(verdict.summary, std::regex("billion|minutes")))
      << verdict.summary;
  ASSERT_FALSE(verdict.hidden_warnings.empty());
  EXPECT_TRUE(std::regex_search(verdict.hidden_warnings.back(), std::regex("billion")));
}

// A kernel that takes the sizes it was judged on before for all there are.
TEST(JudgeSubject, SizesThatOnceWereHiddenAreNotHiddenAgain) {
  JudgeOptions first;
  Script honest{kRight};
  std::set<std::int64_t> met;
  for (const CheckedCase& one : judged(honest, first).cases)
    met.insert(std::stoll(one.case_id));
  Script knowing{
      [&](std::int64_t, std::int64_t n, float a, float b) { return met.contains(n) ? a + b : 0; }};
  EXPECT_FALSE(judged(knowing, first).fault);
  for (std::uint64_t seed = 2; seed < 22; ++seed) {
    JudgeOptions later;
    later.seed = seed;
    const Verdict verdict = judged(knowing, later);
    EXPECT_EQ(verdict.fault, FaultKind::correctness_mismatch) << seed;
    EXPECT_EQ(verdict.rung, Rung::hidden_shapes) << seed;
  }
}

// A thousand instructions a block and no patience: more than a whole run may take, not more than
// some blocks.
Verdict bounded(Script& script) {
  script.separable = true;
  script.instructions_per_block = 1'000'000;
  JudgeOptions options;
  options.patience_minutes = 0.05;
  return judged(script, options);
}

TEST(JudgeSubject, BlocksThatCanBeRunApartAreBounded) {
  Script script{kRight};
  const Verdict verdict = bounded(script);
  EXPECT_FALSE(verdict.fault) << verdict.summary;
  EXPECT_EQ(verdict.unseen, 0.01);
  EXPECT_NE(verdict.summary.find("at most 1 % unseen"), std::string::npos) << verdict.summary;
}

TEST(JudgeSubject, ABoundFindsWorkThatIsLeftOut) {
  Script script{[](std::int64_t i, std::int64_t n, float a, float b) {
    return n == kReal && i % 50 == 7 ? std::optional<float>() : a + b;
  }};
  const Verdict verdict = bounded(script);
  EXPECT_TRUE(verdict.fault == FaultKind::unproven ||
              verdict.fault == FaultKind::uninitialized_memory_error)
      << verdict.summary;
}

TEST(JudgeSubject, ABoundFindsWorkThatIsWrong) {
  Script script{[](std::int64_t i, std::int64_t n, float a, float b) {
    return n == kReal && i % 50 == 7 ? a : a + b;
  }};
  EXPECT_EQ(bounded(script).fault, FaultKind::correctness_mismatch);
}

TEST(JudgeSubject, ScratchThatCannotBeHadIsUnproven) {
  Script script{kRight, [](std::int64_t n) {
                  Finding finding;
                  finding.kind = FindingKind::memory_limit;
                  finding.message = "scratch of 3 TB";
                  return n == kReal ? std::optional(finding) : std::nullopt;
                }};
  const Verdict verdict = judged(script);
  EXPECT_EQ(verdict.fault, FaultKind::unproven);
  EXPECT_NE(verdict.summary.find("--memory"), std::string::npos) << verdict.summary;
}

TEST(JudgeSubject, AProgramThatDoesNotTakeAShapeBreaksItsContract) {
  Script script{kRight, nullptr, [](std::int64_t n) { return n % 4 == 0; }};
  const Verdict verdict = judged(script);
  EXPECT_EQ(verdict.fault, FaultKind::interface_contract_error) << verdict.summary;
  ASSERT_FALSE(verdict.diagnostics.empty());
  EXPECT_EQ(verdict.diagnostics.front().place.line, 3);
}

TEST(JudgeSubject, StopsAfterTheSmallShapesWhenAsked) {
  Script script{kRight};
  JudgeOptions options;
  options.small_only = true;
  const Verdict verdict = judged(script, options);
  EXPECT_FALSE(verdict.fault) << verdict.summary;
  EXPECT_EQ(verdict.rung, Rung::small_shapes);
}

TEST(JudgeSubject, AsksForNoInstrumentsWhereThereAreNone) {
  Script script{kRight};
  script.separable = true;
  script.instrumented = false;
  EXPECT_FALSE(judged(script).fault);
  ASSERT_FALSE(script.runs.empty());
  for (const SubjectRun& run : script.runs) {
    EXPECT_FALSE(run.instruments.sanitize);
    EXPECT_FALSE(run.instruments.order.shuffled);
    EXPECT_TRUE(run.instruments.only_blocks.empty());
  }
}

// The first run has the inputs of what is timed afterwards, the others their own.
TEST(JudgeSubject, NoTwoRunsOfARealShapeHaveTheSameInputs) {
  for (const bool instrumented : {true, false}) {
    Script script{kRight};
    script.instrumented = instrumented;
    WholeTallies tallies;
    JudgeOptions options;
    options.tallies = &tallies;
    std::vector<std::uint64_t> seeds;
    for (const CheckedCase& one : judged(script, std::move(options)).cases)
      if (one.case_id == std::to_string(kReal))
        seeds.push_back(one.seed.value());
    ASSERT_EQ(seeds.size(), 2U);
    EXPECT_NE(seeds[0], seeds[1]);
  }
}

} // namespace
} // namespace kernevo
