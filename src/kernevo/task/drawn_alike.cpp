#include "kernevo/task/drawn_alike.h"

#include "kernevo/base/random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <string>

namespace kernevo {
namespace {

constexpr std::size_t kShapes = 2;
constexpr std::uint64_t kTries = 512; // until a shape is accepted

bool is_power_of_two(std::int64_t value) {
  return std::has_single_bit(static_cast<std::uint64_t>(value));
}

// Sizes in a fixed ratio: in every given shape they are one number times their units.
struct TiedSizes {
  std::vector<std::string> names;
  std::vector<std::int64_t> units;
  std::vector<std::int64_t> multiples; // one of each given shape

  bool varies() const {
    return std::any_of(multiples.begin(), multiples.end(),
                       [&](std::int64_t value) { return value != multiples.front(); });
  }
};

std::vector<TiedSizes> tied_sizes(const std::vector<Dims>& given) {
  std::vector<TiedSizes> groups;
  for (const auto& [name, first] : given.front()) {
    std::vector<std::int64_t> values;
    std::int64_t unit = 0;
    for (const Dims& dims : given) {
      values.push_back(dims.at(name));
      unit = std::gcd(unit, values.back());
    }
    if (unit == 0)
      continue; // an attribute that is 0 everywhere
    for (std::int64_t& value : values)
      value /= unit;
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const TiedSizes& other) {
      return other.multiples == values;
    });
    if (group == groups.end()) {
      groups.push_back({{name}, {unit}, std::move(values)});
    } else {
      group->names.push_back(name);
      group->units.push_back(unit);
    }
  }
  std::erase_if(groups, [](const TiedSizes& group) { return !group.varies(); });
  return groups;
}

// All magnitudes alike, or most of them large.
std::int64_t draw_multiple(const TiedSizes& group, bool large, double uniform) {
  const auto [least, most] = std::minmax_element(group.multiples.begin(), group.multiples.end());
  const auto low = static_cast<double>(std::max<std::int64_t>(*least, 1));
  const auto high = static_cast<double>(*most);
  auto multiple = static_cast<std::int64_t>(large ? low + uniform * (high - low)
                                                  : low * std::pow(high / low, uniform));
  const auto all = [&](auto property) {
    return std::all_of(group.multiples.begin(), group.multiples.end(), property);
  };
  if (all(is_power_of_two))
    multiple = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(multiple)));
  else if (all([](std::int64_t value) { return value % 2 == 1; }))
    multiple |= 1;
  return std::clamp(multiple, *least, *most);
}

// What is never larger than another in the given shapes is not so in a drawn one.
bool keeps_order(const std::vector<Dims>& given, const Dims& drawn) {
  for (const auto& [a, size_a] : drawn)
    for (const auto& [b, size_b] : drawn)
      if (size_a > size_b && std::all_of(given.begin(), given.end(), [&](const Dims& dims) {
            return dims.at(a) <= dims.at(b);
          }))
        return false;
  return true;
}

bool same_names(const std::vector<Dims>& given) {
  return std::all_of(given.begin(), given.end(), [&](const Dims& dims) {
    return std::equal(dims.begin(), dims.end(), given.front().begin(), given.front().end(),
                      [](const auto& a, const auto& b) { return a.first == b.first; });
  });
}

} // namespace

std::vector<Dims> draw_alike(const std::vector<Dims>& given, bool independent,
                             const ShapeFilter& accept, std::uint64_t seed) {
  if (given.empty() || !same_names(given))
    return {};
  const std::vector<TiedSizes> groups = tied_sizes(given);
  if (groups.empty() || (groups.size() > 1 && !independent))
    return {};
  const CounterRandom random(seed);
  std::uint64_t used = 0;
  std::vector<Dims> drawn;
  for (std::uint64_t turn = 0; turn < kTries && drawn.size() < kShapes; ++turn) {
    const bool large = drawn.empty() && turn < kTries / 2;
    Dims dims = given.front();
    for (const TiedSizes& group : groups) {
      const std::int64_t multiple = draw_multiple(group, large, random.uniform(used++));
      for (std::size_t i = 0; i < group.names.size(); ++i)
        dims[group.names[i]] = group.units[i] * multiple;
    }
    const auto is_known = [&](const std::vector<Dims>& list) {
      return std::find(list.begin(), list.end(), dims) != list.end();
    };
    if (!keeps_order(given, dims) || is_known(given) || is_known(drawn))
      continue;
    if (Dims complete = dims; accept(complete))
      drawn.push_back(std::move(dims));
  }
  return drawn;
}

} // namespace kernevo
