// Filling the inputs of a problem, reproducibly, element by element.
#pragma once

#include "kernevo/model/input_recipe.h"
#include "kernevo/model/task.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kernevo {

// The sets of inputs a kernel is tried on. `nominal` uses each argument's own distribution; the
// others replace it for arguments whose distribution is not fixed. `wide_and_special` is
// wide_range and special_values (of tasks of one's own exact_integers) in one.
enum class InputSet {
  nominal,
  wide_range,
  exact_integers,
  zeros,
  denormal_heavy,
  special_values,
  wide_and_special
};
std::string_view name_of(InputSet set);
// Those that make sense for this problem (integers have no denormals, ...), nominal first.
std::vector<InputSet> input_sets(const Problem& problem);
// Inputs of every kind that a kernel may have been written without, in as few sets as show them:
// two at least, nominal first, for shapes whose runs are dear.
std::vector<InputSet> real_input_sets(const Problem& problem);

// Of one in or inout buffer.
InputRecipe input_recipe(const Problem& problem, std::size_t buffer, InputSet set,
                         std::uint64_t seed);
// Fills one in or inout buffer. The value of an element depends on (seed, buffer index, element).
void fill_input(const Problem& problem, std::size_t buffer, InputSet set, std::uint64_t seed,
                std::span<std::byte> out);

} // namespace kernevo
