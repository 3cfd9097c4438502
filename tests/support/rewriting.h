#pragma once

#include "kernevo/rewrite/rewrite.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>

namespace kernevo::rewrite {

inline const Rewrite& rewrite_named(std::string_view name) {
  for (const Rewrite& rewrite : rewrites())
    if (rewrite.name == name)
      return rewrite;
  ADD_FAILURE() << "no rewrite " << name;
  return rewrites()[0];
}

inline RewriteResult run(std::string_view name, const std::string& source,
                         const Task* task = nullptr, bool fast_math = true) {
  const auto kernel = parse_kernel_file(source, "kernel.cu");
  if (!kernel) {
    ADD_FAILURE() << format_error(kernel.error()) << "\n" << source;
    return {};
  }
  const auto result = apply(rewrite_named(name), *kernel, {task, fast_math});
  EXPECT_TRUE(result);
  EXPECT_NE(result->rewritten.has_value(), !result->why_not.empty());
  return *result;
}

// The new file, or the reason in its place.
inline std::string rewritten(std::string_view name, const std::string& source,
                             const Task* task = nullptr, bool fast_math = true) {
  const RewriteResult result = run(name, source, task, fast_math);
  return result.rewritten ? result.rewritten->source : "REFUSED: " + result.why_not;
}

inline std::string why_not(std::string_view name, const std::string& source,
                           const Task* task = nullptr, bool fast_math = true) {
  const RewriteResult result = run(name, source, task, fast_math);
  return result.rewritten ? "REWRITTEN:\n" + result.rewritten->source : result.why_not;
}

// A kernel of one statement per element.
inline std::string elementwise(const std::string& statement, const std::string& before = "") {
  return before +
         "// @launch f<<<ceil_div(N, 256), 256>>>(x, y, N)\n"
         "__global__ void f(const float* x, float* y, int N) {\n"
         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  if (i >= N) return;\n"
         "  " +
         statement +
         "\n"
         "}\n";
}

inline std::string matmul(const std::string& loop_body, const std::string& before_loop = "",
                          const std::string& after = "C[row * N + col] = sum;") {
  return "// @launch f<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), dim3(16, 16)>>>(A, B, C, M, N, "
         "K)\n"
         "__global__ void f(const float* A, const float* B, float* C, int M, int N, int K) {\n"
         "  int row = blockIdx.y * blockDim.y + threadIdx.y;\n"
         "  int col = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  if (row >= M || col >= N) return;\n"
         "  float sum = 0.0f;\n" +
         before_loop + "  for (int k = 0; k < K; ++k) " + loop_body + "\n  " + after + "\n}\n";
}

} // namespace kernevo::rewrite
