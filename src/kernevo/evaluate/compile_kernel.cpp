#include "kernevo/evaluate/compile_kernel.h"

#include "kernevo/toolchain/compile_worker.h"
#include "kernevo/toolchain/toolchain.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>

namespace kernevo {

Result<Build> compile_kernel(const KernelFile& kernel, const ParameterValues& parameters,
                             const LaunchPlan& plan, const Gpu& gpu) {
  KERNEVO_TRY(toolchain, find_toolchain());
  CompileRequest request;
  request.source = kernel.source;
  request.file = kernel.path;
  request.first_line = kernel.first_line;
  request.architecture =
      kernel.architecture.value_or(nearest_architecture(toolchain, gpu.compute_capability));
  for (const auto& [name, value] : parameters)
    request.macros.emplace_back(name, fmt::format("{}", value));
  request.flags = kernel.flags;
  request.max_registers = kernel.max_registers;
  for (const Launch& launch : plan.launches)
    if (launch.kernel.find('<') != std::string::npos &&
        std::find(request.name_expressions.begin(), request.name_expressions.end(),
                  launch.kernel) == request.name_expressions.end())
      request.name_expressions.push_back(launch.kernel);
  return compile_confined(request);
}

} // namespace kernevo
