#include "kernevo/task/load_parts.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace kernevo {
namespace {

constexpr std::int64_t kLargestSize = 2147483647; // sizes reach kernels as int
constexpr std::size_t kMostShapes = 256;
constexpr std::size_t kMostSizes = 16;

const std::vector<std::string> kShapeKeys = {
    "id", "shape_id", "dims", "weight", "tolerance", "profile", "correctness_tolerance"};

bool is_shape_key(const std::string& key) {
  return std::find(kShapeKeys.begin(), kShapeKeys.end(), key) != kShapeKeys.end();
}

Result<void> split_axis(const std::vector<std::int64_t>& sizes, std::int64_t axis,
                        const Place& place, Dims& dims) {
  const auto rank = static_cast<std::int64_t>(sizes.size());
  if (axis < -rank || axis >= rank)
    return fail(ErrorCode::input, fmt::format("axis {} of a shape with {} sizes", axis, rank),
                place, fmt::format("axis must be from {} to {}", -rank, rank - 1));
  const std::int64_t at = axis < 0 ? axis + rank : axis;
  std::int64_t outer = 1;
  std::int64_t inner = 1;
  for (std::int64_t i = 0; i < rank; ++i) {
    std::int64_t& product = i < at ? outer : inner;
    if (i == at)
      continue;
    product *= sizes[static_cast<std::size_t>(i)];
    if (product > kLargestSize)
      return fail(ErrorCode::input, "the sizes beside the axis multiply to more than 2147483647",
                  place, "use a smaller shape");
  }
  dims["OUTER"] = outer;
  dims["R"] = sizes[static_cast<std::size_t>(at)];
  dims["INNER"] = inner;
  return {};
}

Result<void> read_row(const YamlNode& row, const ShapeGrammar& grammar, ShapeCase& shape) {
  std::vector<std::int64_t> sizes;
  if (row.items.empty() || row.items.size() > kMostSizes)
    return fail(ErrorCode::input, fmt::format("a shape with {} sizes", row.items.size()), row.place,
                fmt::format("give 1 to {} sizes", kMostSizes));
  for (const auto& item : row.items) {
    KERNEVO_TRY(size, read_integer(*item, "a size", 1, kLargestSize));
    sizes.push_back(size);
  }
  if (shape.id.empty())
    shape.id = fmt::format("{}", fmt::join(sizes, "x"));
  if (grammar.operation != nullptr && grammar.operation->any_rank)
    return split_axis(sizes, grammar.axis, row.place, shape.dims);
  if (grammar.names.empty())
    return fail(ErrorCode::input, "a list of sizes needs their names", row.place,
                "add 'dims: [M, N]' to the task, or write '{M: 128, N: 64}'");
  if (sizes.size() != grammar.names.size())
    return fail(ErrorCode::input,
                fmt::format("{} sizes where {} needs {}", sizes.size(),
                            grammar.operation != nullptr ? grammar.operation->info.name : "'dims'",
                            grammar.names.size()),
                row.place, fmt::format("give [{}]", fmt::join(grammar.names, ", ")));
  for (std::size_t i = 0; i < sizes.size(); ++i)
    shape.dims[grammar.names[i]] = sizes[i];
  return {};
}

Result<void> read_named(const YamlNode& map, const ShapeGrammar& grammar, bool meta_allowed,
                        ShapeCase& shape) {
  std::vector<std::string> known = grammar.names;
  for (const auto& [name, value] : grammar.attributes)
    known.push_back(name);
  std::vector<std::int64_t> sizes;
  for (const auto& [key, value] : map.entries) {
    if (meta_allowed && is_shape_key(key->text))
      continue;
    if (!known.empty() && std::find(known.begin(), known.end(), key->text) == known.end()) {
      std::vector<std::string> all = known;
      if (meta_allowed)
        all.insert(all.end(), kShapeKeys.begin(), kShapeKeys.end());
      YamlNode single;
      single.entries.emplace_back(key, value);
      KERNEVO_CHECK(check_keys(single, all, "a shape"));
    }
    if (!is_identifier(key->text))
      return fail(ErrorCode::input, fmt::format("'{}' cannot name a size", excerpt(key->text)),
                  key->place, "use letters, digits and '_'");
    const bool attribute = grammar.attributes.count(key->text) != 0;
    KERNEVO_TRY(size, read_integer(*value, key->text, attribute ? 0 : 1, kLargestSize));
    shape.dims[key->text] = size;
    sizes.push_back(size);
  }
  if (sizes.empty() || sizes.size() > kMostSizes)
    return fail(ErrorCode::input, fmt::format("a shape with {} sizes", sizes.size()), map.place,
                fmt::format("give 1 to {} sizes", kMostSizes));
  for (const std::string& name : grammar.names)
    if (shape.dims.count(name) == 0)
      return fail(ErrorCode::input, fmt::format("a shape without {}", name), map.place,
                  fmt::format("give {}", fmt::join(grammar.names, ", ")));
  if (shape.id.empty())
    shape.id = fmt::format("{}", fmt::join(sizes, "x"));
  return {};
}

Result<void> read_case(const YamlNode& map, const ShapeGrammar& grammar, ShapeCase& shape) {
  KERNEVO_TRY(id, find_one(map, {"id", "shape_id"}));
  if (id != nullptr) {
    KERNEVO_TRY(text, read_text(*id, "shape_id"));
    shape.id = excerpt(text);
  }
  if (const YamlNode* weight = map.find("weight")) {
    KERNEVO_TRY(value, read_number(*weight, {"weight", "", 0.0, 1e12, true}));
    shape.weight = value;
  }
  KERNEVO_TRY(tolerance, find_one(map, {"tolerance", "correctness_tolerance"}));
  if (tolerance != nullptr && tolerance->kind != YamlNode::Kind::null) {
    KERNEVO_TRY(value, read_number(*tolerance, {"tolerance", "", 0.0, 1.0, true}));
    shape.tolerance = value;
  }
  if (const YamlNode* profile = map.find("profile")) {
    KERNEVO_TRY(value, read_flag(*profile, "profile"));
    shape.profile = value;
  }
  const YamlNode* dims = map.find("dims");
  if (dims == nullptr)
    return read_named(map, grammar, true, shape);
  KERNEVO_CHECK(check_keys(map, kShapeKeys, "a shape with 'dims'"));
  if (dims->kind == YamlNode::Kind::map)
    return read_named(*dims, grammar, false, shape);
  KERNEVO_TRY(row, expect_list(*dims, "dims"));
  return read_row(*row, grammar, shape);
}

} // namespace

Result<std::vector<PlacedShape>> read_shapes(const YamlNode& node, const std::string& field,
                                             const ShapeGrammar& grammar) {
  KERNEVO_TRY(list, expect_list(node, field));
  if (list->items.size() > kMostShapes)
    return fail(ErrorCode::input, fmt::format("{} lists {} shapes", field, list->items.size()),
                node.place, fmt::format("give at most {}", kMostShapes));
  std::vector<PlacedShape> shapes;
  std::set<std::string> ids;
  for (const auto& item : list->items) {
    PlacedShape placed;
    placed.place = item->place;
    if (item->kind == YamlNode::Kind::sequence) {
      KERNEVO_CHECK(read_row(*item, grammar, placed.shape));
    } else if (item->kind == YamlNode::Kind::map) {
      KERNEVO_CHECK(read_case(*item, grammar, placed.shape));
    } else {
      return fail(ErrorCode::input,
                  fmt::format("a shape must be a list of sizes or a map, not {}", describe(*item)),
                  item->place, "write '- [4096, 4096]' or '- {M: 4096, N: 4096}'");
    }
    for (const auto& [name, value] : grammar.attributes)
      placed.shape.dims.emplace(name, value);
    if (!ids.insert(placed.shape.id).second)
      return fail(ErrorCode::input, fmt::format("shape '{}' is given twice", placed.shape.id),
                  item->place, "give each shape an id of its own, or remove one");
    shapes.push_back(std::move(placed));
  }
  return shapes;
}

} // namespace kernevo
