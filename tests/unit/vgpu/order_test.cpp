// What the order of blocks may and may not do to a result (fixtures/order.cu).
#include "harness.h"

#include "kernevo/vgpu/execute/permutation.h"
#include "kernevo/vgpu/program/lower.h"
#include "kernevo/vgpu/program/order_dependence.h"
#include "places.h"

#include <algorithm>
#include <bit>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>

namespace kernevo::vgpu::testing {
namespace {

constexpr int kCount = 20000;
constexpr std::array kCoreCounts = {1, 2, 3, 5};

std::string fixture() {
  std::ifstream file(test_folder("unit/vgpu") + "/fixtures/order.ptx");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Magnitudes far apart: any other order of additions gives other bits.
std::vector<float> uneven_floats(std::size_t count, unsigned seed = 3) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& value : values)
    value =
        std::ldexp(static_cast<float>(random() % 2000) - 1000.0F, static_cast<int>(random() % 24));
  return values;
}

std::vector<int> random_bins(std::size_t count, int bins) {
  std::mt19937 random(5);
  std::vector<int> values(count);
  for (int& value : values)
    value = static_cast<int>(random() % static_cast<unsigned>(bins));
  return values;
}

MachineOptions on_cores(int cores) {
  MachineOptions options;
  options.cores = cores;
  return options;
}

MachineOptions shuffled(std::uint64_t seed, int cores = 1) {
  MachineOptions options = on_cores(cores);
  options.order = BlockOrder::shuffled;
  options.order_seed = seed;
  return options;
}

std::vector<std::uint32_t> bits(const std::vector<float>& values) {
  std::vector<std::uint32_t> result;
  for (const float value : values)
    result.push_back(std::bit_cast<std::uint32_t>(value));
  return result;
}

std::vector<std::uint32_t> histogram(MachineOptions options) {
  Bench bench(fixture(), options);
  const auto bin = bench.buffer("bin", random_bins(kCount, 7));
  const auto weight = bench.buffer("weight", uneven_floats(kCount));
  const auto bins = bench.buffer("bins", std::vector<float>(7));
  const auto result = bench.launch("histogram", {40, 1, 1}, {96, 1, 1},
                                   Parameters().add(bin).add(weight).add(bins).add(kCount));
  EXPECT_FALSE(result.fault) << fault_text(result);
  return bits(bench.content<float>(bins));
}

std::vector<std::uint32_t> dot(MachineOptions options) {
  Bench bench(fixture(), options);
  const auto a = bench.buffer("a", uneven_floats(kCount));
  const auto b = bench.buffer("b", uneven_floats(kCount, 4));
  const auto out = bench.buffer("out", std::vector<float>(1));
  const auto result =
      bench.launch("dot", {60, 1, 1}, {128, 1, 1}, Parameters().add(a).add(b).add(out).add(kCount));
  EXPECT_FALSE(result.fault) << fault_text(result);
  EXPECT_EQ(result.statistics.blocks_run, 60U);
  return bits(bench.content<float>(out));
}

std::vector<std::uint32_t> last_block(MachineOptions options) {
  Bench bench(fixture(), options);
  const auto a = bench.buffer("a", uneven_floats(kCount));
  const auto parts = bench.buffer("parts", std::vector<float>(60));
  const auto count = bench.buffer("count", std::vector<unsigned>(2));
  const auto out = bench.buffer("out", std::vector<float>(1));
  const auto result = bench.launch("last_block", {60, 1, 1}, {128, 1, 1},
                                   Parameters().add(a).add(parts).add(count).add(out).add(kCount));
  EXPECT_FALSE(result.fault) << fault_text(result);
  auto all = bits(bench.content<float>(parts));
  all.push_back(bits(bench.content<float>(out)).front());
  return all;
}

std::vector<std::uint32_t> locked(MachineOptions options) {
  Bench bench(fixture(), options);
  const auto lock = bench.buffer("lock", std::vector<int>(1));
  const auto value = bench.buffer("value", std::vector<float>(1));
  const auto result =
      bench.launch("locked", {50, 1, 1}, {64, 1, 1}, Parameters().add(lock).add(value));
  EXPECT_FALSE(result.fault) << fault_text(result);
  return bits(bench.content<float>(value));
}

std::vector<std::uint32_t> hand_barrier(MachineOptions options) {
  Bench bench(fixture(), options);
  const auto count = bench.buffer("count", std::vector<unsigned>(1));
  const auto sum = bench.buffer("sum", std::vector<float>(1));
  const auto a = bench.buffer("a", uneven_floats(24));
  const auto result =
      bench.launch("hand_barrier", {24, 1, 1}, {32, 1, 1}, Parameters().add(count).add(sum).add(a));
  EXPECT_FALSE(result.fault) << fault_text(result);
  return bits(bench.content<float>(sum));
}

template <class Run> void expect_same_on_any_cores(Run run) {
  const auto expected = run(on_cores(1));
  for (const int cores : kCoreCounts)
    for (int repeat = 0; repeat < 3; ++repeat)
      EXPECT_EQ(run(on_cores(cores)), expected) << cores << " cores";
}

TEST(BlockOrder, FloatHistogramHasTheSameBitsOnAnyCores) {
  expect_same_on_any_cores(histogram);
}

TEST(BlockOrder, DotProductHasTheSameBitsOnAnyCores) {
  expect_same_on_any_cores(dot);
}

TEST(BlockOrder, LastBlockReductionHasTheSameBitsOnAnyCores) {
  expect_same_on_any_cores(last_block);
}

TEST(BlockOrder, SpinLockHasTheSameBitsOnAnyCores) {
  expect_same_on_any_cores(locked);
}

TEST(BlockOrder, BlocksThatWaitForLaterOnesStillMeet) {
  expect_same_on_any_cores(hand_barrier);
  MachineOptions loose = on_cores(3);
  loose.deterministic = false;
  EXPECT_NE(hand_barrier(loose).front(), 0U);
}

TEST(BlockOrder, ShuffledIsTheSameForASeedAndAnotherForAnother) {
  const auto in_order = last_block(on_cores(2));
  const auto first = last_block(shuffled(11));
  EXPECT_EQ(last_block(shuffled(11, 3)), first);
  EXPECT_NE(first, in_order);
  EXPECT_NE(last_block(shuffled(12)), first);
  EXPECT_EQ(dot(shuffled(11, 3)), dot(shuffled(11)));
}

TEST(BlockOrder, ShuffledLeavesSoundKernelsAlone) {
  auto counts = [](MachineOptions options) {
    Bench bench(fixture(), options);
    const auto bin = bench.buffer("bin", random_bins(kCount, 7));
    const auto bins = bench.buffer("bins", std::vector<unsigned>(7));
    const auto result =
        bench.launch("counts", {40, 1, 1}, {96, 1, 1}, Parameters().add(bin).add(bins).add(kCount));
    EXPECT_FALSE(result.fault) << fault_text(result);
    return bench.content<unsigned>(bins);
  };
  const auto expected = counts(on_cores(1));
  for (std::uint64_t seed = 1; seed < 6; ++seed)
    EXPECT_EQ(counts(shuffled(seed)), expected);
  EXPECT_EQ(counts(on_cores(5)), expected);
}

TEST(BlockOrder, ShuffledExposesReliance) {
  auto run = [](const std::string& kernel, MachineOptions options) {
    Bench bench(fixture(), options);
    const auto out = bench.buffer("out", std::vector<int>(64));
    const auto result = bench.launch(kernel, {64, 1, 1}, {32, 1, 1}, Parameters().add(out));
    EXPECT_FALSE(result.fault) << fault_text(result);
    return bench.content<int>(out);
  };
  EXPECT_EQ(run("last_writer", on_cores(1))[0], 63);
  EXPECT_EQ(run("chain", on_cores(1))[63], 64);
  for (std::uint64_t seed = 1; seed < 4; ++seed) {
    EXPECT_NE(run("last_writer", shuffled(seed))[0], 63);
    EXPECT_NE(run("chain", shuffled(seed))[63], 64);
  }
}

TEST(BlockOrder, ShuffledMixesWarpsAndLanes) {
  auto run = [](MachineOptions options) {
    Bench bench(fixture(), options);
    const auto next = bench.buffer("next", std::vector<unsigned>(1));
    const auto out = bench.buffer("out", std::vector<unsigned>(128));
    const auto result =
        bench.launch("slots", {1, 1, 1}, {128, 1, 1}, Parameters().add(next).add(out));
    EXPECT_FALSE(result.fault) << fault_text(result);
    return bench.content<unsigned>(out);
  };
  std::vector<unsigned> ascending(128);
  std::iota(ascending.begin(), ascending.end(), 0U);
  EXPECT_EQ(run(on_cores(1)), ascending);
  auto mixed = run(shuffled(4));
  EXPECT_NE(mixed, ascending);
  bool lanes_mixed = false;
  for (std::size_t i = 1; i < mixed.size(); ++i)
    lanes_mixed = lanes_mixed || (mixed[i] / 32 == mixed[i - 1] / 32 && mixed[i] < mixed[i - 1]);
  EXPECT_TRUE(lanes_mixed);
  std::sort(mixed.begin(), mixed.end());
  EXPECT_EQ(mixed, ascending);
}

TEST(BlockOrder, WhatDependsOnOrderIsReadOffTheInstructions) {
  auto loaded = load_program(fixture(), "order.ptx");
  ASSERT_TRUE(loaded);
  auto facts = [&](const std::string& kernel) {
    const auto order = order_dependence(**loaded, (*loaded)->function_of.at(kernel));
    return std::pair(order.matters, order.polls);
  };
  EXPECT_EQ(facts("counts"), std::pair(false, false));
  EXPECT_EQ(facts("chain"), std::pair(false, false));
  EXPECT_EQ(facts("histogram"), std::pair(true, false));
  EXPECT_EQ(facts("dot"), std::pair(true, false));
  EXPECT_EQ(facts("last_block"), std::pair(true, false));
  EXPECT_EQ(facts("locked"), std::pair(true, false));
  EXPECT_EQ(facts("hand_barrier"), std::pair(true, true));
}

TEST(BlockOrder, AFaultEndsTheTurnsOfOthers) {
  const std::string text = kernel(R"(
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra WRONG;
  mov.f32 %f1, 0f3F800000;
  red.global.add.f32 [%rd0], %f1;
  ret;
WRONG:
  mov.u32 %r5, 0;
LOOP:
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p2, %r5, 200000;
  @%p2 bra LOOP;
  trap;
)");
  Bench bench(text, on_cores(3));
  const auto out = bench.buffer("out", std::vector<float>(4096));
  EXPECT_FAULT(bench.launch("k", {64, 1, 1}, {32, 1, 1}, Parameters().add(out)), trap);
}

TEST(Permutation, IsOneForEveryCount) {
  for (const std::uint64_t count : {1, 2, 3, 5, 16, 17, 1000}) {
    const Permutation permutation(count, 9);
    std::vector<bool> seen(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t image = permutation(i);
      ASSERT_LT(image, count);
      EXPECT_FALSE(seen[image]);
      seen[image] = true;
    }
  }
}

} // namespace
} // namespace kernevo::vgpu::testing
