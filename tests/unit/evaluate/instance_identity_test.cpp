#include "kernevo/evaluate/instance_identity.h"

#include "kernevo/task/load_task.h"

#include <gtest/gtest.h>
#include <set>
#include <string>

namespace kernevo {
namespace {

// Of a kernel with these lines above it and these arguments; the code is the same for all.
std::string identity(const std::string& directives, const std::string& arguments = "A, B, C, N",
                     const std::string& ptx = ".visible .entry add() { ret; }\n",
                     const std::string& launched = "add") {
  static const Task task =
      parse_task("op_name: add\nshapes: [[1000]]\ndtype: float32\ntarget_gpu: A100\n", "task.yaml")
          .value()
          .task;
  const std::string parameters = "(const float* A, const float* B, float* C, int N) {}\n";
  const auto kernel = parse_kernel_file(
      directives + "// @launch " + launched + "<<<ceil_div(N, 256), 256>>>(" + arguments + ")\n" +
          "extern \"C\" __global__ void add" + parameters + "extern \"C\" __global__ void kernel0" +
          parameters + "extern \"C\" __global__ void kernel1" + parameters,
      "kernel.cu");
  EXPECT_TRUE(kernel) << format_error(kernel.error());
  Build build;
  build.ok = true;
  build.ptx = ".version 8.0\n.target sm_80\n" + ptx;
  return instance_identity(task, *kernel, {}, build);
}

TEST(InstanceIdentity, WhatTheAssemblerIsToldIsPartOfAKernel) {
  std::set<std::string> seen;
  for (const char* directives : {"", "// @maxregs 32\n", "// @maxregs 64\n", "// @flags -O1\n",
                                 "// @flags -O1\n// @maxregs 32\n"})
    EXPECT_TRUE(seen.insert(identity(directives)).second) << directives;
}

TEST(InstanceIdentity, WhatChangesNothingMakesNoOtherKernel) {
  const std::string plain = identity("");
  ASSERT_FALSE(plain.empty());
  // Flags of the compiler show in the PTX, or do nothing.
  for (const char* directives : {"// said otherwise\n", "// @flags -O3\n", "// @flags --lineinfo\n",
                                 "// @flags --use_fast_math\n"})
    EXPECT_EQ(identity(directives), plain) << directives;
  EXPECT_EQ(identity("// @maxregs 32\n"), identity("// @flags --maxrregcount=32\n"));
}

TEST(InstanceIdentity, WhatIsPassedIsPartOfAKernelAndHowItIsWrittenIsNot) {
  EXPECT_NE(identity("", "A, B, C, N"), identity("", "A, B, C, N / 2"));
  EXPECT_NE(identity("", "A, B, C, N"), identity("", "B, A, C, N"));
  EXPECT_EQ(identity("", "A, B, C, N"), identity("", "A, B, C, 0 + N"));
  EXPECT_EQ(identity("// @scratch s float [N]\n", "A, B, s, N"),
            identity("// @scratch t float [N]\n", "A, B, t, N"));
}

TEST(InstanceIdentity, KernelsThatTakeEachOthersNamesStayApart) {
  const std::string two =
      ".visible .entry kernel1() { ret; }\n.visible .entry kernel0() { trap; }\n";
  EXPECT_NE(identity("", "A, B, C, N", two, "kernel0"), identity("", "A, B, C, N", two, "kernel1"));
}

TEST(InstanceIdentity, InstructionsDoNotHideBehindCommentsAndLines) {
  const auto with = [](const std::string& line) {
    return identity("", "A, B, C, N", ".visible .entry add() {\n" + line + "\nret;\n}\n");
  };
  const std::string plain = with("");
  EXPECT_EQ(with("// a remark"), plain);
  EXPECT_EQ(with("\t.loc\t1 7 3"), plain);
  EXPECT_NE(with("/*//*/ trap;"), plain);
  EXPECT_NE(with(".loc 1 7 3 trap;"), plain);
}

} // namespace
} // namespace kernevo
