#include "kernevo/toolchain/ptx_text.h"
#include "kernevo/toolchain/ptxas.h"

#include <gtest/gtest.h>

namespace kernevo {
namespace {

TEST(PtxasLog, reads_every_kernel) {
  const auto kernels = read_ptxas_log(R"(ptxas info    : 0 bytes gmem, 16 bytes cmem[3]
ptxas info    : Compiling entry function '_Z1qILi32EEvPi' for 'sm_80'
ptxas info    : Function properties for _Z1qILi32EEvPi
    40 bytes stack frame, 36 bytes spill stores, 44 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 40 bytes cumulative stack size, 128 bytes smem, 360 bytes cmem[0], 8 bytes cmem[2]
ptxas info    : Compile time = 6.322 ms
ptxas info    : Function properties for _Z6helperf
    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Compiling entry function 'plain' for 'sm_80'
ptxas info    : Function properties for plain
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, 352 bytes cmem[0]
)");
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels[0].name, "_Z1qILi32EEvPi");
  EXPECT_EQ(kernels[0].demangled, "q");
  EXPECT_EQ(kernels[0].registers, 255);
  EXPECT_EQ(kernels[0].stack->value, 40U);
  EXPECT_EQ(kernels[0].spill_stores->value, 36U);
  EXPECT_EQ(kernels[0].spill_loads->value, 44U);
  EXPECT_EQ(kernels[0].static_shared->value, 128U);
  EXPECT_EQ(kernels[0].constant->value, 368U);
  EXPECT_EQ(kernels[0].barriers, 1);
  EXPECT_EQ(kernels[1].name, "plain");
  EXPECT_EQ(kernels[1].registers, 8);
  EXPECT_EQ(kernels[1].static_shared->value, 0U);
  EXPECT_EQ(kernels[1].barriers, 0);
}

TEST(PtxasLog, nonsense_gives_nothing) {
  EXPECT_TRUE(read_ptxas_log("").empty());
  EXPECT_TRUE(read_ptxas_log("Used 8 registers\nbytes stack frame\n").empty());
}

TEST(KernelNames, plain_names) {
  EXPECT_EQ(plain_kernel_name("_Z6matmulPKf"), "matmul");
  EXPECT_EQ(plain_kernel_name("matmul"), "matmul");
  EXPECT_EQ(plain_kernel_name("_ZN3foo1kILi32EEEvPfi"), "k");
  EXPECT_EQ(plain_kernel_name("_ZN12_GLOBAL__N_11kEPf"), "k");
  EXPECT_EQ(plain_kernel_name("_Z3mapIfEvPFfT_ES0_"), "map");
  EXPECT_EQ(plain_kernel_name("_Znonsense"), "_Znonsense");
  EXPECT_EQ(plain_kernel_name(""), "");
}

TEST(PtxText, hash_ignores_layout_but_not_code) {
  const std::string a = ".version 9.2\n.loc 1 3 0\nadd.s32 %r1, %r2, %r3; // x\n.file 1 \"a.cu\"\n";
  const std::string b = ".version 9.2\n\n\tadd.s32 %r1, %r2, %r3;\n.loc 1 9 1\n"
                        ".section .debug_str\n{\n.b8 1\n}\n.file 1 \"b.cu\"\n";
  const std::string c = ".version 9.2\nadd.s32 %r1, %r2, %r4;\n";
  EXPECT_EQ(hash_ptx(a), hash_ptx(b));
  EXPECT_NE(hash_ptx(a), hash_ptx(c));
}

TEST(PtxText, source_line_follows_loc) {
  const std::string ptx = ".entry k()\n.loc 1 7 0\nadd;\n.loc 2 9 0\nsub;\n.loc 1 8 0\nmul;\n"
                          ".file 1 \"k.cu\"\n.file 2 \"other.h\"\n";
  EXPECT_EQ(source_line(ptx, 3, "k.cu"), 7);
  EXPECT_EQ(source_line(ptx, 5, "k.cu"), std::nullopt);
  EXPECT_EQ(source_line(ptx, 7, "k.cu"), 8);
  EXPECT_EQ(source_line(ptx, 1, "k.cu"), std::nullopt);
  EXPECT_EQ(entry_names(".visible .entry a(\n.entry b()\n// .entry c(\n"),
            (std::vector<std::string>{"a", "b"}));
}

} // namespace
} // namespace kernevo
