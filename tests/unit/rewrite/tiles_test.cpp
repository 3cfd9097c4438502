// Rewrites that follow index expressions: tile_shared, swap_thread_roles.
#include "rewriting.h"

#include <gmock/gmock.h>

namespace kernevo::rewrite {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(TileShared, StagesBothFactors) {
  const std::string out =
      rewritten("tile_shared", matmul("sum += A[row * K + k] * B[k * N + col];"));
  EXPECT_THAT(out,
              HasSubstr("f<<<dim3(ceil_div(N, TILE), ceil_div(M, TILE)), dim3(TILE / COLS, TILE "
                        "/ ROWS)>>>(A, B, C, M, N, K)"));
  EXPECT_THAT(out, HasSubstr("__shared__ __align__(16) float A_tile[TILE][DEPTH];"));
  EXPECT_THAT(out, HasSubstr("__shared__ __align__(16) float B_tile[DEPTH][TILE];"));
  EXPECT_THAT(out, HasSubstr("row < M && k < K ? A[row * K + k] : static_cast<float>(0.0f);"));
  EXPECT_THAT(out, HasSubstr("sum[r][c] += A_tile[threadIdx.y + r * (TILE / ROWS)][k_inner] * "
                             "B_tile[k_inner][threadIdx.x + c * (TILE / COLS)];"));
  EXPECT_THAT(out, HasSubstr("C[row * N + col] = sum[r][c];"));
  EXPECT_THAT(out, Not(HasSubstr("return")));
  EXPECT_THAT(why_not("tile_shared", out), HasSubstr("work together"));
}

TEST(TileShared, ReadsAlongMemoryWhateverTheLayout) {
  // B is transposed: neighbouring k are neighbours, so threads read along k and a padded tile keeps
  // the banks apart.
  const std::string out =
      rewritten("tile_shared", matmul("sum += A[k * M + row] * B[col * K + k];"));
  EXPECT_THAT(out, HasSubstr("A_tile[DEPTH][TILE];"));
  EXPECT_THAT(out, HasSubstr("A_tile[e / TILE][e % TILE] ="));
  EXPECT_THAT(out, HasSubstr("B_tile[DEPTH][TILE + 1];"));
  EXPECT_THAT(out, HasSubstr("B_tile[e % DEPTH][e / DEPTH] ="));
}

TEST(TileShared, FollowsLocalsPointersAndShifts) {
  const std::string out = rewritten(
      "tile_shared",
      "// @launch f<<<dim3(ceil_div(N, 16), ceil_div(M, 16), B), dim3(16, 16)>>>(x, w, y, B, M, N, "
      "K)\n"
      "__global__ void f(const float* x, const float* w, float* y, int B, int M, int N, int K) {\n"
      "  int row = blockIdx.y * blockDim.y + threadIdx.y;\n"
      "  int col = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (row < M && col < N) {\n"
      "    x += blockIdx.z * M * K;\n"
      "    const float* line = x + row * K;\n"
      "    float sum = 0;\n"
      "    for (int k = 0; k < K; k++) {\n"
      "      const float a = line[k], b = w[k * N + col];\n"
      "      sum = fmaf(a, b, sum);\n"
      "    }\n"
      "    y[(blockIdx.z * M + row) * N + col] = sum;\n"
      "  }\n"
      "}\n");
  EXPECT_THAT(out, HasSubstr("x += blockIdx.z * M * K;\n"));
  EXPECT_THAT(out, HasSubstr("const float* line = x + row * K;\n"));
  EXPECT_THAT(out, HasSubstr("? line[k] :"));
  EXPECT_THAT(out, HasSubstr("sum[r][c] = fmaf(a, b, sum[r][c]);"));
  EXPECT_THAT(out, HasSubstr("ceil_div(M, TILE), B)"));
}

TEST(TileShared, RefusesWhatIsNoProduct) {
  const auto refused = [](const std::string& body, const std::string& before = "",
                          const std::string& after = "C[row * N + col] = sum;") {
    return why_not("tile_shared", matmul(body, before, after));
  };
  // The sum of a padded element would not be zero.
  EXPECT_THAT(refused("sum += A[row * K + k] * B[k * N + col] + 1;"), HasSubstr("add up products"));
  EXPECT_THAT(refused("sum += expf(A[row * K + k]) * B[k * N + col];"),
              HasSubstr("add up products"));
  EXPECT_THAT(refused("sum += A[row * K + k] / B[k * N + col];"), HasSubstr("add up products"));
  EXPECT_THAT(refused("if (k % 2) sum += A[row * K + k] * B[k * N + col];"),
              HasSubstr("add up products"));
  // Both factors depend on the same index, or one on both.
  EXPECT_THAT(refused("sum += A[row * K + k] * B[row * K + k];"), HasSubstr("shared by threads"));
  EXPECT_THAT(refused("sum += A[row * K + k + col] * B[k * N + col];"),
              HasSubstr("add up products"));
  EXPECT_THAT(refused("sum += A[row * K] * B[k * N + col];"), HasSubstr("add up products"));
  // The loop runs differently far, or backwards, or skips.
  EXPECT_THAT(
      why_not("tile_shared", matmul("{}").replace(matmul("{}").find("k < K"), 5, "k < row")),
      HasSubstr("differently far"));
  EXPECT_THAT(why_not("tile_shared", matmul("{}").replace(matmul("{}").find("++k"), 3, "k += 2")),
              HasSubstr("plain count"));
  // Something else happens around it.
  EXPECT_THAT(refused("sum += A[row * K + k] * B[k * N + col];", "  float b = B[col];\n"),
              HasSubstr("before its loop"));
  EXPECT_THAT(
      refused("sum += A[row * K + k] * B[k * N + col];", "", "if (sum > 0) return; C[0] = sum;"),
      HasSubstr("returns after"));
  EXPECT_THAT(refused("sum += C[row * K + k] * B[k * N + col];"), HasSubstr("add up products"));
  // A shadowed index.
  EXPECT_THAT(refused("{ int row = 0; sum += A[row * K + k] * B[k * N + col]; }"),
              HasSubstr("before a guard"));
}

TEST(TileShared, RefusesBuffersThatMayOverlap) {
  std::string source = matmul("sum += A[row * K + k] * B[k * N + col];");
  source.replace(source.find("(A, B, C, M"), 8, "(A, B, A");
  EXPECT_THAT(why_not("tile_shared", source), HasSubstr("same data"));
}

std::string row_along_x() {
  return "// @launch f<<<dim3(ceil_div(M, 32), ceil_div(N, 8)), dim3(32, 8)>>>(x, y, M, N)\n"
         "__global__ void f(const float* x, float* y, int M, int N) {\n"
         "  const int row = blockIdx.x * 32 + threadIdx.x;\n"
         "  const int col = blockIdx.y * 8 + threadIdx.y;\n"
         "  if (row >= M || col >= N) return;\n"
         "  y[row * N + col] = x[row * N + col];\n"
         "}\n";
}

TEST(SwapThreadRoles, MakesNeighboursNeighbours) {
  const std::string out = rewritten("swap_thread_roles", row_along_x());
  EXPECT_THAT(out, HasSubstr("dim3(ceil_div(N, 32), ceil_div(M, 8)), dim3(32, 8)>>>"));
  EXPECT_THAT(out, HasSubstr("row = blockIdx.y * 8 + threadIdx.y;"));
  EXPECT_THAT(out, HasSubstr("col = blockIdx.x * 32 + threadIdx.x;"));
  EXPECT_THAT(why_not("swap_thread_roles", out), HasSubstr("no further apart"));
}

TEST(SwapThreadRoles, MindsTheLimitOfTheGrid) {
  Task task;
  task.shapes.push_back({"tall", {{"M", 10'000'000}, {"N", 8}}, 1, {}, false});
  EXPECT_THAT(why_not("swap_thread_roles", row_along_x(), &task), HasSubstr("too many blocks"));
}

TEST(SwapThreadRoles, RefusesWhereNothingIsWon) {
  std::string transpose = row_along_x();
  transpose.replace(transpose.find("y[row * N + col]"), 16, "y[col * M + row]");
  EXPECT_THAT(why_not("swap_thread_roles", transpose), HasSubstr("no further apart"));
  EXPECT_THAT(why_not("swap_thread_roles", elementwise("y[i] = x[i];")), HasSubstr("no indices"));
}

} // namespace
} // namespace kernevo::rewrite
