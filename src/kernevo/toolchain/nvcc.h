#pragma once

#include "kernevo/toolchain/nvrtc.h"
#include "kernevo/toolchain/toolchain.h"

namespace kernevo {

// The same as run_nvrtc by running nvcc, for toolkits without the library. Needs a host compiler,
// and functions without __device__ are host functions to it.
Result<NvrtcOutcome> run_nvcc(const Toolchain& toolchain, const CompileRequest& request);

} // namespace kernevo
