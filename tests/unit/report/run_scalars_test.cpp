#include "kernevo/report/run_scalars.h"

#include "sample_run.h"

#include <cmath>
#include <gtest/gtest.h>

namespace kernevo::report {
namespace {

// The last value of every tag.
std::map<std::string, double> last_of(SampleRun& run) {
  RunScalars scalars;
  evolve::RunState state;
  std::map<std::string, double> last;
  const auto done = run.journal().read(1, [&](const store::StoredEvent& stored) {
    state.apply(stored.event);
    for (const Scalar& scalar : scalars.take(stored.event, state))
      last[scalar.tag] = scalar.value;
    return true;
  });
  EXPECT_TRUE(done);
  return last;
}

TEST(RunScalars, CountsPrograms) {
  SampleRun run("scalars");
  const Step better = run.candidate(0, StepOutcome::improved, 50.0);
  run.candidate(better, StepOutcome::wrong, std::nullopt);
  run.candidate(better, StepOutcome::compile_failed, std::nullopt);
  run.candidate(better, StepOutcome::not_better, 80.0);
  run.tune(better, StepOutcome::improved, 40.0);                    // no new program
  run.candidate(better, StepOutcome::infrastructure, std::nullopt); // says nothing of it
  const auto last = last_of(run);
  EXPECT_EQ(last.at("program_metrics/programs_valid_count"), 3);
  EXPECT_EQ(last.at("program_metrics/programs_invalid_count"), 2);
  EXPECT_EQ(last.at("program_metrics/programs_total_count"), 5);
  EXPECT_EQ(last.at("program_metrics/is_valid"), 1);
  EXPECT_EQ(last.at("evolution_engine/rejected_validation"), 2);
  EXPECT_EQ(last.at("evolution_engine/mutations_created"), 5);
  EXPECT_EQ(last.at("evolution_engine/total_generations"), 6);
  EXPECT_EQ(last.at("evolution_engine/added") + last.at("evolution_engine/rejected_strategy"), 3);
  EXPECT_EQ(last.at("evolution_engine/evaluations"), 21);
}

TEST(RunScalars, FollowsTheFrontierAndTheMean) {
  SampleRun run("frontier");
  run.candidate(0, StepOutcome::improved, 50.0);
  run.tune(1, StepOutcome::improved, 40.0);
  const auto last = last_of(run);
  EXPECT_DOUBLE_EQ(last.at("program_metrics/valid_frontier_speedup"), 2.5);
  EXPECT_DOUBLE_EQ(last.at("program_metrics/valid_frontier_fitness"), 2.5);
  EXPECT_DOUBLE_EQ(last.at("program_metrics/valid_frontier_runtime_us"), 40);
  EXPECT_DOUBLE_EQ(last.at("program_metrics/valid_program_runtime_us"), 50);
  EXPECT_DOUBLE_EQ(last.at("program_metrics/valid_iter_runtime_us_mean"), 75);
  EXPECT_DOUBLE_EQ(last.at("program_metrics/valid_iter_runtime_us_std"), 25);
  EXPECT_DOUBLE_EQ(last.at("bottlenecks/dram_bound"), 0.8);
  EXPECT_DOUBLE_EQ(last.at("bottlenecks/spills"), 0);
}

TEST(RunScalars, TokensOnlyWhereSomeWereSpent) {
  SampleRun free_of_charge("free");
  free_of_charge.candidate(0, StepOutcome::improved, 50.0);
  for (const auto& [tag, value] : last_of(free_of_charge))
    EXPECT_FALSE(tag.starts_with("llm/")) << tag;
  SampleRun paid("paid");
  paid.candidate(0, StepOutcome::improved, 50.0, "", "", 1000);
  paid.candidate(0, StepOutcome::wrong, std::nullopt, "", "", 200);
  const auto last = last_of(paid);
  const std::string group = "llm/tokens/default/vendor_model/";
  EXPECT_EQ(last.at(group + "total_tokens"), 200);
  EXPECT_EQ(last.at(group + "context_tokens"), 150);
  EXPECT_EQ(last.at(group + "generated_tokens"), 50);
  EXPECT_EQ(last.at(group + "reasoning_tokens"), 10);
  EXPECT_EQ(last.at(group + "cumulative_total_tokens"), 1200);
  EXPECT_EQ(last.at(group + "cumulative_context_tokens"), 900);
  EXPECT_EQ(last.at("llm/tokens/code/vendor_model/total_tokens"), 200);
  EXPECT_FALSE(last.contains("llm/cumulative_dollars")); // not known
}

} // namespace
} // namespace kernevo::report
