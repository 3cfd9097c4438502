#include "kernevo/search/features.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace kernevo::search {

namespace {

constexpr int kMaxAlignment = 6; // 64: a wavefront, or two warps
// A parameter with fewer values gains nothing from a second number for each.
constexpr std::size_t kLeastForAlignment = 4;
constexpr std::size_t kLeastForPairs = 3;
// Pairs grow with the square of the parameters; beyond this they crowd out everything else.
constexpr std::size_t kMaxPairs = 66;
constexpr std::size_t kMaxHints = 16;
constexpr std::size_t kMaxHintTable = 1U << 16U;

bool all_positive(const Parameter& parameter) {
  return std::all_of(parameter.values.begin(), parameter.values.end(),
                     [](std::int64_t value) { return value > 0; });
}

// Signed logarithm: finite for every integer and the logarithm for large ones.
float signed_log(double value) {
  return static_cast<float>(std::copysign(std::log2(1 + std::abs(value)), value));
}

} // namespace

float alignment_of(std::int64_t value) {
  return static_cast<float>(
      std::min(kMaxAlignment, std::countr_zero(static_cast<std::uint64_t>(value))));
}

Features::Features(const SearchSpace& space) : space_(&space) {
  const std::vector<Parameter>& parameters = space.parameters();
  std::vector<std::size_t> scales; // parameters that make products and ratios
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& parameter = parameters[i];
    const bool positive = all_positive(parameter) && parameter.labels.empty();
    std::vector<float> logarithm;
    std::vector<float> alignment;
    for (const std::int64_t value : parameter.values) {
      logarithm.push_back(positive ? static_cast<float>(std::log2(static_cast<double>(value)))
                                   : static_cast<float>(value));
      if (positive && parameter.values.size() >= kLeastForAlignment)
        alignment.push_back(alignment_of(value));
    }
    logarithm_.push_back(std::move(logarithm));
    alignment_.push_back(std::move(alignment));
    if (positive && parameter.values.size() >= kLeastForPairs)
      scales.push_back(i);
  }
  for (std::size_t a = 0; a < scales.size(); ++a)
    for (std::size_t b = a + 1; b < scales.size() && pairs_.size() < kMaxPairs; ++b)
      pairs_.emplace_back(scales[a], scales[b]);
  for (const Expression& hint : space.hints())
    if (hints_.size() < kMaxHints)
      add_hint(hint);
  count_ = parameters.size() + 2 * pairs_.size() + hints_.size();
  for (const std::vector<float>& alignment : alignment_)
    count_ += alignment.empty() ? 0 : 1;
}

void Features::add_hint(const Expression& hint) {
  HintTable table;
  const std::set<std::string> names = hint.names();
  std::size_t entries = 1;
  const std::vector<Parameter>& parameters = space_->parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!names.contains(parameters[i].name))
      continue;
    table.parameters.push_back(i);
    entries *= parameters[i].values.size();
    if (entries > kMaxHintTable)
      return;
  }
  for (std::size_t entry = 0; entry < entries; ++entry) {
    FixedNames values = space_->problems().front();
    std::size_t rest = entry;
    for (std::size_t i = table.parameters.size(); i-- > 0;) {
      const Parameter& parameter = parameters[table.parameters[i]];
      values[parameter.name] = parameter.values[rest % parameter.values.size()];
      rest /= parameter.values.size();
    }
    // Where it has no value (division by zero, a dimension nobody gave) it says nothing.
    const Result<std::int64_t> value = hint.evaluate(values);
    table.values.push_back(value ? signed_log(static_cast<double>(*value)) : 0.0F);
  }
  const auto [least, most] = std::minmax_element(table.values.begin(), table.values.end());
  if (*least < *most)
    hints_.push_back(std::move(table));
}

void Features::write(Configuration configuration, std::span<float> out) const {
  const auto row = space_->row(configuration);
  std::size_t at = 0;
  for (std::size_t i = 0; i < row.size(); ++i)
    out[at++] = logarithm_[i][row[i]];
  for (std::size_t i = 0; i < row.size(); ++i)
    if (!alignment_[i].empty())
      out[at++] = alignment_[i][row[i]];
  for (const auto& [a, b] : pairs_) {
    out[at++] = out[a] + out[b];
    out[at++] = out[a] - out[b];
  }
  for (const HintTable& hint : hints_) {
    std::size_t entry = 0;
    for (const std::size_t parameter : hint.parameters)
      entry = entry * space_->parameters()[parameter].values.size() + row[parameter];
    out[at++] = hint.values[entry];
  }
}

} // namespace kernevo::search
