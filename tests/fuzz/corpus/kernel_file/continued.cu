// @launch k<<<1, \
// 32>>>(A,
//  C)
#include <cstdio>
#define X __global__ void z
extern "C" __global__ void __launch_bounds__(256) k(float* a) { const char* s = R"x(")x"; int n = 1'000; }
