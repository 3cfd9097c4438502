// The candidate as a Python module for PyTorch: a ModelNew as KernelBench wants it, whose forward
// launches the kernel through an extension compiled by load_inline.
#include "kernevo/base/hash.h"
#include "kernevo/base/identifier.h"
#include "kernevo/extract/forms.h"
#include "kernevo/extract/host_code.h"
#include "kernevo/extract/judged_code.h"
#include "kernevo/task/catalogue.h"
#include "kernevo/task/inputs.h"
#include "kernevo/toolchain/prelude.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

namespace kernevo::extract {
namespace {

constexpr const char* kIncludes = R"(#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/types.h>

#include <algorithm>
#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>
)";

constexpr const char* kRequire = R"(
// What the kernel takes for granted.
inline void require(const torch::Tensor& tensor, const char* name, at::ScalarType dtype, std::vector<int64_t> shape,
                    int64_t most) {
  TORCH_CHECK(tensor.is_cuda(), name, " must be on the GPU");
  TORCH_CHECK(tensor.scalar_type() == dtype, name, " has another dtype than the kernel was made for");
  TORCH_CHECK(tensor.is_contiguous(), name, " must be contiguous");
  TORCH_CHECK(tensor.sizes() == shape, name, " has another shape than the sizes of the other tensors say");
  TORCH_CHECK(tensor.numel() <= most, name, " has more elements than the kernel was judged on and an int can count");
  TORCH_CHECK(reinterpret_cast<uintptr_t>(tensor.data_ptr()) % 256 == 0, name,
              " must begin at a multiple of 256 bytes, as it does in memory of its own: clone() it");
}
inline void require_rank(const torch::Tensor& tensor, const char* name, int64_t rank) {
  TORCH_CHECK(tensor.dim() == rank, name, " must have ", rank, " dimensions");
}
)";

std::string_view torch_type(DType dtype) {
  switch (dtype) {
  case DType::float32: return "Float";
  case DType::float16: return "Half";
  case DType::bfloat16: return "BFloat16";
  case DType::float64: return "Double";
  case DType::int32: return "Int";
  case DType::int8: return "Char";
  case DType::int64: return "Long";
  }
  return "Float";
}

// A name of the task as a Python name.
std::string python_name(const std::string& name) {
  static constexpr std::array<std::string_view, 41> taken = {
      "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
      "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
      "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
      "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield",    "self",
      "torch", "nn",       "math",  "super",  "tuple"};
  const bool reserved = std::find(taken.begin(), taken.end(), name) != taken.end();
  return reserved ? name + "_" : name;
}

// A Python string that holds this text, readable where that is possible.
std::string python_text(std::string_view text) {
  if (text.find("\"\"\"") == std::string_view::npos && !text.ends_with('"'))
    return fmt::format("r\"\"\"{}\"\"\"", text);
  std::string escaped;
  for (const char c : text) {
    if (c == '\\' || c == '"')
      escaped += '\\';
    escaped += c;
  }
  return fmt::format("\"\"\"{}\"\"\"", escaped);
}

std::string python_number(double value) {
  const std::string text = fmt::format("{}", value);
  return text == "inf" || text == "-inf" || text == "nan" ? fmt::format("float(\"{}\")", text)
                                                          : text;
}

// Where the value of a dimension comes from.
struct Origin {
  std::string name;
  std::string value; // a C++ expression; empty for a constructor argument
};

class Module {
public:
  Module(const Extraction& extraction, const ReceiptOptions& options)
      : x_(extraction), options_(options),
        style_{"C10_CUDA_KERNEL_LAUNCH_CHECK();", "C10_CUDA_CHECK({})",
               "TORCH_CHECK(false, \"{}\")"} {}

  Result<std::string> write() {
    if (x_.file.language != KernelLanguage::cuda)
      return fail(ErrorCode::unsupported, "a Triton kernel needs no extension module", std::nullopt,
                  "extract it --as kernel");
    KERNEVO_TRY(judged, judged_code(x_));
    judged_ = std::move(judged);
    find_origins();
    KERNEVO_TRY(launches, launch_directives(x_.file, x_.task.default_launch, Place{x_.task.file}));
    KERNEVO_TRY(code, launch_code(x_, judged_.device, launches, style_));
    const std::string cuda = cuda_source(launches, code.text);
    std::vector<std::string> lines = receipt(x_, options_);
    lines.back() = "needs    PyTorch with CUDA; the extension is compiled when the module is "
                   "imported";
    std::string text = as_comment(lines, "#");
    if (has_axis())
      text += "import math\n\n";
    text += "import torch\nimport torch.nn as nn\nfrom torch.utils.cpp_extension import "
            "load_inline\n\n";
    text += fmt::format("_CUDA_SOURCE = {}\n\n", python_text("\n" + cuda));
    text += fmt::format("_CPP_SOURCE = {}\n\n",
                        python_text(fmt::format("{};\n", signature("kernevo_forward"))));
    text += fmt::format(
        "_extension = load_inline(\n    name=\"kernevo_{}_{}\",\n"
        "    cpp_sources=_CPP_SOURCE,\n    cuda_sources=_CUDA_SOURCE,\n"
        "    functions=[\"kernevo_forward\"],\n    extra_cuda_cflags=[{}],\n)\n\n\n",
        identifier(x_.started.operation), sha256_hex(cuda).substr(0, 12), fmt::join(flags(), ", "));
    KERNEVO_TRY(inputs, get_inputs());
    return text + model() + inputs;
  }

private:
  static std::string identifier(const std::string& text) {
    std::string result;
    for (const char c : text)
      result += is_identifier(std::string_view(&c, 1)) || (c >= '0' && c <= '9') ? c : '_';
    return result;
  }

  const ShapeCase& shown_shape() const { // the one defaults are taken from
    for (const ShapeCase& shape : x_.task.shapes)
      if (shape.profile)
        return shape;
    return x_.task.shapes.front();
  }

  std::vector<const ArgumentSpec*> inputs() const {
    std::vector<const ArgumentSpec*> list;
    for (const ArgumentSpec& argument : x_.task.arguments)
      if (argument.direction != Direction::out)
        list.push_back(&argument);
    return list;
  }
  std::vector<const ArgumentSpec*> outputs() const {
    std::vector<const ArgumentSpec*> list;
    for (const ArgumentSpec& argument : x_.task.arguments)
      if (argument.direction != Direction::in)
        list.push_back(&argument);
    return list;
  }

  // Reductions work on tensors of any shape, seen as (OUTER, R, INNER) around an axis.
  bool has_axis() const {
    const OperationInfo* operation = find_operation(x_.task.operation);
    return operation != nullptr &&
           std::any_of(operation->dimensions.begin(), operation->dimensions.end(),
                       [](const DimensionSpec& d) { return d.attribute && d.name == "axis"; });
  }
  // Catalogue operations whose tensors all are one list of elements do not care for their shape.
  bool elementwise() const {
    return find_operation(x_.task.operation) != nullptr && !x_.task.arguments.empty() &&
           std::all_of(x_.task.arguments.begin(), x_.task.arguments.end(),
                       [&](const ArgumentSpec& argument) {
                         return argument.shape.size() == 1 &&
                                argument.shape[0].text() ==
                                    x_.task.arguments.front().shape[0].text();
                       });
  }

  void find_origins() {
    const std::vector<DerivedSize> derived = derived_sizes(x_.task.operation);
    std::vector<Origin> last;
    for (const std::string& name : dimension_names(x_.task)) {
      const auto follows = std::find_if(derived.begin(), derived.end(),
                                        [&](const DerivedSize& size) { return size.name == name; });
      if (follows != derived.end())
        last.push_back({name, cpp_expression(follows->value.text())});
      else
        origins_.push_back({name, size_in_tensor(name)});
    }
    origins_.insert(origins_.end(), last.begin(), last.end());
  }

  std::string size_in_tensor(const std::string& name) const {
    for (const ArgumentSpec* argument : inputs())
      for (std::size_t i = 0; i < argument->shape.size(); ++i)
        if (argument->shape[i].text() == name)
          return fmt::format("{}.size({})", host_name(argument->name), i);
    return "";
  }

  std::vector<std::string> flags() const {
    std::vector<std::string> all = nvcc_flags(x_.file);
    // PyTorch chooses the language version itself.
    all.erase(std::remove(all.begin(), all.end(), "--std=c++17"), all.end());
    all.insert(all.begin(), "-O3");
    // PyTorch hides the operators and conversions of half types; kernels may use them.
    for (const char* hidden : {"HALF_OPERATORS", "HALF_CONVERSIONS", "HALF2_OPERATORS",
                               "BFLOAT16_CONVERSIONS", "BFLOAT16_OPERATORS"})
      all.push_back(fmt::format("-U__CUDA_NO_{}__", hidden));
    if (x_.file.architecture)
      all.push_back(
          fmt::format("-gencode=arch=compute_{0},code=sm_{0}", x_.file.architecture->substr(3)));
    for (std::string& flag : all)
      flag = fmt::format("\"{}\"", flag);
    return all;
  }

  std::string shape_list(const ArgumentSpec& argument) const {
    std::vector<std::string> sizes;
    for (const Expression& size : argument.shape)
      sizes.push_back(cpp_expression(size.text()));
    return fmt::format("{{{}}}", fmt::join(sizes, ", "));
  }

  // Kernels count in int unless the task has shapes for which they must not.
  std::int64_t most_elements(const ArgumentSpec& argument) const {
    std::int64_t most = std::numeric_limits<std::int32_t>::max();
    for (const ShapeCase& shape : x_.task.shapes)
      if (const auto problem = make_problem(x_.task, shape))
        for (const BufferSpec& buffer : problem->buffers)
          if (buffer.name == argument.name)
            most = std::max(most, buffer.elements());
    return most;
  }

  std::string signature(std::string_view name) const {
    std::vector<std::string> parameters;
    for (const ArgumentSpec* argument : inputs())
      parameters.push_back("const torch::Tensor& " + host_name(argument->name));
    for (const ScalarSpec& scalar : x_.task.scalars)
      parameters.push_back((is_floating(scalar.dtype) ? "double " : "int64_t ") +
                           host_name(scalar.name));
    for (const Origin& origin : origins_)
      if (origin.value.empty())
        parameters.push_back("int64_t " + host_name(origin.name));
    return fmt::format("{} {}({})",
                       outputs().size() == 1 ? "torch::Tensor" : "std::vector<torch::Tensor>", name,
                       fmt::join(parameters, ", "));
  }

  // What Python calls: the one name outside our namespace, which the kernel's own cannot disturb.
  std::string entry() const {
    std::vector<std::string> arguments;
    for (const ArgumentSpec* argument : inputs())
      arguments.push_back(host_name(argument->name));
    for (const ScalarSpec& scalar : x_.task.scalars)
      arguments.push_back(host_name(scalar.name));
    for (const Origin& origin : origins_)
      if (origin.value.empty())
        arguments.push_back(host_name(origin.name));
    return fmt::format("{} {{\n  return {}::forward({});\n}}\n", signature("kernevo_forward"),
                       kHostNamespace, fmt::join(arguments, ", "));
  }

  // Everything launches refer to, as parameters of one function or as arguments to it.
  std::string launch_function(const std::string& launches) const {
    std::vector<std::string> parameters;
    for (const Origin& origin : origins_)
      parameters.push_back("[[maybe_unused]] const long long " + host_name(origin.name));
    for (const ScalarSpec& scalar : x_.task.scalars)
      parameters.push_back(fmt::format("[[maybe_unused]] const {} {}",
                                       is_floating(scalar.dtype) ? "double" : "long long",
                                       host_name(scalar.name)));
    for (const ArgumentSpec& argument : x_.task.arguments)
      parameters.push_back("[[maybe_unused]] const Buffer " + host_name(argument.name));
    for (const ScratchDirective& scratch : x_.file.scratch)
      parameters.push_back("[[maybe_unused]] const Buffer " + host_name(scratch.name));
    parameters.emplace_back("cudaStream_t stream");
    return fmt::format("inline void launch({}) {{\n{}{}}}\n", fmt::join(parameters, ", "),
                       parameter_constants(x_.evaluation.parameters, "  "), launches);
  }

  std::string checks() const {
    std::string text;
    for (const ArgumentSpec* argument : inputs())
      text += fmt::format("  require_rank({0}, \"{0}\", {1});\n", host_name(argument->name),
                          argument->shape.size());
    for (const Origin& origin : origins_)
      if (!origin.value.empty())
        text += fmt::format("  [[maybe_unused]] const long long {} = {};\n", host_name(origin.name),
                            origin.value);
    for (const ArgumentSpec* argument : inputs())
      text += fmt::format("  require({0}, \"{0}\", torch::k{1}, {2}, {3});\n",
                          host_name(argument->name), torch_type(argument->dtype),
                          shape_list(*argument), most_elements(*argument));
    text += parameter_constants(x_.evaluation.parameters, "  ");
    const std::vector<std::string> dims = dimension_names(x_.task);
    for (const Constraint& constraint : x_.file.constraints) {
      const std::set<std::string> used = constraint.condition.names();
      if (std::any_of(dims.begin(), dims.end(),
                      [&](const std::string& name) { return used.contains(name); }))
        text +=
            fmt::format("  TORCH_CHECK({}, \"the kernel needs {}\");\n",
                        cpp_expression(constraint.condition.text()), constraint.condition.text());
    }
    return text;
  }

  std::string forward() const {
    const auto in = inputs();
    const auto out = outputs();
    std::string text = "inline " + signature("forward") + " {\n" + checks();
    if (in.empty()) {
      text += "  const auto options = torch::TensorOptions().device(torch::kCUDA);\n";
    } else {
      text += fmt::format("  const c10::cuda::CUDAGuard guard({0}.device());\n"
                          "  const auto options = {0}.options();\n",
                          host_name(in.front()->name));
    }
    std::vector<std::string> results;
    std::string empty;
    for (const ArgumentSpec* argument : out) {
      const std::string name = host_name(argument->name);
      const bool changed = argument->direction == Direction::inout;
      const std::string variable = changed ? name + "_result" : name;
      if (changed)
        text += fmt::format("  const torch::Tensor {} = {}.clone();\n", variable, name);
      else
        text += fmt::format("  const torch::Tensor {} = torch::empty({}, "
                            "options.dtype(torch::k{}));\n",
                            variable, braced_sizes(*argument), torch_type(argument->dtype));
      results.push_back(variable);
      empty += fmt::format("{}{}.numel() == 0", empty.empty() ? "" : " && ", variable);
    }
    const std::string answer =
        results.size() == 1 ? results.front() : fmt::format("{{{}}}", fmt::join(results, ", "));
    text += fmt::format("  if ({}) return {};\n", empty, answer);
    for (const ScratchDirective& scratch : x_.file.scratch)
      text += fmt::format("  const torch::Tensor {} = torch::empty({{static_cast<int64_t>({})}}, "
                          "options.dtype(torch::k{}));\n",
                          host_name(scratch.name), cpp_product(scratch.shape),
                          torch_type(scratch.dtype));
    text +=
        fmt::format("  launch({});\n  return {};\n}}\n", fmt::join(call_arguments(), ", "), answer);
    return text;
  }

  std::vector<std::string> call_arguments() const {
    std::vector<std::string> arguments;
    for (const Origin& origin : origins_)
      arguments.push_back(host_name(origin.name));
    for (const ScalarSpec& scalar : x_.task.scalars)
      arguments.push_back(host_name(scalar.name));
    for (const ArgumentSpec& argument : x_.task.arguments)
      arguments.push_back(fmt::format("Buffer{{{}{}.data_ptr()}}", host_name(argument.name),
                                      argument.direction == Direction::inout ? "_result" : ""));
    for (const ScratchDirective& scratch : x_.file.scratch)
      arguments.push_back(fmt::format("Buffer{{{}.data_ptr()}}", host_name(scratch.name)));
    arguments.emplace_back("at::cuda::getCurrentCUDAStream()");
    return arguments;
  }

  static std::string braced_sizes(const ArgumentSpec& argument) {
    std::vector<std::string> sizes;
    for (const Expression& size : argument.shape)
      sizes.push_back(fmt::format("static_cast<int64_t>({})", cpp_expression(size.text())));
    return fmt::format("{{{}}}", fmt::join(sizes, ", "));
  }

  std::string cuda_source(const std::vector<LaunchDirective>& launches,
                          const std::string& launch_text) const {
    std::string text = kIncludes + missing_includes(judged_.source);
    text += fmt::format("\nnamespace {} {{\n\n{}{}\n}} // namespace {}\n\n", kHostNamespace,
                        launch_support(launches, style_), kRequire, kHostNamespace);
    const std::string host =
        fmt::format("\nnamespace {0} {{\n\n{1}\n{2}\n}} // namespace {0}\n\n{3}", kHostNamespace,
                    launch_function(launch_text), forward(), entry());
    return text + enclosed_device_code(judged_.device, x_.evaluation.parameters) + host;
  }

  // --- Python

  // Scalars and attributes, with the task's values.
  std::vector<std::pair<std::string, std::string>> settings() const {
    std::vector<std::pair<std::string, std::string>> list;
    for (const ScalarSpec& scalar : x_.task.scalars)
      list.emplace_back(python_name(scalar.name),
                        is_floating(scalar.dtype)
                            ? python_number(scalar.value)
                            : fmt::format("{}", static_cast<std::int64_t>(scalar.value)));
    for (const Origin& origin : origins_)
      if (origin.value.empty())
        list.emplace_back(python_name(origin.name),
                          fmt::format("{}", shown_shape().dims.contains(origin.name)
                                                ? shown_shape().dims.at(origin.name)
                                                : 0));
    return list;
  }

  // The task keeps only the sizes around the axis.
  std::string default_axis() const {
    const Dims& dims = shown_shape().dims;
    if (dims.contains("INNER") && dims.at("INNER") == 1)
      return "-1";
    return dims.contains("OUTER") && dims.at("OUTER") == 1 ? "0" : "1";
  }

  std::string model() const {
    auto given = settings();
    std::vector<std::string> parameters = {"self"};
    std::string assignments;
    std::vector<std::string> passed;
    std::vector<std::string> tensors;
    for (const auto& [name, value] : given) {
      parameters.push_back(fmt::format("{}={}", name, value));
      assignments += fmt::format("        self.{0} = {0}\n", name);
      passed.push_back("self." + name);
    }
    if (has_axis()) {
      parameters.push_back("axis=" + default_axis());
      assignments += "        self.axis = axis\n";
    }
    for (const ArgumentSpec* argument : inputs())
      tensors.push_back(python_name(argument->name));
    std::vector<std::string> forward_parameters = {"self"};
    forward_parameters.insert(forward_parameters.end(), tensors.begin(), tensors.end());
    std::string text = "class ModelNew(nn.Module):\n";
    text += fmt::format("    def __init__({}):\n        super().__init__()\n{}\n",
                        fmt::join(parameters, ", "), assignments);
    text += fmt::format("    def forward({}):\n", fmt::join(forward_parameters, ", "));
    return text + body(tensors, passed);
  }

  std::string body(std::vector<std::string> tensors, const std::vector<std::string>& passed) const {
    std::string text;
    std::string result = "{}";
    if (has_axis() && tensors.size() == 1) {
      const std::string& x = tensors.front();
      text += fmt::format("        axis = self.axis % {0}.dim()\n"
                          "        outer, inner = {0}.shape[:axis], {0}.shape[axis + 1 :]\n",
                          x);
      result = "{}.reshape(outer + inner)";
      tensors.front() =
          fmt::format("{0}.reshape(math.prod(outer), {0}.shape[axis], math.prod(inner))", x);
    } else if (elementwise()) {
      result = fmt::format("{{}}.reshape({}.shape)", tensors.front());
      for (std::string& tensor : tensors)
        tensor += ".reshape(-1)";
    }
    tensors.insert(tensors.end(), passed.begin(), passed.end());
    const std::string call =
        fmt::format("_extension.kernevo_forward({})", fmt::join(tensors, ", "));
    if (outputs().size() > 1)
      return text + fmt::format("        return tuple({})\n", call);
    return text + fmt::format("        return {}\n", fmt::format(fmt::runtime(result), call));
  }

  Result<std::string> get_inputs() const {
    KERNEVO_TRY(problem, make_problem(x_.task, shown_shape()));
    std::string text = fmt::format("\n\ndef get_inputs():  # at shape {}\n    return [\n",
                                   identifier(shown_shape().id));
    for (std::size_t i = 0; i < problem.buffers.size(); ++i)
      if (problem.buffers[i].direction != Direction::out)
        text += fmt::format("        {},\n", input(problem, i));
    text += "    ]\n\n\ndef get_init_inputs():\n    return [";
    std::vector<std::string> values;
    for (const auto& [name, value] : settings())
      values.push_back(value);
    if (has_axis())
      values.push_back(default_axis());
    return text + fmt::format("{}]\n", fmt::join(values, ", "));
  }

  static std::string input(const Problem& problem, std::size_t index) {
    using Kind = Distribution::Kind;
    const BufferSpec& buffer = problem.buffers[index];
    const InputRecipe recipe = input_recipe(problem, index, InputSet::nominal, 0);
    const std::string size = fmt::format("({},)", fmt::join(buffer.shape, ", "));
    const std::string shape = buffer.shape.empty() ? "()" : size;
    const std::string type = fmt::format("torch.{}", name_of(buffer.dtype));
    switch (recipe.kind) {
    case Kind::uniform:
      return fmt::format("(torch.rand{} * {} + {}).to({})", call(shape), recipe.high - recipe.low,
                         recipe.low, type);
    case Kind::integers:
    case Kind::indices:
      return fmt::format("torch.randint({}, {}, {}).to({})", static_cast<std::int64_t>(recipe.low),
                         static_cast<std::int64_t>(recipe.high) + 1, shape, type);
    case Kind::zeros: return fmt::format("torch.zeros({}, dtype={})", shape, type);
    case Kind::constant:
      return fmt::format("torch.full({}, {}, dtype={})", shape, python_number(recipe.low), type);
    case Kind::wide:
      return fmt::format("(torch.exp2(torch.rand{0} * {1} + {2}) * (2 * torch.randint(0, 2, {3}) "
                         "- 1)).to({4})",
                         call(shape), recipe.high - recipe.low, recipe.low, shape, type);
    case Kind::denormal:
      return fmt::format("(torch.rand({}, dtype=torch.float64) * {}).to({})", shape, recipe.tiny,
                         type);
    case Kind::normal: break;
    }
    if (recipe.low == 0 && recipe.high == 1)
      return fmt::format("torch.randn{}.to({})", call(shape), type);
    return fmt::format("(torch.randn{} * {} + {}).to({})", call(shape), recipe.high, recipe.low,
                       type);
  }

  static std::string call(const std::string& shape) { return "(" + shape + ")"; }

  const Extraction& x_;
  const ReceiptOptions& options_;
  JudgedCode judged_;
  LaunchStyle style_;
  std::vector<Origin> origins_; // of the dimensions, derived ones last
};

} // namespace

Result<std::string> render_torch(const Extraction& extraction, const ReceiptOptions& options) {
  return Module(extraction, options).write();
}

} // namespace kernevo::extract
