// What an operator of a framework would cost on a GPU whose library does it as well as the roofline
// allows but for a fixed share. Modelled from data sheets: no kernel of such a library is known
// here.
#pragma once

#include "kernevo/cuda/core/stream_clock.h"
#include "kernevo/model/gpu.h"

#include <cstdint>

namespace kernevo::cuda {

// `arithmetic`: 0 fp64, 1 fp32, 2 sixteen bits.
Cost operator_cost(const Gpu& gpu, std::uint64_t bytes, double flops, int arithmetic);

} // namespace kernevo::cuda
