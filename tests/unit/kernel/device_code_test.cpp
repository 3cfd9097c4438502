#include "kernevo/kernel/device_code.h"

#include <gmock/gmock.h>

namespace kernevo {
namespace {

using testing::HasSubstr;

std::string text_of(const std::string& source) {
  const auto code = device_code(source, "k.cu");
  return code ? code->text : format_error(code.error());
}

TEST(DeviceCode, SaysDeviceWhereItIsMeant) {
  EXPECT_EQ(text_of("float twice(float x) { return 2 * x; }"),
            "__device__ float twice(float x) { return 2 * x; }");
  EXPECT_EQ(text_of("template <class T, int n = (3 > 2)> inline T twice(T x);"),
            "template <class T, int n = (3 > 2)> __device__ inline T twice(T x);");
  EXPECT_EQ(text_of("constexpr int tiles(int n) { return n / 16; }"),
            "__host__ __device__ constexpr int tiles(int n) { return n / 16; }");
  EXPECT_EQ(text_of("extern \"C\" { int f(); }\nnamespace a { int g(); }"),
            "extern \"C\" { __device__ int f(); }\nnamespace a { __device__ int g(); }");
  EXPECT_EQ(text_of("unsigned counter = 0;\nfloat table[4] = {1, 2, 3, 4};"),
            "__device__ unsigned counter = 0;\n__device__ float table[4] = {1, 2, 3, 4};");
}

TEST(DeviceCode, KnowsMembers) {
  EXPECT_EQ(text_of("struct Pair { float a, b; Pair(float x) : a{x}, b(x) {} float sum() const "
                    "{ return a + b; } bool operator<(Pair o) const; };"),
            "struct Pair { float a, b; __device__ Pair(float x) : a{x}, b(x) {} __device__ float "
            "sum() const { return a + b; } __device__ bool operator<(Pair o) const; };");
  EXPECT_EQ(text_of("struct P { P() = default; static constexpr int n = f(3); };"),
            "struct P { P() = default; static constexpr int n = f(3); };");
}

TEST(DeviceCode, LeavesAloneWhatIsSaid) {
  for (const char* source :
       {"__device__ __forceinline__ float f(float x) { return x; }",
        "extern \"C\" __global__ void __launch_bounds__(128) k(float* x) { if (x) { *x = 1; } }",
        "template <int n> __global__ void k(float (&x)[n]) {}", "__constant__ float weights[9];",
        "extern __shared__ float tile[];",
        "constexpr int kTile = 32; constexpr float kScale = 0.5f;",
        "enum class Mode { a, b };\nusing T = float;\ntypedef float (*F)(float);\ntypedef struct { "
        "int a; } S;",
        "static_assert(sizeof(int) == 4, \"int (of 4)\");",
        "struct alignas(16) V { float x[4]; };\nunion U { int i; float f; };",
        "#define MAKE(name) __device__ float name(float x) { return x; }\nMAKE(one)\nMAKE(two)",
        "namespace w = nvcuda;\nusing namespace w;", "", "struct"})
    EXPECT_EQ(text_of(source).find("__device__ __device__"), std::string::npos) << source;
  for (const char* source :
       {"constexpr int kTile = 32; constexpr float kScale = 0.5f;",
        "enum class Mode { a, b };\nusing T = float;\ntypedef float (*F)(float);",
        "struct alignas(16) V { float x[4]; };\nunion U { int i; float f; };",
        "extern \"C\" __global__ void __launch_bounds__(128) k(float* x) { if (x) { *x = 1; } }"})
    EXPECT_EQ(text_of(source), source);
}

TEST(DeviceCode, FindsKernelsInTheirNamespaces) {
  const DeviceCode code =
      *device_code("#define TILE 16\nnamespace a { namespace b { template <int n> "
                   "__global__ void k(float*) {} } }\n__global__ void l() {}");
  EXPECT_EQ(code.kernels, (std::map<std::string, std::string>{{"k", "a::b::k"}, {"l", "l"}}));
  EXPECT_EQ(code.macros, std::set<std::string>{"TILE"});
}

// A function for both sides could run on the host when nobody looks: puts() is called by others.
TEST(DeviceCode, LeavesNothingToTheHost) {
  EXPECT_EQ(text_of("extern \"C\" __host__ __device__ int puts(const char* s) { return 0; }"),
            "extern \"C\" __device__ int puts(const char* s) { return 0; }");
  EXPECT_EQ(text_of("#define HD __host__ __device__\nHD int f();"),
            "#define HD __device__\n__device__ HD int f();");
  EXPECT_EQ(text_of("__host__ int f();"), "__device__ int f();");
  // Constant expressions are for both: sizes and template arguments are made of them.
  EXPECT_EQ(text_of("__host__ __device__ constexpr int f() { return 1; }"),
            "__host__ __device__ constexpr int f() { return 1; }");
  // The body of a function that returns an enum ends its declaration.
  EXPECT_EQ(text_of("enum E { a };\nenum E puts(const char*) { return a; }\n__device__ int g() {}"),
            "enum E { a };\n__device__ enum E puts(const char*) { return a; }\n__device__ int g() "
            "{}");
}

// What has a value when it is compiled needs nobody to work it out when a program starts.
TEST(DeviceCode, MakesConstantsOfTheCompiler) {
  EXPECT_EQ(text_of("const float kScale = 0.5f;\nstatic const S s;"),
            "constexpr const float kScale = 0.5f;\nconstexpr static const S s;");
  EXPECT_EQ(text_of("template <class T> const int kSize = sizeof(T);"),
            "template <class T> constexpr const int kSize = sizeof(T);");
  EXPECT_EQ(text_of("struct S { static const int n = 3; static inline const int m{f()}; int k = 1; "
                    "static int later; };"),
            "struct S { constexpr static const int n = 3; constexpr static inline const int "
            "m{f()}; int k = 1; static int later; };");
  EXPECT_EQ(text_of("extern const int elsewhere;"), "extern const int elsewhere;");
}

TEST(DeviceCode, KnowsSpecialisationsOfFunctions) {
  EXPECT_EQ(text_of("template <> __device__ float zero<float>() { return 0; }\nint next;"),
            "template <> __device__ float zero<float>() { return 0; }\n__device__ int next;");
  EXPECT_EQ(text_of("template <> int size<Pair<int, 2>>(int n) { return n; }"),
            "template <> __device__ int size<Pair<int, 2>>(int n) { return n; }");
  EXPECT_EQ(device_code("template <> __global__ void k<4>(float*) {}")->kernels.at("k"), "k");
}

// Macros may make declarations that say whose they are.
TEST(DeviceCode, TakesMacrosThatSayDevice) {
  for (const char* source :
       {"#define MAKE(name, body) __device__ float name(float x) { body }\n"
        "MAKE(one, return x;)\nMAKE(two, if (x > 0) { return 2 * x; } return x;)\n",
        "#define BOTH(T) __device__ T f(T x) { return x; } __constant__ T c;\nBOTH(float)\n",
        "#define OUTER(n) INNER(n)\n#define INNER(n) __device__ int n() { return 1; }\nOUTER(f)\n",
        "#define HELPERS __device__ int h() { return 1; }\nHELPERS\n__device__ int g() { return 2; "
        "}",
        "#define BOUNDS(n) __launch_bounds__(n)\n__global__ void BOUNDS(128) k() {}",
        "#define SWAP(a, b) { auto t = a; a = b; b = t; }\n__device__ void f(int a, int b) { "
        "SWAP(a, "
        "b); }",
        "#define TABLE 1, 2, 3\n__constant__ int t[3] = {TABLE};"})
    EXPECT_EQ(text_of(source), source);
}

struct Hidden {
  std::string source;
  std::string words;
};
void PrintTo(const Hidden& hidden, std::ostream* out) {
  *out << hidden.source;
}
class DeviceCodeRefuses : public testing::TestWithParam<Hidden> {};

TEST_P(DeviceCodeRefuses, WhatItCannotSeeThrough) {
  EXPECT_THAT(text_of(GetParam().source), testing::StartsWith("k.cu:"));
  EXPECT_THAT(text_of(GetParam().source), HasSubstr(GetParam().words));
}

const Hidden kHidden[] = {
    {"#define FN(r, n, a) extern \"C\" r n a\n#define BODY { return 0; }\nFN(int, puts, (const "
     "char*)) "
     "BODY\n__device__ int g();",
     "'BODY'"},
    {"#define MAKE(n) extern \"C\" int n(const char*) { return 0; }\nMAKE(puts)",
     "'MAKE' declares something without saying __device__"},
    {"#define MAKE(n) __device__ int g() { return 1; } int n() { return 0; }\nMAKE(puts)",
     "'MAKE' declares something without saying __device__"},
    {"#define HIDE int puts(const char*) { return 0; }\nHIDE __device__ int g() { return 1; }",
     "'HIDE' declares something"},
    {"#define END ; int puts() { return 0; } __device__\n__device__ int a END int b;",
     "in the middle of one"},
    {"#define A B\n#define B int puts() { return 0; }\nA __device__ int g();", "'A' declares"},
    {"#define MAKE(T, n) __device__ T n() { return 1; }\nMAKE(int g() { return 1; } int, puts)",
     "an argument of the macro 'MAKE'"},
    {"#define MAKE(...) __device__ int g(); __VA_ARGS__\nMAKE(int a, int puts() { return 0; })",
     "declares something"},
    {"#define CLOSE }\n#define OPEN {\n__device__ int f() { CLOSE int puts() OPEN return 0; }",
     "k.cu:1:15: this '}' closes nothing"},
    {"#define F(x) x }\n__device__ int f() { F(return 1;) int puts() { return 0; }",
     "brackets must nest"},
    {"#define NOP asm(\"nop\")\nNOP;", "'NOP' declares"},
    {"#define LABEL asm(\"system\")\nint f(const char*) LABEL;", "in the middle of one"},
    {"template <bool b = 1 < 2> bool operator>(int, S) __device__ {} int puts() { return 0; }",
     "parameters of this template"},
    {"(int) __device__ {} int puts() { return 0; }", "cannot be read"},
    {"int a = {1} int puts() { return 0; } __device__ int g();", "cannot be read"},
    {"struct S { static inline int n = f(); };", "a variable of a class"},
    {"template <class T> __device__ constexpr bool operator!=(T, T) { return false; }",
     "an operator outside of a class"},
    {"struct S { int n = f(); } s;", "a type and a variable in one declaration"},
    {"enum E { a } e = f();", "a type and a variable in one declaration"},
    {"#define MAKE(n) const int n = f();\nMAKE(a)", "'MAKE' declares something"},
    {"}", "closes nothing"},
    {"template <", "parameters of this template"},
    {"float f(", "never closed"},
};
INSTANTIATE_TEST_SUITE_P(Hidden, DeviceCodeRefuses, testing::ValuesIn(kHidden));

TEST(DeviceCode, RefusesToLoseItself) {
  std::string deep;
  for (int i = 0; i < 70; ++i)
    deep += "namespace a {";
  deep += "int puts() { return 0; }" + std::string(70, '}');
  EXPECT_THAT(text_of(deep), HasSubstr("more than 64 namespaces"));
  std::string often;
  for (int i = 0; i < 20000; ++i)
    often += "#define A __device__ int f" + std::to_string(i) + "();\nA\n#undef A\n";
  EXPECT_THAT(text_of(often), HasSubstr("defined more than 16 times"));
}

} // namespace
} // namespace kernevo
