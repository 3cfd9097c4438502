#include "kernevo/sass/flow_solver.h"

#include <gtest/gtest.h>

namespace kernevo::sass {
namespace {

// Blocks in the order of their numbers; the first is the entry, the last leaves.
Flow flow_of(std::size_t blocks, const std::vector<std::pair<std::size_t, std::size_t>>& edges) {
  Flow flow;
  flow.blocks.resize(blocks);
  for (BasicBlock& block : flow.blocks)
    block.reachable = true;
  flow.blocks.front().is_entry = true;
  flow.blocks.back().may_leave = true;
  for (const auto& [from, to] : edges) {
    flow.blocks[from].out.push_back(flow.edges.size());
    flow.blocks[to].in.push_back(flow.edges.size());
    flow.edges.push_back({from, to, to == from + 1 ? EdgeKind::next : EdgeKind::taken});
  }
  return flow;
}

// A convolution's machine code: a loop that fills shared memory, with a rare second half and a
// body that never runs, then 1,600 instructions in a row. All that is known agrees, so that the
// answer must be exact; but the long block has a thousand lines to speak for it, the loop few, and
// some blocks are known never to run.
TEST(FlowSolver, FindsWhatAllLinesAgreeOnHoweverUnlikeTheirWeights) {
  Flow flow =
      flow_of(20, {{0, 17},  {0, 1},   {1, 2},   {2, 15},  {2, 3},   {3, 11},  {3, 4},   {4, 11},
                   {4, 5},   {5, 7},   {5, 6},   {6, 7},   {7, 8},   {8, 11},  {8, 9},   {9, 11},
                   {9, 10},  {10, 11}, {11, 12}, {12, 15}, {12, 13}, {13, 14}, {14, 14}, {14, 15},
                   {15, 16}, {16, 2},  {16, 17}, {17, 18}, {18, 19}});
  flow.blocks[18].may_leave = true;
  std::vector<CountEquation> equations;
  const auto say = [&](int times, std::size_t block, double value, double weight) {
    for (int i = 0; i < times; ++i)
      equations.push_back({{{block, 1.0}}, value, weight});
  };
  say(1125, 18, 3584, 0.3);
  say(466, 18, 3584, 1);
  say(2, 0, 3584, 0.05);
  for (const std::size_t loop : {2, 3, 4, 12, 16})
    say(2, loop, 30464, 0.05);
  say(2, 5, 3808, 0.05);
  say(1, 8, 3808, 0.05);
  say(2, 6, 3332, 1);
  say(2, 10, 0, 1);
  say(1, 9, 0, 0.05);
  say(1, 13, 0, 0.05);
  say(2, 14, 0, 0.05);
  say(1, 19, 3136, 1);
  std::vector<CountExpectation> expectations;
  const std::vector<std::tuple<std::size_t, std::size_t, double>> measured = {
      {8, 9, 0},   {8, 11, 3808}, {4, 5, 3808},    {4, 11, 26656}, {3, 4, 30464},  {3, 11, 0},
      {2, 15, 0},  {2, 3, 30464}, {18, 19, 3136},  {16, 2, 26880}, {16, 17, 3584}, {14, 15, 0},
      {14, 14, 0}, {12, 13, 0},   {12, 15, 30464}, {0, 17, 0},     {0, 1, 3584}};
  for (const auto& [from, to, value] : measured)
    for (std::size_t e = 0; e < flow.edges.size(); ++e)
      if (flow.edges[e].from == from && flow.edges[e].to == to)
        expectations.push_back({e, 0, value, 0.1});
  const FlowCounts counts = solve_flow(flow, equations, expectations);
  for (const std::size_t loop : {2, 3, 4, 11, 12, 15, 16})
    EXPECT_NEAR(counts.blocks[loop], 30464, 0.1) << loop;
  EXPECT_NEAR(counts.blocks[5], 3808, 0.1);
  EXPECT_NEAR(counts.blocks[6], 3332, 0.1);
  EXPECT_NEAR(counts.blocks[10], 0, 0.1);
  EXPECT_NEAR(counts.blocks[18], 3584, 0.1);
  EXPECT_NEAR(counts.blocks[19], 3136, 0.1);
}

} // namespace
} // namespace kernevo::sass
