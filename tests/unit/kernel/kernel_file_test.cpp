#include "kernevo/kernel/kernel_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

using testing::HasSubstr;
using Values = std::vector<std::int64_t>;

constexpr const char* kKernel = "extern \"C\" __global__ void k(float* A, int N) {}\n";

KernelFile parsed(const std::string& text, const std::string& path = "k.cu") {
  auto file = parse_kernel_file(text, path);
  EXPECT_TRUE(file) << format_error(file.error());
  return file ? *file : KernelFile{};
}

Error refused(const std::string& text, const std::string& path = "k.cu") {
  const auto file = parse_kernel_file(text, path);
  EXPECT_FALSE(file) << text;
  if (file)
    return {};
  EXPECT_EQ(file.error().message.find('\n'), std::string::npos);
  return file.error();
}

Error refused_directive(const std::string& directive) {
  return refused("// " + directive + "\n" + kKernel);
}

TEST(KernelFile, reads_the_example_of_the_design) {
  const KernelFile file = parsed(R"(// @tune  BM 32 64 128
// @tune  BN 32 64 128
// @where BM * BN <= 8192
// @scratch partial float [M * N]
// @launch matmul_tiled<<<dim3(ceil_div(N, BN), ceil_div(M, BM)), dim3(16, 16), 0>>>(A, B, C, M, N, K)
// @flags --use_fast_math -ftz=true
// @maxregs 128
// @arch sm_90a
extern "C" __global__ void matmul_tiled(const float* __restrict__ A, const float* B, float* C, int M, int N, int K) {}
)");
  ASSERT_EQ(file.parameters.size(), 2U);
  EXPECT_EQ(file.parameters[0].name, "BM");
  EXPECT_EQ(file.parameters[0].values, (Values{32, 64, 128}));
  EXPECT_EQ(file.parameters[0].place, (Place{"k.cu", 1, 11}));
  ASSERT_EQ(file.constraints.size(), 1U);
  EXPECT_EQ(file.constraints[0].condition.text(), "BM * BN <= 8192");
  EXPECT_EQ(file.constraints[0].place, (Place{"k.cu", 3, 11}));
  ASSERT_EQ(file.scratch.size(), 1U);
  EXPECT_EQ(file.scratch[0].name, "partial");
  EXPECT_EQ(file.scratch[0].shape.size(), 1U);
  ASSERT_EQ(file.launches.size(), 1U);
  const LaunchDirective& launch = file.launches[0];
  EXPECT_EQ(launch.kernel, "matmul_tiled");
  ASSERT_EQ(launch.grid.size(), 2U);
  EXPECT_EQ(launch.grid[1].text(), "ceil_div(M, BM)");
  EXPECT_EQ(launch.block.size(), 2U);
  EXPECT_EQ(launch.shared.text(), "0");
  EXPECT_EQ(launch.arguments, (std::vector<std::string>{"A", "B", "C", "M", "N", "K"}));
  EXPECT_EQ(file.flags, (std::vector<std::string>{"--use_fast_math", "--ftz=true"}));
  EXPECT_EQ(file.max_registers, 128);
  EXPECT_EQ(file.architecture, "sm_90a");
  EXPECT_EQ(file.kernels, std::vector<std::string>{"matmul_tiled"});
}

TEST(KernelFile, a_plain_kernel_needs_no_directives) {
  const KernelFile file = parsed(kKernel);
  EXPECT_TRUE(file.launches.empty());
  EXPECT_EQ(file.kernels, std::vector<std::string>{"k"});
}

TEST(KernelFile, tune_takes_ranges_commas_and_negative_values) {
  EXPECT_EQ(parsed(std::string("// @tune X 1..4 16..64..16\n") + kKernel).parameters[0].values,
            (Values{1, 2, 3, 4, 16, 32, 48, 64}));
  EXPECT_EQ(parsed(std::string("// @tune X -1, 0, 5\n") + kKernel).parameters[0].values,
            (Values{-1, 0, 5}));
}

TEST(KernelFile, launches_continue_over_lines) {
  const KernelFile backslash = parsed(std::string("// @launch k<<<ceil_div(N, 256), \\\n"
                                                  "//    256>>>(A, \\\n     N)\n") +
                                      kKernel);
  EXPECT_EQ(backslash.launches[0].arguments, (std::vector<std::string>{"A", "N"}));
  const KernelFile balanced =
      parsed(std::string("// @launch k<<<dim3(N,\n//   1), 256>>>(\n//   A,\n//   N)\n"
                         "// an ordinary comment\n") +
             kKernel);
  ASSERT_EQ(balanced.launches.size(), 1U);
  EXPECT_EQ(balanced.launches[0].arguments, (std::vector<std::string>{"A", "N"}));
  EXPECT_EQ(balanced.launches[0].argument_places[1], (Place{"k.cu", 4, 6}));
}

TEST(KernelFile, launch_forms) {
  const KernelFile file =
      parsed(std::string("// @launch cooperative k<<<N, 32, 4 * 32>>>(A, 2 * N);\n"
                         "/// @launch k <<< (N), 32 >>> (A, -1)\n"
                         "int x; // @launch k<<<1 << 3, 64 >> 1>>>(A, 1e-5f)\n") +
             kKernel);
  ASSERT_EQ(file.launches.size(), 3U);
  EXPECT_TRUE(file.launches[0].cooperative);
  EXPECT_EQ(file.launches[0].shared.text(), "4 * 32");
  EXPECT_FALSE(file.launches[1].cooperative);
  EXPECT_EQ(file.launches[2].block[0].text(), "64 >> 1");
}

TEST(KernelFile, templates_are_launched_by_instantiation) {
  const std::string source = "template <int B, class T> __global__ void r(T* A) {}\n";
  const KernelFile file =
      parsed("// @tune BM 32\n// @launch r<BM * 2, float><<<1, 32>>>(A)\n" + source);
  EXPECT_EQ(file.launches[0].template_arguments, (std::vector<std::string>{"BM * 2", "float"}));
  EXPECT_EQ(file.template_kernels, std::vector<std::string>{"r"});
  EXPECT_THAT(refused("// @launch r<<<1, 32>>>(A)\n" + source).message, HasSubstr("is a template"));
  EXPECT_THAT(refused_directive("@launch k<3><<<1, 32>>>(A)").message,
              HasSubstr("is not a template"));
  refused("// @launch r<2; }><<<1, 32>>>(A)\n" + source);
  refused("// @launch r<2<<<1, 32>>>(A)\n" + source);
}

TEST(KernelFile, unknown_directives_get_a_suggestion) {
  const Error error = refused_directive("@luanch k<<<1, 1>>>(A)");
  EXPECT_THAT(error.message, HasSubstr("unknown directive '@luanch' (did you mean 'launch'?)"));
  EXPECT_EQ(error.place, (Place{"k.cu", 1, 4}));
}

TEST(KernelFile, documentation_comments_are_left_alone) {
  const KernelFile file =
      parsed(std::string("/// @brief A kernel\n// @param A the input\n//! @return nothing\n"
                         "/** @note see @launch\n * @file x\n * @weird word */\n"
                         "// mail me @ home\n// @\n// uses @tune later\n") +
             kKernel);
  EXPECT_TRUE(file.parameters.empty());
}

TEST(KernelFile, directives_in_block_comments_are_refused_not_ignored) {
  const Error error = refused(std::string("/*\n * @tune BM 32\n */\n") + kKernel);
  EXPECT_THAT(error.message, HasSubstr("inside /* */"));
  EXPECT_EQ(error.place, (Place{"k.cu", 2, 4}));
}

TEST(KernelFile, wrong_tunes_name_the_place) {
  EXPECT_EQ(refused_directive("@tune BM 32 x64").place, (Place{"k.cu", 1, 16}));
  EXPECT_THAT(refused_directive("@tune").message, HasSubstr("nothing after it"));
  EXPECT_THAT(refused_directive("@tune ,").message, HasSubstr("no name"));
  EXPECT_THAT(refused_directive("@tune BM").message, HasSubstr("no values"));
  EXPECT_THAT(refused_directive("@tune BM 32 32").message, HasSubstr("twice"));
  EXPECT_THAT(refused_directive("@tune 3M 32").message, HasSubstr("not a name"));
  EXPECT_THAT(refused_directive("@tune float 32").message, HasSubstr("reserved"));
  EXPECT_THAT(refused_directive("@tune threadIdx 32").message, HasSubstr("reserved"));
  EXPECT_THAT(refused_directive("@tune __x 32").message, HasSubstr("reserved"));
  EXPECT_THAT(refused_directive("@tune X 4..1").message, HasSubstr("not a range"));
  EXPECT_THAT(refused_directive("@tune X 1..4..0").message, HasSubstr("not a range"));
  EXPECT_THAT(refused_directive("@tune X 0..1000000000").message, HasSubstr("more than"));
  EXPECT_THAT(refused_directive("@tune X 9223372036854775808").message,
              HasSubstr("not an integer"));
  EXPECT_THAT(refused(std::string("// @tune X 1\n// @tune X 2\n") + kKernel).message,
              HasSubstr("already a @tune parameter (line 1)"));
  EXPECT_THAT(refused(std::string("// @scratch X float [1]\n// @tune X 2\n") + kKernel).message,
              HasSubstr("already a @scratch"));
}

TEST(KernelFile, wrong_launches_name_the_place) {
  EXPECT_EQ(refused_directive("@launch k<<<1, 1>>>(A, , N)").place, (Place{"k.cu", 1, 27}));
  EXPECT_THAT(refused_directive("@launch k(A)").message, HasSubstr("expected '<<<'"));
  EXPECT_THAT(refused_directive("@launch k<<<1>>>(A)").message, HasSubstr("grid and block"));
  EXPECT_THAT(refused_directive("@launch k<<<1, 2, 3, 4>>>(A)").message, HasSubstr("4 values"));
  EXPECT_THAT(refused_directive("@launch k<<<1, 2(A)").message, HasSubstr("never closed"));
  EXPECT_THAT(refused_directive("@launch k<<<1, 2>>>").message, HasSubstr("expected '('"));
  EXPECT_THAT(refused_directive("@launch k<<<1, 2>>>(A").message, HasSubstr("never closed by ')'"));
  EXPECT_THAT(refused_directive("@launch k<<<1, 2>>>(A) B").message, HasSubstr("unexpected 'B'"));
  EXPECT_THAT(refused_directive("@launch k<<<dim3(1,2,3,4), 2>>>(A)").message,
              HasSubstr("4 sizes"));
  EXPECT_THAT(refused_directive("@launch k<<<dim3(), 2>>>(A)").message, HasSubstr("0 sizes"));
  EXPECT_THAT(refused_directive("@launch k<<<1, 2>>>(1.0f / N)").fix, HasSubstr("integer"));
  EXPECT_THAT(refused_directive("@launch <<<1, 2>>>(A)").message, HasSubstr("name is missing"));
  EXPECT_THAT(refused_directive("@launch kk<<<1, 2>>>(A)").message,
              HasSubstr("does not define (did you mean 'k'?)"));
  EXPECT_EQ(refused_directive("@launch k<<<1 +, 2>>>(A)").place->line, 1);
}

TEST(KernelFile, wrong_columns_survive_continuation) {
  const Error error = refused(std::string("// @launch k<<<1,\n//   2 + $>>>(A)\n") + kKernel);
  EXPECT_EQ(error.place, (Place{"k.cu", 2, 10}));
}

TEST(KernelFile, scratch_shapes) {
  EXPECT_EQ(parsed(std::string("// @scratch p half [M, N]\n") + kKernel).scratch[0].shape.size(),
            2U);
  EXPECT_EQ(parsed(std::string("// @scratch p half [M][N]\n") + kKernel).scratch[0].shape.size(),
            2U);
  EXPECT_EQ(parsed(std::string("// @scratch p __nv_bfloat16 [1]\n") + kKernel).scratch[0].dtype,
            DType::bfloat16);
  EXPECT_THAT(refused_directive("@scratch p float").message, HasSubstr("size in brackets"));
  EXPECT_THAT(refused_directive("@scratch p flot [3]").message, HasSubstr("unknown type 'flot'"));
  EXPECT_THAT(refused_directive("@scratch p float []").message, HasSubstr("empty"));
  EXPECT_THAT(refused_directive("@scratch p float [3").message, HasSubstr("never closed"));
  EXPECT_THAT(refused_directive("@scratch p float [3] x").message, HasSubstr("unexpected 'x'"));
}

TEST(KernelFile, only_harmless_flags_pass) {
  for (const char* flag :
       {"-I/etc", "--include-path=/etc", "-o", "--pre-include=/etc/passwd", "-G", "--maxrregcount",
        "--std=c++98", "-ftz", "-ftz=maybe", "--ftz=true|false", "use_fast_math",
        "---use_fast_math", "-Xptxas", "-O9"})
    refused_directive(std::string("@flags ") + flag);
  EXPECT_THAT(refused_directive("@flags --use-fast-math").message,
              HasSubstr("did you mean '--use_fast_math'?"));
  EXPECT_EQ(
      parsed(std::string("// @flags -maxrregcount=64 -O1 -lineinfo\n") + kKernel).max_registers,
      64);
  refused_directive("@maxregs 7");
  refused_directive("@maxregs lots");
  refused_directive("@arch sm80");
  refused_directive("@arch sm_80; rm");
}

TEST(KernelFile, host_code_is_refused) {
  for (const std::string& source :
       {std::string("int main() { return 0; }\n"), std::string("#include <iostream>\n"),
        std::string("#include <torch/extension.h>\n"),
        std::string("void run(float* a) { k<<<1, 1>>>(a, 1); }\n"),
        std::string("void run() { float* p; cudaMalloc(&p, 4); }\n")})
    EXPECT_THAT(refused(kKernel + source).message, HasSubstr("device code only")) << source;
  EXPECT_EQ(refused(kKernel + std::string("\nint main() {}")).place, (Place{"k.cu", 3, 5}));
  parsed(std::string("#if 0\n#include <iostream>\n#endif\n") + kKernel);
}

TEST(KernelFile, files_that_are_no_kernel_files) {
  EXPECT_THAT(refused("").message, HasSubstr("no __global__"));
  EXPECT_THAT(refused("__device__ int f() { return 1; }").message, HasSubstr("no __global__"));
  EXPECT_THAT(refused(std::string("a\n\0b", 4)).message, HasSubstr("NUL"));
  EXPECT_THAT(refused(std::string((1U << 20U) + 1, ' ')).message, HasSubstr("at most"));
  const auto missing = load_kernel_file("/no/such/kernel.cu");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().place->file, "/no/such/kernel.cu");
}

TEST(KernelFile, lines_count_from_where_the_source_stands) {
  const auto file = parse_kernel_file("// @tune BM x\n" + std::string(kKernel), "task.yaml", 40);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().place->line, 40);
}

TEST(KernelFile, windows_line_ends_and_byte_order_mark) {
  const KernelFile file =
      parsed(std::string("\xEF\xBB\xBF// @tune BM 32 64\r\n// @launch k<<<1, \\\r\n"
                         "// 32>>>(A, N)\r\n") +
             kKernel);
  EXPECT_EQ(file.parameters[0].values, (Values{32, 64}));
  EXPECT_EQ(file.launches[0].block[0].text(), "32");
}

TEST(KernelFile, triton_files_use_hash_comments) {
  const KernelFile file = parsed("import triton\n# @tune BLOCK 64 128\n# @tune num_warps 4 8\n"
                                 "# @launch k<<<ceil_div(N, BLOCK)>>>(x, y, N, BLOCK)\n"
                                 "@triton.jit\ndef k(x, y, n, BLOCK: tl.constexpr):\n    pass\n",
                                 "k.py");
  EXPECT_EQ(file.language, KernelLanguage::triton);
  EXPECT_EQ(file.kernels, std::vector<std::string>{"k"});
  EXPECT_EQ(file.parameters.size(), 2U);
  EXPECT_EQ(file.launches[0].arguments.size(), 4U);
  EXPECT_THAT(refused("import triton\n", "k.py").message, HasSubstr("no @triton.jit"));
}

TEST(KernelFile, directives_are_plain_text) {
  const std::string kernel = "__global__ void k(int* a) {}\n";
  EXPECT_FALSE(parse_kernel_file("// \033[2K\n// @launch k<<<1, 32>>>(a)\n" + kernel, "k.cu"));
  const auto refused =
      parse_kernel_file("// @launch k<<<1, 32>>>(\033[2K\rCORRECT)\n" + kernel, "k.cu");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().place->line, 1);
  EXPECT_EQ(format_error(refused.error()).find('\033'), std::string::npos);
}

} // namespace
} // namespace kernevo
