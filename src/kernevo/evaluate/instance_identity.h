// What an instance of a kernel is, apart from how it is written.
#pragma once

#include "kernevo/kernel/kernel_file.h"
#include "kernevo/model/build.h"
#include "kernevo/model/task.h"

#include <string>

namespace kernevo {

// Its machine-independent code, how it is to be assembled and its launches, with what they pass, at
// every shape of the task, without names, comments and source lines. Empty when a launch cannot be
// planned.
std::string instance_identity(const Task& task, const KernelFile& kernel,
                              const ParameterValues& parameters, const Build& build);

} // namespace kernevo
