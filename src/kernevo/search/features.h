// What a model sees of a configuration: numbers in which the speed of kernels is simpler than in
// the parameters themselves.
#pragma once

#include "kernevo/search/search_space.h"

#include <span>
#include <vector>

namespace kernevo::search {

class Features {
public:
  explicit Features(const SearchSpace& space);

  std::size_t count() const { return count_; }
  // Writes count() numbers.
  void write(Configuration configuration, std::span<float> out) const;

private:
  // Values of a hint for every combination of the parameters it names.
  struct HintTable {
    std::vector<std::size_t> parameters;
    std::vector<float> values;
  };
  void add_hint(const Expression& hint);

  const SearchSpace* space_;
  std::vector<std::vector<float>> logarithm_;              // [parameter][value]
  std::vector<std::vector<float>> alignment_;              // empty where it says nothing
  std::vector<std::pair<std::size_t, std::size_t>> pairs_; // products and ratios
  std::vector<HintTable> hints_;
  std::size_t count_ = 0;
};

// How far a value is a multiple of a power of two, capped: 96 -> 5. Warps, sectors and banks come
// in powers of two, so 64 and 128 are alike in a way that 96 and 112 are not.
float alignment_of(std::int64_t value);

} // namespace kernevo::search
