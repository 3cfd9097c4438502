#include "kernevo/kernel/kernel_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

using testing::HasSubstr;

Problem problem() {
  Problem p;
  p.dims = {{"M", 100}, {"N", 70}, {"K", 33}};
  p.scalars = {{"eps", DType::float32, 1e-5}, {"axis", DType::int32, 2}};
  p.buffers.resize(3);
  p.buffers[0].name = "A";
  p.buffers[1].name = "B";
  p.buffers[2].name = "C";
  return p;
}

Result<LaunchPlan> plan(const std::string& directives, const std::string& default_launch = "",
                        const std::string& code = "__global__ void k(float* A) {}\n") {
  const auto file = parse_kernel_file(directives + code, "k.cu");
  if (!file)
    return tl::unexpected<Error>(file.error());
  const auto parameters = choose_parameters(*file);
  if (!parameters)
    return tl::unexpected<Error>(parameters.error());
  return make_launch_plan(*file, *parameters, problem(), default_launch, Place{"task.yaml", 9, 11});
}

Error refused(const std::string& directives, const std::string& default_launch = "") {
  const auto result = plan(directives, default_launch);
  EXPECT_FALSE(result) << directives;
  return result ? Error{} : result.error();
}

TEST(LaunchPlan, evaluates_sizes_and_arguments) {
  const auto result = plan("// @tune BN 32\n// @scratch tmp float [M, N + 2]\n"
                           "// @launch k<<<dim3(ceil_div(N, BN), M), dim3(BN, 4), BN * 4>>>"
                           "(A, C, tmp, M, eps, axis, -1.5f, 2 * K, BN)\n");
  ASSERT_TRUE(result) << format_error(result.error());
  ASSERT_EQ(result->launches.size(), 1U);
  const Launch& launch = result->launches[0];
  EXPECT_EQ(launch.kernel, "k");
  EXPECT_EQ(launch.grid, (std::array<std::int64_t, 3>{3, 100, 1}));
  EXPECT_EQ(launch.block, (std::array<std::int64_t, 3>{32, 4, 1}));
  EXPECT_EQ(launch.dynamic_shared, 128);
  ASSERT_EQ(launch.arguments.size(), 9U);
  EXPECT_EQ(std::get<BufferArgument>(launch.arguments[0].value).index, 0U);
  EXPECT_EQ(std::get<BufferArgument>(launch.arguments[1].value).index, 2U);
  EXPECT_EQ(std::get<BufferArgument>(launch.arguments[2].value).index, 3U);
  EXPECT_EQ(std::get<std::int64_t>(launch.arguments[3].value), 100);
  EXPECT_DOUBLE_EQ(std::get<double>(launch.arguments[4].value), 1e-5);
  EXPECT_EQ(std::get<std::int64_t>(launch.arguments[5].value), 2);
  EXPECT_DOUBLE_EQ(std::get<double>(launch.arguments[6].value), -1.5);
  EXPECT_EQ(std::get<std::int64_t>(launch.arguments[7].value), 66);
  EXPECT_EQ(std::get<std::int64_t>(launch.arguments[8].value), 32);
  ASSERT_EQ(result->scratch.size(), 1U);
  EXPECT_EQ(result->scratch[0].elements, 7200);
}

TEST(LaunchPlan, the_default_launch_gets_the_kernels_name) {
  const auto result = plan("", "kernel<<<ceil_div(M * N, 256), 256>>>(A, C, M)");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->launches[0].kernel, "k");
  EXPECT_EQ(result->launches[0].place, (Place{"task.yaml", 9, 11}));
  EXPECT_EQ(result->launches[0].grid[0], 28);
}

TEST(LaunchPlan, a_default_launch_needs_exactly_one_kernel) {
  EXPECT_THAT(refused("").message, HasSubstr("no default launch"));
  const auto two = plan("", "kernel<<<1, 1>>>(A)",
                        "__global__ void a(float*) {}\n__global__ void b(float*) {}\n");
  ASSERT_FALSE(two);
  EXPECT_THAT(two.error().message, HasSubstr("2 kernels (a, b) and no @launch"));
  const auto generic =
      plan("", "kernel<<<1, 1>>>(A)", "template <int N> __global__ void t(float*) {}\n");
  ASSERT_FALSE(generic);
  EXPECT_THAT(generic.error().message, HasSubstr("template"));
}

TEST(LaunchPlan, template_arguments_are_evaluated) {
  const auto result = plan("// @tune BM 64\n// @launch r<BM / 2, float, kOwn><<<1, 32>>>(A)\n", "",
                           "template <int B, class T, int Q> __global__ void r(T* A) {}\n");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->launches[0].kernel, "r<32, float, kOwn>");
}

TEST(LaunchPlan, namespaces_are_dropped_from_plain_names) {
  const auto result = plan("// @launch ns::k<<<1, 32>>>(A)\n", "",
                           "namespace ns { __global__ void k(float*) {} }\n");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->launches[0].kernel, "k");
}

TEST(LaunchPlan, names_may_not_clash_with_the_task) {
  EXPECT_THAT(refused("// @tune M 32\n// @launch k<<<1, 1>>>(A)\n").message,
              HasSubstr("@tune parameter 'M' has the name of a dimension"));
  EXPECT_THAT(refused("// @tune A 32\n// @launch k<<<1, 1>>>(A)\n").message,
              HasSubstr("name of an argument"));
  EXPECT_THAT(refused("// @tune eps 32\n// @launch k<<<1, 1>>>(A)\n").message,
              HasSubstr("name of a scalar"));
  const Error scratch = refused("// @scratch C float [1]\n// @launch k<<<1, 1>>>(A)\n");
  EXPECT_THAT(scratch.message, HasSubstr("@scratch buffer 'C'"));
  EXPECT_EQ(scratch.place, (Place{"k.cu", 1, 13}));
}

TEST(LaunchPlan, unknown_names_get_a_suggestion_and_a_place) {
  const Error argument = refused("// @launch k<<<1, 1>>>(A, epz)\n");
  EXPECT_THAT(argument.message, HasSubstr("unknown argument 'epz' (did you mean 'eps'?)"));
  EXPECT_EQ(argument.place, (Place{"k.cu", 1, 27}));
  const Error size = refused("// @launch k<<<MM, 1>>>(A)\n");
  EXPECT_THAT(size.message, HasSubstr("unknown name 'MM'"));
  EXPECT_EQ(size.place, (Place{"k.cu", 1, 16}));
  EXPECT_THAT(refused("// @launch k<<<A, 1>>>(A)\n").message, HasSubstr("is a buffer"));
  EXPECT_THAT(refused("// @launch k<<<1, 1>>>(A, eps * 2)\n").message, HasSubstr("floating-point"));
}

TEST(LaunchPlan, impossible_sizes_name_the_expression) {
  const Error zero = refused("// @launch k<<<dim3(1, M / 1000), 32>>>(A)\n");
  EXPECT_THAT(zero.message, HasSubstr("grid size y is 0 ('M / 1000'), it must be at least 1"));
  EXPECT_EQ(zero.place, (Place{"k.cu", 1, 24}));
  EXPECT_THAT(refused("// @launch k<<<1, 0 - 1>>>(A)\n").message, HasSubstr("block size x is -1"));
  EXPECT_THAT(refused("// @launch k<<<1 << 40, 32>>>(A)\n").message, HasSubstr("at most"));
  EXPECT_THAT(refused("// @launch k<<<1, 32, -4>>>(A)\n").message, HasSubstr("-4 bytes"));
  EXPECT_THAT(refused("// @launch k<<<M / 0, 32>>>(A)\n").message, HasSubstr("division by zero"));
  EXPECT_THAT(refused("// @scratch s float [M - 200]\n// @launch k<<<1, 1>>>(s)\n").message,
              HasSubstr("negative"));
  EXPECT_THAT(
      refused("// @scratch s float [1 << 40, 1 << 40]\n// @launch k<<<1, 1>>>(s)\n").message,
      HasSubstr("absurdly large"));
}

TEST(LaunchPlan, what_only_a_gpu_can_judge_passes) {
  const auto result = plan("// @launch k<<<2000000000, 1000000, 1000000>>>(A)\n");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->launches[0].block[0], 1000000);
}

TEST(LaunchPlan, constraints_on_dimensions_are_checked_here) {
  EXPECT_TRUE(plan("// @tune BK 11\n// @where K % BK == 0\n// @launch k<<<1, 1>>>(A)\n"));
  EXPECT_THAT(refused("// @tune BK 16\n// @where K % BK == 0\n// @launch k<<<1, 1>>>(A)\n").message,
              HasSubstr("'@where K % BK == 0' does not hold"));
  EXPECT_THAT(
      refused("// @tune BK 16\n// @where KK % BK == 0\n// @launch k<<<1, 1>>>(A)\n").message,
      HasSubstr("unknown name 'KK'"));
}

TEST(LaunchPlan, a_wrong_default_launch_names_the_task_file) {
  const Error error = refused("", "kernel<<<1>>>(A)");
  EXPECT_EQ(error.place->file, "task.yaml");
  EXPECT_EQ(error.place->line, 9);
}

} // namespace
} // namespace kernevo
