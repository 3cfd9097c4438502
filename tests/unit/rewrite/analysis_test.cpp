// The table, and the analyses the rewrites stand on.
#include "kernevo/explain/rules.h"
#include "kernevo/rewrite/draft.h"
#include "kernevo/rewrite/syntax.h"
#include "rewriting.h"

#include <gmock/gmock.h>
#include <set>

namespace kernevo::rewrite {
namespace {

using testing::HasSubstr;

TEST(Table, NamesAreUniqueAndDirectionsExist) {
  std::set<std::string> directions;
  const auto rules = load_rules();
  ASSERT_TRUE(rules);
  for (const Rule& rule : *rules)
    for (const RuleDirection& direction : rule.directions)
      directions.insert(direction.direction.name);
  std::set<std::string_view> names;
  for (const Rewrite& rewrite : rewrites()) {
    EXPECT_TRUE(names.insert(rewrite.name).second) << rewrite.name;
    EXPECT_FALSE(rewrite.title.empty());
    EXPECT_FALSE(rewrite.answers.empty()) << rewrite.name;
    for (const std::string_view answer : rewrite.answers)
      EXPECT_TRUE(directions.contains(std::string(answer))) << rewrite.name << ": " << answer;
  }
}

TEST(Table, UnknownRewritesAndOtherLanguages) {
  const auto kernel = parse_kernel_file("__global__ void f() {}\n", "f.cu");
  EXPECT_FALSE(apply(Rewrite{"nonsense", "", {}}, *kernel, {}));
  const auto triton = parse_kernel_file("@triton.jit\ndef f(x):\n  pass\n", "f.py");
  ASSERT_TRUE(triton);
  for (const Rewrite& rewrite : rewrites())
    EXPECT_EQ(apply(rewrite, *triton, {})->why_not, "it is for CUDA kernels");
}

std::optional<Polynomial> value(const std::string& text) {
  static const KernelFile file = *parse_kernel_file("__global__ void f() {}\n", "f.cu");
  static const Code code(file);
  const auto expr = parse_expression(text);
  if (!expr)
    return std::nullopt;
  return evaluate(*expr, code, [](const std::string& name) {
    return std::optional<Polynomial>(Polynomial::symbol(name));
  });
}

TEST(Polynomials, AreEqualWhenTheyMeanTheSame) {
  EXPECT_EQ(value("(a + b) * c - b * c"), value("c * a"));
  EXPECT_EQ(value("2 * (i + 3)"), value("i + i + 6"));
  EXPECT_EQ(value("(n + 2 * p - r) / s + 1"), value("1 + (2 * p + n - r) / s"));
  EXPECT_NE(value("a / b"), value("b / a"));
  EXPECT_EQ(value("a - a"), Polynomial());
  EXPECT_FALSE(value("a << 2"));
  EXPECT_FALSE(value("9223372036854775807 * 2"));
  EXPECT_FALSE(value("a < b > (c)"));
}

TEST(Polynomials, KnowWhatTheyDependOn) {
  const auto poly = value("row * K + k + (col / 2) * M");
  ASSERT_TRUE(poly);
  EXPECT_EQ(poly->coefficient("row"), Polynomial::symbol("K"));
  EXPECT_EQ(poly->coefficient("k"), Polynomial::constant(1));
  EXPECT_TRUE(poly->depends_on("col"));
  EXPECT_FALSE(poly->coefficient("col")); // inside a quotient
  EXPECT_FALSE(value("a * a")->coefficient("a"));
  EXPECT_FALSE(poly->depends_on("N"));
}

TEST(Syntax, FindsKernelsAndParameters) {
  const KernelFile file = *parse_kernel_file(
      "using T = float; // using T = double;\n"
      "extern \"C\" __global__ void __launch_bounds__(64) a(const T* __restrict__ x, T *const y, "
      "unsigned long long n) {}\n"
      "template <class U> __global__ void b(U* p, int (*q)[3]) {}\n"
      "__global__ void c();\n",
      "f.cu");
  const Code code(file);
  ASSERT_EQ(code.kernels().size(), 2U);
  const Function& a = code.kernels()[0];
  ASSERT_EQ(a.parameters.size(), 3U);
  EXPECT_TRUE(a.simple_parameters);
  EXPECT_TRUE(a.parameters[0].restricted && a.parameters[0].points_to_const);
  EXPECT_EQ(a.parameters[0].element, "T");
  EXPECT_EQ(code.size_of_type("T"), 4);
  EXPECT_FALSE(a.parameters[1].points_to_const);
  EXPECT_EQ(a.parameters[2].type, "unsigned long long");
  EXPECT_THAT(a.attributes, testing::ElementsAre("__launch_bounds__"));
  EXPECT_TRUE(code.kernels()[1].is_template);
  EXPECT_FALSE(code.kernels()[1].simple_parameters);
}

TEST(Rewrites, NameTheReasonForEachKernel) {
  EXPECT_THAT(why_not("coarsen", "#define K __global__ void\nK f(float* y) { y[0] = 0; }\n"
                                 "__global__ void g(int n) { }\n"),
              HasSubstr("no launch"));
}

} // namespace
} // namespace kernevo::rewrite
