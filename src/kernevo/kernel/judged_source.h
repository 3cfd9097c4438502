// The text of a kernel file that is compiled: by the judge, and in whatever is extracted.
#pragma once

#include "kernevo/kernel/kernel_file.h"

namespace kernevo {

// The source with its conditionals decided for these parameters and this architecture (sm_90a), so
// that no compiler decides them otherwise. An input error where they cannot be.
Result<std::string> judged_source(const KernelFile& file, const ParameterValues& parameters,
                                  const std::string& architecture);

} // namespace kernevo
