#include "kernevo/task/catalogue.h"

#include "kernevo/base/suggest.h"
#include "kernevo/task/operation.h"

#include <algorithm>
#include <cassert>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kernevo {
namespace {

Result<void> reject(std::string message, std::string fix) {
  return fail(ErrorCode::input, std::move(message), std::nullopt, std::move(fix));
}

// The output size of a window sliding over a padded extent.
Result<void> derive_output(Dims& dims, const char* input, const std::string& window,
                           const char* output) {
  const std::int64_t extent = dims.at(input) + 2 * dims.at("padding");
  const std::int64_t span = dims.at(window);
  if (span > extent)
    return reject(
        fmt::format("{} = {} is wider than the padded {} = {}", window, span, input, extent),
        fmt::format("use a larger {}, a smaller {} or more padding", input, window));
  dims[output] = (extent - span) / dims.at("stride") + 1;
  return {};
}

Result<void> check_window(const Dims& dims) {
  constexpr std::int64_t limit = 1 << 20;
  if (dims.at("stride") < 1 || dims.at("stride") > limit)
    return reject(fmt::format("stride is {}", dims.at("stride")), "use 1 or more");
  if (dims.at("padding") < 0 || dims.at("padding") > limit)
    return reject(fmt::format("padding is {}", dims.at("padding")), "use 0 or more");
  return {};
}

Result<void> derive_conv(Dims& dims) {
  KERNEVO_CHECK(check_window(dims));
  const std::int64_t groups = dims.at("groups");
  if (groups < 1)
    return reject(fmt::format("groups is {}", groups), "use 1 or more");
  for (const char* channels : {"C", "K"})
    if (dims.at(channels) % groups != 0)
      return reject(fmt::format("{} = {} is not a multiple of groups = {}", channels,
                                dims.at(channels), groups),
                    "make the channels divisible by the groups");
  if (dims.count("L") != 0)
    return derive_output(dims, "L", "R", "P");
  KERNEVO_CHECK(derive_output(dims, "H", "R", "P"));
  return derive_output(dims, "W", "S", "Q");
}

Result<void> derive_pool(Dims& dims) {
  KERNEVO_CHECK(check_window(dims));
  if (dims.at("kernel") < 1)
    return reject(fmt::format("kernel is {}", dims.at("kernel")), "use 1 or more");
  if (dims.at("padding") > dims.at("kernel") / 2)
    return reject(fmt::format("padding = {} is more than half of kernel = {}", dims.at("padding"),
                              dims.at("kernel")),
                  "a window would see padding only; use less padding");
  if (dims.count("L") != 0)
    return derive_output(dims, "L", "kernel", "P");
  KERNEVO_CHECK(derive_output(dims, "H", "kernel", "P"));
  return derive_output(dims, "W", "kernel", "Q");
}

Expression must_parse(const std::string& text) {
  auto expression = Expression::parse(text);
  assert(expression && "the catalogue's own expressions parse");
  return *expression;
}

// Every input read once and every output written once.
std::string compulsory_bytes(const Operation& op, DType dtype) {
  std::vector<std::string> terms;
  for (std::size_t i = 0; i < op.arguments.size(); ++i) {
    const ArgumentTemplate& argument = op.arguments[i];
    const std::size_t passes = argument.direction == Direction::inout ? 2 : 1;
    const std::string elements = i < op.reads.size() && !op.reads[i].empty()
                                     ? op.reads[i]
                                     : fmt::format("({})", fmt::join(argument.shape, ") * ("));
    terms.push_back(
        fmt::format("{} * {}", passes * size_of(element_type(argument.type, dtype)), elements));
  }
  return fmt::format("{}", fmt::join(terms, " + "));
}

// Integers have no bell curve: ranges where sums stay meaningful and 8-bit results do not overflow.
Distribution integer_distribution(const Operation& op, const ArgumentTemplate& argument,
                                  DType dtype) {
  const auto range = [](double low, double high) {
    return Distribution{Distribution::Kind::integers, low, high};
  };
  if (op.function == "div" && argument.name == "B")
    return range(1, 11);
  if (dtype == DType::int32)
    return range(-1000, 1000);
  if (op.function == "mul" || op.function == "square")
    return range(-11, 11);
  if (op.family == Family::binary || op.family == Family::bias)
    return range(-60, 60);
  if (op.function == "neg" || op.function == "abs")
    return range(-127, 127);
  return range(-128, 127);
}

ArgumentSpec make_argument(const Operation& op, const ArgumentTemplate& from, DType task_dtype) {
  ArgumentSpec argument;
  argument.name = from.name;
  argument.direction = from.direction;
  argument.dtype = element_type(from.type, task_dtype);
  for (const std::string& extent : from.shape)
    argument.shape.push_back(must_parse(extent));
  argument.initial = from.initial;
  argument.fixed_distribution = from.fixed_distribution;
  if (!is_floating(argument.dtype) && from.type == ElementType::task)
    argument.initial = integer_distribution(op, from, argument.dtype);
  return argument;
}

} // namespace

const std::vector<OperationInfo>& operations() {
  static const std::vector<OperationInfo> infos = [] {
    std::vector<OperationInfo> list;
    for (const Operation& op : operation_table())
      list.push_back(op.info);
    std::sort(list.begin(), list.end(),
              [](const OperationInfo& a, const OperationInfo& b) { return a.name < b.name; });
    return list;
  }();
  return infos;
}

const OperationInfo* find_operation(const std::string& name_or_alias) {
  const Operation* row = find_table_row(name_or_alias);
  return row == nullptr ? nullptr : &row->info;
}

std::vector<DerivedSize> derived_sizes(const std::string& operation) {
  const Operation* op = find_table_row(operation);
  if (op == nullptr || (op->family != Family::conv && op->family != Family::pool))
    return {};
  const std::vector<std::string> sizes = size_names(*op);
  const auto output = [&](const std::string& name, const std::string& input,
                          const std::string& window) {
    const std::string span = op->family == Family::conv ? window : "kernel";
    return DerivedSize{
        name, must_parse(fmt::format("({} + 2 * padding - {}) / stride + 1", input, span))};
  };
  if (std::find(sizes.begin(), sizes.end(), "L") != sizes.end())
    return {output("P", "L", "R")};
  return {output("P", "H", "R"), output("Q", "W", "S")};
}

Result<void> derive_dims(const Operation& op, Dims& dims) {
  for (const DimensionSpec& dimension : op.info.dimensions) {
    if (dimension.attribute && !op.any_rank)
      dims.emplace(dimension.name, dimension.fallback);
    if (!dimension.attribute && dims.count(dimension.name) == 0)
      return reject(fmt::format("size {} is missing", dimension.name),
                    fmt::format("{} needs {}", op.info.name, fmt::join(size_names(op), ", ")));
  }
  switch (op.family) {
  case Family::conv: return derive_conv(dims);
  case Family::pool: return derive_pool(dims);
  case Family::group_norm:
    if (dims.at("C") % dims.at("G") != 0)
      return reject(fmt::format("C = {} is not a multiple of G = {}", dims.at("C"), dims.at("G")),
                    "make the channels divisible by the groups");
    return {};
  case Family::attention:
    if (dims.at("causal") != 0 && dims.at("causal") != 1)
      return reject(fmt::format("causal is {}", dims.at("causal")), "use 0 or 1");
    return {};
  default: return {};
  }
}

Result<void> complete_from_catalogue(Task& task) {
  const Operation* op = find_table_row(task.operation);
  if (op == nullptr) {
    std::vector<std::string> names;
    for (const OperationInfo& info : operations())
      names.push_back(info.name);
    return fail(ErrorCode::input,
                fmt::format("operation '{}' is not in the catalogue{}", task.operation,
                            did_you_mean(task.operation, names)),
                std::nullopt, "docs/operations.md lists the operations");
  }
  task.operation = op->info.name;
  if (std::find(op->info.dtypes.begin(), op->info.dtypes.end(), task.dtype) ==
      op->info.dtypes.end()) {
    std::vector<std::string_view> names;
    for (const DType dtype : op->info.dtypes)
      names.push_back(name_of(dtype));
    return fail(ErrorCode::input,
                fmt::format("{} does not support dtype {}", op->info.name, name_of(task.dtype)),
                std::nullopt, fmt::format("use one of {}", fmt::join(names, ", ")));
  }
  for (std::vector<ShapeCase>* list : {&task.shapes, &task.check_shapes})
    for (ShapeCase& shape : *list)
      KERNEVO_CHECK(derive_dims(*op, shape.dims));
  if (task.semantics.empty())
    task.semantics = op->info.semantics;
  if (task.arguments.empty())
    for (const ArgumentTemplate& argument : op->arguments)
      task.arguments.push_back(make_argument(*op, argument, task.dtype));
  if (task.scalars.empty())
    task.scalars = op->scalars;
  for (ScalarSpec& scalar : task.scalars)
    scalar.dtype = task.dtype == DType::float64 ? DType::float64 : DType::float32;
  if (!task.work.flops)
    task.work.flops = must_parse(op->flops);
  if (!task.work.bytes)
    task.work.bytes = must_parse(compulsory_bytes(*op, task.dtype));
  if (task.default_launch.empty())
    task.default_launch = op->launch;
  return {};
}

} // namespace kernevo
