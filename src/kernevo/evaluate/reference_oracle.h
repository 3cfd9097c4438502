// Expected values from the task's own reference kernel, for operations the catalogue does not know.
#pragma once

#include "kernevo/evaluate/run_case.h"

#include <memory>

namespace kernevo {

// Builds the reference and keeps a module of its own for it, apart from any candidate.
Result<ExpectationSource> make_reference_oracle(Device& device, const Task& task, double seconds);

} // namespace kernevo
