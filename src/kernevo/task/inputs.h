// Filling the inputs of a problem, reproducibly, element by element.
#pragma once

#include "kernevo/model/task.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kernevo {

// The sets of inputs a kernel is tried on. `nominal` uses each argument's own distribution; the
// others replace it for arguments whose distribution is not fixed.
enum class InputSet { nominal, wide_range, exact_integers, zeros, denormal_heavy };
std::string_view name_of(InputSet set);
// Those that make sense for this problem (integers have no denormals, ...), nominal first.
std::vector<InputSet> input_sets(const Problem& problem);

// All it takes to make any element of a buffer, here or in another process: a few numbers.
struct InputRecipe {
  DType dtype = DType::float32;
  Distribution::Kind kind = Distribution::Kind::normal;
  double low = 0;
  double high = 1;
  double tiny = 0;          // denormal: the smallest normal magnitude of the type
  double denormal_step = 0; // and the spacing below it
  std::uint64_t seed = 0;

  bool operator==(const InputRecipe&) const = default;
};
// Of one in or inout buffer.
InputRecipe input_recipe(const Problem& problem, std::size_t buffer, InputSet set,
                         std::uint64_t seed);
// Writes the elements from `first` on; each depends on the recipe and its index alone.
void fill_elements(const InputRecipe& recipe, std::uint64_t first, std::span<std::byte> out);

// Fills one in or inout buffer. The value of an element depends on (seed, buffer index, element).
void fill_input(const Problem& problem, std::size_t buffer, InputSet set, std::uint64_t seed,
                std::span<std::byte> out);

} // namespace kernevo
