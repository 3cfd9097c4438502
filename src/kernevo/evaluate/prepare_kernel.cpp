#include "kernevo/evaluate/prepare_kernel.h"

#include "kernevo/kernel/device_code.h"
#include "kernevo/kernel/judged_source.h"
#include "kernevo/task/catalogue.h"
#include "kernevo/toolchain/toolchain.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace kernevo {
namespace {

// Which template instantiations a plan launches.
void add_instances(const LaunchPlan& plan, std::vector<std::string>& instances) {
  for (const Launch& launch : plan.launches)
    if (launch.kernel.find('<') != std::string::npos &&
        std::find(instances.begin(), instances.end(), launch.kernel) == instances.end())
      instances.push_back(launch.kernel);
}

// Those of every shape, after the given ones. A shape that a launch does not fit has none; whoever
// runs it there is told why.
Result<std::vector<std::string>> instances_for(const PreparedKernel& prepared,
                                               std::span<const ShapeCase> shapes,
                                               std::vector<std::string> instances) {
  for (const ShapeCase& shape : shapes) {
    KERNEVO_TRY(problem, make_problem(*prepared.task, shape));
    if (const auto plan = prepared.plan(problem))
      add_instances(*plan, instances);
  }
  return instances;
}

CompileRequest request_for(const PreparedKernel& prepared, std::vector<std::string> instances) {
  const KernelFile& kernel = *prepared.kernel;
  CompileRequest request;
  request.source = prepared.source;
  request.file = kernel.path;
  request.first_line = kernel.first_line;
  request.architecture = prepared.architecture;
  for (const auto& [name, value] : prepared.parameters)
    request.macros.emplace_back(name, fmt::format("{}", value));
  request.flags = kernel.flags;
  request.max_registers = kernel.max_registers;
  request.name_expressions = std::move(instances);
  return request;
}

PreparationFault contract_fault(const Error& error, const KernelFile& kernel) {
  return {Rung::parse, FaultKind::interface_contract_error, format_error(error),
          Diagnostic{Diagnostic::Severity::error, error.place.value_or(Place{kernel.path}),
                     error.message}};
}

} // namespace

PreparationFault compile_fault(const Build& build) {
  PreparationFault fault{Rung::compile,
                         build.syntax_error ? FaultKind::syntax_error
                                            : FaultKind::semantic_compile_error,
                         "does not compile", std::nullopt};
  const auto error =
      std::find_if(build.diagnostics.begin(), build.diagnostics.end(),
                   [](const Diagnostic& d) { return d.severity == Diagnostic::Severity::error; });
  if (error != build.diagnostics.end())
    fault.summary = fmt::format("{}:{}: {}", error->place.file, error->place.line, error->message);
  return fault;
}

Result<LaunchPlan> PreparedKernel::plan(const Problem& problem) const {
  return make_launch_plan(*kernel, parameters, problem, task->default_launch, Place{task->file});
}

Result<PreparedKernel> prepare_kernel(Device& device, const Task& task, const KernelFile& kernel,
                                      const ParameterValues& values) {
  if (kernel.language != KernelLanguage::cuda)
    return fail(ErrorCode::unsupported, "Triton kernel files cannot be built yet",
                Place{kernel.path}, "give a CUDA kernel file");
  PreparedKernel prepared;
  prepared.task = &task;
  prepared.kernel = &kernel;
  KERNEVO_TRY(parameters, choose_parameters(kernel, values));
  prepared.parameters = std::move(parameters);
  KERNEVO_TRY(problem, make_problem(task, task.shapes.front()));
  const auto plan = prepared.plan(problem);
  if (!plan) {
    prepared.fault = contract_fault(plan.error(), kernel);
    return prepared;
  }
  KERNEVO_TRY(usual, device.architecture());
  prepared.architecture = kernel.architecture.value_or(usual);
  auto source = judged_source(kernel, prepared.parameters, prepared.architecture);
  if (!source) {
    prepared.fault = contract_fault(source.error(), kernel);
    return prepared;
  }
  prepared.source = std::move(*source);
  KERNEVO_TRY(instances, instances_for(prepared, task.shapes, {}));
  prepared.instances = std::move(instances);
  KERNEVO_TRY(build, device.build(request_for(prepared, prepared.instances)));
  prepared.build = std::move(build);
  if (!prepared.build.ok)
    prepared.fault = compile_fault(prepared.build);
  // What NVRTC takes but nobody could use elsewhere is not worth judging.
  else if (const auto code = device_code(prepared.source, kernel.path, kernel.first_line); !code)
    prepared.fault = contract_fault(code.error(), kernel);
  return prepared;
}

Result<Build> build_for(Device& device, const PreparedKernel& prepared,
                        std::span<const ShapeCase> shapes) {
  KERNEVO_TRY(instances, instances_for(prepared, shapes, prepared.instances));
  if (instances.size() == prepared.instances.size())
    return prepared.build;
  return device.build(request_for(prepared, std::move(instances)));
}

} // namespace kernevo
