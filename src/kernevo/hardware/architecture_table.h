// The architectures of share/architectures; every figure there names its source. Each file is
// parsed once per process.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/architecture.h"

namespace kernevo {

// The file of this compute capability, or of the newest older one when there is none.
Result<Architecture> find_architecture(int compute_capability);
// Whether there is a file of just this one.
Result<bool> has_architecture(int compute_capability);

} // namespace kernevo
