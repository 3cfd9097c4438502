#include "kernevo/kernel/source_scan.h"

#include "kernevo/kernel/find_kernels.h"

#include <gtest/gtest.h>

namespace kernevo {
namespace {

using Names = std::vector<std::string>;

Names kernels(const std::string& source) {
  return find_cuda_kernels(scan_cuda_source(source)).names;
}

TEST(SourceScan, finds_kernels_behind_attributes_and_linkage) {
  EXPECT_EQ(kernels("__global__ void a(int*) {}"), Names{"a"});
  EXPECT_EQ(kernels("extern \"C\" __global__ void __launch_bounds__(256, 2) b(int*) {}"),
            Names{"b"});
  EXPECT_EQ(kernels("extern \"C\" { __global__\nvoid\nc\n(int*) {} }"), Names{"c"});
  EXPECT_EQ(kernels("__launch_bounds__(64) __global__ void d() {}"), Names{"d"});
  EXPECT_EQ(kernels("static __global__ __attribute__((used)) void e() {}"), Names{"e"});
  EXPECT_EQ(kernels("__global__ void a(int*);\n__global__ void b();\n__global__ void a(int*) {}"),
            (Names{"a", "b"}));
}

TEST(SourceScan, ignores_kernels_in_comments_and_strings) {
  EXPECT_EQ(kernels("// __global__ void a() {}\n/* __global__ void b() {} */\n"
                    "const char* s = \"__global__ void c() {}\";\n"
                    "const char* r = R\"x(__global__ void d() {} \" )x\";\n"
                    "// spliced \\\n__global__ void e() {}\n"
                    "__global__ void f() {}"),
            Names{"f"});
}

TEST(SourceScan, digit_separators_do_not_open_character_literals) {
  EXPECT_EQ(kernels("constexpr int n = 1'000'000; __global__ void a() { char c = '\"'; }"),
            Names{"a"});
}

TEST(SourceScan, tells_templates_and_macros) {
  const std::string source = "template <int N> struct X {};\n__global__ void plain() {}\n"
                             "template <int N, class T>\n__global__ void generic(T* x) {}\n";
  const FoundKernels found = find_cuda_kernels(scan_cuda_source(source));
  EXPECT_EQ(found.names, (Names{"plain", "generic"}));
  EXPECT_EQ(found.templates, Names{"generic"});
  EXPECT_FALSE(found.incomplete);
  const std::string macro = "#define DEFINE(n) \\\n  __global__ void n##_kernel() {}\nDEFINE(a)\n";
  EXPECT_TRUE(find_cuda_kernels(scan_cuda_source(macro)).incomplete);
}

TEST(SourceScan, finds_triton_kernels) {
  const std::string source = "import triton\n@triton.jit\ndef k(x, n: tl.constexpr):\n  pass\n"
                             "def host(x):\n  pass\n@triton.autotune(configs=[])\n@triton.jit\n"
                             "def tuned(x):\n  \"\"\"# @tune no\n  \"\"\"\n";
  EXPECT_EQ(find_triton_kernels(scan_python_source(source)).names, (Names{"k", "tuned"}));
  EXPECT_TRUE(scan_python_source(source).comments.empty());
}

TEST(SourceScan, includes_are_seen_through_every_disguise) {
  for (const char* source :
       {"#include \"/etc/passwd\"", "  #  include \"/etc/passwd\"", "#inc\\\nlude \"/etc/passwd\"",
        "#/**/include/**/\"/etc/passwd\"", "%:include \"/etc/passwd\"",
        "#include \\\n \"/etc/passwd\"", "int x; /* */\n#include_next \"/etc/passwd\""}) {
    const SourceScan scan = scan_cuda_source(source);
    ASSERT_EQ(scan.includes.size(), 1U) << source;
    EXPECT_EQ(scan.includes[0].header, "/etc/passwd") << source;
    EXPECT_TRUE(scan.includes[0].quoted);
  }
  const std::string computed = "#define F \"x\"\n#include F\n";
  const SourceScan scan = scan_cuda_source(computed);
  ASSERT_EQ(scan.includes.size(), 1U);
  EXPECT_TRUE(scan.includes[0].computed);
}

TEST(SourceScan, unfinished_text_ends_quietly) {
  for (const char* source : {"/*", "\"abc", "'", "R\"(", "R\"", "#", "#include", "#include <", "\\",
                             "// \\", "0x", "__global__", "__global__ void", "__global__ void f("})
    EXPECT_LE(find_cuda_kernels(scan_cuda_source(source)).names.size(), 1U) << source;
  for (const char* source : {"\"\"\"", "'", "#", "@", "def", "@triton.jit\ndef"})
    EXPECT_LE(find_triton_kernels(scan_python_source(source)).names.size(), 1U) << source;
}

TEST(SourceScan, a_name_that_ends_in_r_does_not_open_a_raw_string) {
  const auto includes = [](const std::string& name) {
    return scan_cuda_source(name + "\"(\n#include \"/etc/passwd\"\n)\"\n").includes.size();
  };
  for (const char* name : {"abR", "xR", "8R", "RR"})
    EXPECT_EQ(includes(name), 1U) << name;
  for (const char* name : {"R", "LR", "uR", "UR", "u8R"})
    EXPECT_EQ(includes(name), 0U) << name;
}

} // namespace
} // namespace kernevo
