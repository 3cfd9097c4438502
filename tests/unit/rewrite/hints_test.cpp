// Rewrites that leave the structure alone: restrict, read_only, unroll, accumulators, arithmetic,
// registers.
#include "rewriting.h"

#include <gmock/gmock.h>

namespace kernevo::rewrite {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Restrict, AddsWhatTheLaunchesProve) {
  const std::string out = rewritten(
      "restrict",
      "// @launch f<<<1, 1>>>(x, w, y, N)\n"
      "__global__ void f(float *x, const float* w, float* y, int N) { y[0] = x[0] + w[N]; }\n");
  EXPECT_THAT(out, HasSubstr("f(const float * __restrict__ x, const float* __restrict__ w, float* "
                             "__restrict__ y, int N)"));
  EXPECT_THAT(why_not("restrict", out), HasSubstr("already"));
}

TEST(Restrict, RefusesBuffersGivenTwice) {
  const std::string source = "// @launch f<<<1, 1>>>(x, y)\n// @launch f<<<1, 1>>>(y, y)\n"
                             "__global__ void f(const float* x, float* y) { y[0] = x[0]; }\n";
  EXPECT_THAT(why_not("restrict", source), HasSubstr("same buffer twice"));
  // Read twice is harmless.
  EXPECT_THAT(rewritten("restrict",
                        "// @launch f<<<1, 1>>>(x, x, y)\n"
                        "__global__ void f(const float* a, const float* b, float* y) { y[0] = "
                        "a[0] + b[1]; }\n"),
              HasSubstr("const float* __restrict__ b"));
}

TEST(Restrict, ConstOnlyWhereNothingIsWritten) {
  const auto out = [](const std::string& statement, const std::string& before = "") {
    return rewritten("restrict",
                     before +
                         "// @launch f<<<1, 1>>>(x, y)\n__global__ void f(float* x, float* y) { " +
                         statement + " }\n");
  };
  EXPECT_THAT(out("y[0] = x[0];"), HasSubstr("f(const float* __restrict__ x"));
  for (const std::string statement :
       {"x[1] = 0; y[0] = x[0];", "float* p = x; y[0] = *p;", "atomicAdd(&x[0], 1.0f);",
        "atomicAdd(x, 1.0f);", "*x = y[0];", "x[0]++;", "float* p[1] = {x}; y[0] = 0;"})
    EXPECT_THAT(out(statement), HasSubstr("f(float* __restrict__ x")) << statement;
  EXPECT_THAT(out("fill(x);", "__device__ void fill(float* p) { p[0] = 1; }\n"),
              HasSubstr("f(float* __restrict__ x"));
}

TEST(ReadOnly, LoadsThroughTheReadOnlyPath) {
  const std::string out = rewritten(
      "read_only",
      "__global__ void f(const float* __restrict__ x, const int* __restrict__ j, const float* z, "
      "float* y, int N) {\n"
      "  const float* p = x + N;\n"
      "  y[0] = x[j[2]] + p[1] + z[0] + y[1];\n}\n");
  EXPECT_THAT(out, HasSubstr("y[0] = __ldg(&x[__ldg(&j[2])]) + __ldg(&p[1]) + z[0] + y[1];"));
  EXPECT_THAT(why_not("read_only", out), HasSubstr("no pointer"));
}

TEST(Unroll, MarksInnermostLoops) {
  const std::string source = "__global__ void f(float* y, int N) {\n"
                             "  for (int i = 0; i < N; ++i)\n"
                             "    for (int j = 0; j < i; ++j) { y[i] += j; }\n"
                             "#pragma unroll 1\n"
                             "  for (int i = 0; i < N; ++i) y[i] = 0; // for (;;)\n"
                             "  const char* s = \"for (;;) {\";\n"
                             "}\n";
  const std::string out = rewritten("unroll", source);
  EXPECT_THAT(out, HasSubstr("i < N; ++i)\n#pragma unroll UNROLL\n    for (int j = 0;"));
  EXPECT_THAT(out,
              HasSubstr("#pragma unroll UNROLL\n  for (int i = 0; i < N; ++i) y[i] = 0; // for"));
  EXPECT_THAT(out, HasSubstr("@tune UNROLL 4 1 2 8 16"));
  EXPECT_THAT(why_not("unroll", out), HasSubstr("already"));
  EXPECT_THAT(why_not("unroll", "__global__ void f() {}\n"), HasSubstr("no loop"));
}

TEST(Unroll, BreaksALineWhereTheLoopShares) {
  EXPECT_THAT(rewritten("unroll",
                        "__global__ void f(float* y) { for (int i = 0; i < 4; ++i) y[i] = 0; }\n"),
              HasSubstr("{ \n#pragma unroll UNROLL\n  for (int i"));
}

TEST(Accumulators, SplitsASum) {
  const std::string source = "__global__ void f(const float* x, float* y, int N) {\n"
                             "  float sum = 0;\n"
                             "  for (int i = 0; i < N; ++i) sum += x[i];\n"
                             "  y[0] = sum;\n}\n";
  const std::string out = rewritten("independent_accumulators", source);
  EXPECT_THAT(out, HasSubstr("sum_parts[part] += x[i];"));
  EXPECT_THAT(out, HasSubstr("for (int i = i_next; i < N; ++i) sum += x[i];"));
  EXPECT_THAT(why_not("independent_accumulators", out), HasSubstr("no loop"));
}

TEST(Accumulators, RefusesWhatIsNoSum) {
  const auto refused = [](const std::string& loop) {
    return why_not("independent_accumulators",
                   "__global__ void f(const float* x, float* y, int N) {\n"
                   "  float sum = 0;\n  int n = 0;\n" +
                       loop + "\n  y[0] = sum + n;\n}\n");
  };
  for (const std::string loop :
       {"for (int i = 0; i < N; ++i) sum += sum * x[i];", "for (int i = 0; i < N; ++i) n += i;",
        "for (int i = 0; i < N; ++i) { sum += x[i]; y[i] = sum; }",
        "for (int i = 0; i < N; ++i) { sum += x[i]; if (sum > 1) break; }",
        "for (int i = N; i > 0; --i) sum += x[i];", "for (int i = 0; i < x[0]; ++i) sum += x[i];",
        "for (int i = 0; i < N; i += 2) sum += x[i];", "for (int i = 0; i < N; ++i) sum *= x[i];"})
    EXPECT_THAT(refused(loop), HasSubstr("no loop")) << loop;
}

TEST(CheaperArithmetic, NarrowsDoubles) {
  const std::string source =
      "__global__ void f(const float* x, float* y) {\n"
      "  // 0.5 stays\n"
      "  y[0] = 0.5 * exp((double)x[0]) + 1e-3 + 2.0f + static_cast<float>(0.25) + 3;\n"
      "}\n";
  EXPECT_THAT(rewritten("cheaper_arithmetic", source, nullptr, false),
              HasSubstr("// 0.5 stays\n  y[0] = 0.5f * exp((float)x[0]) + 1e-3f + 2.0f + "
                        "static_cast<float>(0.25) + 3;"));
}

TEST(CheaperArithmetic, RefusesWhereDoubleIsMeant) {
  Task task;
  task.dtype = DType::float64;
  const std::string source = "__global__ void f(float* y) { y[0] = 0.5 * y[1]; }\n";
  EXPECT_THAT(why_not("cheaper_arithmetic", source, &task), HasSubstr("double precision"));
  EXPECT_THAT(why_not("cheaper_arithmetic", "__global__ void f(double* y) { y[0] = 0.5; }\n"),
              HasSubstr("buffers of doubles"));
  EXPECT_THAT(why_not("cheaper_arithmetic", "__global__ void f(float* y) { y[0] = 1e300 * 0; }\n"),
              HasSubstr("no double"));
  EXPECT_THAT(
      why_not("cheaper_arithmetic", rewritten("cheaper_arithmetic", source, nullptr, false)),
      HasSubstr("no double"));
}

TEST(CheaperArithmetic, ReciprocalsOnlyWhereAllowed) {
  const std::string source = "__global__ void f(float* y, int N) {\n"
                             "  float s = y[0];\n"
                             "  for (int i = 0; i < N; ++i) y[i] = y[i] / s;\n"
                             "}\n";
  EXPECT_THAT(why_not("cheaper_arithmetic", source, nullptr, false), HasSubstr("no double"));
  const std::string out = rewritten("cheaper_arithmetic", source);
  EXPECT_THAT(out, HasSubstr("const float s_reciprocal = 1.0f / s;\n  for (int i"));
  EXPECT_THAT(out, HasSubstr("y[i] * s_reciprocal;"));
  EXPECT_THAT(why_not("cheaper_arithmetic", out), HasSubstr("no double"));
}

TEST(FastMath, OnlyWhereAllowedAndUseful) {
  const std::string source = "__global__ void f(float* y) { y[0] = expf(y[0]); }\n";
  EXPECT_THAT(rewritten("fast_math", source), HasSubstr("// @flags --use_fast_math\n"));
  EXPECT_THAT(why_not("fast_math", source, nullptr, false), HasSubstr("does not allow"));
  EXPECT_THAT(why_not("fast_math", rewritten("fast_math", source)), HasSubstr("already"));
  EXPECT_THAT(why_not("fast_math", "__global__ void f(int* y, int n) { y[0] = n / 2; }\n"),
              HasSubstr("no division"));
}

TEST(LaunchBounds, TellTheBlock) {
  const std::string out = rewritten("launch_bounds", elementwise("y[i] = x[i];"));
  EXPECT_THAT(out, HasSubstr("__global__ void __launch_bounds__(256, MIN_BLOCKS) f("));
  EXPECT_THAT(why_not("launch_bounds", out), HasSubstr("already"));
  EXPECT_THAT(why_not("register_cap", out), HasSubstr("already"));
  EXPECT_THAT(why_not("launch_bounds",
                      "// @launch f<<<1, N>>>(y)\n__global__ void f(float* y) { y[0] = 0; }\n"),
              HasSubstr("depends on the shape"));
  EXPECT_THAT(why_not("launch_bounds", "__global__ void f(float* y) { y[0] = 0; }\n"),
              HasSubstr("no launch"));
}

TEST(RegisterCap, BecomesAParameter) {
  const std::string out =
      rewritten("register_cap", elementwise("y[i] = x[i];", "// @maxregs 48\n"));
  EXPECT_THAT(out, Not(HasSubstr("@maxregs")));
  EXPECT_THAT(out, HasSubstr("@tune REGISTERS 128 32 40 48 64"));
  EXPECT_THAT(out, HasSubstr("__maxnreg__(REGISTERS) f("));
  EXPECT_THAT(why_not("register_cap", out), HasSubstr("already"));
  EXPECT_THAT(rewritten("register_cap", elementwise("y[i] = x[i];")),
              HasSubstr("@tune REGISTERS 64 32"));
}

} // namespace
} // namespace kernevo::rewrite
