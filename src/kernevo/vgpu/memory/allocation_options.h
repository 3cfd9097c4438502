#pragma once

#include "kernevo/base/lazy_pages.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace kernevo::vgpu {

using DevicePointer = std::uint64_t;

struct AllocationOptions {
  bool read_only = false; // a store to it is a fault
  bool initialized =
      true;            // false: reading a byte before it was written is a fault (sanitizer mode)
  bool strict = false; // such a read is one without the sanitizer, too
  // allocate() only: exactly there in the window of addresses (address_window.h). 0 = anywhere.
  std::uint64_t at = 0;
  // adopt() only. The content of each page, made when a kernel first touches it; without it the
  // content stays what it is. Kernels may touch `fill_limit` bytes of it.
  LazyPages::Fill fill = nullptr;
  std::uint64_t fill_limit = ~std::uint64_t{0};
  // adopt() only. Zeroed memory of the same size for the written() flags.
  std::span<std::byte> written = {};
};

} // namespace kernevo::vgpu
