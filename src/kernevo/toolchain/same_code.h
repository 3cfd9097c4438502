// Whether two modules hold the same kernels.
#pragma once

#include <string_view>

namespace kernevo {

// The same instructions, variables and resources in every kernel and in all that it uses. What
// compilers choose freely makes no difference: line information, mangled names and linkage, the
// numbers in labels, the order of kernels, variables nobody uses.
bool same_device_code(std::string_view ptx, std::string_view other);

} // namespace kernevo
