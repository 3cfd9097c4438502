#include "kernevo/evolve/identity.h"

#include "kernevo/task/load_task.h"

#include <gtest/gtest.h>

namespace kernevo::evolve {
namespace {

// Of a kernel with these lines above it; the code is the same for all.
std::string identity(const std::string& directives) {
  static const Task task =
      parse_task("op_name: add\nshapes: [[1000]]\ndtype: float32\ntarget_gpu: A100\n", "task.yaml")
          .value()
          .task;
  const auto kernel = parse_kernel_file(
      directives + "// @launch add<<<ceil_div(N, 256), 256>>>(A, B, C, N)\n"
                   "extern \"C\" __global__ void add(const float* A, const float* B, float* C, "
                   "int N) {}\n",
      "kernel.cu");
  EXPECT_TRUE(kernel) << format_error(kernel.error());
  Build build;
  build.ok = true;
  build.ptx = ".version 8.0\n.target sm_80\n.visible .entry add() { ret; }\n";
  return instance_identity(task, *kernel, {}, build);
}

TEST(Identity, WhatTheAssemblerIsToldIsPartOfAKernel) {
  std::set<std::string> seen;
  for (const char* directives : {"", "// @maxregs 32\n", "// @maxregs 64\n", "// @flags -O1\n",
                                 "// @flags -O1\n// @maxregs 32\n"})
    EXPECT_TRUE(seen.insert(identity(directives)).second) << directives;
}

TEST(Identity, WhatChangesNothingMakesNoOtherKernel) {
  const std::string plain = identity("");
  ASSERT_FALSE(plain.empty());
  // Flags of the compiler show in the PTX, or do nothing.
  for (const char* directives : {"// said otherwise\n", "// @flags -O3\n", "// @flags --lineinfo\n",
                                 "// @flags --use_fast_math\n"})
    EXPECT_EQ(identity(directives), plain) << directives;
  EXPECT_EQ(identity("// @maxregs 32\n"), identity("// @flags --maxrregcount=32\n"));
}

} // namespace
} // namespace kernevo::evolve
