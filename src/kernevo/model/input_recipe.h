// All it takes to make any element of an input, here or in another process: a few numbers.
#pragma once

#include "kernevo/model/dtype.h"
#include "kernevo/model/task.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace kernevo {

// How often an element is one of these instead of what its distribution says.
struct SpecialValues {
  double minus_infinity = 0;
  double tie = 0; // the same value each time
  double tie_value = 0;
  double denormal = 0;
  // These may take a whole row with them.
  double plus_infinity = 0;
  double nan = 0;

  double sum() const { return minus_infinity + tie + denormal + plus_infinity + nan; }
  bool operator==(const SpecialValues&) const = default;
};

struct InputRecipe {
  DType dtype = DType::float32;
  Distribution::Kind kind = Distribution::Kind::normal;
  double low = 0;
  double high = 1;
  double tiny = 0;          // denormal: the smallest normal magnitude of the type
  double denormal_step = 0; // and the spacing below it
  SpecialValues special = {};
  // Every other row of so many elements, by chance, is standard normal instead but for one or two
  // elements of great magnitude: whoever judges a row by some of its elements is wrong there.
  std::uint64_t row = 0;
  double outlier = 0;
  // Instead of what is between special values, magnitudes from 2^wide_low to 2^wide_high: of every
  // third row by chance, which has no special values; without rows everywhere. None when equal.
  double wide_low = 0;
  double wide_high = 0;
  // Every fourth stretch of so many elements, by chance, has values of one sign: whoever searches
  // or sums may meet nothing there that changes the answer.
  std::uint64_t one_sign = 0;
  std::uint64_t seed = 0;

  bool operator==(const InputRecipe&) const = default;
};
// Writes the elements from `first` on; each depends on the recipe and its index alone.
void fill_elements(const InputRecipe& recipe, std::uint64_t first, std::span<std::byte> out);

} // namespace kernevo
