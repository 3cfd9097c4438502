#include "analysis_harness.h"

#include <algorithm>
#include <gmock/gmock.h>

namespace kernevo::vgpu {
namespace {

using testing::Analyzed;
using ::testing::ElementsAre;
using testing::kernel;
using ::testing::UnorderedElementsAre;

struct Named {
  std::vector<std::string> reads;
  std::vector<std::string> writes;
  bool partial = false;
};

// Effects of the last instruction.
Named effects(const std::string& body, const std::string& before = "") {
  const Analyzed k(kernel(body, before));
  const analysis::Effects found = analysis::effects_of(k.code->function->instructions.back());
  Named named;
  named.partial = found.partial;
  for (const ptx::RegisterId reg : found.reads)
    named.reads.push_back(k.code->function->registers[reg].name);
  for (const ptx::RegisterId reg : found.writes)
    named.writes.push_back(k.code->function->registers[reg].name);
  return named;
}

TEST(AnalysisEffects, ArithmeticWritesItsFirstOperand) {
  const Named e = effects("mad.lo.u32 %r4, %r5, 7, %r5;");
  EXPECT_THAT(e.writes, ElementsAre("%r4"));
  EXPECT_THAT(e.reads, ElementsAre("%r5"));
  EXPECT_FALSE(e.partial);
}

TEST(AnalysisEffects, AGuardIsReadAndMakesWritesPartial) {
  const Named e = effects("@!%p2 mov.u32 %r4, %r5;");
  EXPECT_THAT(e.writes, ElementsAre("%r4"));
  EXPECT_THAT(e.reads, UnorderedElementsAre("%p2", "%r5"));
  EXPECT_TRUE(e.partial);
}

TEST(AnalysisEffects, LoadsAndStoresReadTheirAddress) {
  const Named load = effects("ld.global.v2.u32 {%r4, _}, [%rd3+8];");
  EXPECT_THAT(load.writes, ElementsAre("%r4"));
  EXPECT_THAT(load.reads, ElementsAre("%rd3"));
  const Named store = effects("st.global.v2.u32 [%rd3+8], {%r4, %r5};");
  EXPECT_TRUE(store.writes.empty());
  EXPECT_THAT(store.reads, UnorderedElementsAre("%rd3", "%r4", "%r5"));
}

TEST(AnalysisEffects, PairsAreTwoResults) {
  EXPECT_THAT(effects("setp.lt.and.u32 %p1|%p2, %r4, %r5, !%p3;").writes,
              ElementsAre("%p1", "%p2"));
  EXPECT_THAT(effects("setp.lt.and.u32 %p1|%p2, %r4, %r5, !%p3;").reads,
              UnorderedElementsAre("%r4", "%r5", "%p3"));
  EXPECT_THAT(effects("shfl.sync.up.b32 %r4|%p1, %r5, 1, 0, -1;").writes,
              ElementsAre("%r4", "%p1"));
}

TEST(AnalysisEffects, MovPacksAndUnpacks) {
  const Named unpack = effects("mov.b64 {%r4, %r5}, %rd3;");
  EXPECT_THAT(unpack.writes, ElementsAre("%r4", "%r5"));
  EXPECT_THAT(unpack.reads, ElementsAre("%rd3"));
  const Named pack = effects("mov.b64 %rd3, {%r4, %r5};");
  EXPECT_THAT(pack.writes, ElementsAre("%rd3"));
  EXPECT_THAT(pack.reads, ElementsAre("%r4", "%r5"));
}

TEST(AnalysisEffects, MatricesReadEveryFragment) {
  const Named e = effects(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f0, %f1, %f2, %f3}, {%r4, %r5, %r6, "
      "%r7}, {%r8, %r9}, {%f0, %f1, %f2, %f3};");
  EXPECT_THAT(e.writes, ElementsAre("%f0", "%f1", "%f2", "%f3"));
  EXPECT_THAT(e.reads, UnorderedElementsAre("%r4", "%r5", "%r6", "%r7", "%r8", "%r9", "%f0", "%f1",
                                            "%f2", "%f3"));
}

TEST(AnalysisEffects, AccumulatorsUpdatedInPlaceAreReadToo) {
  auto loaded = load_program(R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry k() {
  .reg .f32 %f<4>;
  .reg .b64 %rd<2>;
  .reg .pred %p<1>;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd0, %rd1, %p0, 1, 1, 0, 0;
})",
                             "test.ptx");
  ASSERT_TRUE(loaded.has_value()) << format_error(loaded.error());
  const auto found = analysis::effects_of((*loaded)->codes[0].function->instructions[0]);
  EXPECT_EQ(found.writes.size(), 4U);
  EXPECT_EQ(found.reads.size(), 7U);
}

TEST(AnalysisEffects, CallsWriteTheirResults) {
  const Named e =
      effects("call.uni (%r4), f, (%r5);", ".func (.param .b32 o) f(.param .b32 i) {\n ret;\n}\n");
  EXPECT_THAT(e.writes, ElementsAre("%r4"));
  EXPECT_THAT(e.reads, ElementsAre("%r5"));
}

TEST(AnalysisEffects, AtomicsBarriersAndBranches) {
  const Named atom = effects("atom.global.cas.b32 %r4, [%rd3], %r5, %r6;");
  EXPECT_THAT(atom.writes, ElementsAre("%r4"));
  EXPECT_THAT(atom.reads, UnorderedElementsAre("%rd3", "%r5", "%r6"));
  EXPECT_THAT(effects("red.global.add.u32 [%rd3], %r5;").writes, ElementsAre());
  EXPECT_THAT(effects("bar.red.popc.u32 %r4, 0, %p1;").writes, ElementsAre("%r4"));
  EXPECT_THAT(effects("L: bra L;").reads, ElementsAre());
}

} // namespace
} // namespace kernevo::vgpu
