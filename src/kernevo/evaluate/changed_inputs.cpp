#include "kernevo/evaluate/changed_inputs.h"

#include "kernevo/base/random.h"

#include <algorithm>
#include <cmath>

namespace kernevo {

double change_of(DType dtype) {
  switch (dtype) {
  case DType::float16: return 0x1p-6;
  case DType::bfloat16: return 0x1p-4;
  case DType::float64: return 0x1p-20;
  default: return 0x1p-10;
  }
}

CaseInputs changed_inputs(const CaseInputs& inputs, int run) {
  CaseInputs changed = inputs;
  for (std::size_t i = 0; i < inputs.problem.buffers.size(); ++i) {
    const BufferSpec& buffer = inputs.problem.buffers[i];
    std::vector<std::byte>& bytes = changed.initial[i];
    if (bytes.empty() || !is_floating(buffer.dtype))
      continue;
    const double change = change_of(buffer.dtype);
    const CounterRandom random(inputs.seed + 31 * i + 7 * static_cast<std::uint64_t>(run));
    for (std::int64_t e = 0; e < buffer.elements(); ++e) {
      const double value = load_element(buffer.dtype, bytes.data(), e);
      const bool up = (random.bits(static_cast<std::uint64_t>(e)) & 1U) != 0;
      store_element(buffer.dtype, bytes.data(), e, value * (up ? 1 + change : 1 - change));
    }
  }
  return changed;
}

std::vector<double> numbers(const BufferSpec& buffer, std::span<const std::byte> bytes) {
  std::vector<double> values(static_cast<std::size_t>(buffer.elements()));
  for (std::size_t e = 0; e < values.size(); ++e)
    values[e] = load_element(buffer.dtype, bytes.data(), static_cast<std::int64_t>(e));
  return values;
}

void add_effects(std::span<const double> fresh, std::span<const double> changed, double change,
                 std::vector<double>& effects) {
  effects.resize(fresh.size());
  for (std::size_t e = 0; e < fresh.size(); ++e) {
    const double effect = std::abs(changed[e] - fresh[e]) / change;
    effects[e] = std::max(effects[e], std::isfinite(effect) ? effect : 0);
  }
}

} // namespace kernevo
