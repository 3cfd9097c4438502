#include "kernevo/predict/choose_by_tally.h"

#include "kernevo/base/random.h"
#include "kernevo/predict/choose_blocks.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <map>
#include <set>
#include <utility>

namespace kernevo {
namespace {

using Amounts = std::array<double, 3>;

// Beside so many instructions a sector or an atomic does not matter.
constexpr double kNegligible = 0.05;
// Blocks whose amounts differ by less than this factor are of one kind.
constexpr double kAlike = 1.1;
// More would take too long; whatever the error is then, it is known.
constexpr std::uint64_t kMostChosen = 1024;
// So many of those that move most are chosen with their neighbours, which show what blocks share.
constexpr std::size_t kWithNeighbours = 8;

Amounts amounts_of(const BlockTally& tally) {
  return {static_cast<double>(tally.warp_instructions), static_cast<double>(tally.sectors),
          static_cast<double>(tally.atomics)};
}

Amounts add(Amounts sum, const Amounts& more, double weight = 1) {
  for (std::size_t i = 0; i < sum.size(); ++i)
    sum.at(i) += weight * more.at(i);
  return sum;
}

// What shares are shares of.
Amounts wholes_of(std::span<const BlockTally> tallies) {
  Amounts sum = {};
  for (const BlockTally& tally : tallies)
    sum = add(sum, amounts_of(tally));
  for (double& one : sum)
    one = std::max({one, kNegligible * sum[0], 1.0});
  return sum;
}

double largest_share(const Amounts& part, const Amounts& wholes) {
  double share = 0;
  for (std::size_t i = 0; i < part.size(); ++i)
    share = std::max(share, std::abs(part.at(i)) / wholes.at(i));
  return share;
}

using Kind = std::array<int, 3>;

Kind kind_of(const BlockTally& tally) {
  Kind kind = {};
  const Amounts amounts = amounts_of(tally);
  for (std::size_t i = 0; i < kind.size(); ++i)
    kind.at(i) = static_cast<int>(std::log1p(amounts.at(i)) / std::log(kAlike));
  return kind;
}

// All blocks, kind by kind. A chosen block stands for those around it in this order.
class Line {
public:
  explicit Line(std::span<const BlockTally> tallies) : tallies_(tallies) {
    const Amounts wholes = wholes_of(tallies);
    for (std::uint64_t block = 0; block < tallies.size(); ++block)
      places_.push_back({kind_of(tallies[block]), block});
    std::sort(places_.begin(), places_.end());
    double sum = 0;
    for (const Place& place : places_) {
      const Amounts amounts = amounts_of(tallies[place.block]);
      for (std::size_t i = 0; i < amounts.size(); ++i)
        sum += amounts.at(i) / wholes.at(i);
      up_to_.push_back(sum);
    }
  }

  // One by chance out of each of so many stretches of the line with equal shares of everything, and
  // these.
  WeightedBlocks choose(const std::vector<std::uint64_t>& always, std::uint64_t count,
                        const CounterRandom& random) const {
    std::set<std::size_t> chosen;
    for (const std::uint64_t block : always)
      chosen.insert(place_of(block));
    for (std::uint64_t i = 0; i < count; ++i) {
      const double share = static_cast<double>(random.bits(i) >> 11U) * 0x1p-53;
      chosen.insert(place_at((static_cast<double>(i) + share) / static_cast<double>(count)));
    }
    return weighted({chosen.begin(), chosen.end()});
  }

private:
  struct Place {
    Kind kind;
    std::uint64_t block = 0;
    auto operator<=>(const Place&) const = default;
  };

  std::size_t place_of(std::uint64_t block) const {
    const Place place{kind_of(tallies_[block]), block};
    return static_cast<std::size_t>(std::lower_bound(places_.begin(), places_.end(), place) -
                                    places_.begin());
  }

  std::size_t place_at(double share) const {
    const auto found = std::upper_bound(up_to_.begin(), up_to_.end(), share * up_to_.back());
    return std::min(static_cast<std::size_t>(found - up_to_.begin()), places_.size() - 1);
  }

  // Where the blocks of one end and those of the next begin: where the kind changes; with others
  // between them, in the middle of those.
  std::size_t border(std::size_t one, std::size_t next) const {
    const auto same_kind = [&](std::size_t a, std::size_t b) {
      return places_[a].kind == places_[b].kind;
    };
    if (same_kind(one, next))
      return (one + next + 1) / 2;
    std::size_t end = one + 1;
    while (same_kind(one, end))
      ++end;
    std::size_t begin = next;
    while (same_kind(begin - 1, next))
      --begin;
    const double middle = (up_to_[end - 1] + up_to_[begin - 1]) / 2;
    while (end < begin && up_to_[end] <= middle)
      ++end;
    return end;
  }

  // As if a block had all the instructions of those it stands for.
  WeightedBlocks weighted(const std::vector<std::size_t>& chosen) const {
    std::map<std::uint64_t, double> weights;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const std::size_t end =
          i + 1 < chosen.size() ? border(chosen[i], chosen[i + 1]) : places_.size();
      double sum = 0;
      for (; begin < end; ++begin)
        sum += instructions(begin);
      weights[places_[chosen[i]].block] = sum / std::max(1.0, instructions(chosen[i]));
    }
    WeightedBlocks result;
    for (const auto& [block, weight] : weights) {
      result.blocks.push_back(block);
      result.weights.push_back(weight);
    }
    return result;
  }

  double instructions(std::size_t place) const {
    return static_cast<double>(tallies_[places_[place].block].warp_instructions);
  }

  std::span<const BlockTally> tallies_;
  std::vector<Place> places_;
  std::vector<double> up_to_; // shares of everything, up to and with each place
};

} // namespace

double sampling_error(std::span<const BlockTally> tallies, const WeightedBlocks& chosen) {
  const Amounts wholes = wholes_of(tallies);
  Amounts difference = {};
  for (const BlockTally& tally : tallies)
    difference = add(difference, amounts_of(tally));
  for (std::size_t i = 0; i < chosen.blocks.size(); ++i)
    difference = add(difference, amounts_of(tallies[chosen.blocks[i]]), -chosen.weights[i]);
  return largest_share(difference, wholes);
}

WeightedBlocks with_equal_weights(std::vector<std::uint64_t> blocks, std::uint64_t total) {
  const double weight =
      static_cast<double>(total) / std::max(1.0, static_cast<double>(blocks.size()));
  std::vector<double> weights(blocks.size(), weight);
  return {std::move(blocks), std::move(weights)};
}

namespace {

// The blocks before those that stand for most sectors, along every axis.
std::vector<std::uint64_t> neighbours_of_heavy(const std::array<std::uint32_t, 3>& grid,
                                               std::span<const BlockTally> tallies,
                                               const WeightedBlocks& chosen) {
  std::vector<std::pair<double, std::uint64_t>> heavy;
  for (std::size_t i = 0; i < chosen.blocks.size(); ++i)
    heavy.emplace_back(-chosen.weights[i] * static_cast<double>(tallies[chosen.blocks[i]].sectors),
                       chosen.blocks[i]);
  std::sort(heavy.begin(), heavy.end());
  heavy.resize(std::min(heavy.size(), kWithNeighbours));
  std::vector<std::uint64_t> neighbours;
  for (const auto& [sectors, block] : heavy) {
    std::uint64_t step = 1;
    for (const std::uint32_t extent : grid) {
      if (block / step % extent > 0)
        neighbours.push_back(block - step);
      step *= extent;
    }
  }
  return neighbours;
}

} // namespace

WeightedBlocks choose_by_tally(const std::array<std::uint32_t, 3>& grid,
                               std::span<const BlockTally> tallies, std::uint64_t count,
                               std::uint64_t seed, double most_error) {
  const Line line(tallies);
  const CounterRandom random(seed);
  std::vector<std::uint64_t> always = choose_blocks(grid, count, seed);
  for (const std::uint64_t block :
       neighbours_of_heavy(grid, tallies, line.choose(always, count, random)))
    always.push_back(block);
  for (std::uint64_t stretches = std::max<std::uint64_t>(1, count);; stretches *= 2) {
    WeightedBlocks chosen = line.choose(always, stretches, random);
    if (2 * stretches > std::max(kMostChosen, count) ||
        sampling_error(tallies, chosen) <= most_error)
      return chosen;
  }
}

} // namespace kernevo
