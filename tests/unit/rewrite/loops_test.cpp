// Rewrites that give threads other work: block_shape, coarsen, grid_stride, vectorise.
#include "rewriting.h"

#include <gmock/gmock.h>

namespace kernevo::rewrite {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(BlockShape, MakesTheBlockAParameter) {
  const std::string out = rewritten("block_shape", elementwise("y[i] = x[i];"));
  EXPECT_EQ(out, "// @tune BLOCK_X 256 32 64 128 512 1024\n"
                 "// @launch f<<<ceil_div(N, BLOCK_X), BLOCK_X>>>(x, y, N)\n"
                 "__global__ void f(const float* x, float* y, int N) {\n"
                 "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                 "  if (i >= N) return;\n"
                 "  y[i] = x[i];\n"
                 "}\n");
  EXPECT_THAT(why_not("block_shape", out), HasSubstr("not a plain number"));
}

TEST(BlockShape, FollowsANumberInTheKernel) {
  const std::string out =
      rewritten("block_shape",
                "// @launch f<<<dim3(ceil_div(N, 32), ceil_div(M, 8)), dim3(32, 8)>>>(y, M, N)\n"
                "__global__ void f(float* y, int M, int N) {\n"
                "  const int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y;\n"
                "  if (c < N && r < M) y[r * N + c] = 32;\n"
                "}\n");
  EXPECT_THAT(out, HasSubstr("dim3(ceil_div(N, BLOCK_X), ceil_div(M, BLOCK_Y)), dim3(BLOCK_X, "
                             "BLOCK_Y)>>>"));
  EXPECT_THAT(out, HasSubstr("c = blockIdx.x * BLOCK_X + threadIdx.x, r = blockIdx.y * BLOCK_Y +"));
  EXPECT_THAT(out, HasSubstr("y[r * N + c] = 32;"));
  EXPECT_THAT(out, HasSubstr("@where BLOCK_X * BLOCK_Y <= 1024"));
}

TEST(BlockShape, WritesALaunchWhereTheTaskGivesOne) {
  Task task;
  task.default_launch = "kernel<<<ceil_div(N, 128), 128>>>(x, y, N)";
  const std::string out =
      rewritten("block_shape",
                "// A copy.\n__global__ void f(const float* x, float* y, int N) {\n"
                "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                "  if (i < N) y[i] = x[i];\n}\n",
                &task);
  EXPECT_THAT(out, StartsWith("// A copy.\n// @tune BLOCK_X 128 32 64 256 512 1024\n"
                              "// @launch f<<<ceil_div(N, BLOCK_X), BLOCK_X>>>(x, y, N)\n"));
}

TEST(BlockShape, RefusesWhereTheBlockMatters) {
  EXPECT_THAT(why_not("block_shape", elementwise("y[i] = x[i] * threadIdx.x;")),
              HasSubstr("threadIdx.x"));
  EXPECT_THAT(
      why_not("block_shape", elementwise("__shared__ float s[256]; s[i % 256] = 0; y[i] = 0;")),
      HasSubstr("shared memory"));
  EXPECT_THAT(why_not("block_shape", elementwise("y[i] = __shfl_xor_sync(0xffffffff, x[i], 1);")),
              HasSubstr("work together"));
  // The grid does not follow the bound.
  EXPECT_THAT(why_not("block_shape", "// @launch f<<<N / 256, 256>>>(x, y, N)\n"
                                     "__global__ void f(const float* x, float* y, int N) {\n"
                                     "  int i = blockIdx.x * 256 + threadIdx.x;\n"
                                     "  if (i < N) y[i] = x[i];\n}\n"),
              HasSubstr("ceil_div"));
  // A function that asks for the thread's index.
  EXPECT_THAT(
      why_not("block_shape", elementwise("y[i] = lane() + x[i];",
                                         "__device__ int lane() { return threadIdx.x % 32; }\n")),
      HasSubstr("calls lane"));
}

TEST(NewNames, DoNotCollide) {
  const std::string out =
      rewritten("coarsen", elementwise("int ITEMS = 3, item = 1; y[i] = ITEMS + item;"));
  EXPECT_THAT(out, HasSubstr("@tune ITEMS_2 "));
  EXPECT_THAT(out, HasSubstr("for (int item_2 = 0; item_2 < ITEMS_2; ++item_2)"));
  Task task;
  task.shapes.push_back({"a", {{"BLOCK_X", 4}}, 1, {}, false});
  EXPECT_THAT(rewritten("block_shape", elementwise("y[i] = x[i];"), &task),
              HasSubstr("@tune BLOCK_X_2 "));
}

TEST(Coarsen, LoopsOverBlocks) {
  EXPECT_EQ(rewritten("coarsen",
                      elementwise("if (x[i] < 0) { y[i] = 0; return; } // keep\n  y[i] = x[i];")),
            "// @tune ITEMS 4 2 8 16\n"
            "// @launch f<<<ceil_div(ceil_div(N, 256), ITEMS), 256>>>(x, y, N)\n"
            "__global__ void f(const float* x, float* y, int N) {\n"
            "#pragma unroll\n"
            "  for (int item = 0; item < ITEMS; ++item) {\n"
            "    int i = (blockIdx.x * ITEMS + item) * blockDim.x + threadIdx.x;\n"
            "    if (i >= N) continue;\n"
            "    if (x[i] < 0) { y[i] = 0; continue; } // keep\n"
            "    y[i] = x[i];\n"
            "  }\n"
            "}\n");
}

TEST(Coarsen, RefusesWhatItCannotRepeat) {
  const auto refused = [](const std::string& statement) {
    return why_not("coarsen", elementwise(statement));
  };
  EXPECT_THAT(refused("x += 1; y[i] = x[i];"), HasSubstr("changes 'x'"));
  EXPECT_THAT(refused("N = 3; y[i] = N;"), HasSubstr("grid of f is not"));
  EXPECT_THAT(refused("for (int j = 0; j < 4; ++j) { if (x[j] > 0) return; } y[i] = 0;"),
              HasSubstr("inside a loop"));
  EXPECT_THAT(refused("__syncthreads(); y[i] = x[i];"), HasSubstr("work together"));
  EXPECT_THAT(refused("auto g = [&](int j) { return x[j]; }; y[i] = g(i);"),
              HasSubstr("beyond what can be followed"));
  EXPECT_THAT(refused("y[i] = blockIdx.x;"), HasSubstr("blockIdx.x"));
  EXPECT_THAT(refused("asm(\"nop;\"); y[i] = x[i];"), HasSubstr("beyond"));
  EXPECT_THAT(refused("goto end; end: y[i] = x[i];"), HasSubstr("beyond"));
  EXPECT_THAT(refused("y[i] = pick<4>(x[i]);"), HasSubstr("beyond"));
  EXPECT_THAT(refused("\n#ifdef FAST\n  y[i] = 0;\n#else\n  y[i] = x[i];\n#endif\n"),
              HasSubstr("preprocessor"));
  EXPECT_THAT(why_not("coarsen", elementwise("STORE(y, i, x[i]);",
                                             "#define STORE(p, i, v) p[i] = v; return\n")),
              HasSubstr("macro STORE"));
  // A second i, and twice the same rewrite.
  EXPECT_THAT(refused("for (int i = 0; i < 3; ++i) y[i] = x[i];"), HasSubstr("before a guard"));
  EXPECT_THAT(why_not("coarsen", rewritten("coarsen", elementwise("y[i] = x[i];"))),
              HasSubstr("before a guard"));
}

TEST(Coarsen, IsNotFooledByText) {
  const std::string out = rewritten(
      "coarsen",
      elementwise("printf(\"return; blockIdx.x // %d\\n\", i); /* return; */ y[i] = x[i];"));
  EXPECT_THAT(out,
              HasSubstr("printf(\"return; blockIdx.x // %d\\n\", i); /* return; */ y[i] = x[i];"));
}

TEST(Coarsen, KeepsWindowsLineEnds) {
  std::string source = elementwise("y[i] = x[i];");
  for (std::size_t at = source.find('\n'); at != std::string::npos; at = source.find('\n', at + 2))
    source.insert(at, "\r");
  const std::string out = rewritten("coarsen", source);
  EXPECT_THAT(out, StartsWith("// @tune ITEMS 4 2 8 16\r\n// @launch"));
  for (std::size_t at = out.find('\n'); at != std::string::npos; at = out.find('\n', at + 1))
    EXPECT_EQ(out[at - 1], '\r');
}

TEST(GridStride, BoundsTheGrid) {
  const std::string out = rewritten("grid_stride", elementwise("y[i] = x[i];"));
  EXPECT_THAT(out, HasSubstr("min(ceil_div(N, 256), BLOCKS), 256"));
  EXPECT_THAT(out, HasSubstr("for (unsigned block = blockIdx.x; static_cast<long long>(block) * "
                             "blockDim.x < N; block += gridDim.x) {\n"
                             "    int i = block * blockDim.x + threadIdx.x;\n"
                             "    if (i >= N) continue;\n"));
  EXPECT_THAT(why_not("grid_stride", out), HasSubstr("guard"));
  // The bound must be known before the index.
  EXPECT_THAT(why_not("grid_stride",
                      "// @launch f<<<ceil_div(2 * N, 256), 256>>>(y, N)\n"
                      "__global__ void f(float* y, int N) {\n"
                      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  int n = 2 * N;\n"
                      "  if (i >= n) return;\n  y[i] = 0;\n}\n"),
              HasSubstr("computed after"));
}

TEST(GridStride, TakesTheMultiprocessorsOfTheTask) {
  Task task;
  task.target_gpu = "H100";
  EXPECT_THAT(rewritten("grid_stride", elementwise("y[i] = x[i];"), &task),
              HasSubstr("@tune BLOCKS 1056 132 264 528 "));
}

TEST(Vectorise, LoadsAndStoresVectors) {
  const std::string out = rewritten("vectorise", elementwise("y[i] = 2.0f * x[i];"));
  EXPECT_THAT(out, HasSubstr("@tune VECTOR 4 2 8\n"));
  EXPECT_THAT(out, HasSubstr("ceil_div(ceil_div(N, 256), VECTOR)"));
  EXPECT_THAT(out, HasSubstr("x_pack = *reinterpret_cast<const float_pack*>(x + first);"));
  EXPECT_THAT(out, HasSubstr("y_pack.at[lane] = 2.0f * x_pack.at[lane];"));
  EXPECT_THAT(out, HasSubstr("*reinterpret_cast<float_pack*>(y + first) = y_pack;"));
  EXPECT_THAT(out, Not(HasSubstr("y_pack = *reinterpret_cast"))); // it is never read
  EXPECT_THAT(why_not("vectorise", out), HasSubstr("several elements already"));
}

TEST(Vectorise, LoadsWhatIsReadAndWritten) {
  EXPECT_THAT(rewritten("vectorise", elementwise("y[i] += x[i];")),
              HasSubstr("y_pack = *reinterpret_cast"));
  EXPECT_THAT(rewritten("vectorise", elementwise("y[i] = x[i] + y[i];")),
              HasSubstr("y_pack = *reinterpret_cast"));
}

TEST(Vectorise, LeavesOtherAccessesAlone) {
  const std::string out = rewritten("vectorise", elementwise("y[i] = x[i % 7];"));
  EXPECT_THAT(out, HasSubstr("y_pack.at[lane] = x[i % 7];"));
}

TEST(Vectorise, WidthFollowsTheType) {
  const std::string out =
      rewritten("vectorise",
                "// @launch f<<<ceil_div(N, 64), 64>>>(x, y, N)\nusing T = half;\n"
                "__global__ void f(const T* x, T* y, int N) {\n"
                "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < N) y[i] = x[i];\n}\n");
  EXPECT_THAT(out, HasSubstr("@tune VECTOR 8 4 16\n"));
}

TEST(Vectorise, RefusesWhatIsNotProven) {
  const auto refused = [](const std::string& statement) {
    return why_not("vectorise", elementwise(statement));
  };
  EXPECT_THAT(refused("if (x[i] > 0) y[i] = x[i];"), HasSubstr("under a condition"));
  EXPECT_THAT(refused("if (x[i] > 0) return; y[i] = x[i];"), HasSubstr("before it has written"));
  EXPECT_THAT(refused("y[i / 2] = x[2 * i];"), HasSubstr("no pointer"));
  // x and y are one buffer, and y is read after it is written.
  EXPECT_THAT(why_not("vectorise", "// @launch f<<<ceil_div(N, 64), 64>>>(y, y, N)\n"
                                   "__global__ void f(float* x, float* y, int N) {\n"
                                   "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                   "  if (i >= N) return;\n  x[i] = 1;\n  y[i] = x[i] + 1;\n}\n"),
              HasSubstr("same data"));
  EXPECT_THAT(why_not("vectorise",
                      "// @launch f<float><<<ceil_div(N, 64), 64>>>(x, y, N)\n"
                      "template <class T> __global__ void f(const T* x, T* y, int N) {\n"
                      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                      "  if (i >= N) return;\n  y[i] = x[i];\n}\n"),
              HasSubstr("template"));
}

TEST(Vectorise, InPlaceIsFineWhereTheStoreIsLast) {
  EXPECT_THAT(rewritten("vectorise",
                        "// @launch f<<<ceil_div(N, 64), 64>>>(y, y, N)\n"
                        "__global__ void f(const float* x, float* y, int N) {\n"
                        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                        "  if (i >= N) return;\n  float v = x[i];\n  y[i] = v + 1;\n}\n"),
              HasSubstr("y_pack"));
}

} // namespace
} // namespace kernevo::rewrite
