#include "fixture.h"
#include "kernevo/search/comparison_sides.h"
#include "kernevo/search/features.h"

#include <chrono>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace kernevo::search {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<ParameterValues> all_values(const SearchSpace& space) {
  std::vector<ParameterValues> found;
  for (Configuration c = 0; c < space.size(); ++c)
    found.push_back(space.values(c));
  return found;
}

// Nested loops over everything, every constraint on every combination.
std::vector<ParameterValues> brute_force(const SpaceDescription& description) {
  std::vector<ParameterValues> rows = {{}};
  for (const Parameter& parameter : description.parameters) {
    std::vector<ParameterValues> longer;
    for (const ParameterValues& row : rows)
      for (const std::int64_t value : parameter.values) {
        longer.push_back(row);
        longer.back()[parameter.name] = value;
      }
    rows = std::move(longer);
  }
  std::erase_if(rows, [&](const ParameterValues& row) {
    for (const SpaceConstraint& constraint : description.constraints)
      if (*constraint.condition.evaluate(row) == 0)
        return true;
    return false;
  });
  return rows;
}

SpaceDescription arbitrary_description() {
  SpaceDescription description;
  const int count = *rc::gen::inRange(1, 6);
  for (int i = 0; i < count; ++i) {
    const auto values = *rc::gen::nonEmpty(
        rc::gen::unique<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(-4, 40)));
    description.parameters.push_back(
        {fmt::format("P{}", i),
         {values.begin(), values.begin() + std::min<long>(6, std::ssize(values))}});
  }
  const int constraints = *rc::gen::inRange(0, 4);
  for (int i = 0; i < constraints; ++i) {
    const int a = *rc::gen::inRange(0, count);
    const int b = *rc::gen::inRange(0, count);
    const int limit = *rc::gen::inRange(-10, 200);
    const char* form = *rc::gen::element("P{} * P{} <= {}", "P{} + P{} > {}",
                                         "P{} == P{} || P0 < {}", "(P{} ^ P{}) != {}");
    description.constraints.push_back(where(fmt::format(fmt::runtime(form), a, b, limit).c_str()));
  }
  return description;
}

TEST(SearchSpace, EqualsTheFilteredProduct) {
  EXPECT_TRUE(rc::check([] {
    const SpaceDescription description = arbitrary_description();
    const auto expected = brute_force(description);
    const auto space = SearchSpace::construct(description);
    if (expected.empty()) {
      RC_ASSERT(!space);
      return;
    }
    RC_ASSERT(space.has_value());
    RC_ASSERT(all_values(*space) == expected);
    for (Configuration c = 0; c < space->size(); ++c) {
      RC_ASSERT(space->find(space->row(c)) == c);
      RC_ASSERT(space->find(space->values(c)) == c);
    }
  }));
}

TEST(SearchSpace, NeighboursAreAllThatDifferInOneParameter) {
  EXPECT_TRUE(rc::check([] {
    const auto space = SearchSpace::construct(arbitrary_description());
    RC_PRE(space.has_value());
    const Configuration c = *rc::gen::inRange<std::size_t>(0, space->size());
    auto differences = [&](Configuration other) {
      int count = 0;
      for (std::size_t i = 0; i < space->parameters().size(); ++i)
        count += space->value(c, i) != space->value(other, i) ? 1 : 0;
      return count;
    };
    std::set<Configuration> expected;
    for (Configuration other = 0; other < space->size(); ++other)
      if (differences(other) == 1)
        expected.insert(other);
    const auto near = space->hamming_neighbours(c);
    RC_ASSERT(std::set<Configuration>(near.begin(), near.end()) == expected);
    RC_ASSERT(near.size() == expected.size());
    // Adjacent: among those, nothing valid lies between.
    for (const Configuration next : space->adjacent_neighbours(c)) {
      RC_ASSERT(expected.contains(next));
      for (std::size_t i = 0; i < space->parameters().size(); ++i) {
        const auto [low, high] = std::minmax({space->value(c, i), space->value(next, i)});
        for (const Configuration other : expected)
          RC_ASSERT(space->value(other, i) <= low || space->value(other, i) >= high ||
                    space->value(c, i) == space->value(next, i));
      }
    }
  }));
}

TEST(SearchSpace, AdjacentFollowsTheSizeOfValuesNotTheirOrder) {
  SpaceDescription description;
  description.parameters = {{"A", {64, 16, 128, 32}}};
  const auto space = *SearchSpace::construct(description);
  std::vector<std::int64_t> next;
  for (const Configuration c : space.adjacent_neighbours(*space.find({{"A", 64}})))
    next.push_back(space.value(c, 0));
  EXPECT_THAT(next, ElementsAre(32, 128));
}

TEST(SearchSpace, NamesTheConstraintThatExcludesTheLastCombination) {
  SpaceDescription description;
  for (const char* name : {"A", "B", "C", "D"})
    description.parameters.push_back({name, {1, 2, 3, 4, 5, 6, 7, 8}});
  description.constraints = {where("A * B > 60", 5), where("C <= D", 6), where("A + C < 11", 7),
                             where("D + C < 2", 8), where("B > 0", 9)};
  const auto space = SearchSpace::construct(description);
  ASSERT_FALSE(space);
  EXPECT_EQ(
      format_error(space.error()),
      "kernel.cu:8:1: these constraints exclude all 4,096 combinations; the last one to do so "
      "is 'D + C < 2'");
}

TEST(SearchSpace, ConstraintsMayNameDimensionsAndMustHoldForAll) {
  SpaceDescription description;
  description.parameters = {{"T", {1, 2, 3, 4}}};
  description.constraints = {where("N % T == 0")};
  description.problems = {{{"N", 4}}, {{"N", 6}}};
  EXPECT_THAT(all_values(*SearchSpace::construct(description)),
              ElementsAre(ParameterValues{{"T", 1}}, ParameterValues{{"T", 2}}));
  description.problems.clear();
  const auto unknown = SearchSpace::construct(description);
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("unknown name 'N'"));
}

TEST(SearchSpace, WithoutParametersThereIsOneConfiguration) {
  const auto space = *SearchSpace::construct({});
  EXPECT_EQ(space.size(), 1U);
  EXPECT_TRUE(space.values(0).empty());
  EXPECT_TRUE(space.hamming_neighbours(0).empty());
}

SpaceDescription wide(int parameters, int values) {
  SpaceDescription description;
  for (int i = 0; i < parameters; ++i) {
    Parameter parameter{fmt::format("P{}", i), {}};
    for (int v = 0; v < values; ++v)
      parameter.values.push_back(v);
    description.parameters.push_back(std::move(parameter));
  }
  return description;
}

TEST(SearchSpace, AMillionCombinationsAreNoTrouble) {
  SpaceDescription description = wide(6, 10);
  description.constraints = {where("P0 + P1 + P2 < 25"), where("P3 * P4 != 7"),
                             where("P5 >= P0 - 9")};
  const auto space = SearchSpace::construct(description);
  ASSERT_TRUE(space);
  EXPECT_GT(space->size(), 900'000U);
}

TEST(SearchSpace, WhatConstraintsExcludeIsNeverVisited) {
  SpaceDescription description = wide(20, 10); // 1e20 combinations
  for (int i = 1; i < 20; ++i)
    description.constraints.push_back(
        where(fmt::format("P{} == (P{} * 3 + 1) % 10", i, i - 1).c_str()));
  const auto space = SearchSpace::construct(description);
  ASSERT_TRUE(space) << format_error(space.error());
  EXPECT_EQ(space->size(), 10U);
}

TEST(SearchSpace, TooManyConfigurationsAreRefused) {
  const auto space = SearchSpace::construct(wide(9, 10));
  ASSERT_FALSE(space);
  EXPECT_THAT(format_error(space.error()), HasSubstr("more than 20,000,000 combinations"));
}

TEST(SearchSpace, IdTellsSpacesApart) {
  SpaceDescription description = wide(3, 4);
  const std::string plain = SearchSpace::construct(description)->id();
  EXPECT_EQ(plain, SearchSpace::construct(description)->id());
  description.constraints = {where("P0 < 3")};
  EXPECT_NE(plain, SearchSpace::construct(description)->id());
  description.constraints.clear();
  description.parameters[0].values[0] = 77;
  EXPECT_NE(plain, SearchSpace::construct(description)->id());
}

TEST(ComparisonSides, AreTheQuantitiesCompared) {
  auto sides = [](const char* text) {
    std::vector<std::string> found;
    for (const Expression& side : comparison_sides(*Expression::parse(text))) {
      std::string trimmed = side.text();
      trimmed.erase(0, trimmed.find_first_not_of(' '));
      trimmed.erase(trimmed.find_last_not_of(' ') + 1);
      found.push_back(trimmed);
    }
    return found;
  };
  EXPECT_THAT(sides("BM * BN <= 8192 && BM / TM > 1"), ElementsAre("BM * BN", "BM / TM"));
  EXPECT_THAT(sides("(BM << 2) >> 1 == (BN + 1) * 4"),
              ElementsAre("(BM << 2) >> 1", "(BN + 1) * 4"));
  EXPECT_THAT(sides("BM"), ElementsAre());
}

constexpr const char* kKernel = R"(
// @tune  BM 32 64 128
// @tune  BN 32 64
// @tune  UNROLL 1 2
// @where BM * BN <= 4096
// @where M % BM == 0
// @launch scale<<<ceil_div(M, BM), dim3(BN, 2), BM * 4>>>(A, M)
extern "C" __global__ void scale(float* A, int M) { /* BN */ for (int i = 0; i < UNROLL; ++i) A[i] = M; }
)";

TEST(KernelSpace, TakesParametersConstraintsAndHints) {
  const auto file = parse_kernel_file(kKernel, "scale.cu");
  ASSERT_TRUE(file) << format_error(file.error());
  const auto open = kernel_space(*file);
  ASSERT_TRUE(open);
  EXPECT_EQ(open->size(), 10U); // 3 x 2 x 2 without BM=128 BN=64
  const auto bound = kernel_space(*file, {{{"M", 64}}});
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->size(), 8U);
  // Block, grid, shared bytes and the sides of both constraints, as far as they vary.
  const SearchSpace plain = *SearchSpace::construct({bound->parameters(), {}, {}, {}});
  EXPECT_GE(Features(*bound).count(), Features(plain).count() + 4);
  EXPECT_TRUE(check_parameters_used(*file));
}

TEST(KernelSpace, LeavesOutWhatAGpuCannotLaunch) {
  const auto file = parse_kernel_file(kKernel, "scale.cu");
  const auto threads = kernel_space(*file, {{{"M", 64}}}, BlockLimits{100, 1000});
  ASSERT_TRUE(threads) << format_error(threads.error());
  EXPECT_EQ(threads->size(), 4U); // without BN=64, whose blocks have 128 threads
  const auto shared = kernel_space(*file, {{{"M", 64}}}, BlockLimits{1000, 128});
  ASSERT_TRUE(shared) << format_error(shared.error());
  EXPECT_EQ(shared->size(), 4U); // without BM=64, which asks for 256 bytes
  // The limits are of the GPU; the model sees what they limit either way.
  EXPECT_GE(Features(*threads).count(),
            Features(*SearchSpace::construct({threads->parameters(), {}, {}, {}})).count());
  const auto none = kernel_space(*file, {}, BlockLimits{32, 1000});
  ASSERT_FALSE(none);
  EXPECT_THAT(
      format_error(none.error()),
      HasSubstr("scale.cu:7:12: these constraints exclude all 12 combinations; the last one "
                "to do so is '(BN) * (2) <= 32', the threads a block may have"));
}

TEST(KernelSpace, AParameterNobodyUsesIsAnError) {
  std::string text = kKernel;
  text.replace(text.find("i < UNROLL"), 10, "i < 4     ");
  const auto file = parse_kernel_file(text, "scale.cu");
  ASSERT_TRUE(file) << format_error(file.error());
  const auto checked = check_parameters_used(*file);
  ASSERT_FALSE(checked);
  EXPECT_THAT(format_error(checked.error()), HasSubstr("scale.cu:4"));
  EXPECT_THAT(format_error(checked.error()),
              HasSubstr("parameter 'UNROLL' is used neither by the source nor by a launch"));
}

} // namespace
} // namespace kernevo::search
