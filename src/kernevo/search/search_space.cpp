#include "kernevo/search/search_space.h"

#include "kernevo/base/hash.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace kernevo::search {

double SearchSpace::combinations() const {
  double product = 1;
  for (const Parameter& parameter : parameters_)
    product *= static_cast<double>(parameter.values.size());
  return product;
}

void SearchSpace::rank_values() {
  for (const Parameter& parameter : parameters_) {
    std::vector<std::uint16_t> order(parameter.values.size());
    std::iota(order.begin(), order.end(), std::uint16_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::uint16_t a, std::uint16_t b) {
      return parameter.values[a] < parameter.values[b];
    });
    std::vector<std::uint16_t> rank(order.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      rank[order[i]] = static_cast<std::uint16_t>(i);
    by_rank_.push_back(std::move(order));
    ranks_.push_back(std::move(rank));
  }
}

ParameterValues SearchSpace::values(Configuration configuration) const {
  ParameterValues values;
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    values[parameters_[i].name] = value(configuration, i);
  return values;
}

std::string SearchSpace::text(Configuration configuration) const {
  std::string text;
  const auto values = row(configuration);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& parameter = parameters_[i];
    text += fmt::format("{}{}={}", i == 0 ? "" : " ", parameter.name,
                        parameter.labels.empty() ? fmt::to_string(parameter.values[values[i]])
                                                 : parameter.labels[values[i]]);
  }
  return text;
}

std::optional<Configuration> SearchSpace::find(std::span<const std::uint16_t> wanted) const {
  if (parameters_.empty())
    return Configuration{0};
  Configuration low = 0;
  Configuration high = size();
  while (low < high) {
    const Configuration middle = low + (high - low) / 2;
    const auto here = row(middle);
    const auto order = std::lexicographical_compare_three_way(here.begin(), here.end(),
                                                              wanted.begin(), wanted.end());
    if (order == 0)
      return middle;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return std::nullopt;
}

std::optional<Configuration> SearchSpace::find(const ParameterValues& values) const {
  std::vector<std::uint16_t> wanted;
  for (const Parameter& parameter : parameters_) {
    const auto given = values.find(parameter.name);
    if (given == values.end())
      return std::nullopt;
    const auto at = std::find(parameter.values.begin(), parameter.values.end(), given->second);
    if (at == parameter.values.end())
      return std::nullopt;
    wanted.push_back(static_cast<std::uint16_t>(at - parameter.values.begin()));
  }
  return find(wanted);
}

std::vector<Configuration> SearchSpace::hamming_neighbours(Configuration configuration) const {
  std::vector<Configuration> found;
  std::vector<std::uint16_t> changed(row(configuration).begin(), row(configuration).end());
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const std::uint16_t original = changed[i];
    for (std::uint16_t other = 0; other < parameters_[i].values.size(); ++other) {
      changed[i] = other;
      if (other == original)
        continue;
      if (const auto neighbour = find(changed))
        found.push_back(*neighbour);
    }
    changed[i] = original;
  }
  return found;
}

std::vector<Configuration> SearchSpace::adjacent_neighbours(Configuration configuration) const {
  std::vector<Configuration> found;
  std::vector<std::uint16_t> changed(row(configuration).begin(), row(configuration).end());
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const std::uint16_t original = changed[i];
    const auto count = static_cast<std::ptrdiff_t>(by_rank_[i].size());
    for (const std::ptrdiff_t direction : {-1, 1}) {
      for (std::ptrdiff_t at = ranks_[i][original] + direction; at >= 0 && at < count;
           at += direction) {
        changed[i] = by_rank_[i][static_cast<std::size_t>(at)];
        if (const auto neighbour = find(changed)) {
          found.push_back(*neighbour);
          break;
        }
      }
    }
    changed[i] = original;
  }
  return found;
}

std::string SearchSpace::id() const {
  std::string text;
  for (const Parameter& parameter : parameters_) {
    text += fmt::format("{}:{}", parameter.name, fmt::join(parameter.values, ","));
    text += fmt::format(":{}\n", fmt::join(parameter.labels, ","));
  }
  // Little-endian machines only, like the rest of the product's binary data.
  text.append(reinterpret_cast<const char*>(rows_.data()), rows_.size() * sizeof(rows_[0]));
  return sha256_hex(text).substr(0, 16);
}

} // namespace kernevo::search
