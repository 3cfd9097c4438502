// The virtual GPU in a process of its own: a crash, a hang or a runaway there is a finding here.
#pragma once

#include "kernevo/device/device.h"

#include <memory>

namespace kernevo {

struct VirtualDeviceLimits {
  std::uint64_t memory_bytes = std::uint64_t{8} << 30U; // of the worker, beside the arena
  // Address space for arenas larger than that, of which runs on demand touch little.
  std::uint64_t arena_bytes = 0;
};

Result<std::unique_ptr<Device>> open_virtual_device(const Gpu& gpu,
                                                    const VirtualDeviceLimits& limits);

// The worker's main loop (role "execute").
int serve_virtual_device();

} // namespace kernevo
