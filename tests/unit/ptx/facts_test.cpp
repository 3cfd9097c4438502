#include "kernevo/ptx/facts.h"

#include "ptx_test_support.h"

#include <gtest/gtest.h>

namespace kernevo::ptx {
namespace {

PtxFacts facts(const std::string& instructions, const std::string& target = "sm_90a") {
  const auto found = facts_of(in_kernel(instructions, target));
  EXPECT_TRUE(found.has_value()) << error_of(in_kernel(instructions, target));
  return found.value_or(PtxFacts{});
}

bool may_meet(const std::string& instructions) {
  return blocks_may_meet(facts(instructions));
}

TEST(FactsTest, NothingIsShownByNothing) {
  EXPECT_EQ(facts(""), PtxFacts{});
  EXPECT_FALSE(may_meet("ld.global.f32 %f1, [%d1]; st.global.f32 [%d2], %f1;"));
}

TEST(FactsTest, AtomicsInEveryForm) {
  for (const char* instruction : {
           "atom.global.add.u32 %r1, [%d1], 1;",
           "@%p1 atom.global.add.u32 %r1, [%d1], 1;",
           "@!%p1 red.global.add.f32 [%d1], %f1;",
           "red.relaxed.gpu.global.add.u32 [%d1], 1;",
           "{ atom.add.u32 %r1, [%d1], 1; }",
           "red.global.add.v2.f32 [%d1], {%f1, %f2};",
           "atom.global.v4.f32.add {%f1,%f2,%f3,%f4}, [%d1], {%f5,%f6,%f7,%f8};",
           "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%d1], [%r1], 16;",
       }) {
    const PtxFacts found = facts(instruction);
    EXPECT_TRUE(found.atomics) << instruction;
    EXPECT_TRUE(found.atomics_beyond_block) << instruction;
    EXPECT_TRUE(blocks_may_meet(found)) << instruction;
  }
}

TEST(FactsTest, AtomicsOfTheBlockAreTold) {
  const PtxFacts shared = facts("atom.shared.add.u32 %r1, [%r2], 1;");
  EXPECT_TRUE(shared.atomics);
  EXPECT_FALSE(shared.atomics_beyond_block);
  EXPECT_TRUE(facts("atom.shared::cluster.add.u32 %r1, [%r2], 1;").atomics_beyond_block);
}

TEST(FactsTest, CommentsAndNamesShowNothing) {
  EXPECT_EQ(facts("// \tatom.global.add.u32 %r1, [%d1], 1;\n"
                  "/* red.global.add.f32 [%d1], %f1; cp.async.wait_all; ld.shared.f32 */"),
            PtxFacts{});
  EXPECT_EQ(facts(".reg .b32 atom_shared; mov.u32 atom_shared, 1; bra mma_sync; mma_sync:"),
            PtxFacts{});
}

TEST(FactsTest, StringsShowNothing) {
  const auto found = facts_of(".version 9.0\n.target sm_90a\n.address_size 64\n"
                              ".file 1 \"a\tatom.shared.cu\"\n"
                              ".visible .entry wmma_shared_k()\n{ ret; }\n");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(*found, PtxFacts{});
}

TEST(FactsTest, BlocksMeetWithoutAtomics) {
  EXPECT_TRUE(may_meet("ld.volatile.global.u32 %r1, [%d1];"));
  EXPECT_TRUE(may_meet("ld.acquire.gpu.u32 %r1, [%d1];"));
  EXPECT_TRUE(may_meet("membar.gl;"));
  EXPECT_TRUE(may_meet("fence.acq_rel.sys;"));
  EXPECT_TRUE(may_meet("barrier.cluster.arrive; barrier.cluster.wait;"));
  EXPECT_TRUE(may_meet("mov.u32 %r1, %envreg2;"));
  EXPECT_FALSE(may_meet("ld.volatile.shared.u32 %r1, [%r2]; membar.cta; bar.sync 0;"));
}

TEST(FactsTest, WhatIsNotUnderstoodIsUnknown) {
  EXPECT_EQ(facts_of(""), std::nullopt);
  EXPECT_EQ(facts_of(in_kernel("frobnicate.u32 %r1, %r2;")), std::nullopt);
  EXPECT_TRUE(blocks_may_meet(facts_of("no PTX")));
}

TEST(FactsTest, SharedMemory) {
  EXPECT_TRUE(facts("ld.shared.f32 %f1, [%r1];").shared_memory);
  EXPECT_TRUE(facts("@%p1 st.shared::cta.f32 [%r1], %f1;").shared_memory);
  EXPECT_TRUE(facts(".shared .align 4 .b8 tile[64];").shared_memory);
  EXPECT_TRUE(facts("cvta.to.shared.u64 %d1, %d2;").shared_memory);
  EXPECT_FALSE(facts("isspacep.shared %p1, %d1;").shared_memory);
  const auto dynamic = facts_of(".version 9.0\n.target sm_80\n.address_size 64\n"
                                ".extern .shared .align 16 .b8 all[];\n"
                                ".visible .entry k()\n{ ret; }\n");
  ASSERT_TRUE(dynamic.has_value());
  EXPECT_TRUE(dynamic->shared_memory);
}

TEST(FactsTest, AsyncCopiesAndTheirWidth) {
  const PtxFacts copy = facts("cp.async.cg.shared.global [%r1], [%d1], 16;");
  EXPECT_TRUE(copy.async_copies);
  EXPECT_TRUE(copy.shared_memory);
  EXPECT_EQ(copy.global_access_bytes, 16);
  EXPECT_EQ(facts("cp.async.ca.shared.global [%r1], [%d1], 8, %r2;").global_access_bytes, 8);
  EXPECT_TRUE(facts("cp.async.wait_group 0;").async_copies);
}

TEST(FactsTest, WidestGlobalAccess) {
  EXPECT_EQ(facts("ld.global.nc.v4.f32 {%f1,%f2,%f3,%f4}, [%d1];").global_access_bytes, 16);
  EXPECT_EQ(facts("@%p1 st.global.v2.f32 [%d1], {%f1,%f2};").global_access_bytes, 8);
  EXPECT_EQ(facts("ld.volatile.global.u16 %h1, [%d1];").global_access_bytes, 2);
  EXPECT_EQ(facts("ld.shared.v4.f32 {%f1,%f2,%f3,%f4}, [%r1]; ld.global.f32 %f5, [%d1];")
                .global_access_bytes,
            4);
}

TEST(FactsTest, TensorCores) {
  EXPECT_TRUE(facts("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1,%f2,%f3,%f4}, "
                    "{%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4};")
                  .tensor_cores);
  EXPECT_FALSE(facts("fma.rn.f32 %f1, %f2, %f3, %f4;").tensor_cores);
}

TEST(FactsTest, LoopsGoBackInTheText) {
  EXPECT_TRUE(facts("AGAIN: add.u32 %r1, %r1, 1; @%p1 bra AGAIN;").loops);
  EXPECT_FALSE(facts("@%p1 bra DONE; add.u32 %r1, %r1, 1;").loops);
  EXPECT_TRUE(facts("AGAIN: add.u32 %r1, %r1, 1;\n"
                    "TABLE: .branchtargets DONE, AGAIN; brx.idx %r1, TABLE;")
                  .loops);
}

std::string calling(const std::string& name) {
  return ".version 9.0\n.target sm_80\n.address_size 64\n"
         ".extern .func " +
         name + " ();\n.visible .entry k()\n{ call " + name + "; ret; }\n";
}

TEST(FactsTest, Calls) {
  EXPECT_TRUE(facts("call callee;").calls);
  EXPECT_FALSE(facts("call callee;").outside_functions);
  const auto prints = facts_of(calling("vprintf"));
  ASSERT_TRUE(prints.has_value());
  EXPECT_TRUE(prints->prints);
  EXPECT_FALSE(blocks_may_meet(prints));
  const auto asserts = facts_of(calling("__assertfail"));
  ASSERT_TRUE(asserts.has_value());
  EXPECT_TRUE(asserts->asserts);
  const auto launches = facts_of(calling("cudaLaunchDeviceV2"));
  ASSERT_TRUE(launches.has_value());
  EXPECT_TRUE(launches->outside_functions);
  EXPECT_TRUE(blocks_may_meet(launches));
}

TEST(FactsTest, BarriersAndTextures) {
  EXPECT_TRUE(facts("bar.sync 0;").block_barriers);
  EXPECT_FALSE(facts("bar.warp.sync 0xffffffff;").block_barriers);
  EXPECT_TRUE(facts("tex.1d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%d1, {%r1}];").textures);
}

} // namespace
} // namespace kernevo::ptx
