// What nvcc packs device code into: LZ4 blocks (-compress-mode=speed, and every toolkit
// before 12.8) and Zstandard frames.
#pragma once

#include "kernevo/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace kernevo::cuda {

enum class Packing { lz4, zstd };

// `bytes`: how many there were, as the container says. Refuses what says otherwise, or too many.
Result<std::string> unpack(Packing packing, std::string_view packed, std::uint64_t bytes);

} // namespace kernevo::cuda
