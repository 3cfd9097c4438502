#pragma once

#include <string>

namespace kernevo::cuda {

// The newest version of a function of the driver's interface this library has, or null.
void* find_entry_point(const std::string& name);

} // namespace kernevo::cuda
