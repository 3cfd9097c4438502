#include "kernevo/kernel/kernel_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

using testing::HasSubstr;

KernelFile with(const std::string& directives) {
  auto file = parse_kernel_file(directives + "__global__ void k(float* A) {}\n", "k.cu");
  EXPECT_TRUE(file) << format_error(file.error());
  return file ? *file : KernelFile{};
}

TEST(ChooseParameters, takes_the_first_values) {
  const auto values = choose_parameters(with("// @tune A 8 4\n// @tune B 1 2\n"));
  ASSERT_TRUE(values);
  EXPECT_EQ(*values, (ParameterValues{{"A", 8}, {"B", 1}}));
  EXPECT_EQ(*choose_parameters(with("")), ParameterValues{});
}

TEST(ChooseParameters, finds_the_first_combination_that_meets_every_constraint) {
  const KernelFile file = with(
      "// @tune A 128 64 32\n// @tune B 128 64 32\n// @where A * B <= 4096\n// @where A > 32\n");
  EXPECT_EQ(*choose_parameters(file), (ParameterValues{{"A", 128}, {"B", 32}}));
  EXPECT_EQ(*choose_parameters(file, {{"A", 64}}), (ParameterValues{{"A", 64}, {"B", 64}}));
}

TEST(ChooseParameters, constraints_on_dimensions_wait_for_the_shape) {
  EXPECT_EQ(*choose_parameters(with("// @tune A 8\n// @where K % A == 0\n")),
            (ParameterValues{{"A", 8}}));
}

TEST(ChooseParameters, wrong_choices_are_explained) {
  const KernelFile file = with("// @tune BM 1 2\n// @tune BN 1 2\n// @where BM == BN\n");
  const auto unknown = choose_parameters(file, {{"BK", 1}});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("no parameter 'BK' (did you mean"));
  const auto unlisted = choose_parameters(file, {{"BM", 3}});
  ASSERT_FALSE(unlisted);
  EXPECT_EQ(unlisted.error().place, (Place{"k.cu", 1, 10}));
  EXPECT_THAT(unlisted.error().fix, HasSubstr("1 2"));
  const auto violated = choose_parameters(file, {{"BM", 1}, {"BN", 2}});
  ASSERT_FALSE(violated);
  EXPECT_THAT(violated.error().message, HasSubstr("BM=1, BN=2 violate '@where BM == BN'"));
}

TEST(ChooseParameters, impossible_constraints_are_an_error) {
  const auto none = choose_parameters(with("// @tune A 1 2\n// @where A > 2\n"));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().place->line, 2);
  EXPECT_FALSE(choose_parameters(with("// @tune A 0\n// @where 1 / A\n")));
}

TEST(ChooseParameters, a_huge_space_without_a_solution_ends) {
  std::string directives;
  for (char name = 'a'; name <= 'h'; ++name)
    directives += std::string("// @tune ") + name + " 1..100\n";
  const auto none = choose_parameters(with(directives + "// @where a + h < 0\n"));
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("combinations"));
}

} // namespace
} // namespace kernevo
