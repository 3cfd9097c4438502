#include "kernevo/base/files.h"
#include "kernevo/base/suggest.h"
#include "kernevo/model/gpu.h"
#include "kernevo/task/catalogue.h"
#include "kernevo/task/operation.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace kernevo {
namespace {

constexpr const char* kKernelFile = "naive.cu";

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

// A shape of moderate size to begin with, per operation family.
const std::map<Family, std::vector<std::int64_t>> kFirstShapes = {
    {Family::matmul, {1024, 1024, 1024}},
    {Family::matvec, {4096, 4096}},
    {Family::unary, {1 << 24}},
    {Family::binary, {1 << 24}},
    {Family::axpy, {1 << 24}},
    {Family::reduction, {4096, 4096}},
    {Family::argmax, {4096, 4096}},
    {Family::batch_norm, {32, 64, 3136}},
    {Family::group_norm, {32, 64, 3136, 8}},
    {Family::embedding, {8192, 50257, 768}},
    {Family::attention, {2, 8, 1024, 64}},
};

std::vector<std::int64_t> first_shape(const Operation& op) {
  if (op.info.name == "batched_matmul")
    return {16, 512, 512, 512};
  if (op.info.name == "conv1d")
    return {16, 64, 4096, 128, 5};
  if (op.info.name == "conv2d")
    return {16, 64, 56, 56, 64, 3, 3};
  if (op.family == Family::pool)
    return op.info.name.ends_with("1d") ? std::vector<std::int64_t>{32, 64, 8192}
                                        : std::vector<std::int64_t>{32, 64, 112, 112};
  const auto found = kFirstShapes.find(op.family);
  return found != kFirstShapes.end() ? found->second : std::vector<std::int64_t>{4096, 4096};
}

const char* cuda_type(DType dtype) {
  switch (dtype) {
  case DType::float32: return "float";
  case DType::float16: return "__half";
  case DType::bfloat16: return "__nv_bfloat16";
  case DType::float64: return "double";
  case DType::int32: return "int";
  case DType::int8: return "signed char";
  case DType::int64: return "long long";
  }
  return "float";
}

const char* accumulator_type(DType dtype) {
  if (!is_floating(dtype))
    return "int";
  return dtype == DType::float64 ? "double" : "float";
}

std::string template_name(const Operation& op) {
  switch (op.family) {
  case Family::matmul: return "matmul";
  case Family::matvec: return "matvec";
  case Family::unary: return "unary";
  case Family::binary: return "binary";
  case Family::bias: return "bias";
  case Family::reduction: return "reduction";
  case Family::pool: return op.info.name.ends_with("1d") ? "pool1d" : "pool2d";
  default: return op.info.name; // the only member of its family, or told apart by its name
  }
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

void replace(std::string& text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  if (at != std::string::npos)
    text.replace(at, from.size(), to);
}

// One thread does what the default launch gives a block to do.
std::string starter_launch(const Operation& op, const std::string& name) {
  std::string launch = op.launch;
  replace(launch, "kernel", name);
  replace(launch, "<<<M, 256>>>", "<<<ceil_div(M, 64), 64>>>");
  replace(launch, "<<<N * G, 256>>>", "<<<ceil_div(N * G, 64), 64>>>");
  if (op.family == Family::attention)
    replace(launch, "causal)", "causal, weights)");
  return launch;
}

std::string types(const Operation& op, DType dtype) {
  const ArgumentTemplate& result = op.arguments.back();
  std::string text;
  if (dtype == DType::float16)
    text += "#include <cuda_fp16.h>\n\n";
  if (dtype == DType::bfloat16)
    text += "#include <cuda_bf16.h>\n\n";
  text += fmt::format("using Element = {};\n", cuda_type(dtype));
  if (op.family != Family::transpose && op.family != Family::embedding)
    text += fmt::format("using Acc = {}; // what it is computed in\n", accumulator_type(dtype));
  if (op.family != Family::argmax)
    text += fmt::format("using Out = {};\n", cuda_type(element_type(result.type, dtype)));
  return text;
}

Values template_values(const Operation& op, DType dtype) {
  const std::string name = op.info.name + "_kernel";
  Values values;
  values["name"] = name;
  values["launch"] = starter_launch(op, name);
  values["types"] = types(op, dtype);
  std::vector<std::string> parameters;
  for (const std::string& argument : launch_arguments(op.launch))
    parameters.push_back(parameter(op, argument, accumulator_type(dtype)));
  if (op.family == Family::attention)
    parameters.emplace_back("Acc* weights");
  const std::string indent = "\n" + std::string(29 + name.size(), ' ');
  std::string list;
  std::size_t column = 0;
  for (const std::string& entry : parameters) {
    if (!list.empty())
      list += ",";
    if (column + entry.size() > 60) {
      list += indent;
      column = 0;
    } else if (!list.empty()) {
      list += " ";
    }
    list += entry;
    column += entry.size() + 2;
  }
  values["parameters"] = list;
  const auto function = kFunctions.find(op.function);
  values["expression"] = function != kFunctions.end() ? function->second : "v";
  values["result"] = op.function == "mean"                                  ? "a / R"
                     : op.function == "avg" && op.info.name.ends_with("1d") ? "a / kernel"
                     : op.function == "avg" ? "a / (kernel * kernel)"
                                            : "a";
  values["a_index"] = op.transposed_a ? "static_cast<long long>(k) * M + row"
                                      : "static_cast<long long>(row) * K + k";
  values["b_index"] = op.transposed_b ? "static_cast<long long>(col) * K + k"
                                      : "static_cast<long long>(k) * N + col";
  values["scratch"] = accumulator_type(dtype) == std::string("double") ? "float64" : "float32";
  return values;
}

// Replaces {{key}} and keeps or drops the lines between {{if flag}} and {{end}}.
std::string expand(const std::string& text, const Values& values,
                   const std::map<std::string, bool>& flags) {
  std::string result;
  bool keep = true;
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    std::string line = text.substr(start, end - start);
    start = end + 1;
    if (line.starts_with("{{if ")) {
      keep = flags.at(line.substr(5, line.size() - 7));
      continue;
    }
    if (line == "{{end}}") {
      keep = true;
      continue;
    }
    if (!keep)
      continue;
    for (const auto& [key, value] : values)
      replace(line, "{{" + key + "}}", value);
    result += line + "\n";
  }
  return result;
}

std::string starter_yaml(const Operation& op, DType dtype, const std::string& gpu) {
  std::string text = fmt::format("# {}\n", op.info.semantics);
  text +=
      fmt::format("op_name: {}\ndtype: {}\ntarget_gpu: {}\n", op.info.name, name_of(dtype), gpu);
  std::string attributes;
  for (const DimensionSpec& dimension : op.info.dimensions)
    if (dimension.attribute)
      attributes +=
          fmt::format("{}: {} # {}\n", dimension.name, dimension.fallback, dimension.meaning);
  for (const ScalarSpec& scalar : op.scalars)
    attributes += fmt::format("{}: {}\n", scalar.name, scalar.value);
  text += attributes;
  text += op.any_rank ? "shapes: # any tensor shape\n"
                      : fmt::format("shapes: # {}\n", fmt::join(size_names(op), ", "));
  text += fmt::format("  - [{}]\n", fmt::join(first_shape(op), ", "));
  text += fmt::format("reference_kernel: {}\n", kKernelFile);
  return text;
}

} // namespace

Result<Starter> make_starter(const std::string& operation, DType dtype, const std::string& gpu) {
  Task task;
  task.operation = operation;
  task.dtype = dtype;
  KERNEVO_CHECK(complete_from_catalogue(task));
  const Operation& op = *find_table_row(task.operation);
  KERNEVO_TRY(found, find_gpu(gpu));
  KERNEVO_TRY(share, share_folder());
  KERNEVO_TRY(text, read_text_file(share / "kernels" / (template_name(op) + ".cu")));
  const std::map<std::string, bool> flags = {{"batched", op.info.name == "batched_matmul"},
                                             {"bias", op.bias}};
  return Starter{starter_yaml(op, dtype, found.name),
                 expand(text, template_values(op, dtype), flags), kKernelFile};
}

} // namespace kernevo
