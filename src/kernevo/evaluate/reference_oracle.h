// Expected values from the task's own reference kernel, for operations the catalogue does not know.
#pragma once

#include "kernevo/evaluate/run_case.h"

#include <memory>

namespace kernevo {

// Compiles the reference and keeps a device of its own for it, apart from any candidate.
Result<ExpectationSource> make_reference_oracle(const Task& task, const Gpu& gpu, double seconds);

} // namespace kernevo
