#pragma once

#include "kernevo/base/result.h"
#include "kernevo/kernel/source_scan.h"

#include <optional>
#include <string>
#include <vector>

namespace kernevo {

struct FoundKernels {
  std::vector<std::string> names;     // in order, each once
  std::vector<std::string> templates; // those of them that are templates
  bool incomplete = false;            // a macro makes kernels, so others may exist
};

// The __global__ functions of CUDA code.
FoundKernels find_cuda_kernels(const SourceScan& scan);
// The @triton.jit functions of Triton code.
FoundKernels find_triton_kernels(const SourceScan& scan);

// The first sign of host code (main, cudaMalloc, <<<>>> in code, <iostream>), as an input error.
std::optional<Error> find_host_code(const SourceScan& scan, const std::string& file);

} // namespace kernevo
