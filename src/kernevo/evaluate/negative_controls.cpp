#include "kernevo/evaluate/negative_controls.h"

#include "kernevo/evaluate/output_check.h"
#include "kernevo/evaluate/sampling.h"

#include <fmt/format.h>
#include <functional>

namespace kernevo {
namespace {

using Fill = std::function<double(std::int64_t)>;

bool passes(const BufferSpec& output, const CaseInputs& inputs,
            std::span<const std::int64_t> points, std::span<const Expected> expected,
            const Fill& fill) {
  std::vector<std::byte> fake(output.bytes());
  for (const std::int64_t point : points)
    store_element(output.dtype, fake.data(), point, fill(point));
  return !check_output(output, fake, points, expected, inputs.problem.tolerance).mismatch;
}

} // namespace

Result<std::vector<std::string>> negative_controls(const CaseInputs& inputs,
                                                   const ExpectationSource& expectation) {
  std::vector<std::string> warnings;
  for (std::size_t i = 0; i < inputs.problem.buffers.size(); ++i) {
    const BufferSpec& output = inputs.problem.buffers[i];
    if (output.direction == Direction::in || output.elements() < 2)
      continue;
    const auto points = sample_points(output.elements(), 4096, inputs.seed);
    KERNEVO_TRY(expected, expectation(inputs, i, points));
    double mean = 0;
    for (const Expected& e : expected)
      mean += e.value / static_cast<double>(expected.size());
    auto warn = [&](const std::string& what) {
      warnings.push_back(fmt::format("trivial task: {} passes as output '{}' (case {})", what,
                                     output.name, inputs.problem.case_id));
    };
    if (passes(output, inputs, points, expected, [](std::int64_t) { return 0.0; }))
      warn("a tensor of zeros");
    else if (passes(output, inputs, points, expected, [&](std::int64_t) { return mean; }))
      warn("a constant tensor");
    for (std::size_t j = 0; j < inputs.problem.buffers.size(); ++j) {
      const BufferSpec& input = inputs.problem.buffers[j];
      if (inputs.initial[j].empty() || input.elements() != output.elements())
        continue;
      if (passes(output, inputs, points, expected, [&](std::int64_t point) {
            return load_element(input.dtype, inputs.initial[j].data(), point);
          }))
        warn(fmt::format("a copy of input '{}'", input.name));
    }
  }
  return warnings;
}

} // namespace kernevo
