// A fixed range of random programs for every build; kernevo_differential goes on from there.
#include "compare.h"
#include "kernevo/vgpu/execute/machine.h"
#include "kernevo/vgpu/tier/plugin.h"

#include <cstdint>
#include <cstdio>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>

namespace kernevo::test {
namespace {

constexpr std::uint64_t kSeedsEach = 25;

class RandomPrograms : public testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomPrograms, AreTheSameOnBothTiers) {
  const auto compiler = vgpu::load_compiler();
  ASSERT_TRUE(compiler) << format_error(compiler.error());
  std::uint64_t compiled = 0;
  fmt::print("seeds {} to {}\n", GetParam(), GetParam() + kSeedsEach - 1);
  for (std::uint64_t seed = GetParam(); seed < GetParam() + kSeedsEach; ++seed) {
    const RandomProgram program = random_program(seed);
    const Comparison result = compare_tiers(program, program.text());
    ASSERT_FALSE(result.refused) << "seed " << seed << ": " << *result.refused;
    ASSERT_FALSE(result.difference) << "seed " << seed << ": " << *result.difference << "\nsee "
                                    << report_difference(program, testing::TempDir());
    compiled += result.compiled_instructions;
  }
  EXPECT_GT(compiled, 0U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPrograms, testing::Range<std::uint64_t>(1, 301, kSeedsEach),
                         testing::PrintToStringParamName());

TEST(RandomProgram, IsTheSameForTheSameSeed) {
  EXPECT_EQ(random_program(7).text(), random_program(7).text());
  EXPECT_NE(random_program(7).text(), random_program(8).text());
}

// Compiles an addition as a subtraction.
class WrongCompiler : public vgpu::Compiler {
public:
  WrongCompiler(vgpu::Compiler& compiler, std::string from, std::string to)
      : compiler_(compiler), from_(std::move(from)), to_(std::move(to)) {}

  void set_text(std::string text) { text_ = std::move(text); }

  Result<std::unique_ptr<vgpu::CompiledFunction>> compile(const vgpu::CompileJob& job,
                                                          vgpu::CompileReport* report) override {
    std::string wrong = text_;
    if (const auto at = wrong.find(from_); at != std::string::npos)
      wrong.replace(at, from_.size(), to_);
    vgpu::CompileJob changed = job;
    KERNEVO_TRY(program, vgpu::load_program(wrong, "wrong.ptx"));
    changed.program = program;
    return compiler_.compile(changed, report);
  }

private:
  vgpu::Compiler& compiler_;
  std::string from_;
  std::string to_;
  std::string text_;
};

TEST(Comparison, SeesOneWrongInstruction) {
  const auto plugin = vgpu::load_compiler();
  ASSERT_TRUE(plugin) << format_error(plugin.error());
  RandomProgram program = random_program(1);
  program.kernel.first.clear();
  Piece add;
  add.head = {"add.u32 %r0, %r0, 5;"};
  program.kernel.first.push_back(add);
  WrongCompiler compiler(**plugin, "add.u32 %r0, %r0, 5;", "sub.u32 %r0, %r0, 5;");
  compiler.set_text(program.text());
  EXPECT_FALSE(compare_tiers(program, program.text()).difference);
  vgpu::set_compiler(&compiler);
  const Comparison result = compare_tiers(program, program.text());
  vgpu::set_compiler(nullptr);
  ASSERT_TRUE(result.difference);
  EXPECT_NE(result.difference->find("'out'"), std::string::npos) << *result.difference;
}

// A constant that the code generator finds out late: LLVM 19 made it anything, with AVX-512.
TEST(Comparison, HighHalfOfAProductWithOne) {
  for (std::uint64_t seed = 3; seed < 5; ++seed) { // thorough and quick code
    RandomProgram program = random_program(seed);
    program.kernel.first.clear();
    Piece multiply;
    multiply.head = {"mul.hi.u32 %r0, %tid_, 1;", "mul.hi.s32 %r1, %r5, 1;",
                     "mad.hi.u32 %r2, %r6, 1, %r3;", "mul24.hi.u32 %r4, %r7, 1;"};
    program.kernel.first.push_back(multiply);
    const Comparison result = compare_tiers(program, program.text());
    EXPECT_FALSE(result.refused) << *result.refused;
    EXPECT_FALSE(result.difference) << *result.difference;
  }
}

// Warps that read the clock between barriers, where they hand over to each other.
TEST(Comparison, TheClockAcrossBarriers) {
  for (const std::uint64_t seed : {95001570U, 95001693U, 95002557U}) {
    const RandomProgram program = random_program(seed);
    const Comparison result = compare_tiers(program, program.text());
    EXPECT_FALSE(result.refused) << *result.refused;
    EXPECT_FALSE(result.difference) << *result.difference;
  }
}

// Three parts of a warp in calls of one function, each of which once waited for another.
TEST(Comparison, PartsOfAWarpInSiblingCalls) {
  const RandomProgram program = random_program(99006618);
  const Comparison result = compare_tiers(program, program.text());
  EXPECT_FALSE(result.refused) << *result.refused;
  EXPECT_FALSE(result.difference) << *result.difference;
}

} // namespace
} // namespace kernevo::test
