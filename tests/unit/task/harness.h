// A problem with its buffers filled, for tests that play the kernel.
#pragma once

#include "kernevo/task/catalogue.h"
#include "kernevo/task/inputs.h"
#include "kernevo/task/oracle.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>
#include <string>
#include <vector>

namespace kernevo {

class Harness {
public:
  Harness(const std::string& operation, DType dtype, Dims dims) {
    task.operation = operation;
    task.dtype = dtype;
    task.shapes.push_back(ShapeCase{"case", std::move(dims), 1.0, std::nullopt, false});
    const auto completed = complete_from_catalogue(task);
    EXPECT_TRUE(completed) << format_error(completed.error());
    remake();
  }

  void remake() {
    auto made = make_problem(task, task.shapes[0]);
    ASSERT_TRUE(made) << format_error(made.error());
    problem = *made;
    memory.clear();
    for (const BufferSpec& buffer : problem.buffers)
      memory.emplace_back(buffer.bytes());
  }

  // Those of small shapes, and the one that real shapes join two in.
  std::vector<InputSet> all_sets() const {
    std::vector<InputSet> sets = input_sets(problem);
    if (std::find(sets.begin(), sets.end(), InputSet::special_values) != sets.end())
      sets.push_back(InputSet::wide_and_special);
    return sets;
  }

  void fill(InputSet set, std::uint64_t seed) {
    for (std::size_t i = 0; i < problem.buffers.size(); ++i)
      if (problem.buffers[i].direction != Direction::out)
        fill_input(problem, i, set, seed, memory[i]);
  }

  std::size_t index(const std::string& name) const {
    for (std::size_t i = 0; i < problem.buffers.size(); ++i)
      if (problem.buffers[i].name == name)
        return i;
    ADD_FAILURE() << "no buffer " << name;
    return 0;
  }

  double get(const std::string& name, std::int64_t i) const {
    const std::size_t at = index(name);
    return load_element(problem.buffers[at].dtype, memory[at].data(), i);
  }

  // A buffer as floats: what a kernel computing in float32 sees.
  std::vector<float> floats(const std::string& name) const {
    const std::size_t at = index(name);
    std::vector<float> values(static_cast<std::size_t>(problem.buffers[at].elements()));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(
          load_element(problem.buffers[at].dtype, memory[at].data(), static_cast<std::int64_t>(i)));
    return values;
  }

  std::size_t output() const {
    for (std::size_t i = 0; i < problem.buffers.size(); ++i)
      if (problem.buffers[i].direction != Direction::in)
        return i;
    return 0;
  }

  std::vector<Expected> expected() const {
    OracleInputs inputs;
    for (std::size_t i = 0; i < memory.size(); ++i)
      inputs.push_back(problem.buffers[i].direction == Direction::out
                           ? std::span<const std::byte>{}
                           : std::span<const std::byte>(memory[i]));
    std::vector<std::int64_t> points(
        static_cast<std::size_t>(problem.buffers[output()].elements()));
    std::iota(points.begin(), points.end(), std::int64_t{0});
    auto values = expected_values(problem, inputs, output(), points);
    EXPECT_TRUE(values) << format_error(values.error());
    return values ? *values : std::vector<Expected>{};
  }

  // The largest |error| / tolerance of these results, stored in the output's type first.
  double worst(const std::vector<float>& results) const {
    const std::vector<Expected> right = expected();
    EXPECT_EQ(right.size(), results.size());
    std::vector<std::byte> cell(8);
    double ratio = 0;
    for (std::size_t i = 0; i < std::min(right.size(), results.size()); ++i) {
      const DType dtype = problem.buffers[output()].dtype;
      store_element(dtype, cell.data(), 0, results[i]);
      const double stored = load_element(dtype, cell.data(), 0);
      const double error = std::abs(stored - right[i].value);
      if (stored == right[i].value || (std::isnan(stored) && std::isnan(right[i].value)))
        continue;
      ratio = std::max(
          ratio, right[i].tolerance > 0 && !std::isnan(error) ? error / right[i].tolerance : 1e300);
    }
    return ratio;
  }

  Task task;
  Problem problem;
  std::vector<std::vector<std::byte>> memory;
};

} // namespace kernevo
