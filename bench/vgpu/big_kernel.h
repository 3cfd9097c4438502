// A kernel too big to compile while anybody waits.
#pragma once

#include <string>

namespace bench {

// PTX of `big(float* data, int times)`: `instructions` dependent float operations in a loop.
std::string big_kernel(int instructions);

} // namespace bench
