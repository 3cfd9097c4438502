// Memory that will be used from end to end costs less in large pages.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace kernevo {

// Asks the system for them, where the memory is worth it. What has no page yet gets large ones.
void prefer_large_pages(std::span<std::byte> memory);

// Zeroes, in large pages where that is worth it.
std::vector<std::byte> zeroed_bytes(std::size_t size);

} // namespace kernevo
