// The one way from a kernel file to a kernel that is built for a device and loaded on it.
// Everything that judges, times, tunes or evolves kernels begins here.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/device/device.h"
#include "kernevo/kernel/kernel_file.h"
#include "kernevo/model/build.h"
#include "kernevo/model/task.h"
#include "kernevo/model/verdict.h"

#include <memory>
#include <optional>
#include <string>

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
  Build build;
  std::optional<PreparationFault> fault;

  // What its launches are for a problem of the task.
  Result<LaunchPlan> plan(const Problem& problem) const;
};

// Values not given take their defaults. A kernel at fault is in the result; Result errors are the
// input's or the machine's.
Result<PreparedKernel> prepare_kernel(Device& device, const Task& task, const KernelFile& kernel,
                                      const ParameterValues& values);

// A prepared kernel on a device. Both must outlive it.
struct Subject {
  const PreparedKernel* prepared = nullptr;
  std::unique_ptr<LoadedModule> module;
  bool instrumented = false; // the device is
};

struct SubjectOutcome {
  Subject subject;
  std::optional<Finding> refusal;
};

// Room for every shape of the task. A module the device has no instruction for is an `unsupported`
// error; one that takes the device down is refused.
Result<SubjectOutcome> load_subject(Device& device, const PreparedKernel& prepared,
                                    ModuleLimits limits);

} // namespace kernevo
