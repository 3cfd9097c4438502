#pragma once

#include "kernevo/kernel/kernel_file.h"

namespace kernevo {

// The source of a kernel file with these values as its defaults: each first in its @tune list, and
// nothing else changed.
Result<std::string> set_defaults(const KernelFile& file, const ParameterValues& values);

} // namespace kernevo
