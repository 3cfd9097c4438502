// Of torch what an extension may include without naming it.
#include <torch/extension.h>

#include <ATen/AccumulateType.h>
#include <ATen/OpMathType.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/Exceptions.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

// Last: it takes words that the others use.
#include "cuda_host.h"
