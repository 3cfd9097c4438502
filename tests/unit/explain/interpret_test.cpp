// Every rule on figures made by hand: those that must fire it, and those beside them that must not.
#include "kernevo/explain/interpret.h"

#include <gtest/gtest.h>
#include <map>

namespace kernevo {
namespace {

using Values = std::map<std::string, double>;

// A launch nothing is wrong with and nothing is full in.
Values healthy() {
  return {{"share.dram", 0.3},
          {"share.l2", 0.2},
          {"share.compute", 0.3},
          {"share.multiprocessor", 0.3},
          {"share.memory", 0.3},
          {"share.busiest", 0.3},
          {"share.shared", 0.1},
          {"share.latency", 0.3},
          {"share.barrier", 0},
          {"share.atomics", 0},
          {"share.launch", 0.05},
          {"share.tail", 0.02},
          {"occupancy", 0.75},
          {"spill_bytes", 0},
          {"stack_bytes", 0},
          {"machine_code", 1},
          {"local_instruction_fraction", 0},
          {"lanes_active", 0.98},
          {"lanes_in_block", 1},
          {"divergence", 0.02},
          {"excess_sector_fraction", 0.1},
          {"bank_conflict_factor", 1},
          {"excess_wavefront_fraction", 0},
          {"barriers_per_warp", 4},
          {"instructions_per_barrier", 100},
          {"threads_per_block", 256},
          {"grid_balance", 0.9},
          {"tensor_possible", 0},
          {"tensor_flop_fraction", 0},
          {"task_intensity", 2},
          {"roofline_fraction", 0.4},
          {"registers", 40},
          {"plan_share", 1}};
}

Bottleneck interpreted(const Values& changes) {
  static const std::vector<Rule> rules = load_rules().value();
  Metrics metrics;
  Values values = healthy();
  for (const auto& [name, value] : changes)
    values[name] = value;
  for (const auto& [name, value] : values)
    metrics.set(name, value);
  metrics.set_fact("limiter", "registers");
  const auto result = interpret("k", metrics, rules);
  EXPECT_TRUE(result) << result.error().message;
  return result.value_or(Bottleneck{});
}

struct RuleCase {
  BottleneckTag tag;
  std::vector<Values> fires;
  std::vector<Values> silent;
};

class EveryRule : public testing::TestWithParam<RuleCase> {};

TEST_P(EveryRule, fires_when_it_must_and_only_then) {
  for (const Values& values : GetParam().fires)
    EXPECT_NE(interpreted(values).find(GetParam().tag), nullptr) << name_of(GetParam().tag);
  for (const Values& values : GetParam().silent)
    EXPECT_EQ(interpreted(values).find(GetParam().tag), nullptr) << name_of(GetParam().tag);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, EveryRule,
    testing::Values(
        RuleCase{BottleneckTag::dram_bound,
                 {{{"share.dram", 0.61}}},
                 {{{"share.dram", 0.59}},
                  {{"share.dram", 0.7}, {"share.multiprocessor", 0.71}},
                  {{"share.dram", 0.7}, {"share.l2", 0.71}}}},
        RuleCase{BottleneckTag::uncoalesced,
                 {{{"excess_sector_fraction", 0.34}}},
                 {{{"excess_sector_fraction", 0.32}},
                  {{"excess_sector_fraction", 0.8}, {"share.memory", 0.2}}}},
        RuleCase{BottleneckTag::l2_bound,
                 {{{"share.l2", 0.61}}},
                 {{{"share.l2", 0.59}},
                  {{"share.l2", 0.7}, {"share.dram", 0.65}},
                  {{"share.l2", 0.7}, {"share.multiprocessor", 0.75}}}},
        RuleCase{BottleneckTag::compute_bound,
                 {{{"share.multiprocessor", 0.61}}},
                 {{{"share.multiprocessor", 0.59}},
                  {{"share.multiprocessor", 0.7}, {"share.dram", 0.65}},
                  {{"share.multiprocessor", 0.7}, {"share.l2", 0.75}}}},
        RuleCase{BottleneckTag::tensor_core_idle,
                 {{{"tensor_possible", 1}, {"task_intensity", 20}}},
                 {{{"task_intensity", 20}},
                  {{"tensor_possible", 1}},
                  {{"tensor_possible", 1}, {"task_intensity", 20}, {"tensor_flop_fraction", 0.9}},
                  {{"tensor_possible", 1}, {"task_intensity", 20}, {"share.dram", 0.8}}}},
        RuleCase{BottleneckTag::latency_bound,
                 {{{"share.latency", 0.6}}},
                 {{{"share.latency", 0.45}},
                  {{"share.latency", 0.9}, {"share.busiest", 0.7}},
                  {{"share.latency", 0.55}, {"share.busiest", 0.5}}}},
        RuleCase{BottleneckTag::occupancy_limited,
                 {{{"occupancy", 0.25}}},
                 {{{"occupancy", 0.5}, {"share.latency", 0.9}},
                  {{"occupancy", 0.25}, {"share.latency", 0.2}},
                  {{"occupancy", 0.25}, {"share.busiest", 0.9}}}},
        RuleCase{BottleneckTag::spills,
                 {{{"spill_bytes", 8}, {"local_instruction_fraction", 0.05}},
                  {{"stack_bytes", 64}, {"local_instruction_fraction", 0.05}},
                  {{"spill_bytes", 8}, {"machine_code", 0}}},
                 {{{"local_instruction_fraction", 0.05}},
                  {{"spill_bytes", 8}, {"local_instruction_fraction", 0.001}}}},
        RuleCase{BottleneckTag::bank_conflict,
                 {{{"bank_conflict_factor", 2}, {"share.shared", 0.3}}},
                 {{{"bank_conflict_factor", 1.2}, {"share.shared", 0.3}},
                  {{"bank_conflict_factor", 2}, {"share.shared", 0.1}}}},
        RuleCase{BottleneckTag::barrier_bound,
                 {{{"share.barrier", 0.25}},
                  {{"instructions_per_barrier", 12}, {"barriers_per_warp", 20}}},
                 {{{"share.barrier", 0.15}},
                  {{"instructions_per_barrier", 12}},
                  {{"instructions_per_barrier", 12},
                   {"barriers_per_warp", 20},
                   {"threads_per_block", 32}}}},
        RuleCase{BottleneckTag::divergence,
                 {{{"divergence", 0.3}, {"lanes_active", 0.7}},
                  {{"lanes_in_block", 0.5}, {"lanes_active", 0.5}}},
                 {{{"divergence", 0.2}}, {{"divergence", 0.5}, {"share.compute", 0.1}}}},
        RuleCase{BottleneckTag::tail_or_launch_bound,
                 {{{"share.launch", 0.4}}, {{"share.tail", 0.3}}, {{"grid_balance", 0.5}}},
                 {{{"share.launch", 0.2}, {"share.tail", 0.2}, {"grid_balance", 0.7}},
                  {{"share.launch", 0.4}, {"share.busiest", 0.9}}}},
        RuleCase{BottleneckTag::atomics_contended,
                 {{{"share.atomics", 0.3}},
                  {{"atomic_collision_fraction", 0.9}, {"atomic_instruction_fraction", 0.1}}},
                 {{{"share.atomics", 0.1}},
                  {{"atomic_collision_fraction", 0.9}, {"atomic_instruction_fraction", 0.001}},
                  {{"atomic_collision_fraction", 0.1}, {"atomic_instruction_fraction", 0.1}}}},
        RuleCase{
            BottleneckTag::near_roofline,
            {{{"roofline_fraction", 0.8}}},
            {{{"roofline_fraction", 0.7}}, {{"roofline_fraction", 0.9}, {"plan_share", 0.1}}}}),
    [](const auto& rule) { return std::string(name_of(rule.param.tag)); });

TEST(Interpret, finds_nothing_in_a_healthy_launch_and_shows_what_it_looked_at) {
  const Bottleneck b = interpreted({});
  EXPECT_TRUE(b.findings.empty()) << b.findings.front().message;
  EXPECT_EQ(b.trace.size(), static_cast<std::size_t>(kBottleneckTags));
  for (const RuleTrace& trace : b.trace)
    EXPECT_FALSE(trace.comparisons.empty()) << name_of(trace.tag);
}

TEST(Interpret, gives_evidence_with_thresholds) {
  const Bottleneck b = interpreted({{"share.dram", 0.8}});
  const BottleneckFinding* f = b.find(BottleneckTag::dram_bound);
  ASSERT_NE(f, nullptr);
  EXPECT_DOUBLE_EQ(f->severity, 0.8);
  ASSERT_FALSE(f->evidence.empty());
  EXPECT_EQ(f->evidence.front(), (BottleneckEvidence{"share.dram", 0.8, "fraction", 0.6}));
  EXPECT_NE(f->message.find("80 %"), std::string::npos) << f->message;
  EXPECT_FALSE(f->directions.empty());
}

TEST(Interpret, names_directions_for_the_binding_resource) {
  const auto first = [](const std::string& limiter) {
    const Bottleneck b =
        interpreted({{"occupancy", 0.2}, {"share.latency", 0.6}, {"limiter." + limiter, 1}});
    const BottleneckFinding* f = b.find(BottleneckTag::occupancy_limited);
    return f == nullptr || f->directions.size() != 1 ? "" : f->directions.front().name;
  };
  EXPECT_EQ(first("registers"), "fewer_registers");
  EXPECT_EQ(first("shared_memory"), "less_shared_memory");
  EXPECT_EQ(first("blocks"), "larger_blocks");
  EXPECT_EQ(first("threads"), "block_size_that_fits");
}

TEST(Interpret, every_finding_has_a_direction_and_a_whole_message) {
  // All rules at once, so that no template refers to what it cannot have.
  const Bottleneck b = interpreted({{"share.dram", 0.5},
                                    {"share.l2", 0.5},
                                    {"excess_sector_fraction", 0.9},
                                    {"bank_conflict_factor", 8},
                                    {"share.shared", 0.5},
                                    {"share.barrier", 0.5},
                                    {"share.latency", 0.7},
                                    {"occupancy", 0.1},
                                    {"limiter.blocks", 1},
                                    {"spill_bytes", 10},
                                    {"local_instruction_fraction", 0.1},
                                    {"divergence", 0.5},
                                    {"share.atomics", 0.5},
                                    {"share.tail", 0.5},
                                    {"grid_blocks_per_multiprocessor", 1},
                                    {"roofline_fraction", 0.9}});
  EXPECT_GE(b.findings.size(), 9U);
  for (const BottleneckFinding& f : b.findings) {
    EXPECT_FALSE(f.directions.empty()) << name_of(f.tag);
    EXPECT_EQ(f.message.find('{'), std::string::npos) << f.message;
    EXPECT_EQ(f.message.back(), '.') << f.message;
    EXPECT_EQ(f.reason.back(), '.') << f.reason;
  }
}

} // namespace
} // namespace kernevo
