#include "problem.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace bench {
namespace {

constexpr std::uint32_t kThreads = 256;
constexpr std::uint32_t kTile = 32;
constexpr double kTolerance = 1e-4;

std::vector<float> numbers(std::size_t count, std::uint32_t seed) {
  std::vector<float> result(count);
  std::uint32_t state = seed;
  for (float& value : result) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<float>(state >> 8U) / static_cast<float>(1U << 24U);
  }
  return result;
}

[[noreturn]] void refuse(const std::string& message) {
  std::fprintf(stderr, "bench: %s\n", message.c_str());
  std::exit(2);
}

void matmul(Problem& problem) {
  const auto n = static_cast<std::size_t>(problem.size[0]);
  if (n % kTile != 0)
    refuse("matmul wants a multiple of 32");
  const auto tiles = static_cast<std::uint32_t>(n / kTile);
  problem.grid = {tiles, tiles, 1};
  problem.block = {kTile, kTile, 1};
  problem.inputs = {numbers(n * n, 1), numbers(n * n, 2)};
  std::vector<double> row(n);
  for (std::size_t i = 0; i < n; ++i) {
    std::fill(row.begin(), row.end(), 0.0);
    for (std::size_t k = 0; k < n; ++k) {
      const double factor = problem.inputs[0][i * n + k];
      const float* line = &problem.inputs[1][k * n];
      for (std::size_t j = 0; j < n; ++j)
        row[j] += factor * static_cast<double>(line[j]);
    }
    for (const double value : row)
      problem.expected.push_back(static_cast<float>(value));
  }
}

void vector_add(Problem& problem) {
  const auto n = static_cast<std::size_t>(problem.size[0]);
  problem.grid = {static_cast<std::uint32_t>((n + kThreads - 1) / kThreads), 1, 1};
  problem.inputs = {numbers(n, 1), numbers(n, 2)};
  for (std::size_t i = 0; i < n; ++i)
    problem.expected.push_back(problem.inputs[0][i] + problem.inputs[1][i]);
}

void reduce_sum(Problem& problem) {
  const auto n = static_cast<std::size_t>(problem.size[0]);
  const std::size_t blocks = std::clamp<std::size_t>(n / (16 * kThreads), 1, 256);
  problem.grid = {static_cast<std::uint32_t>(blocks), 1, 1};
  problem.inputs = {numbers(n, 1)};
  std::vector<double> sums(blocks, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    sums[i / kThreads % blocks] += static_cast<double>(problem.inputs[0][i]);
  for (const double sum : sums)
    problem.expected.push_back(static_cast<float>(sum));
}

void softmax_row(const float* x, std::size_t columns, std::vector<float>& out) {
  const float largest = *std::max_element(x, x + columns);
  double sum = 0;
  for (std::size_t i = 0; i < columns; ++i)
    sum += std::exp(static_cast<double>(x[i] - largest));
  for (std::size_t i = 0; i < columns; ++i)
    out.push_back(static_cast<float>(std::exp(static_cast<double>(x[i] - largest)) / sum));
}

void layer_norm_row(const Problem& problem, const float* x, std::size_t columns,
                    std::vector<float>& out) {
  const auto count = static_cast<double>(columns);
  double sum = 0;
  double square = 0;
  for (std::size_t i = 0; i < columns; ++i) {
    const double value = x[i];
    sum += value;
    square += value * value;
  }
  const double mean = sum / count;
  const double scale = 1 / std::sqrt(square / count - mean * mean + 1e-5);
  for (std::size_t i = 0; i < columns; ++i)
    out.push_back(static_cast<float>((static_cast<double>(x[i]) - mean) * scale *
                                         static_cast<double>(problem.inputs[1][i]) +
                                     static_cast<double>(problem.inputs[2][i])));
}

void by_row(Problem& problem) {
  const auto rows = static_cast<std::size_t>(problem.size[0]);
  const auto columns = static_cast<std::size_t>(problem.size[1]);
  problem.grid = {static_cast<std::uint32_t>(rows), 1, 1};
  problem.integer = problem.size[1];
  problem.inputs = {numbers(rows * columns, 1)};
  const bool softmax = problem.kernel == "softmax";
  if (!softmax) {
    problem.inputs.push_back(numbers(columns, 2));
    problem.inputs.push_back(numbers(columns, 3));
  }
  for (std::size_t row = 0; row < rows; ++row) {
    const float* x = &problem.inputs[0][row * columns];
    if (softmax)
      softmax_row(x, columns, problem.expected);
    else
      layer_norm_row(problem, x, columns, problem.expected);
  }
}

} // namespace

std::vector<std::string> kernel_names() {
  return {"matmul_naive", "matmul_tiled", "vector_add", "reduce_sum", "softmax", "layer_norm"};
}

Problem make_problem(const std::string& kernel, std::vector<int> size) {
  const bool is_matmul = kernel == "matmul_naive" || kernel == "matmul_tiled";
  const bool has_rows = kernel == "softmax" || kernel == "layer_norm";
  if (!is_matmul && !has_rows && kernel != "vector_add" && kernel != "reduce_sum")
    refuse("no kernel '" + kernel + "'");
  Problem problem;
  problem.kernel = kernel;
  if (size.empty()) {
    if (has_rows)
      size = {1024, 4096};
    else
      size = {is_matmul ? 1024 : 1 << 22};
  }
  if (size.size() != (has_rows ? 2U : 1U) || *std::min_element(size.begin(), size.end()) <= 0)
    refuse(kernel + " wants a size of " + (has_rows ? "two numbers" : "one number"));
  problem.size = size;
  problem.integer = size[0];
  problem.block = {kThreads, 1, 1};
  problem.tolerance = kTolerance;
  if (is_matmul)
    matmul(problem);
  else if (has_rows)
    by_row(problem);
  else if (kernel == "vector_add")
    vector_add(problem);
  else
    reduce_sum(problem);
  return problem;
}

double worst_error(const Problem& problem, const float* output) {
  double largest = 0;
  double worst = 0;
  for (std::size_t i = 0; i < problem.expected.size(); ++i) {
    const double expected = problem.expected[i];
    const double difference = std::abs(static_cast<double>(output[i]) - expected);
    largest = std::max(largest, std::abs(expected));
    // A NaN is as wrong as can be.
    worst = difference <= worst ? worst : std::isnan(difference) ? INFINITY : difference;
  }
  return worst / largest;
}

} // namespace bench
