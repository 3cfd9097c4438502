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

CompileRequest request_for(const std::string& architecture, std::string source,
                           const KernelFile& kernel, const ParameterValues& parameters,
                           const LaunchPlan& plan) {
  CompileRequest request;
  request.source = std::move(source);
  request.file = kernel.path;
  request.first_line = kernel.first_line;
  request.architecture = architecture;
  for (const auto& [name, value] : parameters)
    request.macros.emplace_back(name, fmt::format("{}", value));
  request.flags = kernel.flags;
  request.max_registers = kernel.max_registers;
  // Which template instantiations are launched.
  for (const Launch& launch : plan.launches)
    if (launch.kernel.find('<') != std::string::npos &&
        std::find(request.name_expressions.begin(), request.name_expressions.end(),
                  launch.kernel) == request.name_expressions.end())
      request.name_expressions.push_back(launch.kernel);
  return request;
}

PreparationFault contract_fault(const Error& error, const KernelFile& kernel) {
  return {Rung::parse, FaultKind::interface_contract_error, format_error(error),
          Diagnostic{Diagnostic::Severity::error, error.place.value_or(Place{kernel.path}),
                     error.message}};
}

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

} // namespace

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
  const std::string architecture = kernel.architecture.value_or(usual);
  auto source = judged_source(kernel, prepared.parameters, architecture);
  if (!source) {
    prepared.fault = contract_fault(source.error(), kernel);
    return prepared;
  }
  KERNEVO_TRY(build,
              device.build(request_for(architecture, *source, kernel, prepared.parameters, *plan)));
  prepared.build = std::move(build);
  if (!prepared.build.ok)
    prepared.fault = compile_fault(prepared.build);
  // What NVRTC takes but nobody could use elsewhere is not worth judging.
  else if (const auto code = device_code(*source, kernel.path, kernel.first_line); !code)
    prepared.fault = contract_fault(code.error(), kernel);
  return prepared;
}

} // namespace kernevo
