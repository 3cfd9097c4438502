// The one way from a kernel file to a kernel that is built for a device. Everything that judges,
// times, tunes or evolves kernels begins here.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/device/device.h"
#include "kernevo/kernel/kernel_file.h"
#include "kernevo/model/build.h"
#include "kernevo/model/task.h"
#include "kernevo/model/verdict.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kernevo {

// What stopped a kernel before it could be run.
struct PreparationFault {
  Rung rung = Rung::parse;
  FaultKind kind = FaultKind::interface_contract_error;
  std::string summary;
  std::optional<Diagnostic> diagnostic;
};

// A kernel of a task with its parameters bound. Task and kernel must outlive it.
struct PreparedKernel {
  const Task* task = nullptr;
  const KernelFile* kernel = nullptr;
  ParameterValues parameters;
  std::string source;                 // that is compiled, with its conditionals decided
  std::string architecture;           // that it is compiled for
  std::vector<std::string> instances; // of templates, that the task's own shapes launch
  Build build;                        // with those, and no others
  std::optional<PreparationFault> fault;

  // What its launches are for a problem of the task.
  Result<LaunchPlan> plan(const Problem& problem) const;
};

// Values not given take their defaults. A kernel at fault is in the result; Result errors are the
// input's or the machine's.
Result<PreparedKernel> prepare_kernel(Device& device, const Task& task, const KernelFile& kernel,
                                      const ParameterValues& values);

// The build that can be launched at these shapes, too: a template argument may depend on the shape.
// The prepared one when that has all it takes. It is a build apart, because what is said about the
// prepared one (diagnostics, resources, names) is told to proposers and must not depend on shapes
// they are not shown.
Result<Build> build_for(Device& device, const PreparedKernel& prepared,
                        std::span<const ShapeCase> shapes);

// Why it did not compile.
PreparationFault compile_fault(const Build& build);

} // namespace kernevo
