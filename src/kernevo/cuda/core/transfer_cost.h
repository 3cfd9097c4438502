// What copies and fills cost on a GPU: its link to the host and its memory, and the cost of any
// launch. Modelled from data sheets; how fast a host copies through the driver's buffer is its own
// business, and only its order of magnitude is here.
#pragma once

#include "kernevo/cuda/core/stream_clock.h"
#include "kernevo/model/architecture.h"
#include "kernevo/model/gpu.h"

#include <string_view>

namespace kernevo::cuda {

inline constexpr std::size_t kTransfers = 7;
std::string_view name_of(Transfer transfer);
Cost transfer_cost(const Gpu& gpu, const Architecture& architecture, Transfer transfer,
                   std::uint64_t bytes);

} // namespace kernevo::cuda
