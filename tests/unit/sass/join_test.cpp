#include "kernevo/sass/join.h"

#include "kernevo/base/files.h"
#include "kernevo/sass/disassemble.h"
#include "kernevo/sass/parse_listing.h"
#include "toolchain_test.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

namespace kernevo::sass {
namespace {

std::string fixture(const std::string& name) {
  const auto text = read_text_file(test_folder("unit/sass") + "/fixtures/" + name);
  EXPECT_TRUE(text) << name;
  return text.value_or("");
}

// Counts of line ranges: every line of [first, last] ran for `threads` threads in full warps.
struct Lines {
  std::vector<ExecutionCounts> counts = std::vector<ExecutionCounts>(400);
  void set(int first, int last, double threads, double warps) {
    for (int line = first; line <= last; ++line)
      counts[static_cast<std::size_t>(line)] = {warps, threads, threads};
  }
  void taken(int line, double threads) {
    counts[static_cast<std::size_t>(line)].threads_on = threads;
  }
};

// What scale_sum does: `threads` threads, each with n trips.
Lines scale_sum(double threads, double n) {
  const double warps = threads / 32;
  Lines lines;
  lines.set(16, 27, threads, warps);
  lines.taken(27, n < 1 ? threads : 0);
  lines.set(29, 34, threads * n, warps * n);
  lines.taken(34, n < 1 ? 0 : threads * (n - 1));
  lines.set(36, 38, threads, warps);
  return lines;
}

// threads of every instruction at an offset
std::map<std::uint32_t, ExecutionCounts> by_offset(const SassFunction& function, const Join& join) {
  std::map<std::uint32_t, ExecutionCounts> counts;
  for (std::size_t k = 0; k < function.instructions.size(); ++k)
    counts[function.instructions[k].offset] = join.instructions[k];
  return counts;
}

TEST(Join, UnrolledLoopSharesItsTripsWithTheRemainders) {
  const auto module = parse_listing(fixture("scale_sum.sm_80.sass"));
  ASSERT_TRUE(module);
  const SassFunction& function = module->functions.front();
  const Flow flow = find_flow(function);
  const PtxLines ptx = read_ptx_lines(fixture("scale_sum.ptx"));
  for (const int n : {0, 1, 2, 3, 4, 5, 7, 8, 1000, 1003}) {
    SCOPED_TRACE(n);
    const Join result = join(function, flow, ptx, scale_sum(64, n).counts);
    const auto counts = by_offset(function, result);
    EXPECT_DOUBLE_EQ(counts.at(0x140).threads, 64.0 * (n / 4)) << "body of four";
    EXPECT_DOUBLE_EQ(counts.at(0x260).threads, 64.0 * (n % 4 / 2)) << "body of two";
    EXPECT_DOUBLE_EQ(counts.at(0x320).threads, 64.0 * (n % 2)) << "single";
    EXPECT_DOUBLE_EQ(counts.at(0x350).threads, 64) << "store";
    EXPECT_DOUBLE_EQ(counts.at(0x350).warps, 2);
    EXPECT_DOUBLE_EQ(counts.at(0x140).warps, 2.0 * (n / 4));
    EXPECT_DOUBLE_EQ(counts.at(0x370).threads, 0) << "padding";
    EXPECT_DOUBLE_EQ(counts.at(0x070).threads_on, n == 0 ? 64 : 0)
        << "taken lanes of the first branch";
  }
}

class JoinWithTools : public testing::Test {
protected:
  void SetUp() override {
    if (auto found = needed_toolchain({&Toolchain::nvdisasm, &Toolchain::ptxas}))
      toolchain_ = *found;
  }

  SassFunction assemble(const std::string& ptx, const char* architecture) {
    const auto module = disassemble(toolchain_, ptx, {architecture, {}, std::nullopt});
    EXPECT_TRUE(module) << format_error(module.error());
    return module ? module->functions.front() : SassFunction{};
  }

  Toolchain toolchain_;
};

constexpr const char* kArchitectures[] = {"sm_75", "sm_80",  "sm_86", "sm_89",
                                          "sm_90", "sm_100", "sm_120"};

// One copy per line: what the PTX says is what the machine does.
TEST_F(JoinWithTools, LoopThatStaysALoopIsExact) {
  std::string ptx = fixture("scale_sum.ptx");
  ptx.replace(ptx.find("LOOP:"), 5, "LOOP: ");
  const std::size_t at = ptx.find("\tld.global.f32");
  ptx.insert(at, "\t.pragma \"nounroll\";\n");
  for (const char* architecture : kArchitectures) {
    SCOPED_TRACE(architecture);
    const SassFunction function = assemble(ptx, architecture);
    const Flow flow = find_flow(function);
    Lines lines;
    lines.set(16, 27, 96, 3);
    lines.taken(27, 32);
    lines.set(30, 35, 7000, 220); // 64 threads enter; trips differ
    lines.taken(35, 6936);
    lines.set(37, 39, 96, 3);
    const Join result = join(function, flow, read_ptx_lines(ptx), lines.counts);
    EXPECT_LT(result.residual, 1e-6);
    for (std::size_t k = 0; k < function.instructions.size(); ++k) {
      const std::string& opcode = function.instructions[k].opcode;
      if (opcode == "LDG" || opcode == "FFMA") {
        EXPECT_DOUBLE_EQ(result.instructions[k].threads, 7000);
        EXPECT_DOUBLE_EQ(result.instructions[k].warps, 220);
      } else if (opcode == "STG") {
        EXPECT_DOUBLE_EQ(result.instructions[k].threads, 96);
        EXPECT_DOUBLE_EQ(result.instructions[k].warps, 3);
      }
    }
  }
}

TEST_F(JoinWithTools, UnrolledLoopLosesNoTripOnAnyArchitecture) {
  const std::string ptx = fixture("scale_sum.ptx");
  for (const char* architecture : kArchitectures) {
    const SassFunction function = assemble(ptx, architecture);
    for (const int n : {1, 6, 101}) {
      SCOPED_TRACE(fmt::format("{} {}", architecture, n));
      const Join result =
          join(function, find_flow(function), read_ptx_lines(ptx), scale_sum(128, n).counts);
      double loads = 0;
      for (std::size_t k = 0; k < function.instructions.size(); ++k)
        if (function.instructions[k].opcode == "LDG")
          loads += result.instructions[k].threads;
      EXPECT_NEAR(loads, 128.0 * n, 1e-6 * 128 * n);
    }
  }
}

// if (x > 0) y = x; with a store: ptxas guards the store instead of branching.
constexpr const char* kConditional = R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry conditional(.param .u64 x, .param .u64 y)
{
	.reg .pred %p<2>;
	.reg .f32 %f<4>;
	.reg .b32 %r<2>;
	.reg .b64 %rd<8>;
	ld.param.u64 %rd1, [x];
	ld.param.u64 %rd2, [y];
	cvta.to.global.u64 %rd3, %rd1;
	cvta.to.global.u64 %rd4, %rd2;
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd5, %r1, 4;
	add.s64 %rd6, %rd3, %rd5;
	ld.global.f32 %f1, [%rd6];
	setp.gt.f32 %p1, %f1, 0f00000000;
	@!%p1 bra DONE;
	add.s64 %rd7, %rd4, %rd5;
	mul.f32 %f2, %f1, %f1;
	st.global.f32 [%rd7], %f2;
DONE:
	ret;
}
)";

TEST_F(JoinWithTools, BranchTurnedIntoAGuardKeepsItsLanes) {
  for (const char* architecture : kArchitectures) {
    SCOPED_TRACE(architecture);
    const SassFunction function = assemble(kConditional, architecture);
    Lines lines;
    lines.set(10, 19, 256, 8);
    lines.taken(19, 156); // 100 lanes in 7 warps go on to the store
    lines.set(20, 22, 100, 7);
    lines.set(24, 24, 256, 8);
    const Join result =
        join(function, find_flow(function), read_ptx_lines(kConditional), lines.counts);
    bool seen = false;
    for (std::size_t k = 0; k < function.instructions.size(); ++k) {
      if (function.instructions[k].opcode != "STG")
        continue;
      seen = true;
      EXPECT_DOUBLE_EQ(result.instructions[k].threads_on, 100);
      // Guarded, every warp issues it; behind a branch or an exit, only those that come there.
      EXPECT_DOUBLE_EQ(result.instructions[k].warps, function.instructions[k].guard ? 8 : 7);
    }
    EXPECT_TRUE(seen);
  }
}

// The kernel calls twice; each call loops.
constexpr const char* kCalls = R"(.version 8.0
.target sm_75
.address_size 64
.func (.param .b32 result) twice(.param .b64 p)
{
	.reg .f32 %f<4>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [p];
	ld.global.f32 %f1, [%rd1];
	ld.global.f32 %f2, [%rd1+64];
	add.f32 %f3, %f1, %f2;
	st.param.f32 [result], %f3;
	ret;
}
.visible .entry calls(.param .u64 x)
{
	.reg .f32 %f<4>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [x];
	cvta.to.global.u64 %rd2, %rd1;
	{
	.param .b64 a;
	st.param.b64 [a], %rd2;
	.param .b32 r;
	call.uni (r), twice, (a);
	ld.param.f32 %f1, [r];
	}
	add.s64 %rd3, %rd2, 256;
	{
	.param .b64 a;
	st.param.b64 [a], %rd3;
	.param .b32 r;
	call.uni (r), twice, (a);
	ld.param.f32 %f2, [r];
	}
	add.f32 %f3, %f1, %f2;
	st.global.f32 [%rd2+512], %f3;
	ret;
}
)";

TEST_F(JoinWithTools, CalledFunctionRunsOncePerCall) {
  for (const char* architecture : kArchitectures) {
    SCOPED_TRACE(architecture);
    const SassFunction function = assemble(kCalls, architecture);
    Lines lines;
    lines.set(8, 13, 128, 4);
    lines.set(19, 39, 64, 2);
    const Join result = join(function, find_flow(function), read_ptx_lines(kCalls), lines.counts);
    EXPECT_LT(result.residual, 1e-6);
    double loads = 0;
    for (std::size_t k = 0; k < function.instructions.size(); ++k) {
      const std::string& opcode = function.instructions[k].opcode;
      if (opcode == "LDG")
        loads += result.instructions[k].threads;
      if (opcode == "STG") {
        EXPECT_DOUBLE_EQ(result.instructions[k].threads, 64);
        EXPECT_DOUBLE_EQ(result.instructions[k].warps, 2);
      }
    }
    EXPECT_DOUBLE_EQ(loads, 256);
  }
}

// Guarded accesses to an array in local memory that nobody came by: there is nothing to choose
// from.
TEST(Join, GuardedLocalAccessThatNeverRanIsNoTrouble) {
  const auto instruction = [](std::uint32_t offset, const char* opcode, bool access) {
    SassInstruction i;
    i.offset = offset;
    i.opcode = opcode;
    if (access) {
      i.guard = Guard{RegisterFile::predicate, 0, false};
      i.memory = MemoryAccess{MemorySpace::local, 4, false, true, false};
      i.ptx_line = 5;
    }
    return i;
  };
  SassFunction function;
  function.instructions = {instruction(0, "STL", true), instruction(16, "EXIT", false)};
  const PtxLines ptx = read_ptx_lines(".version 8.0\n.target sm_80\n.address_size 64\n"
                                      ".visible .entry k() {\n"
                                      "  st.local.u32 [%rd1], %r1;\n  ret;\n}\n");
  const Join result = join(function, find_flow(function), ptx, std::vector<ExecutionCounts>(8));
  EXPECT_DOUBLE_EQ(result.instructions[0].threads_on, 0);
}

// Counts that no execution can have are not hidden.
TEST(Join, ImpossibleCountsShowAsResidual) {
  const auto module = parse_listing(fixture("scale_sum.sm_80.sass"));
  ASSERT_TRUE(module);
  const SassFunction& function = module->functions.front();
  Lines lines = scale_sum(64, 8);
  lines.set(29, 34, 0, 0);
  lines.set(36, 38, 1000, 32); // more threads leave than came
  const Join result =
      join(function, find_flow(function), read_ptx_lines(fixture("scale_sum.ptx")), lines.counts);
  EXPECT_GT(result.residual, 0.02);
  EXPECT_FALSE(result.worst.empty());
}

} // namespace
} // namespace kernevo::sass
