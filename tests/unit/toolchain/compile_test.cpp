#include "scoped_environment.h"

#include "kernevo/base/files.h"
#include "kernevo/toolchain/ptx_text.h"
#include "test_folder.h"
#include "toolchain_test.h"

#include <algorithm>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class Compile : public testing::Test {
protected:
  void SetUp() override {
    if (auto found = needed_toolchain())
      toolchain_ = *found;
  }

  Build build(const std::string& source) {
    request_.source = source;
    request_.file = "folder/my kernel.cu";
    auto result = compile(toolchain_, request_);
    EXPECT_TRUE(result) << format_error(result.error());
    return result ? *result : Build{};
  }

  Build good(const std::string& source) {
    Build result = build(source);
    EXPECT_TRUE(result.ok) << first_error(result).message << "\n" << source;
    return result;
  }

  static Diagnostic first_error(const Build& build) {
    for (const Diagnostic& diagnostic : build.diagnostics)
      if (diagnostic.severity == Diagnostic::Severity::error)
        return diagnostic;
    return {};
  }

  Toolchain toolchain_;
  CompileRequest request_;
  ScopedEnvironment cache_{"KERNEVO_CACHE", "off"};
  ScopedEnvironment compiler_{"KERNEVO_COMPILER", nullptr};
};

TEST_F(Compile, gives_ptx_resources_and_names) {
  request_.macros = {{"SIZE", "64"}};
  const Build b = good("__global__ void first(float* a) { a[threadIdx.x] = 1; }\n"
                       "extern \"C\" __global__ void second(float* a) {\n"
                       "  __shared__ float s[SIZE];\n  s[threadIdx.x] = a[threadIdx.x];\n"
                       "  __syncthreads();\n  a[threadIdx.x] = s[SIZE - 1 - threadIdx.x];\n}\n");
  EXPECT_THAT(b.ptx, HasSubstr(".target sm_80"));
  EXPECT_THAT(b.ptx, HasSubstr("\"folder/my kernel.cu\""));
  EXPECT_THAT(b.ptx, HasSubstr(".loc\t1 4"));
  EXPECT_EQ(b.architecture, "sm_80");
  EXPECT_THAT(b.compiler, HasSubstr("NVRTC"));
  EXPECT_EQ(b.lowered_names.at("first"), "_Z5firstPf");
  EXPECT_EQ(b.lowered_names.at("second"), "second");
  EXPECT_EQ(b.ptx_hash.size(), 64U);
  if (!needed_toolchain({&Toolchain::ptxas}))
    return;
  EXPECT_THAT(b.assembler, HasSubstr("ptxas "));
  ASSERT_EQ(b.resources.size(), 2U);
  const auto second = std::find_if(b.resources.begin(), b.resources.end(),
                                   [](const KernelResources& r) { return r.name == "second"; });
  ASSERT_NE(second, b.resources.end());
  EXPECT_EQ(second->static_shared->value, 256U);
  EXPECT_GT(*second->registers, 0);
  EXPECT_EQ(second->barriers, 1);
}

TEST_F(Compile, errors_are_on_the_users_lines) {
  request_.first_line = 101;
  const Build syntax = build("__global__ void k(float* a) {\n  int x = 3\n  a[0] = x;\n}\n");
  EXPECT_FALSE(syntax.ok);
  EXPECT_TRUE(syntax.syntax_error);
  EXPECT_EQ(first_error(syntax).place, (Place{"folder/my kernel.cu", 103, 3}));
  const Build meaning = build("__global__ void k(half* a) {\n  a[0] = undefined_name;\n}\n");
  EXPECT_FALSE(meaning.ok);
  EXPECT_FALSE(meaning.syntax_error);
  EXPECT_EQ(first_error(meaning).place, (Place{"folder/my kernel.cu", 102, 10}));
  EXPECT_THAT(first_error(meaning).message, HasSubstr("undefined_name"));
}

TEST_F(Compile, assembler_errors_are_on_the_users_lines) {
  if (!needed_toolchain({&Toolchain::ptxas}))
    return;
  const Build b =
      build("__global__ void k(float* a) {\n  a[0] = 1;\n\n  asm volatile(\"foo.bar;\");\n}\n");
  EXPECT_FALSE(b.ok);
  EXPECT_FALSE(b.syntax_error);
  EXPECT_EQ(first_error(b).place.line, 4);
  EXPECT_THAT(first_error(b).message, HasSubstr("assembler"));
  const Build unresolved = build("extern __device__ float gone(float);\n"
                                 "__global__ void k(float* a) { a[0] = gone(a[1]); }\n");
  EXPECT_FALSE(unresolved.ok);
  EXPECT_THAT(first_error(unresolved).message, HasSubstr("gone"));
}

TEST_F(Compile, common_names_need_no_include) {
  request_.resources = false;
  good("__global__ void k(half* a, __half2* b) { a[0] = __float2half(1.f); b[0] = "
       "__half2half2(a[1]); }");
  good("__global__ void k(__nv_bfloat16* a) { a[0] = __float2bfloat16(1.f); }");
  good("using namespace nvcuda;\n__global__ void k(half* a, float* c) {\n"
       "  wmma::fragment<wmma::accumulator, 16, 16, 16, float> f; wmma::fill_fragment(f, 0.f);\n"
       "  wmma::store_matrix_sync(c, f, 16, wmma::mem_row_major); }");
  good("__global__ void k(float* a, uint32_t n, int64_t m, size_t s) {\n"
       "  a[0] = INFINITY; a[1] = -FLT_MAX; a[2] = M_PI; a[3] = INT_MAX; a[4] = NAN; a[5] = n + m "
       "+ s; }");
  good(
      "__global__ void k(float* a) { a[0] = std::max(a[1], std::numeric_limits<float>::lowest());\n"
      "  static_assert(std::is_same<float, float>::value, \"\"); a[2] = std::exp(a[3]); }");
  good("#define INFINITY 1e30f\nstruct M { float FLT_MAXIMUM; };\n__global__ void k(float* a) { "
       "a[0] = INFINITY; }");
}

TEST_F(Compile, common_includes_work) {
  request_.resources = false;
  good("#include <cuda_runtime.h>\n#include <stdint.h>\n#include <cstdio>\n#include <cmath>\n"
       "#include <float.h>\n#include <limits>\n#include \"cuda_fp16.h\"\n#include <cassert>\n"
       "__global__ void k(float* a, int n) { assert(n > 0); printf(\"%d\", n); a[0] = fabsf(a[1]); "
       "}");
  good("#include <cooperative_groups.h>\n#include <algorithm>\nnamespace cg = cooperative_groups;\n"
       "__global__ void k(float* a) { auto w = cg::tiled_partition<32>(cg::this_thread_block());\n"
       "  a[0] = w.shfl_down(a[1], 1); a[2] = std::min(a[3], a[4]); }");
  good("float helper(float x) { return x * 2; }\nconst float table[2] = {1, 2};\n"
       "__global__ void k(float* a) { a[0] = helper(table[threadIdx.x]); }");
}

TEST_F(Compile, templates_by_name_expression) {
  request_.name_expressions = {"ns::r<32, float>", "ns::r<64, float>"};
  const Build b =
      good("namespace ns { template <int B, class T> __global__ void r(T* a) { a[0] = B; } }");
  EXPECT_EQ(b.lowered_names.size(), 2U);
  EXPECT_NE(b.lowered_names.at("ns::r<32, float>"), b.lowered_names.at("ns::r<64, float>"));
  EXPECT_THAT(entry_names(b.ptx), testing::Contains(b.lowered_names.at("ns::r<64, float>")));
  request_.name_expressions = {"missing<32>"};
  const Build bad = build("template <int B> __global__ void r(int* a) { a[0] = B; }");
  EXPECT_FALSE(bad.ok);
  EXPECT_FALSE(first_error(bad).message.empty());
}

TEST_F(Compile, flags_and_register_limits_take_effect) {
  const std::string source = "__global__ void k(float* a, float b) { a[0] = a[1] / b; }";
  const Build precise = good(source);
  request_.flags = {"--use_fast_math", "-O3"};
  const Build fast = good(source);
  EXPECT_THAT(precise.ptx, HasSubstr("div.rn.f32"));
  EXPECT_THAT(fast.ptx, HasSubstr("div.approx.ftz.f32"));
  EXPECT_NE(precise.ptx_hash, fast.ptx_hash);
}

TEST_F(Compile, architectures) {
  request_.architecture = "sm_90a";
  EXPECT_THAT(good("__global__ void k() {}").ptx, HasSubstr("sm_90a"));
  for (const char* wrong : {"sm_31", "sm_80a", "", "sm_", "compute_80", "sm_80 -o x"}) {
    request_.architecture = wrong;
    const Build b = build("__global__ void k() {}");
    EXPECT_FALSE(b.ok) << wrong;
    EXPECT_THAT(first_error(b).message, HasSubstr("cannot compile for")) << wrong;
  }
  EXPECT_EQ(nearest_architecture(toolchain_, 80), "sm_80");
  EXPECT_EQ(nearest_architecture(toolchain_, 81), "sm_86");
  const std::string oldest = nearest_architecture(toolchain_, 10);
  EXPECT_THAT(oldest, testing::AnyOf("sm_75", "sm_50"));
  EXPECT_THAT(nearest_architecture(toolchain_, 999), HasSubstr("sm_1"));
}

TEST_F(Compile, foreign_files_cannot_be_included) {
  for (const char* include :
       {"#include \"/etc/passwd\"", "#include </etc/passwd>", "#inc\\\nlude \"/etc/passwd\"",
        "#include \"../../etc/passwd\"", "#define F \"/etc/passwd\"\n#include F",
        "%:include \"/etc/passwd\"", "#include \"some_local_file.h\""}) {
    const Build b = build(std::string(include) + "\n__global__ void k() {}\n");
    EXPECT_FALSE(b.ok) << include;
    for (const Diagnostic& diagnostic : b.diagnostics) {
      EXPECT_THAT(diagnostic.message, Not(HasSubstr("root"))) << include;
      EXPECT_GT(diagnostic.place.line, 0);
    }
  }
}

TEST_F(Compile, hostile_sources_end_in_errors) {
  const Build bomb =
      build("template <int N> struct D { static const int v = D<N - 1>::v + D<N - 2>::v; };\n"
            "__global__ void k(int* a) { a[0] = D<100000>::v; }");
  EXPECT_FALSE(bomb.ok);
  EXPECT_LE(bomb.diagnostics.size(), 51U);
  EXPECT_FALSE(build(std::string((1U << 20U) + 1, ' ')).ok);
  EXPECT_FALSE(build("#error no\n__global__ void k() {}").ok);
  EXPECT_FALSE(build("\x01\x02\xff").ok);
  EXPECT_TRUE(build("").ok); // nothing to launch, but nothing wrong
}

TEST_F(Compile, the_cache_answers_the_second_time) {
  const TestFolder folder;
  const ScopedEnvironment cache("KERNEVO_CACHE", folder.path().c_str());
  const std::string source = "__global__ void k(int* a) { a[0] = 1; }";
  const Build first = good(source);
  EXPECT_FALSE(first.from_cache);
  const Build second = good(source);
  EXPECT_TRUE(second.from_cache);
  EXPECT_EQ(second.ptx, first.ptx);
  EXPECT_EQ(second.lowered_names, first.lowered_names);
  request_.macros = {{"OTHER", "1"}};
  EXPECT_FALSE(good(source).from_cache);
}

TEST_F(Compile, an_unwritable_cache_is_a_warning) {
  const ScopedEnvironment cache("KERNEVO_CACHE", "/proc/no/such/folder");
  const Build b = good("__global__ void k(int* a) { a[0] = 1; }");
  const bool warned =
      std::any_of(b.diagnostics.begin(), b.diagnostics.end(), [](const Diagnostic& d) {
        return d.severity == Diagnostic::Severity::warning &&
               d.message.find("KERNEVO_CACHE") != std::string::npos;
      });
  EXPECT_TRUE(warned);
}

TEST_F(Compile, a_missing_or_broken_ptxas_leaves_resources_unknown) {
  toolchain_.ptxas.clear();
  const Build without = good("__global__ void k(int* a) { a[0] = 1; }");
  EXPECT_TRUE(without.resources.empty());
  EXPECT_TRUE(without.assembler.empty());
  toolchain_.ptxas = "/bin/false";
  const Build broken = good("__global__ void k(int* a) { a[0] = 1; }");
  EXPECT_TRUE(broken.resources.empty());
  ASSERT_FALSE(broken.diagnostics.empty());
  EXPECT_EQ(broken.diagnostics[0].severity, Diagnostic::Severity::warning);
}

TEST_F(Compile, nvcc_is_a_fallback) {
  if (!needed_toolchain({&Toolchain::nvcc}))
    return;
  const ScopedEnvironment nvcc("KERNEVO_COMPILER", "nvcc");
  request_.name_expressions = {"r<32>"};
  const Build b = good("__global__ void k(half* a) { a[0] = __float2half(1.f); }\n"
                       "template <int N> __global__ void r(float* a) { a[0] = N; }\n");
  EXPECT_THAT(b.compiler, HasSubstr("nvcc"));
  EXPECT_EQ(b.lowered_names.at("r<32>"), "_Z1rILi32EEvPf");
  EXPECT_THAT(b.ptx, HasSubstr("\"folder/my kernel.cu\""));
  const Build bad = build("__global__ void k(float* a) {\n  a[0] = 1\n}\n"
                          "template <int N> __global__ void r(float* a) { a[0] = N; }\n");
  EXPECT_FALSE(bad.ok);
  EXPECT_TRUE(bad.syntax_error);
  EXPECT_EQ(first_error(bad).place.line, 3);
}

} // namespace
} // namespace kernevo
