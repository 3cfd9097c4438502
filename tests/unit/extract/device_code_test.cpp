#include "kernevo/extract/device_code.h"

#include <gtest/gtest.h>

namespace kernevo::extract {
namespace {

TEST(DeviceCode, SaysDeviceWhereItIsMeant) {
  EXPECT_EQ(device_code("float twice(float x) { return 2 * x; }").text,
            "__device__ float twice(float x) { return 2 * x; }");
  EXPECT_EQ(device_code("template <class T, int n = (3 > 2)> inline T twice(T x);").text,
            "template <class T, int n = (3 > 2)> __device__ inline T twice(T x);");
  EXPECT_EQ(device_code("constexpr int tiles(int n) { return n / 16; }").text,
            "__host__ __device__ constexpr int tiles(int n) { return n / 16; }");
  EXPECT_EQ(device_code("extern \"C\" { int f(); }\nnamespace a { int g(); }").text,
            "extern \"C\" { __device__ int f(); }\nnamespace a { __device__ int g(); }");
  EXPECT_EQ(device_code("unsigned counter = 0;\nfloat table[4] = {1, 2, 3, 4};").text,
            "__device__ unsigned counter = 0;\n__device__ float table[4] = {1, 2, 3, 4};");
}

TEST(DeviceCode, KnowsMembers) {
  EXPECT_EQ(device_code("struct Pair { float a, b; Pair(float x) : a{x}, b(x) {} float sum() const "
                        "{ return a + b; } bool operator<(Pair o) const; };")
                .text,
            "struct Pair { float a, b; __device__ Pair(float x) : a{x}, b(x) {} __device__ float "
            "sum() const { return a + b; } __device__ bool operator<(Pair o) const; };");
  EXPECT_EQ(device_code("struct P { P() = default; static constexpr int n = f(3); };").text,
            "struct P { P() = default; static constexpr int n = f(3); };");
}

TEST(DeviceCode, LeavesAloneWhatIsSaid) {
  for (const char* source :
       {"__device__ __forceinline__ float f(float x) { return x; }",
        "extern \"C\" __global__ void __launch_bounds__(128) k(float* x) { if (x) { *x = 1; } }",
        "template <int n> __global__ void k(float (&x)[n]) {}", "__constant__ float weights[9];",
        "extern __shared__ float tile[];", "constexpr int kTile = 32; const float kScale = 0.5f;",
        "enum class Mode { a, b };\nusing T = float;\ntypedef float (*F)(float);\ntypedef struct { "
        "int a; } S;",
        "static_assert(sizeof(int) == 4, \"int (of 4)\");",
        "struct alignas(16) V { float x[4]; };\nunion U { int i; float f; };",
        "#define MAKE(name) __device__ float name(float x) { return x; }\nMAKE(one)\nMAKE(two)",
        "namespace w = nvcuda;\nusing namespace w;", "", "}", "struct", "template <", "float f("})
    EXPECT_EQ(device_code(source).text.find("__device__ __device__"), std::string::npos) << source;
  for (const char* source :
       {"constexpr int kTile = 32; const float kScale = 0.5f;",
        "enum class Mode { a, b };\nusing T = float;\ntypedef float (*F)(float);",
        "struct alignas(16) V { float x[4]; };\nunion U { int i; float f; };",
        "extern \"C\" __global__ void __launch_bounds__(128) k(float* x) { if (x) { *x = 1; } }"})
    EXPECT_EQ(device_code(source).text, source);
}

TEST(DeviceCode, FindsKernelsInTheirNamespaces) {
  const DeviceCode code =
      device_code("#define TILE 16\nnamespace a { namespace b { template <int n> "
                  "__global__ void k(float*) {} } }\n__global__ void l() {}");
  EXPECT_EQ(code.kernels, (std::map<std::string, std::string>{{"k", "a::b::k"}, {"l", "l"}}));
  EXPECT_EQ(code.macros, std::set<std::string>{"TILE"});
}

} // namespace
} // namespace kernevo::extract
