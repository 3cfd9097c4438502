#include "kernevo/sass/flow.h"

#include "kernevo/base/files.h"
#include "kernevo/sass/parse_listing.h"
#include "places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo::sass {
namespace {

SassModule module_of(const std::string& name) {
  const auto text = read_text_file(test_folder("unit/sass") + "/fixtures/" + name);
  EXPECT_TRUE(text);
  auto module = parse_listing(*text);
  EXPECT_TRUE(module);
  return *module;
}

std::size_t block_at(const SassFunction& function, const Flow& flow, std::uint32_t offset) {
  for (std::size_t k = 0; k < function.instructions.size(); ++k)
    if (function.instructions[k].offset == offset)
      return flow.block_of[k];
  ADD_FAILURE() << offset;
  return 0;
}

std::vector<std::size_t> successors(const Flow& flow, std::size_t block) {
  std::vector<std::size_t> to;
  for (const std::size_t e : flow.blocks[block].out)
    to.push_back(flow.edges[e].to);
  return to;
}

TEST(Flow, UnrolledLoopBranchesAndPadding) {
  const SassModule module = module_of("scale_sum.sm_80.sass");
  const SassFunction& function = module.functions.front();
  const Flow flow = find_flow(function);
  ASSERT_TRUE(flow.complete);
  const std::size_t body = block_at(function, flow, 0x120);
  const std::size_t after = block_at(function, flow, 0x210);
  EXPECT_THAT(successors(flow, body), testing::UnorderedElementsAre(body, after));
  const std::size_t last = block_at(function, flow, 0x340);
  EXPECT_TRUE(flow.blocks[last].may_leave);
  EXPECT_TRUE(flow.blocks[last].out.empty());
  EXPECT_FALSE(flow.blocks[block_at(function, flow, 0x370)].reachable) << "padding";
  EXPECT_TRUE(flow.blocks.front().is_entry);
}

TEST(Flow, CallEntersTheFunctionAndComesBack) {
  const SassModule module = module_of("dot.sm_80.sass");
  const SassFunction& function = *module.find("dot");
  const Flow flow = find_flow(function);
  ASSERT_TRUE(flow.complete);
  const std::size_t callee = block_at(function, flow, function.symbols.at(1).offset);
  EXPECT_TRUE(flow.blocks[callee].is_entry);
  EXPECT_TRUE(flow.blocks[callee].reachable);
  std::size_t calls = 0;
  for (std::size_t b = 0; b < flow.blocks.size(); ++b)
    if (flow.blocks[b].call == callee) {
      ++calls;
      EXPECT_THAT(successors(flow, b), testing::ElementsAre(b + 1));
    }
  EXPECT_EQ(calls, 1U);
}

TEST(Flow, IndirectBranchReachesEveryTarget) {
  const SassModule module = module_of("dot.sm_80.sass");
  const SassFunction& function = *module.find("sw");
  const Flow flow = find_flow(function);
  ASSERT_TRUE(flow.complete);
  for (std::size_t b = 0; b < flow.blocks.size(); ++b)
    if (function.instructions[flow.blocks[b].last - 1].opcode == "BRX") {
      EXPECT_EQ(flow.blocks[b].out.size(),
                function.instructions[flow.blocks[b].last - 1].indirect_targets.size());
    }
}

} // namespace
} // namespace kernevo::sass
