// The plain C++ matrix product that the virtual GPU is held against.
#pragma once

namespace bench {

inline constexpr const char* kLoopNestFlags = "-O3 -march=native";

void loop_nest(const float* a, const float* b, float* c, int n);

} // namespace bench
