// One launch of a benchmark kernel: its inputs, its shape and what it must compute. Every kernel
// takes its input buffers, one output buffer and one integer, in this order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bench {

struct Problem {
  std::string kernel;
  std::vector<int> size; // as asked for: n, or rows and columns
  std::array<std::uint32_t, 3> grid = {1, 1, 1};
  std::array<std::uint32_t, 3> block = {1, 1, 1};
  std::vector<std::vector<float>> inputs;
  std::vector<float> expected;
  int integer = 0;
  double tolerance = 0; // relative to the largest expected value
};

std::vector<std::string> kernel_names();

// `size` empty: the size that the documentation's figures are for. Ends the program with a message
// when the kernel or the size is none.
Problem make_problem(const std::string& kernel, std::vector<int> size);

// Largest difference, relative to the largest expected value.
double worst_error(const Problem& problem, const float* output);

} // namespace bench
