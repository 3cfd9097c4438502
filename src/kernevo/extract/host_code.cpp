#include "kernevo/extract/host_code.h"

#include "kernevo/base/identifier.h"
#include "kernevo/kernel/launch_syntax.h"
#include "kernevo/kernel/reserved_names.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kernevo::extract {
namespace {

// Names the host code has for itself, in the scopes where a task's names are variables.
constexpr std::array<std::string_view, 17> kOwnNames = {
    "stream", "shape", "repeats", "shape_id", "known_us",     "shared", "torch",  "guard", "median",
    "c10",    "at",    "options", "sizes",    "kernevo_host", "dim3",   "Buffer", "size_t"};

constexpr const char* kSizes = R"(// The functions of launch expressions.
namespace sizes {
inline long long ceil_div(long long a, long long b) {
  const long long remainder = a % b;
  return a / b + (remainder != 0 && (remainder < 0) == (b < 0) ? 1 : 0);
}
inline long long min(long long a, long long b) { return a < b ? a : b; }
inline long long max(long long a, long long b) { return a > b ? a : b; }
template <class... T> long long min(long long a, long long b, T... more) { return min(min(a, b), more...); }
template <class... T> long long max(long long a, long long b, T... more) { return max(max(a, b), more...); }
inline long long next_pow2(long long a) {
  long long power = 1;
  while (power < a) power *= 2;
  return power;
}
// What does not fit becomes 0, which no launch takes.
inline unsigned fitting(long long n) { return n > 0 && n <= 0xFFFFFFFFLL ? static_cast<unsigned>(n) : 0; }
inline dim3 extent(long long x, long long y = 1, long long z = 1) {
  return dim3(fitting(x), fitting(y), fitting(z));
}
} // namespace sizes

// Device memory, as whatever pointer a kernel takes.
struct Buffer {
  void* data = nullptr;
  template <class T> operator T*() const { return static_cast<T*>(data); }
};

// A kernel whose parameters are made without running code of its own.
template <class... P>
std::bool_constant<((std::is_arithmetic_v<P> || std::is_pointer_v<P>) && ...)> takes_numbers(void (*)(P...));
)";

constexpr const char* kAllowShared = R"(
// More than 48 KB of dynamic shared memory must be asked for.
template <class Kernel> void allow_shared(Kernel* kernel, size_t bytes) {{
  if (bytes > 48 * 1024)
    {};
}}
)";

constexpr const char* kCooperative = R"(
// All blocks at once, so that they may wait for each other.
template <class... P, class... A>
void launch_cooperatively(void (*kernel)(P...), dim3 grid, dim3 block, size_t shared, cudaStream_t stream, A... arguments) {{
  std::tuple<P...> values(static_cast<P>(arguments)...);
  std::apply(
      [&](auto&... value) {{
        void* pointers[] = {{static_cast<void*>(&value)..., nullptr}};
        {};
      }},
      values);
}}
)";

bool uses_shared(const LaunchDirective& launch) {
  return launch.shared.text() != "0";
}

std::string extent(const std::vector<Expression>& sizes) {
  std::vector<std::string> parts;
  for (const Expression& size : sizes)
    parts.push_back(cpp_expression(size.text()));
  return fmt::format("sizes::extent({})", fmt::join(parts, ", "));
}

// Numbers are int in C++ and have 64 bits in a directive. Where they are few and small, or next to
// a size (which is long long), that makes no difference.
bool literals_may_overflow(std::string_view expression) {
  constexpr std::size_t few_digits = 8;
  std::size_t digits = 0;
  for (const char c : expression)
    digits += is_digit(c) ? 1 : 0;
  return digits > few_digits || expression.find("<<") != std::string_view::npos ||
         expression.find('~') != std::string_view::npos ||
         expression.find("0x") != std::string_view::npos;
}

// One instantiation and when it is the one.
struct Variant {
  std::string condition; // over dimensions; empty when it always is
  std::string kernel;
};

class LaunchWriter {
public:
  LaunchWriter(const Extraction& extraction, const DeviceCode& device, const LaunchStyle& style)
      : x_(extraction), device_(device), style_(style) {
    for (const ArgumentSpec& argument : x_.task.arguments)
      buffers_.insert(argument.name);
    for (const ScratchDirective& scratch : x_.file.scratch)
      buffers_.insert(scratch.name);
    for (const ScalarSpec& scalar : x_.task.scalars)
      if (is_floating(scalar.dtype))
        floats_.insert(scalar.name);
  }

  Result<LaunchCode> write(const std::vector<LaunchDirective>& launches) {
    KERNEVO_TRY(plans, make_plans());
    LaunchCode code;
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const std::vector<Variant> variants = variants_of(launches[i], i, plans);
      code.instances_vary = code.instances_vary || variants.size() > 1;
      for (std::size_t v = 0; v < variants.size(); ++v) {
        if (!variants[v].condition.empty())
          code.text +=
              fmt::format("  {}if ({}) {{\n", v > 0 ? "} else " : "", variants[v].condition);
        code.text +=
            one(launches[i], variants[v].kernel, variants[v].condition.empty() ? "  " : "    ");
      }
      if (!variants.front().condition.empty())
        code.text += fmt::format("  }} else {{\n    {};\n  }}\n",
                                 fmt::format(fmt::runtime(style_.refuse),
                                             "the kernel was instantiated for other sizes"));
    }
    return code;
  }

private:
  struct Planned {
    Dims dims;
    LaunchPlan plan;
  };

  Result<std::vector<Planned>> make_plans() const {
    std::vector<Planned> plans;
    for (const ShapeCase& shape : x_.task.shapes) {
      KERNEVO_TRY(problem, make_problem(x_.task, shape));
      KERNEVO_TRY(plan, make_launch_plan(x_.file, x_.evaluation.parameters, problem,
                                         x_.task.default_launch, Place{x_.task.file}));
      plans.push_back({problem.dims, std::move(plan)});
    }
    return plans;
  }

  std::string qualified(const LaunchDirective& launch) const {
    if (launch.kernel.find("::") != std::string::npos)
      return "::" + launch.kernel;
    const auto found = device_.kernels.find(launch.kernel);
    return "::" + (found == device_.kernels.end() ? launch.kernel : found->second);
  }

  // Template arguments are compiled in. Where they depend on the shape, each has its own.
  std::vector<Variant> variants_of(const LaunchDirective& launch, std::size_t index,
                                   const std::vector<Planned>& plans) const {
    const std::string name = qualified(launch);
    if (launch.template_arguments.empty())
      return {{"", name}};
    std::set<std::string> decides;
    for (const std::string& argument : launch.template_arguments)
      if (const auto expression = Expression::parse(argument))
        for (const std::string& used : expression->names())
          if (!plans.empty() && plans.front().dims.contains(used))
            decides.insert(used);
    std::vector<Variant> variants;
    for (const Planned& planned : plans) {
      const std::string& written = planned.plan.launches[index].kernel;
      std::vector<std::string> conditions;
      for (const std::string& dimension : decides)
        conditions.push_back(
            fmt::format("{} == {}", host_name(dimension), planned.dims.at(dimension)));
      Variant variant{fmt::format("{}", fmt::join(conditions, " && ")),
                      name + written.substr(written.find('<'))};
      const bool known = std::any_of(variants.begin(), variants.end(), [&](const Variant& other) {
        return other.condition == variant.condition;
      });
      if (!known)
        variants.push_back(std::move(variant));
    }
    return variants;
  }

  std::string argument(const std::string& text) const {
    if (text == "nullptr" || text == "NULL")
      return "nullptr";
    if (buffers_.contains(text) || floats_.contains(text))
      return host_name(text);
    return parse_float_literal(text) ? text : cpp_expression(text);
  }

  std::string one(const LaunchDirective& launch, const std::string& kernel,
                  std::string_view indent) const {
    std::vector<std::string> arguments;
    for (const std::string& text : launch.arguments)
      arguments.push_back(argument(text));
    const std::string grid = extent(launch.grid);
    const std::string block = extent(launch.block);
    const std::string list = fmt::format("{}", fmt::join(arguments, ", "));
    std::string text = fmt::format("{}static_assert(decltype({}::takes_numbers({}))::value, "
                                   "\"kernels take numbers and pointers\");\n",
                                   indent, kHostNamespace, kernel);
    std::string inner(indent);
    std::string shared = "0";
    if (uses_shared(launch)) {
      text += fmt::format("{}{{\n", indent);
      inner += "  ";
      shared = "shared";
      text += fmt::format("{}const size_t shared = static_cast<size_t>({});\n", inner,
                          cpp_expression(launch.shared.text()));
      text += fmt::format("{}{}::allow_shared({}, shared);\n", inner, kHostNamespace, kernel);
    }
    if (launch.cooperative)
      text +=
          fmt::format("{}{}::launch_cooperatively({}, {}, {}, {}, stream{}{});\n", inner,
                      kHostNamespace, kernel, grid, block, shared, list.empty() ? "" : ", ", list);
    else
      text += fmt::format("{}{}<<<{}, {}, {}, stream>>>({});\n", inner, kernel, grid, block, shared,
                          list);
    text += fmt::format("{}{}\n", inner, style_.check_launch);
    if (uses_shared(launch))
      text += fmt::format("{}}}\n", indent);
    return text;
  }

  const Extraction& x_;
  const DeviceCode& device_;
  const LaunchStyle& style_;
  std::set<std::string> buffers_;
  std::set<std::string> floats_;
};

} // namespace

std::string host_name(const std::string& name) {
  const bool taken = is_reserved_name(name) ||
                     std::find(kOwnNames.begin(), kOwnNames.end(), name) != kOwnNames.end();
  return taken ? name + "_" : name;
}

std::string cpp_expression(std::string_view expression) {
  const bool wide = literals_may_overflow(expression);
  std::string text;
  for (std::size_t i = 0; i < expression.size();) {
    const char c = expression[i];
    std::size_t end = i + 1;
    if (starts_name(c)) {
      while (end < expression.size() && (starts_name(expression[end]) || is_digit(expression[end])))
        ++end;
      const std::string name(expression.substr(i, end - i));
      const std::size_t next = expression.find_first_not_of(" \t\r\n", end);
      const bool call = next != std::string_view::npos && expression[next] == '(';
      text += call ? "sizes::" + name : host_name(name);
    } else if (is_digit(c)) {
      while (end < expression.size() &&
             (starts_name(expression[end]) || is_digit(expression[end]) || expression[end] == '\''))
        ++end;
      std::string number(expression.substr(i, end - i));
      number.erase(number.find_last_not_of("uUlL") + 1);
      text += wide ? number + "LL" : number;
    } else {
      text += c == '\n' || c == '\r' ? ' ' : c;
    }
    i = end;
  }
  return text;
}

std::string cpp_product(const std::vector<Expression>& factors) {
  if (factors.empty())
    return "1";
  std::vector<std::string> parts;
  for (const Expression& factor : factors) {
    const std::string text = cpp_expression(factor.text());
    const bool plain =
        std::all_of(text.begin(), text.end(), [](char c) { return starts_name(c) || is_digit(c); });
    parts.push_back(plain ? text : "(" + text + ")");
  }
  return fmt::format("{}", fmt::join(parts, " * "));
}

std::string launch_support(const std::vector<LaunchDirective>& launches, const LaunchStyle& style) {
  std::string text = kSizes;
  const auto call = [&](std::string_view what) {
    return fmt::format(fmt::runtime(style.check_call), what);
  };
  if (std::any_of(launches.begin(), launches.end(), uses_shared))
    text += fmt::format(kAllowShared, call("cudaFuncSetAttribute(kernel, "
                                           "cudaFuncAttributeMaxDynamicSharedMemorySize, "
                                           "static_cast<int>(bytes))"));
  if (std::any_of(launches.begin(), launches.end(),
                  [](const LaunchDirective& launch) { return launch.cooperative; }))
    text += fmt::format(kCooperative,
                        call("cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), "
                             "grid, block, pointers, shared, stream)"));
  return text;
}

Result<LaunchCode> launch_code(const Extraction& extraction, const DeviceCode& device,
                               const std::vector<LaunchDirective>& launches,
                               const LaunchStyle& style) {
  return LaunchWriter(extraction, device, style).write(launches);
}

std::string enclosed_device_code(const DeviceCode& device, const ParameterValues& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters)
    text += fmt::format("#define {} {}\n", name, value);
  text += device.text;
  if (!text.ends_with('\n'))
    text += '\n';
  for (const auto& [name, value] : parameters)
    text += fmt::format("#undef {}\n", name);
  for (const std::string& macro : device.macros)
    if (!parameters.contains(macro))
      text += fmt::format("#undef {}\n", macro);
  return text;
}

std::string parameter_constants(const ParameterValues& parameters, std::string_view indent) {
  std::string text;
  for (const auto& [name, value] : parameters)
    text += fmt::format("{}[[maybe_unused]] constexpr long long {} = {};\n", indent,
                        host_name(name), value);
  return text;
}

std::vector<std::string> dimension_names(const Task& task) {
  std::set<std::string> names;
  for (const ShapeCase& shape : task.shapes)
    for (const auto& [name, value] : shape.dims)
      names.insert(name);
  return {names.begin(), names.end()};
}

std::vector<std::string> nvcc_flags(const KernelFile& file) {
  std::vector<std::string> flags;
  bool standard = false;
  for (const std::string& flag : file.flags) {
    standard = standard || flag.starts_with("--std=");
    flags.push_back(flag);
  }
  if (!standard)
    flags.insert(flags.begin(), "--std=c++17");
  flags.emplace_back("--expt-relaxed-constexpr"); // as kernel files may use std::min and the like
  if (file.max_registers)
    flags.push_back(fmt::format("--maxrregcount={}", *file.max_registers));
  return flags;
}

} // namespace kernevo::extract
