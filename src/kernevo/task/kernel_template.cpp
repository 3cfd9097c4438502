#include "kernevo/task/kernel_template.h"

#include "kernevo/model/cuda_type.h"
#include "kernevo/task/catalogue.h"
#include "kernevo/task/operation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <vector>

namespace kernevo {
namespace {

using Values = std::map<std::string, std::string>;

const Values kFunctions = {
    {"identity", "v"},
    {"copy", "v"},
    {"relu", "v > 0 ? v : static_cast<Acc>(0)"},
    {"gelu", "v * (1 + erf(v * static_cast<Acc>(0.70710678118654752))) / 2"},
    {"gelu_tanh",
     "v * (1 + tanh(static_cast<Acc>(0.79788456080286536) *\n"
     "                                  (v + static_cast<Acc>(0.044715) * v * v * v))) / 2"},
    {"sigmoid", "1 / (1 + exp(-v))"},
    {"tanh", "tanh(v)"},
    {"silu", "v / (1 + exp(-v))"},
    {"exp", "exp(v)"},
    {"log", "log(v)"},
    {"sqrt", "sqrt(v)"},
    {"rsqrt", "1 / sqrt(v)"},
    {"abs", "v < 0 ? -v : v"},
    {"neg", "-v"},
    {"square", "v * v"},
    {"softplus", "fmax(v, static_cast<Acc>(0)) + log1p(exp(-fabs(v)))"},
    {"hardswish", "v * fmin(fmax(v + 3, static_cast<Acc>(0)), static_cast<Acc>(6)) / 6"},
    {"mish", "v * tanh(fmax(v, static_cast<Acc>(0)) + log1p(exp(-fabs(v))))"},
    {"leaky_relu", "v > 0 ? v : alpha * v"},
    {"elu", "v > 0 ? v : alpha * expm1(v)"},
    {"add", "a + b"},
    {"sub", "a - b"},
    {"mul", "a * b"},
    {"div", "a / b"},
    {"maximum", "a > b ? a : b"},
    {"minimum", "a < b ? a : b"},
    {"sum", "a + b"},
    {"mean", "a + b"},
    {"avg", "a + b"},
    {"max", "a > b ? a : b"},
    {"min", "a < b ? a : b"},
};

const char* accumulator_type(DType dtype) {
  if (!is_floating(dtype))
    return "int";
  return dtype == DType::float64 ? "double" : "float";
}

void replace_first(std::string& text, std::string_view from, std::string_view to) {
  const auto at = text.find(from);
  if (at != std::string::npos)
    text.replace(at, from.size(), to);
}

// "A, B, C, M" of "kernel<<<...>>>(A, B, C, M)".
std::vector<std::string> launch_arguments(const std::string& launch) {
  const auto open = launch.find('(', launch.find(">>>"));
  std::vector<std::string> names;
  std::string name;
  for (const char c : launch.substr(open + 1)) {
    if (c == ',' || c == ')') {
      names.push_back(name);
      name.clear();
    } else if (c != ' ') {
      name += c;
    }
  }
  return names;
}

std::string parameter(const Operation& op, const std::string& name,
                      const std::string& scalar_type) {
  for (const ArgumentTemplate& argument : op.arguments)
    if (argument.name == name) {
      const bool reads = argument.direction == Direction::in;
      const char* type = argument.type == ElementType::index ? "int" : reads ? "Element" : "Out";
      return fmt::format("{}{}* {}", reads ? "const " : "", type, name);
    }
  for (const ScalarSpec& scalar : op.scalars)
    if (scalar.name == name)
      return fmt::format("{} {}", scalar_type, name);
  return "int " + name;
}

std::string types(const Operation& op, DType dtype) {
  const ArgumentTemplate& result = op.arguments.back();
  std::string text;
  if (!cuda_header(dtype).empty())
    text += fmt::format("#include <{}>\n\n", cuda_header(dtype));
  text += fmt::format("using Element = {};\n", cuda_type(dtype));
  if (op.family != Family::transpose && op.family != Family::embedding)
    text += fmt::format("using Acc = {}; // what it is computed in\n", accumulator_type(dtype));
  if (op.family != Family::argmax)
    text += fmt::format("using Out = {};\n", cuda_type(element_type(result.type, dtype)));
  return text;
}

// As a C++ parameter list, broken where it gets long.
std::string list_parameters(const std::vector<std::string>& parameters, std::size_t indent) {
  constexpr std::size_t kWidth = 60;
  std::string list;
  std::size_t column = 0;
  for (const std::string& entry : parameters) {
    if (!list.empty())
      list += ",";
    if (column + entry.size() > kWidth) {
      list += '\n';
      list.append(indent, ' ');
      column = 0;
    } else if (!list.empty()) {
      list += " ";
    }
    list += entry;
    column += entry.size() + 2;
  }
  return list;
}

// What leaves any other operand of a reduction as it is.
std::string identity_of(const std::string& function, DType dtype) {
  const bool floating = is_floating(dtype);
  if (function == "max")
    return floating ? "-static_cast<Acc>(INFINITY)" : "-2147483647 - 1";
  if (function == "min")
    return floating ? "static_cast<Acc>(INFINITY)" : "2147483647";
  return "static_cast<Acc>(0)";
}

std::string result_of(const Operation& op) {
  if (op.function == "mean")
    return "a / R";
  if (op.function == "avg")
    return op.info.name.ends_with("1d") ? "a / kernel" : "a / (kernel * kernel)";
  return "a";
}

constexpr std::size_t kVectorBytes = 16; // the widest access of a thread

Values template_values(const Operation& op, DType dtype, const std::string& name) {
  Values values;
  values["name"] = name;
  values["types"] = types(op, dtype);
  const std::vector<std::string> arguments = launch_arguments(op.launch);
  values["arguments"] = fmt::format("{}", fmt::join(arguments, ", "));
  std::vector<std::string> plain;
  std::vector<std::string> restricted;
  for (const std::string& argument : arguments) {
    plain.push_back(parameter(op, argument, accumulator_type(dtype)));
    restricted.push_back(plain.back());
    replace_first(restricted.back(), "* ", "* __restrict__ ");
  }
  const std::size_t indent = std::string_view("extern \"C\" __global__ void (").size();
  values["parameters"] = list_parameters(plain, indent + name.size());
  values["restrict_parameters"] = list_parameters(restricted, 4);
  values["element"] = cuda_type(dtype);
  values["vector"] = std::to_string(kVectorBytes / size_of(dtype));
  const auto function = kFunctions.find(op.function);
  values["expression"] = function != kFunctions.end() ? function->second : "v";
  values["identity"] = identity_of(op.function, dtype);
  values["result"] = result_of(op);
  values["a_index"] = op.transposed_a ? "static_cast<long long>(k) * M + row"
                                      : "static_cast<long long>(row) * K + k";
  values["b_index"] = op.transposed_b ? "static_cast<long long>(col) * K + k"
                                      : "static_cast<long long>(k) * N + col";
  values["scratch"] = accumulator_type(dtype) == std::string("double") ? "float64" : "float32";
  return values;
}

std::map<std::string, bool> template_flags(const Operation& op, DType dtype) {
  std::map<std::string, bool> flags = {{"batched", op.info.name == "batched_matmul"},
                                       {"bias", op.bias},
                                       {"transposed_a", op.transposed_a},
                                       {"transposed_b", op.transposed_b},
                                       {"floating", is_floating(dtype)},
                                       {"half", is_floating(dtype) && size_of(dtype) == 2},
                                       {"activation", op.function != "identity"},
                                       {"alpha", false}};
  for (const ScalarSpec& scalar : op.scalars)
    flags[scalar.name] = true;
  for (const DType type : {DType::float32, DType::float16, DType::bfloat16, DType::float64,
                           DType::int32, DType::int8, DType::int64})
    flags[std::string(name_of(type))] = type == dtype;
  // Operations that share a template are told apart by their name.
  for (const Operation& other : operation_table())
    flags[other.info.name] = other.info.name == op.info.name;
  return flags;
}

} // namespace

Result<TemplateContext> template_context(const std::string& operation, DType dtype,
                                         const std::string& kernel) {
  const Operation* op = find_table_row(operation);
  if (op == nullptr)
    return fail(ErrorCode::input, fmt::format("'{}' is not in the catalogue", operation));
  return TemplateContext{template_values(*op, dtype, kernel), template_flags(*op, dtype)};
}

} // namespace kernevo
