// Small versions of the real shapes.
#include "kernevo/task/operation.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <tuple>

namespace kernevo {
namespace {

constexpr std::int64_t kLargestUnit = 128;      // the divisibility worth keeping
constexpr std::int64_t kSmallWork = 4'000'000;  // multiply-adds of a small shape
constexpr std::int64_t kSmallElements = 65'536; // of its largest buffer
constexpr std::size_t kMostSmallShapes = 4;

std::string row_id(const std::vector<std::int64_t>& sizes) {
  return fmt::format("{}", fmt::join(sizes, "x"));
}

std::vector<std::int64_t> sizes_of(const Operation& op, const Dims& dims) {
  std::vector<std::int64_t> sizes;
  for (const std::string& name : size_names(op))
    sizes.push_back(dims.at(name));
  return sizes;
}

// A size between `unit` and `value` about half as large, with the same power of two in it.
std::int64_t halve(std::int64_t value, std::int64_t unit) {
  std::int64_t multiple = value / unit;
  if (multiple <= 1)
    return value;
  multiple /= 2;
  if (unit < kLargestUnit)
    multiple |= 1; // an even multiple would be divisible by more than the real size is
  return multiple * unit < value ? multiple * unit : value;
}

std::int64_t unit_of(std::int64_t value) {
  return std::gcd(value, kLargestUnit);
}

std::int64_t largest_buffer(const Task& task, const Dims& dims) {
  const auto problem = make_problem(task, ShapeCase{"", dims, 1.0, std::nullopt, false});
  if (!problem)
    return -1;
  std::int64_t largest = 0;
  for (const BufferSpec& buffer : problem->buffers)
    largest = std::max(largest, buffer.elements());
  return largest;
}

bool small_enough(const Task& task, const Expression& work, const Dims& dims) {
  const auto operations = work.evaluate(dims);
  const std::int64_t largest = largest_buffer(task, dims);
  return operations && *operations <= kSmallWork && largest >= 0 && largest <= kSmallElements;
}

// Halves the size with the most to give until the case is small; gives up divisibility last.
Dims shrink(const Task& task, const Operation& op, const Dims& real) {
  const std::vector<std::string> names = size_names(op);
  auto work = Expression::parse(op.work);
  Dims dims = real;
  std::vector<std::int64_t> units;
  for (std::size_t i = 0; i < names.size(); ++i)
    units.push_back(op.scaling[i] == Scaling::tile ? unit_of(real.at(names[i])) : 1);
  while (work && !small_enough(task, *work, dims)) {
    std::vector<std::size_t> order(names.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    // Independent slices go first: they cost work and add no coverage.
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const auto key = [&](std::size_t i) {
        const std::int64_t value = dims.at(names[i]);
        return std::tuple{op.scaling[i] == Scaling::batch && value > 1, value, names.size() - i};
      };
      return key(a) > key(b);
    });
    bool changed = false;
    for (const std::size_t i : order) {
      if (op.scaling[i] == Scaling::keep)
        continue;
      Dims next = dims;
      std::int64_t& value = next[names[i]];
      const std::int64_t before = value;
      value = op.scaling[i] == Scaling::batch ? std::max<std::int64_t>(1, value / 2)
                                              : halve(value, units[i]);
      if (value == before || !derive_dims(op, next))
        continue;
      dims = std::move(next);
      changed = true;
      break;
    }
    if (changed)
      continue;
    const auto widest = std::max_element(units.begin(), units.end());
    if (*widest == 1)
      break;
    *widest /= 2;
  }
  return dims;
}

// Nothing is known about the dimensions of a custom task but that they belong together: all the
// large ones shrink by one power of two.
Dims shrink_custom(const Task& task, const Dims& real) {
  constexpr std::int64_t small_dimension = 64;
  Dims best = real;
  for (int shift = 0; shift < 31; ++shift) {
    Dims dims = real;
    std::int64_t product = 1;
    bool changed = false;
    for (auto& [name, value] : dims) {
      if (value > small_dimension) {
        const std::int64_t unit = std::min<std::int64_t>(unit_of(value), 32);
        const std::int64_t scaled = ((value >> shift) + unit - 1) / unit * unit;
        const std::int64_t floor = std::max<std::int64_t>(unit, small_dimension / 2 + value % 2);
        const std::int64_t next = std::min(value, std::max(scaled, floor));
        changed = changed || next != best[name];
        value = next;
      }
      product = std::min(product * std::max<std::int64_t>(value, 1), kSmallWork * 2);
    }
    const std::int64_t largest = largest_buffer(task, dims);
    if (largest < 0)
      break; // the shape expressions no longer hold together
    if (shift > 0 && !changed)
      break;
    best = std::move(dims);
    if (largest <= kSmallElements && product <= kSmallWork)
      break;
  }
  return best;
}

} // namespace

std::vector<ShapeCase> small_shapes(const Task& task) {
  const Operation* op = find_table_row(task.operation);
  std::vector<ShapeCase> cases;
  for (const ShapeCase& real : task.shapes) {
    ShapeCase shape = real;
    shape.dims = op != nullptr ? shrink(task, *op, real.dims) : shrink_custom(task, real.dims);
    if (shape.dims != real.dims) {
      std::vector<std::int64_t> sizes;
      if (op != nullptr)
        sizes = sizes_of(*op, shape.dims);
      else
        for (const auto& [name, value] : shape.dims)
          sizes.push_back(value);
      shape.id = row_id(sizes);
    }
    const bool seen = std::any_of(cases.begin(), cases.end(),
                                  [&](const ShapeCase& other) { return other.dims == shape.dims; });
    if (!seen)
      cases.push_back(std::move(shape));
    if (cases.size() == kMostSmallShapes)
      break;
  }
  return cases;
}

} // namespace kernevo
