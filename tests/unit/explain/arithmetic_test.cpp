#include "kernevo/explain/arithmetic.h"

#include <gtest/gtest.h>

namespace kernevo {
namespace {

TEST(Arithmetic, counts_what_an_instruction_does) {
  struct Case {
    const char* opcode;
    const char* unit;
    double count;
    bool of_warp;
  };
  for (const Case& c :
       {Case{"fma.rn.f32", "fp32", 2, false}, Case{"add.ftz.f32", "fp32", 1, false},
        Case{"fma.rn.f32x2", "fp32", 4, false}, Case{"mul.f64", "fp64", 1, false},
        Case{"fma.rn.bf16x2", "fp16", 4, false}, Case{"ex2.approx.f32", "fp32", 1, false},
        Case{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "tensor fp16", 4096, true},
        Case{"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "tensor tf32", 2048, true},
        Case{"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", "tensor fp64", 512, true},
        Case{"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", "tensor int8", 8192, true},
        Case{"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", "tensor fp16", 8192, true},
        Case{"wmma.mma.sync.aligned.row.col.m16n16k16.s32.u8.u8.s32", "tensor int8", 8192, true},
        // Four warps do it together.
        Case{"wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16", "tensor fp16", 65536,
             true}}) {
    const Operations one = operations_of(c.opcode);
    EXPECT_EQ(one.unit, c.unit) << c.opcode;
    EXPECT_EQ(one.count, c.count) << c.opcode;
    EXPECT_EQ(one.of_warp, c.of_warp) << c.opcode;
  }
}

TEST(Arithmetic, leaves_out_what_is_no_floating_point_work) {
  for (const char* opcode :
       {"add.s32", "mad.lo.s32", "mul.wide.s32", "setp.lt.f32", "max.f32", "cvt.rn.f16.f32",
        "mov.f32", "ld.global.f32", "bra", "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16",
        "ldmatrix.shared.sync.aligned.m8n8.x4.b16"})
    EXPECT_TRUE(operations_of(opcode).unit.empty()) << opcode;
}

TEST(Arithmetic, scales_to_the_grid) {
  LaunchCounts counts;
  counts.grid = {10, 1, 1};
  counts.blocks = {{0, 1, 0}, {1, 1, 0}};
  InstructionCounts fma;
  fma.opcode = "fma.rn.f32";
  fma.executions = 4;
  fma.threads = 100;
  InstructionCounts mma;
  mma.opcode = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
  mma.executions = 3;
  mma.threads = 96;
  counts.instructions = {fma, mma};
  const Arithmetic work = count_arithmetic(counts);
  EXPECT_DOUBLE_EQ(work.at("fp32"), 100 * 2 * 5);
  EXPECT_DOUBLE_EQ(work.at("tensor fp16"), 3 * 4096 * 5);
}

} // namespace
} // namespace kernevo
