#include "kernevo/task/drawn_shapes.h"

#include "kernevo/base/random.h"
#include "kernevo/task/drawn_alike.h"
#include "kernevo/task/operation.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kernevo {
namespace {

// A hidden case is interpreted with every sanitizer on: what one may cost.
constexpr std::int64_t kElements = 20'000;     // of its largest buffer
constexpr std::int64_t kWork = 600'000;        // multiply-adds; half of it where shapes are many
constexpr std::int64_t kAttention = 1'700'000; // its length must exceed a tile of 64 keys
constexpr std::int64_t kResults = 700; // of a reduction, each of which may have blocks of its own
constexpr std::int64_t kGivenElements = 65'536; // where the task lists shapes itself

enum class SizeClass {
  one,
  few,
  below_tile,
  prime,
  twos,        // a multiple of 2 and not of 4
  fours,       // a multiple of 4 and not of 8
  beside_tile, // one or three more or less than a multiple of 32
  aligned,     // a multiple of every usual tile
  large,
};

struct ClassRange {
  std::int64_t least; // of its members, when nothing larger is affordable
  std::int64_t low;   // of those that are drawn
  std::int64_t high;
};

ClassRange range_of(SizeClass kind) {
  switch (kind) {
  case SizeClass::one: return {1, 1, 1};
  case SizeClass::few: return {1, 1, 3};
  case SizeClass::below_tile: return {2, 2, 15};
  case SizeClass::prime: return {3, 37, 113};
  case SizeClass::twos: return {2, 34, 114};
  case SizeClass::fours: return {4, 36, 116};
  case SizeClass::beside_tile: return {3, 33, 131};
  case SizeClass::aligned: return {1, 128, 128};
  case SizeClass::large: return {1, 1025, 2099};
  }
  return {1, 1, 1};
}

bool is_prime(std::int64_t value) {
  for (std::int64_t divisor = 2; divisor * divisor <= value; ++divisor)
    if (value % divisor == 0)
      return false;
  return value > 1;
}

// Whether a size within the range of its class is a member.
bool is_member(SizeClass kind, std::int64_t size) {
  switch (kind) {
  case SizeClass::prime: return is_prime(size);
  case SizeClass::twos: return size % 4 == 2;
  case SizeClass::fours: return size % 8 == 4;
  case SizeClass::beside_tile: return size % 2 == 1 && (size + 3) % 32 <= 6;
  case SizeClass::aligned: return size % 128 == 0;
  case SizeClass::large: return size % 2 == 1;
  default: return true;
  }
}

// A member of the class that is at most `high`; an aligned size gives up alignment before it
// disappears.
std::int64_t draw_size(SizeClass kind, std::int64_t high, std::uint64_t bits) {
  const ClassRange range = range_of(kind);
  high = std::min(high, range.high);
  std::vector<std::int64_t> members;
  for (const std::int64_t low : {range.low, range.least}) {
    for (std::int64_t size = low; size <= high; ++size)
      if (is_member(kind, size))
        members.push_back(size);
    if (!members.empty())
      return members[bits % members.size()];
  }
  std::int64_t power = 1;
  while (power * 2 <= high)
    power *= 2;
  return kind == SizeClass::aligned ? power : range.least;
}

using Classes = std::vector<SizeClass>; // one for each size of the operation

// One entry for each shape that is drawn.
std::vector<Classes> all_classes(const Operation& op) {
  std::vector<std::size_t> tiles;
  for (std::size_t i = 0; i < op.scaling.size(); ++i)
    if (op.scaling[i] == Scaling::tile)
      tiles.push_back(i);
  std::vector<Classes> all;
  // Kept sizes have no class; slices are few.
  const auto add = [&](SizeClass usual, SizeClass slices, const auto& special) {
    Classes classes(op.scaling.size(), slices);
    for (std::size_t t = 0; t < tiles.size(); ++t)
      classes[tiles[t]] = special(t).value_or(usual);
    all.push_back(std::move(classes));
  };
  using Special = std::optional<SizeClass>;
  const auto alike = [](std::size_t) { return Special(); };
  const auto every_other = [&](std::size_t parity, SizeClass kind) {
    return [=](std::size_t t) { return t % 2 == parity ? Special(kind) : Special(); };
  };
  const auto only = [&](std::size_t one, SizeClass kind) {
    return [=](std::size_t t) { return t == one ? Special(kind) : Special(); };
  };
  add(SizeClass::one, SizeClass::one, alike);
  add(SizeClass::below_tile, SizeClass::few, alike);
  add(SizeClass::prime, SizeClass::few, alike);
  add(SizeClass::fours, SizeClass::few, every_other(0, SizeClass::twos));
  add(SizeClass::fours, SizeClass::few, every_other(1, SizeClass::twos));
  for (std::size_t t = 0; t < tiles.size(); ++t)
    add(SizeClass::aligned, SizeClass::few, only(t, SizeClass::beside_tile));
  for (std::size_t t = 0; t < tiles.size() && tiles.size() > 1; ++t)
    add(SizeClass::prime, SizeClass::few, only(t, SizeClass::one));
  for (std::size_t t = 0; t < tiles.size(); ++t)
    add(SizeClass::few, SizeClass::few, only(t, SizeClass::large));
  return all;
}

// Turns the output extent that was drawn into the input extent that yields it.
void input_extent(Dims& dims, const char* name, const std::string& window) {
  const auto found = dims.find(name);
  if (found == dims.end())
    return;
  const std::int64_t stride = dims.at("stride");
  const std::int64_t remainder = found->second > 1 ? (stride - 1) / 2 : 0;
  found->second = std::max<std::int64_t>(1, (found->second - 1) * stride + dims.at(window) -
                                                2 * dims.at("padding") + remainder);
}

// Channels are drawn for one group, extents for the output.
void adapt(const Operation& op, Dims& dims) {
  if (op.family == Family::group_norm)
    dims["C"] *= dims.at("G");
  if (op.family == Family::pool) {
    for (const char* name : {"L", "H", "W"})
      input_extent(dims, name, "kernel");
  }
  if (op.family == Family::conv) {
    for (const char* name : {"C", "K"})
      dims[name] *= dims.at("groups");
    for (const char* name : {"L", "H"})
      input_extent(dims, name, "R");
    input_extent(dims, "W", "S");
  }
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

bool is_affordable(const Task& task, const Operation& op, const Dims& dims) {
  const auto work = Expression::parse(op.work);
  const auto operations = work ? work->evaluate(dims) : 0;
  const std::int64_t most = op.family == Family::attention ? kAttention
                            : op.family == Family::conv    ? kWork / 2
                                                           : kWork;
  if (op.any_rank && dims.at("OUTER") * dims.at("INNER") > kResults)
    return false;
  return operations && *operations <= most && largest_buffer(task, dims) <= kElements;
}

std::string id_of(const std::vector<std::string>& names, const Dims& dims) {
  std::vector<std::int64_t> sizes;
  for (const std::string& name : names)
    sizes.push_back(dims.at(name));
  return fmt::format("{}", fmt::join(sizes, "x"));
}

class ClassDraw {
public:
  ClassDraw(const Task& task, const Operation& op, std::uint64_t seed)
      : task_(task), op_(op), names_(size_names(op)), random_(seed) {}

  // Sizes shrink within their classes until the case is affordable: slices first, the large one of
  // thin shapes last, and before it those that are aligned.
  std::optional<ShapeCase> draw(const Classes& classes, const Dims& like) {
    std::vector<std::int64_t> sizes(names_.size());
    for (std::size_t i = 0; i < names_.size(); ++i)
      sizes[i] = draw_size(classes[i], range_of(classes[i]).high, random_.bits(used_++));
    for (;;) {
      Dims dims = like;
      for (std::size_t i = 0; i < names_.size(); ++i)
        if (op_.scaling[i] != Scaling::keep)
          dims[names_[i]] = sizes[i];
      adapt(op_, dims);
      if (!derive_dims(op_, dims))
        return std::nullopt;
      if (is_affordable(task_, op_, dims) || !shrink(classes, sizes))
        return ShapeCase{id_of(names_, dims), std::move(dims), 1.0, std::nullopt, false};
    }
  }

private:
  bool shrink(const Classes& classes, std::vector<std::int64_t>& sizes) {
    std::optional<std::size_t> chosen;
    const auto rank = [&](std::size_t i) {
      const int turn = op_.scaling[i] == Scaling::batch   ? 3
                       : classes[i] == SizeClass::aligned ? 1
                       : classes[i] == SizeClass::large   ? 0
                                                          : 2;
      return std::pair(turn, sizes[i]);
    };
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (op_.scaling[i] != Scaling::keep && sizes[i] > range_of(classes[i]).least &&
          (!chosen || rank(i) > rank(*chosen)))
        chosen = i;
    if (!chosen)
      return false;
    std::int64_t& size = sizes[*chosen];
    size = draw_size(classes[*chosen], size - 1, random_.bits(used_++));
    return true;
  }

  const Task& task_;
  const Operation& op_;
  std::vector<std::string> names_;
  CounterRandom random_;
  std::uint64_t used_ = 0;
};

std::vector<ShapeCase> draw_classes(const Task& task, const Operation& op, std::uint64_t seed) {
  std::vector<ShapeCase> shapes;
  ClassDraw draw(task, op, seed);
  std::size_t turn = 0;
  for (const Classes& classes : all_classes(op)) {
    auto shape = draw.draw(classes, task.shapes[turn++ % task.shapes.size()].dims);
    if (shape && std::none_of(shapes.begin(), shapes.end(),
                              [&](const ShapeCase& other) { return other.id == shape->id; }))
      shapes.push_back(std::move(*shape));
  }
  return shapes;
}

// --- tasks that say themselves which shapes a kernel must take

// Sizes that may be drawn; all others must stay as they are.
std::vector<std::string> free_sizes(const Operation& op) {
  std::vector<std::string> names = size_names(op);
  for (std::size_t i = names.size(); i-- > 0;)
    if (op.scaling[i] == Scaling::keep)
      names.erase(names.begin() + static_cast<std::ptrdiff_t>(i));
  return names;
}

Dims only(const Dims& dims, const std::vector<std::string>& names) {
  Dims kept;
  for (const std::string& name : names)
    kept[name] = dims.at(name);
  return kept;
}

Dims without(Dims dims, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    dims.erase(name);
  return dims;
}

std::vector<ShapeCase> draw_listed(const Task& task, const Operation* op, std::uint64_t seed) {
  std::vector<ShapeCase> known = task.check_shapes;
  known.insert(known.end(), task.shapes.begin(), task.shapes.end());
  const Dims base = known.front().dims;
  std::vector<std::string> names;
  if (op != nullptr)
    names = free_sizes(*op);
  else
    for (const auto& [name, size] : base)
      names.push_back(name);
  std::vector<std::string> changing = names;
  for (const DerivedSize& derived : derived_sizes(task.operation))
    changing.push_back(derived.name);
  std::int64_t most = kGivenElements;
  std::vector<Dims> given;
  for (const ShapeCase& shape : known)
    if (without(shape.dims, changing) == without(base, changing))
      given.push_back(only(shape.dims, names));
  for (const ShapeCase& shape : task.check_shapes)
    most = std::max(most, largest_buffer(task, shape.dims));
  const auto complete = [&](Dims& dims) {
    for (const auto& [name, size] : base)
      dims.emplace(name, size);
    return op == nullptr || derive_dims(*op, dims);
  };
  const auto accept = [&](Dims& dims) {
    if (!complete(dims))
      return false;
    const std::int64_t largest = largest_buffer(task, dims);
    return largest >= 0 && largest <= most && (op == nullptr || is_affordable(task, *op, dims));
  };
  std::vector<ShapeCase> shapes;
  for (Dims& dims : draw_alike(given, op != nullptr, accept, seed)) {
    complete(dims);
    shapes.push_back({id_of(names, dims), std::move(dims), 1.0, std::nullopt, false});
  }
  return shapes;
}

} // namespace

std::vector<ShapeCase> draw_shapes(const Task& task, std::uint64_t seed) {
  const Operation* op = find_table_row(task.operation);
  if (task.shapes.empty() || (task.check_shapes_given && task.check_shapes.empty()))
    return {};
  if (op != nullptr && !task.check_shapes_given)
    return draw_classes(task, *op, seed);
  return draw_listed(task, op, seed);
}

} // namespace kernevo
