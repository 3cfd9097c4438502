#include "kernevo/base/suggest.h"
#include "kernevo/task/load_parts.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace kernevo {
namespace {

constexpr std::size_t kMostArguments = 64;
constexpr std::size_t kMostExtents = 8;
constexpr std::size_t kLongestExpression = 1000;

const std::vector<std::string> kDTypeNames = {"float32", "float16", "bfloat16",
                                              "float64", "int32",   "int8"};

using Kind = Distribution::Kind;
struct KindRow {
  const char* name;
  Kind kind;
  std::size_t numbers; // how many it takes at most
};
constexpr KindRow kKinds[] = {{"normal", Kind::normal, 2},     {"uniform", Kind::uniform, 2},
                              {"integers", Kind::integers, 2}, {"zeros", Kind::zeros, 0},
                              {"wide", Kind::wide, 0},         {"denormal", Kind::denormal, 0},
                              {"constant", Kind::constant, 1}, {"indices", Kind::indices, 2}};

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

// "a, f(b, c)" -> "a", "f(b, c)".
std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      parts.emplace_back(trim(text.substr(start, i - start)));
      start = i + 1;
    } else if (text[i] == '(') {
      ++depth;
    } else if (text[i] == ')') {
      --depth;
    }
  }
  return parts;
}

Result<Expression> parse_over(const std::string& text, const Place& place, const std::string& field,
                              const std::vector<std::string>& dimensions) {
  if (text.size() > kLongestExpression)
    return fail(ErrorCode::input, fmt::format("{} is {} characters long", field, text.size()),
                place, fmt::format("at most {}", kLongestExpression));
  KERNEVO_TRY(expression, Expression::parse(text, place));
  for (const std::string& name : expression.names())
    if (std::find(dimensions.begin(), dimensions.end(), name) == dimensions.end())
      return fail(ErrorCode::input,
                  fmt::format("{} uses '{}', which no shape gives{}", field, excerpt(name),
                              did_you_mean(excerpt(name), dimensions)),
                  place, fmt::format("the dimensions are {}", fmt::join(dimensions, ", ")));
  return expression;
}

Result<std::vector<Expression>> read_extents(const YamlNode& node, const std::string& field,
                                             const std::vector<std::string>& dimensions) {
  std::vector<std::pair<std::string, Place>> texts;
  if (node.kind == YamlNode::Kind::sequence) {
    for (const auto& item : node.items) {
      KERNEVO_TRY(text, read_text(*item, field));
      texts.emplace_back(text, item->place);
    }
  } else {
    KERNEVO_TRY(text, read_text(node, field));
    std::string_view inner = trim(text);
    if (inner.size() >= 2 && inner.front() == '[' && inner.back() == ']')
      inner = trim(inner.substr(1, inner.size() - 2));
    if (!inner.empty())
      for (std::string& part : split_list(inner))
        texts.emplace_back(std::move(part), node.place);
  }
  if (texts.size() > kMostExtents)
    return fail(ErrorCode::input, fmt::format("{} has {} extents", field, texts.size()), node.place,
                fmt::format("at most {}", kMostExtents));
  std::vector<Expression> extents;
  for (const auto& [text, place] : texts) {
    KERNEVO_TRY(extent, parse_over(text, place, field, dimensions));
    extents.push_back(extent);
  }
  return extents;
}

Result<Direction> read_direction(const YamlNode& node) {
  KERNEVO_TRY(text, read_text(node, "direction"));
  if (text == "in")
    return Direction::in;
  if (text == "out")
    return Direction::out;
  if (text == "inout")
    return Direction::inout;
  return fail(ErrorCode::input,
              fmt::format("direction must be in, out or inout, not '{}'", excerpt(text)),
              node.place);
}

Result<Distribution> make_distribution(const std::string& name, const std::vector<double>& numbers,
                                       const Place& place) {
  std::vector<std::string> names;
  for (const KindRow& row : kKinds) {
    names.emplace_back(row.name);
    if (name != row.name)
      continue;
    if (numbers.size() > row.numbers || (row.numbers == 1 && numbers.empty()))
      return fail(
          ErrorCode::input,
          fmt::format("init '{}' takes {} numbers, not {}", name, row.numbers, numbers.size()),
          place, "for example normal, uniform(0.5, 2), integers(-3, 3), constant(1)");
    Distribution result;
    result.kind = row.kind;
    if (!numbers.empty())
      result.low = numbers[0];
    if (numbers.size() > 1)
      result.high = numbers[1];
    const bool ranged =
        row.kind == Kind::uniform || row.kind == Kind::integers || row.kind == Kind::indices;
    if (ranged && (numbers.size() == 1 || result.low > result.high))
      return fail(ErrorCode::input, fmt::format("init '{}' needs a low and a high number", name),
                  place, fmt::format("write {}(0, 10)", name));
    if (row.kind == Kind::normal && result.high < 0)
      return fail(ErrorCode::input, "init 'normal' has a negative deviation", place,
                  "write normal(mean, deviation)");
    return result;
  }
  return fail(ErrorCode::input,
              fmt::format("unknown init '{}'{}", excerpt(name), did_you_mean(excerpt(name), names)),
              place, fmt::format("use one of {}", fmt::join(names, ", ")));
}

Result<double> distribution_number(const std::string& text, const Place& place) {
  YamlNode node;
  node.kind = YamlNode::Kind::scalar;
  node.plain = true;
  node.text = text;
  node.place = place;
  // Beyond this nothing distinguishes integers in a double.
  return read_number(node, {"a number of init", "", -0x1p53, 0x1p53, false});
}

// "uniform(0.5, 2)" or {kind: uniform, low: 0.5, high: 2}.
Result<Distribution> read_distribution(const YamlNode& node) {
  if (node.kind == YamlNode::Kind::map) {
    KERNEVO_CHECK(check_keys(node, {"kind", "low", "high", "value", "mean", "deviation"}, "init"));
    const YamlNode* kind = node.find("kind");
    if (kind == nullptr)
      return fail(ErrorCode::input, "init has no kind", node.place, "add 'kind: uniform'");
    KERNEVO_TRY(name, read_text(*kind, "kind"));
    std::vector<double> numbers;
    for (const std::vector<std::string>& keys :
         {std::vector<std::string>{"low", "value", "mean"}, {"high", "deviation"}}) {
      KERNEVO_TRY(number, find_one(node, keys));
      if (number == nullptr)
        continue;
      KERNEVO_TRY(value, distribution_number(number->text, number->place));
      numbers.push_back(value);
    }
    return make_distribution(name, numbers, node.place);
  }
  KERNEVO_TRY(text, read_text(node, "init"));
  const auto open = text.find('(');
  std::vector<double> numbers;
  if (open != std::string::npos) {
    if (trim(text).back() != ')')
      return fail(ErrorCode::input, fmt::format("init '{}' lacks its ')'", excerpt(text)),
                  node.place, "write uniform(0.5, 2)");
    const std::string_view inner =
        std::string_view(text).substr(open + 1, text.rfind(')') - open - 1);
    for (const std::string& part : split_list(inner)) {
      KERNEVO_TRY(value, distribution_number(part, node.place));
      numbers.push_back(value);
    }
  }
  return make_distribution(std::string(trim(std::string_view(text).substr(0, open))), numbers,
                           node.place);
}

Result<std::string> read_name(const YamlNode& map, const std::string& what) {
  const YamlNode* node = map.find("name");
  if (node == nullptr)
    return fail(ErrorCode::input, fmt::format("{} has no name", what), map.place, "add 'name: A'");
  KERNEVO_TRY(name, read_text(*node, "name"));
  if (!is_identifier(name))
    return fail(ErrorCode::input, fmt::format("'{}' cannot name {}", excerpt(name), what),
                node->place, "use letters, digits and '_'");
  return name;
}

Result<ArgumentSpec> read_argument(const YamlNode& node, DType task_dtype,
                                   const std::vector<std::string>& dimensions) {
  KERNEVO_TRY(map, expect_map(node, "an argument"));
  KERNEVO_CHECK(check_keys(*map, {"name", "direction", "dtype", "shape", "init"}, "an argument"));
  ArgumentSpec argument;
  KERNEVO_TRY(name, read_name(*map, "an argument"));
  argument.name = name;
  argument.dtype = task_dtype;
  if (const YamlNode* direction = map->find("direction")) {
    KERNEVO_TRY(value, read_direction(*direction));
    argument.direction = value;
  }
  if (const YamlNode* dtype = map->find("dtype")) {
    KERNEVO_TRY(value, read_dtype(*dtype, "dtype"));
    argument.dtype = value;
  }
  const YamlNode* shape = map->find("shape");
  if (shape == nullptr)
    return fail(ErrorCode::input, fmt::format("argument '{}' has no shape", argument.name),
                map->place, "add 'shape: [M, K]'");
  KERNEVO_TRY(extents,
              read_extents(*shape, fmt::format("shape of '{}'", argument.name), dimensions));
  argument.shape = extents;
  if (const YamlNode* init = map->find("init")) {
    if (argument.direction == Direction::out)
      return fail(ErrorCode::input, fmt::format("output '{}' has an init", argument.name),
                  init->place, "outputs are poisoned before every run; remove it or use inout");
    KERNEVO_TRY(value, read_distribution(*init));
    argument.initial = value;
    argument.fixed_distribution = true;
  }
  return argument;
}

} // namespace

Result<DType> read_dtype(const YamlNode& node, const std::string& field) {
  KERNEVO_TRY(text, read_text(node, field));
  if (const auto dtype = parse_dtype(text))
    return *dtype;
  const std::vector<std::string> known_elsewhere = {"uint8", "uint16", "uint32", "uint64", "int16"};
  const bool known =
      std::find(known_elsewhere.begin(), known_elsewhere.end(), text) != known_elsewhere.end();
  return fail(ErrorCode::input,
              known ? fmt::format("{} {} is not supported", field, text)
                    : fmt::format("unknown {} '{}'{}", field, excerpt(text),
                                  did_you_mean(excerpt(text), kDTypeNames)),
              node.place, fmt::format("use one of {}", fmt::join(kDTypeNames, ", ")));
}

Result<std::vector<ArgumentSpec>> read_arguments(const YamlNode& node, DType task_dtype,
                                                 const std::vector<std::string>& dimensions) {
  KERNEVO_TRY(list, expect_list(node, "arguments"));
  if (list->items.empty() || list->items.size() > kMostArguments)
    return fail(ErrorCode::input, fmt::format("{} arguments", list->items.size()), node.place,
                fmt::format("give 1 to {}", kMostArguments));
  std::vector<ArgumentSpec> arguments;
  std::set<std::string> names(dimensions.begin(), dimensions.end());
  bool writes = false;
  for (const auto& item : list->items) {
    KERNEVO_TRY(argument, read_argument(*item, task_dtype, dimensions));
    if (!names.insert(argument.name).second)
      return fail(ErrorCode::input, fmt::format("'{}' names two things", argument.name),
                  item->place, "every argument and dimension needs a name of its own");
    writes = writes || argument.direction != Direction::in;
    arguments.push_back(std::move(argument));
  }
  if (!writes)
    return fail(ErrorCode::input, "no argument is an output", node.place,
                "add 'direction: out' to the one the kernel writes");
  return arguments;
}

Result<void> override_arguments(const YamlNode& node, std::vector<ArgumentSpec>& arguments) {
  KERNEVO_TRY(list, expect_list(node, "arguments"));
  std::vector<std::string> names;
  for (const ArgumentSpec& argument : arguments)
    names.push_back(argument.name);
  for (const auto& item : list->items) {
    KERNEVO_TRY(map, expect_map(*item, "an argument"));
    KERNEVO_TRY(name, read_name(*map, "an argument"));
    for (const auto& [key, value] : map->entries)
      if (key->text == "direction" || key->text == "dtype" || key->text == "shape")
        return fail(ErrorCode::input,
                    fmt::format("the operation fixes the {} of '{}'", key->text, name), key->place,
                    "remove it, or give the operation a name of its own to define all arguments");
    KERNEVO_CHECK(check_keys(*map, {"name", "init"}, "an argument of a catalogue operation"));
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
      return fail(
          ErrorCode::input,
          fmt::format("the operation has no argument '{}'{}", name, did_you_mean(name, names)),
          item->place, fmt::format("its arguments are {}", fmt::join(names, ", ")));
    ArgumentSpec& argument = arguments[static_cast<std::size_t>(found - names.begin())];
    const YamlNode* init = map->find("init");
    if (init == nullptr)
      continue;
    if (argument.direction == Direction::out || argument.initial.kind == Kind::indices)
      return fail(ErrorCode::input, fmt::format("the operation fixes how '{}' is filled", name),
                  init->place, "remove the init");
    KERNEVO_TRY(distribution, read_distribution(*init));
    argument.initial = distribution;
    argument.fixed_distribution = true;
  }
  return {};
}

Result<std::vector<ScalarSpec>> read_scalars(const YamlNode& node, DType task_dtype) {
  const DType fallback = task_dtype == DType::float64 ? DType::float64 : DType::float32;
  std::vector<ScalarSpec> scalars;
  std::set<std::string> names;
  const auto add = [&](ScalarSpec scalar, const Place& place) -> Result<void> {
    if (!names.insert(scalar.name).second)
      return fail(ErrorCode::input, fmt::format("scalar '{}' is given twice", scalar.name), place,
                  "remove one");
    if (!is_floating(scalar.dtype) && scalar.value != std::nearbyint(scalar.value))
      return fail(ErrorCode::input, fmt::format("scalar '{}' is not a whole number", scalar.name),
                  place, fmt::format("its dtype is {}", name_of(scalar.dtype)));
    scalars.push_back(std::move(scalar));
    return {};
  };
  const auto read_typed = [&](const YamlNode& map, ScalarSpec& scalar) -> Result<void> {
    if (const YamlNode* dtype = map.find("dtype")) {
      KERNEVO_TRY(value, read_dtype(*dtype, "dtype"));
      scalar.dtype = value;
    }
    const YamlNode* value = map.find("value");
    if (value == nullptr)
      return fail(ErrorCode::input, fmt::format("scalar '{}' has no value", scalar.name), map.place,
                  "add 'value: 1.0'");
    KERNEVO_TRY(number, read_number(*value, {scalar.name, ""}));
    scalar.value = number;
    return {};
  };
  if (node.kind == YamlNode::Kind::map) {
    for (const auto& [key, value] : node.entries) {
      if (!is_identifier(key->text))
        return fail(ErrorCode::input, fmt::format("'{}' cannot name a scalar", excerpt(key->text)),
                    key->place, "use letters, digits and '_'");
      ScalarSpec scalar{key->text, fallback, 0.0};
      if (value->kind == YamlNode::Kind::map) {
        KERNEVO_CHECK(check_keys(*value, {"dtype", "value"}, "a scalar"));
        KERNEVO_CHECK(read_typed(*value, scalar));
      } else {
        KERNEVO_TRY(number, read_number(*value, {key->text, ""}));
        scalar.value = number;
      }
      KERNEVO_CHECK(add(std::move(scalar), key->place));
    }
    return scalars;
  }
  KERNEVO_TRY(list, expect_list(node, "scalars"));
  for (const auto& item : list->items) {
    KERNEVO_TRY(map, expect_map(*item, "a scalar"));
    KERNEVO_CHECK(check_keys(*map, {"name", "dtype", "value"}, "a scalar"));
    KERNEVO_TRY(name, read_name(*map, "a scalar"));
    ScalarSpec scalar{name, fallback, 0.0};
    KERNEVO_CHECK(read_typed(*map, scalar));
    KERNEVO_CHECK(add(std::move(scalar), map->place));
  }
  return scalars;
}

Result<Expression> read_expression(const YamlNode& node, const std::string& field,
                                   const std::vector<std::string>& dimensions) {
  KERNEVO_TRY(text, read_text(node, field));
  return parse_over(text, node.place, field, dimensions);
}

} // namespace kernevo
