// What would be one thing for the judge's compiler and another for a user's, and its honest twin.
#include "kernevo/kernel/kernel_file.h"

#include <gmock/gmock.h>

namespace kernevo {
namespace {

using testing::HasSubstr;

constexpr const char* kKernel = "extern \"C\" __global__ void k(float* x) { x[0] = 1; }\n";

// The error of a kernel file with this before its kernel; empty when it is taken.
std::string refusal(const std::string& head) {
  const auto file = parse_kernel_file(head + "\n" + kKernel, "k.cu");
  return file ? "" : format_error(file.error());
}

struct Pair {
  std::string cheat;
  std::string place; // "k.cu:LINE:COLUMN: "
  std::string words; // in its refusal
  std::string honest;
};

void PrintTo(const Pair& pair, std::ostream* out) {
  *out << pair.cheat;
}

class PortableSource : public testing::TestWithParam<Pair> {};

TEST_P(PortableSource, RefusesTheCheatAndTakesItsHonestTwin) {
  EXPECT_THAT(refusal(GetParam().cheat), testing::StartsWith(GetParam().place));
  EXPECT_THAT(refusal(GetParam().cheat), HasSubstr(GetParam().words));
  EXPECT_THAT(refusal(GetParam().cheat), HasSubstr("; ")); // and what to do
  EXPECT_EQ(refusal(GetParam().honest), "");
}

const Pair kCompilers[] = {
    {"#ifndef __CUDACC_RTC__\nint evil = 1;\n#endif", "k.cu:1:9: ", "__CUDACC_RTC__",
     "#ifndef EXTRA\nint fine = 1;\n#endif"},
    {"#if defined(__GNUC__) && 1\n#endif", "k.cu:1:13: ", "__GNUC__",
     "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800\n#endif"},
    {"#if 0\n#elif __CUDACC_VER_MAJOR__ > 12\n#endif", "k.cu:2:7: ", "__CUDACC_VER_MAJOR__",
     "#if 0\n#elif __cplusplus >= 201703L\n#endif"},
    {"#ifdef _MSC_VER\n#endif", "k.cu:1:8: ", "_MSC_VER", "#ifdef __CUDACC__\n#endif"},
    {"#if __has_include(<vector>)\n#endif", "k.cu:1:5: ", "__has_include",
     "// __has_include\n#if 1\n#endif"},
    {"#if __has_builtin(__builtin_trap)\n#endif", "k.cu:1:5: ", "__has_builtin",
     "__device__ void f() { __trap(); }"},
    {"const int nvcc = __NVCC__;", "k.cu:1:18: ", "__NVCC__", "const int nvcc = 1;"},
    {"#define HOST __GNUC__", "k.cu:1:14: ", "__GNUC__", "#define HOST 0"},
    {"__device__ int old() { return __cplusplus > 201703L; }", "k.cu:1:31: ", "__cplusplus",
     "__device__ int old() { return 0; }"},
    {"__device__ const char* when() { return __TIME__; }", "k.cu:1:40: ", "__TIME__",
     "__device__ const char* when() { return \"now\"; }"},
    {"__device__ int where() { return __LINE__; }", "k.cu:1:33: ", "__LINE__",
     "__device__ int where() { return 1; }"},
    {"__device__ int where() { return __builtin_LINE(); }", "k.cu:1:33: ", "__builtin_LINE",
     "__device__ float lg(float x) { return __log2f(x); }"},
    {"__device__ int arch() { return __CUDA_ARCH__; }", "k.cu:1:32: ", "ask for it in #if",
     "#if __CUDA_ARCH__ >= 800\n#define FAST 1\n#endif"},
    // What a name means to the host's compiler, as a string or a part of another name.
    {"#define S(x) #x\n#define T(x) S(x)\n__device__ char c() { return T(linux)[0]; }",
     "k.cu:1:14: ", "which compiler it meets", "#define TWICE(x) ((x) + (x))"},
    {"#define J(a, b) a##b", "k.cu:1:18: ", "which compiler it meets",
     "#define LIST(...) __VA_ARGS__"},
    {"#define E(...) __VA_OPT__(1)", "k.cu:1:16: ", "__VA_OPT__",
     "#define ALL(...) f(__VA_ARGS__)"},
    // An empty macro of the host's headers makes an assignment of what was a declaration.
    {"typedef int __wur;\n__device__ int f() { int x = 1; { __wur x = 2; } return x; }",
     "k.cu:1:13: ", "kept for compilers", "typedef int word;\n__device__ __half2 h(__half2 x);"},
    {"typedef int C10_API;", "k.cu:1:13: ", "code around extracted kernels", "typedef int API;"},
};
INSTANTIATE_TEST_SUITE_P(Compilers, PortableSource, testing::ValuesIn(kCompilers));

const Pair kPreprocessors[] = {
    {"// a comment ?\?/\nint evil;", "k.cu:1:14: ", "trigraph", "// a comment ? ?/"},
    {"// a comment \\ \nint evil = 1;", "k.cu:1:14: ", "space after a '\\'",
     "// @tune BM \\\n//   32 64\nint fine = BM;"},
    {"// a comment \rint evil = 1;", "k.cu:1:14: ", "control character", "// a comment\r\nint a;"},
    {"#ifndef __CUDACC_\\\nRTC__\n#endif", "k.cu:1:18: ", "two halves of a word",
     "#define A(x) \\\n  (x)"},
    {"/\\\n/ int evil;", "k.cu:1:2: ", "two halves", "// int fine;"},
    {"/* *\\\n/ int evil = 1; /* */", "k.cu:1:5: ", "parts the '*/'", "/* *\\ /\n */"},
    {"const char* s = \"a\\\n\";", "k.cu:1:19: ", "continues a string",
     "__device__ const char* s = \"a\" \"b\";"},
    {"const char* s = \"\\\\\n#define x \";", "k.cu:1:", "continues a string",
     "__device__ const char* s = \"\\\\\";"},
    {"%:define A 1", "k.cu:1:1: ", "digraph", "#define A 1"},
    {"int a<:2:>;", "k.cu:1:6: ", "digraph",
     "struct A {}; template <class T> struct B {}; B<::A> b;"},
    {"__device__ void f() <% %>", "k.cu:1:21: ", "digraph", "__device__ int f() { return 7 % 2; }"},
    {"const char* s = R\"(\n#endif /* )\";", "k.cu:1:18: ", "raw string",
     "__device__ const char* s = \"R(\";"},
    {"#define xR\nconst char* s = xR\"(\" /* )\";", "k.cu:2:19: ", "touches the string",
     "__device__ const char* s = u8\"(\";"},
    {"#if 0\nit's /* not\n#endif", "k.cu:2:3: ", "never closed", "#if 0\n// it's /* not\n#endif"},
    {"int \\u0061b;", "k.cu:1:5: ", "outside strings", "int ab;"},
    {"int $a;", "k.cu:1:5: ", "no part of C++", "int a;"},
    {"int \xc3\xa4;", "k.cu:1:5: ", "outside ASCII", "// \xc3\xa4\nint a;"},
    {"// \xc3", "k.cu:1:4: ", "not UTF-8", "// \xe2\x82\xac"},
    {"#line 7 \"other.cu\"", "k.cu:1:1: ", "#line is not for kernel files", "// #line 7"},
    {"# 7 \"other.cu\"", "k.cu:1:1: ", "is not for kernel files", "#"},
    {"#elifdef A", "k.cu:1:1: ", "#elifdef", "#if 0\n#elif defined(A)\n#endif"},
    {"#include_next <math.h>", "k.cu:1:1: ", "#include_next", "#include <cuda_fp16.h>"},
    {"#include <a//b.h>", "k.cu:1:10: ", "header", "#include <cuda/std/array>"},
};
INSTANTIATE_TEST_SUITE_P(Preprocessors, PortableSource, testing::ValuesIn(kPreprocessors));

const Pair kWords[] = {
    {"#define float double", "k.cu:1:9: ", "means something already", "#define real double"},
    {"#define __global__ static", "k.cu:1:9: ", "'__global__'", "#define GLOBAL __global__"},
    {"#define if(x) while (x)", "k.cu:1:9: ", "'if'", "#define IF(x) if (x)"},
    {"#define main entry", "k.cu:1:9: ", "'main'", "#define mainly 1"},
    {"#define cudaMalloc(...) 0", "k.cu:1:9: ", "'cudaMalloc'",
     "#ifndef CUDART_INF_F\n#define CUDART_INF_F __int_as_float(0x7f800000)\n#endif"},
    {"#define TORCH_CHECK(...)", "k.cu:1:9: ", "'TORCH_CHECK'",
     "#define CUDA_KERNEL_LOOP(i, n) for (int i = threadIdx.x; i < (n); i += blockDim.x)"},
    {"#define std nvcuda", "k.cu:1:9: ", "'std'", "#define max(a, b) ((a) > (b) ? (a) : (b))"},
    {"#undef __CUDA_ARCH__", "k.cu:1:8: ", "does not define", "#define A 1\n#undef A"},
    {"#undef assert", "k.cu:1:8: ", "does not define", "#include <cassert>"},
    {"namespace kernevo_host { void check(int); }", "k.cu:1:11: ", "kernevo_host",
     "namespace host { void check(int); }"},
    {"namespace std { int printf(); }", "k.cu:1:1: ", "namespace std", "using namespace std;"},
};
INSTANTIATE_TEST_SUITE_P(Words, PortableSource, testing::ValuesIn(kWords));

const Pair kHost[] = {
    {"__attribute__((constructor)) void f() {}", "k.cu:1:1: ", "'constructor'",
     "struct __attribute__((aligned(16))) V { float x[4]; };"},
    {"__attribute__((__destructor__)) void f() {}", "k.cu:1:1: ", "'__destructor__'",
     "__device__ __attribute__((always_inline)) inline void f() {}"},
    {"void f() __attribute__((aligned(8), ifunc(\"g\")));", "k.cu:1:10: ", "'ifunc'",
     "[[nodiscard]] __device__ int f();"},
    {"void f() __attribute__((alias(\"g\")));", "k.cu:1:10: ", "'alias'",
     "[[maybe_unused]] constexpr int kUnused = 3;"},
    {"__attribute__((section(\".init_array\"))) void* p;", "k.cu:1:1: ", "'section'",
     "struct alignas(16) V { float x[4]; };"},
    {"#define NOW ((constructor))\n__attribute__ NOW void f() {}", "k.cu:2:1: ", "without its list",
     "#define INLINE __attribute__((always_inline)) inline"},
    {"#define NOW (constructor)\n__attribute__(NOW) void f() {}", "k.cu:2:1: ", "'NOW'",
     "__device__ __attribute__((noinline)) void f() {}"},
    {"[[gnu::constructor]] void f() {}", "k.cu:1:1: ", "one compiler only",
     "struct S { int a; };\n__device__ int g(const int* x, int i) { return x[x[i]]; }"},
    {"[[using gnu: constructor]] void f() {}", "k.cu:1:1: ", "one compiler only",
     "__device__ int f(int a) { if (a) [[likely]] return 1; return 2; }"},
    {"asm(\".globl evil\");", "k.cu:1:1: ", "assembly outside a function",
     "__device__ void f() { asm volatile(\"membar.gl;\"); }"},
    {"namespace a { extern \"C\" { __asm__(\"nop\"); } }", "k.cu:1:28: ", "outside a function",
     "namespace a { extern \"C\" { __device__ void f() { if (true) asm(\"exit;\"); } } }"},
    {"int f(const char*) asm(\"system\");", "k.cu:1:20: ", "outside a function",
     "#define FENCE asm volatile(\"membar.gl;\")\n__device__ void f() { FENCE; }"},
    {"#pragma comment(lib, \"evil\")", "k.cu:1:1: ", "#pragma comment",
     "__device__ void f() {\n#pragma unroll 4\nfor (int i = 0; i < 4; ++i) ;\n}"},
    {"#pragma GCC optimize(\"fast-math\")", "k.cu:1:1: ", "#pragma GCC",
     "#pragma nv_diag_suppress 177"},
    {"_Pragma(\"GCC poison x\")", "k.cu:1:1: ", "else than unroll",
     "#define UNROLL _Pragma(\"unroll\")"},
    {"#pragma push_macro(\"int\")", "k.cu:1:1: ", "#pragma push_macro", "#pragma once"},
};
INSTANTIATE_TEST_SUITE_P(Host, PortableSource, testing::ValuesIn(kHost));

// A place is the user's own, wherever the source begins.
TEST(PortableSourcePlace, CountsFromTheFirstLine) {
  const auto file =
      parse_kernel_file(std::string(kKernel) + "#ifdef __GNUC__\n#endif\n", "task.yaml", 41);
  ASSERT_FALSE(file);
  EXPECT_THAT(format_error(file.error()), HasSubstr("task.yaml:42:8: #ifdef asks for '__GNUC__'"));
}

// Directives are comments, never strings.
TEST(PortableSourcePlace, DirectivesInStringsAreNone) {
  const auto file = parse_kernel_file(
      std::string("__device__ const char* s = \"// @maxregs 32\";\n") + kKernel, "k.cu");
  ASSERT_TRUE(file);
  EXPECT_FALSE(file->max_registers);
}

} // namespace
} // namespace kernevo
