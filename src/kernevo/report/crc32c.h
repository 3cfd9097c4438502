// CRC-32C (Castagnoli), as record files want it.
#pragma once

#include <cstdint>
#include <string_view>

namespace kernevo::report {

std::uint32_t crc32c(std::string_view bytes);
// Rotated and shifted, so that the sum of data that holds sums stays a good one.
std::uint32_t masked_crc32c(std::string_view bytes);

} // namespace kernevo::report
