// Functions of NVIDIA's headers that do nothing here. Each has a weak definition of its own, which
// a real one replaces when the library is linked; so what is supported is what is written, and no
// list can say otherwise.
#pragma once

namespace kernevo::cuda {

// Says once that the program asked for it; returns 801, the
// number of "not supported" in both interfaces.
int not_supported(const char* name);
// Whether the function is one of those.
bool is_supported(const void* function);

} // namespace kernevo::cuda
