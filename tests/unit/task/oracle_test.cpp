#include "kernevo/task/oracle.h"

#include "harness.h"
#include "kernevo/base/files.h"
#include "places.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <set>
#include <sstream>

namespace kernevo {
namespace {

struct FixtureCase {
  std::string operation;
  DType dtype = DType::float64;
  std::map<std::string, double> words;
  std::map<std::string, std::vector<double>> inputs;
  std::vector<double> answer;
};

std::vector<FixtureCase> read_fixture() {
  const auto text = read_text_file(test_folder("unit/task") + "/fixtures/oracle.txt");
  EXPECT_TRUE(text);
  std::vector<FixtureCase> cases;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind;
    std::string name;
    words >> kind >> name;
    if (kind == "case") {
      FixtureCase next;
      next.operation = name;
      std::string word;
      words >> word;
      next.dtype = *parse_dtype(word);
      while (words >> word)
        next.words[word.substr(0, word.find('='))] = std::stod(word.substr(word.find('=') + 1));
      cases.push_back(std::move(next));
      continue;
    }
    std::vector<double> values;
    for (std::string word; words >> word;)
      values.push_back(std::stod(word));
    (kind == "in" ? cases.back().inputs[name] : cases.back().answer) = std::move(values);
  }
  EXPECT_GE(cases.size(), operations().size());
  return cases;
}

Harness make_harness(const FixtureCase& from) {
  Dims dims;
  for (const auto& [name, value] : from.words)
    if (name != "eps" && name != "alpha")
      dims[name] = static_cast<std::int64_t>(value);
  Harness harness(from.operation, from.dtype, dims);
  for (ScalarSpec& scalar : harness.task.scalars)
    scalar.value = from.words.at(scalar.name);
  harness.remake();
  for (const auto& [name, values] : from.inputs) {
    const std::size_t at = harness.index(name);
    EXPECT_EQ(harness.problem.buffers[at].elements(), static_cast<std::int64_t>(values.size()));
    for (std::size_t i = 0; i < values.size(); ++i)
      store_element(harness.problem.buffers[at].dtype, harness.memory[at].data(),
                    static_cast<std::int64_t>(i), values[i]);
  }
  return harness;
}

TEST(Oracle, AgreesWithNumpyOnEveryOperation) {
  std::set<std::string> seen;
  for (const FixtureCase& fixture : read_fixture()) {
    const Harness harness = make_harness(fixture);
    const std::vector<Expected> results = harness.expected();
    ASSERT_EQ(results.size(), fixture.answer.size()) << fixture.operation;
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (is_floating(fixture.dtype))
        EXPECT_NEAR(results[i].value, fixture.answer[i],
                    1e-13 * (1.0 + std::abs(fixture.answer[i])))
            << fixture.operation << " element " << i;
      else
        EXPECT_EQ(results[i].value, fixture.answer[i]) << fixture.operation << " element " << i;
    }
    seen.insert(fixture.operation);
  }
  for (const OperationInfo& info : operations())
    EXPECT_TRUE(seen.count(info.name)) << info.name << " has no fixture";
}

TEST(Oracle, AnswersAnyPointsLikeAllPoints) {
  for (const FixtureCase& fixture : read_fixture()) {
    const Harness harness = make_harness(fixture);
    const std::vector<Expected> all = harness.expected();
    OracleInputs inputs(harness.memory.begin(), harness.memory.end());
    std::vector<std::int64_t> points;
    for (std::size_t i = 0; i < all.size(); i += 3)
      points.push_back(static_cast<std::int64_t>(i));
    const auto some = expected_values(harness.problem, inputs, harness.output(), points);
    ASSERT_TRUE(some);
    for (std::size_t i = 0; i < points.size(); ++i) {
      EXPECT_EQ((*some)[i].value, all[i * 3].value) << fixture.operation;
      EXPECT_EQ((*some)[i].tolerance, all[i * 3].tolerance) << fixture.operation;
    }
  }
}

TEST(Oracle, IntegersAndMovesAreExact) {
  for (const FixtureCase& fixture : read_fixture()) {
    const bool moves = fixture.operation == "copy" || fixture.operation == "transpose" ||
                       fixture.operation == "embedding" || fixture.operation == "argmax";
    if (is_floating(fixture.dtype) && !moves)
      continue;
    for (const Expected& value : make_harness(fixture).expected())
      EXPECT_EQ(value.tolerance, 0.0) << fixture.operation;
  }
}

TEST(Oracle, InfinityAndOverflowAreExpectedNotTolerated) {
  Harness harness("square", DType::float16, {{"N", 2}});
  store_element(DType::float16, harness.memory[0].data(), 0, 300.0);
  store_element(DType::float16, harness.memory[0].data(), 1, 200.0);
  const auto results = harness.expected();
  EXPECT_EQ(results[0].value, std::numeric_limits<double>::infinity());
  EXPECT_EQ(results[0].tolerance, 0.0);
  EXPECT_EQ(results[1].value, 40000.0);
  Harness sum("reduce_sum", DType::float32, {{"OUTER", 1}, {"R", 2}, {"INNER", 1}});
  store_element(DType::float32, sum.memory[0].data(), 0, std::nan(""));
  store_element(DType::float32, sum.memory[0].data(), 1, 1.0);
  EXPECT_TRUE(std::isnan(sum.expected()[0].value));
}

TEST(Oracle, RefusesWhatItCannotAnswer) {
  Harness harness("relu", DType::float32, {{"N", 4}});
  OracleInputs inputs(harness.memory.begin(), harness.memory.end());
  const std::vector<std::int64_t> outside = {4};
  const std::vector<std::int64_t> first = {0};
  EXPECT_FALSE(expected_values(harness.problem, inputs, 1, outside));
  EXPECT_FALSE(expected_values(harness.problem, inputs, 0, first)) << "x is an input";
  OracleInputs missing = inputs;
  missing[0] = {};
  EXPECT_FALSE(expected_values(harness.problem, missing, 1, first));
  harness.problem.operation = "custom";
  EXPECT_FALSE(expected_values(harness.problem, inputs, 1, first));
}

} // namespace
} // namespace kernevo
