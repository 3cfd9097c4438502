// The arguments of a launch as the bytes of a kernel's parameters.
#pragma once

#include "kernevo/model/launch.h"
#include "kernevo/vgpu/program/kernels.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kernevo {

// Writes one argument where the parameter stands in `out`, which has room for all of them; the text
// of the problem when it does not fit. `pointers`: by BufferArgument::index.
std::optional<std::string> put_argument(const LaunchArgument& argument,
                                        const vgpu::KernelInfo::Parameter& parameter,
                                        std::size_t position,
                                        std::span<const std::uint64_t> pointers,
                                        std::vector<std::byte>& out);

} // namespace kernevo
