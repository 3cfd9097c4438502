#include "kernevo/base/suggest.h"
#include "kernevo/kernel/directive_text.h"
#include "kernevo/kernel/kernel_file.h"
#include "kernevo/kernel/launch_syntax.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kernevo {

namespace {

// dim3 holds 32-bit numbers; more cannot even be asked for. What the GPU allows is its own check.
constexpr std::int64_t kLargestSize = 0xFFFFFFFF;
constexpr std::int64_t kMostElements = std::int64_t{1} << 56;
constexpr std::array<std::string_view, 3> kAxes = {"x", "y", "z"};

// Everything a launch may refer to by name.
class Scope {
public:
  static Result<Scope> make(const KernelFile& file, const ParameterValues& parameters,
                            const Problem& problem) {
    Scope scope;
    scope.numbers_ = problem.dims;
    for (const ScalarSpec& scalar : problem.scalars) {
      if (is_floating(scalar.dtype))
        scope.floats_[scalar.name] = scalar.value;
      else
        scope.numbers_[scalar.name] = std::llround(scalar.value);
    }
    for (std::size_t i = 0; i < problem.buffers.size(); ++i)
      scope.buffers_[problem.buffers[i].name] = i;
    for (const TuneParameter& parameter : file.parameters) {
      KERNEVO_CHECK(scope.check_free(parameter.name, parameter.place, "@tune parameter"));
      const auto value = parameters.find(parameter.name);
      if (value == parameters.end())
        return fail(ErrorCode::input, fmt::format("parameter '{}' has no value", parameter.name),
                    parameter.place);
      scope.numbers_[parameter.name] = value->second;
    }
    for (std::size_t i = 0; i < file.scratch.size(); ++i) {
      KERNEVO_CHECK(
          scope.check_free(file.scratch[i].name, file.scratch[i].place, "@scratch buffer"));
      scope.buffers_[file.scratch[i].name] = problem.buffers.size() + i;
    }
    return scope;
  }

  Result<std::int64_t> number(const Expression& expression) const {
    auto value = expression.evaluate(numbers_);
    if (value)
      return value;
    // "unknown name" would mislead where the name is known but is no integer.
    for (const std::string& name : expression.names()) {
      if (buffers_.contains(name))
        return fail(ErrorCode::input, fmt::format("'{}' is a buffer, not a number", name),
                    expression.place());
      if (floats_.contains(name))
        return fail(ErrorCode::input,
                    fmt::format("'{}' is a floating-point scalar; expressions are integer", name),
                    expression.place(), "pass the scalar by itself");
    }
    return value;
  }

  Result<LaunchArgument> argument(const std::string& text, const Place& place) const {
    if (const auto buffer = buffers_.find(text); buffer != buffers_.end())
      return LaunchArgument{text, BufferArgument{buffer->second}};
    if (const auto scalar = floats_.find(text); scalar != floats_.end())
      return LaunchArgument{text, scalar->second};
    if (text == "nullptr" || text == "NULL")
      return LaunchArgument{text, std::int64_t{0}};
    if (const auto value = parse_float_literal(text))
      return LaunchArgument{text, *value};
    if (is_identifier(text) && !numbers_.contains(text))
      return fail(ErrorCode::input,
                  fmt::format("unknown argument '{}'{}", text, did_you_mean(text, names())), place,
                  fmt::format("there are {}", fmt::join(names(), ", ")));
    KERNEVO_TRY(expression, Expression::parse(text, place));
    KERNEVO_TRY(value, number(expression));
    return LaunchArgument{text, value};
  }

  bool knows_numbers(const std::set<std::string>& wanted) const {
    return std::all_of(wanted.begin(), wanted.end(),
                       [&](const std::string& name) { return numbers_.contains(name); });
  }

private:
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& [name, index] : buffers_)
      all.push_back(name);
    for (const auto& [name, value] : floats_)
      all.push_back(name);
    for (const auto& [name, value] : numbers_)
      all.push_back(name);
    return all;
  }

  Result<void> check_free(const std::string& name, const Place& place,
                          std::string_view what) const {
    const char* other = nullptr;
    if (buffers_.contains(name))
      other = "an argument";
    else if (floats_.contains(name))
      other = "a scalar";
    else if (numbers_.contains(name))
      other = "a dimension";
    if (other == nullptr)
      return {};
    return fail(ErrorCode::input,
                fmt::format("{} '{}' has the name of {} of the task", what, name, other), place,
                "choose another name");
  }

  Dims numbers_;
  std::map<std::string, double> floats_;
  std::map<std::string, std::size_t> buffers_;
};

Result<void> evaluate_sizes(const std::vector<Expression>& sizes, const Scope& scope,
                            std::string_view what, std::array<std::int64_t, 3>& into) {
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    KERNEVO_TRY(value, scope.number(sizes[i]));
    if (value < 1 || value > kLargestSize)
      return fail(ErrorCode::input,
                  fmt::format("{} size {} is {} ('{}'), it must be {}", what, kAxes[i], value,
                              sizes[i].text(),
                              value < 1 ? "at least 1" : fmt::format("at most {}", kLargestSize)),
                  sizes[i].place());
    into[i] = value;
  }
  return {};
}

Result<std::string> launched_name(const LaunchDirective& directive, const Scope& scope) {
  if (directive.template_arguments.empty()) {
    // Modules are searched by plain name.
    const std::size_t colons = directive.kernel.rfind("::");
    return colons == std::string::npos ? directive.kernel : directive.kernel.substr(colons + 2);
  }
  std::vector<std::string> arguments;
  for (std::size_t i = 0; i < directive.template_arguments.size(); ++i) {
    const std::string& text = directive.template_arguments[i];
    const auto expression = Expression::parse(text, directive.template_places[i]);
    if (!expression || !scope.knows_numbers(expression->names())) {
      arguments.push_back(text); // a type, or a name the source itself declares
      continue;
    }
    KERNEVO_TRY(value, scope.number(*expression));
    arguments.push_back(fmt::format("{}", value));
  }
  return fmt::format("{}<{}>", directive.kernel, fmt::join(arguments, ", "));
}

Result<Launch> evaluate_launch(const LaunchDirective& directive, const Scope& scope) {
  Launch launch;
  launch.place = directive.place;
  launch.cooperative = directive.cooperative;
  KERNEVO_TRY(name, launched_name(directive, scope));
  launch.kernel = std::move(name);
  KERNEVO_CHECK(evaluate_sizes(directive.grid, scope, "grid", launch.grid));
  KERNEVO_CHECK(evaluate_sizes(directive.block, scope, "block", launch.block));
  KERNEVO_TRY(shared, scope.number(directive.shared));
  if (shared < 0 || shared > kLargestSize)
    return fail(ErrorCode::input, fmt::format("the dynamic shared memory is {} bytes", shared),
                directive.shared.place(), "it must be from 0 to the GPU's limit");
  launch.dynamic_shared = shared;
  for (std::size_t i = 0; i < directive.arguments.size(); ++i) {
    KERNEVO_TRY(argument, scope.argument(directive.arguments[i], directive.argument_places[i]));
    launch.arguments.push_back(std::move(argument));
  }
  return launch;
}

Result<ScratchBuffer> evaluate_scratch(const ScratchDirective& directive, const Scope& scope) {
  ScratchBuffer buffer{directive.name, directive.dtype, 1};
  for (const Expression& size : directive.shape) {
    KERNEVO_TRY(value, scope.number(size));
    if (value < 0)
      return fail(ErrorCode::input,
                  fmt::format("@scratch {} has the negative size {}", directive.name, value),
                  size.place());
    if (__builtin_mul_overflow(buffer.elements, value, &buffer.elements) ||
        buffer.elements > kMostElements)
      return fail(ErrorCode::input, fmt::format("@scratch {} is absurdly large", directive.name),
                  directive.place);
  }
  return buffer;
}

// The task's launch, with the file's one kernel put in for the placeholder.
Result<LaunchDirective> default_directive(const KernelFile& file, const std::string& text,
                                          const Place& place) {
  const Place whole{file.path, 0, 0};
  if (text.empty())
    return fail(ErrorCode::input, "has no @launch, and the task gives no default launch", whole,
                "add '// @launch name<<<grid, block>>>(arguments)'");
  if (file.kernels.size() != 1)
    return fail(ErrorCode::input,
                fmt::format("has {} kernels ({}) and no @launch", file.kernels.size(),
                            fmt::join(file.kernels, ", ")),
                whole, "add a '// @launch' line for each that is to run, in order");
  if (!file.template_kernels.empty())
    return fail(
        ErrorCode::input,
        fmt::format("kernel '{}' is a template and the file has no @launch", file.kernels[0]),
        whole,
        fmt::format("add '// @launch {}<...><<<grid, block>>>(arguments)'", file.kernels[0]));
  const DirectiveText directive(text, place);
  KERNEVO_TRY(launch, parse_launch(directive, {0, text.size()}, file.language));
  launch.kernel = file.kernels[0];
  return std::move(launch);
}

} // namespace

Result<std::vector<LaunchDirective>> launch_directives(const KernelFile& file,
                                                       const std::string& default_launch,
                                                       const Place& default_launch_place) {
  if (!file.launches.empty())
    return file.launches;
  KERNEVO_TRY(directive, default_directive(file, default_launch, default_launch_place));
  return std::vector<LaunchDirective>{std::move(directive)};
}

Result<LaunchPlan> make_launch_plan(const KernelFile& file, const ParameterValues& parameters,
                                    const Problem& problem, const std::string& default_launch,
                                    const Place& default_launch_place) {
  KERNEVO_TRY(scope, Scope::make(file, parameters, problem));
  for (const Constraint& constraint : file.constraints) {
    KERNEVO_TRY(value, scope.number(constraint.condition));
    if (value == 0)
      return fail(ErrorCode::input,
                  fmt::format("'@where {}' does not hold for this shape and these parameters",
                              constraint.condition.text()),
                  constraint.place);
  }
  LaunchPlan plan;
  for (const ScratchDirective& directive : file.scratch) {
    KERNEVO_TRY(buffer, evaluate_scratch(directive, scope));
    plan.scratch.push_back(std::move(buffer));
  }
  KERNEVO_TRY(directives, launch_directives(file, default_launch, default_launch_place));
  for (const LaunchDirective& directive : directives) {
    KERNEVO_TRY(launch, evaluate_launch(directive, scope));
    plan.launches.push_back(std::move(launch));
  }
  return plan;
}

} // namespace kernevo
