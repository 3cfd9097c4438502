// Wilcoxon's signed-rank test turned round: the centre of symmetric noise with an interval. The
// interval is exact whenever each difference is as likely to be positive as negative, whatever its
// size and whatever the sizes depend on, which is what a random order within a block guarantees.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace kernevo {

struct CentreInterval {
  double estimate = 0; // Hodges-Lehmann: median of the means of all pairs
  double low = 0;
  double high = 0;
};

// Which of the sorted pair means, counted from 1 at either end, bounds the centre of n differences
// with at most `tail` of error on that side; 0 when n is too small for so little error.
std::size_t signed_rank_bound(std::size_t n, double tail);

// Absent when there are too few differences for the wanted error.
std::optional<CentreInterval> signed_rank_interval(std::span<const double> differences,
                                                   double tail);

} // namespace kernevo
