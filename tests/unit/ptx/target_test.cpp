// Versions and architectures: what a module may use, and where it may run.
#include "kernevo/ptx/target.h"

#include "kernevo/ptx/parse.h"
#include "ptx_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo::ptx {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(TargetTest, NamesAreRead) {
  const auto plain = parse_target("sm_80");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->sm, 80);
  EXPECT_EQ(plain->suffix, 0);
  const auto specific = parse_target("sm_103a");
  ASSERT_TRUE(specific);
  EXPECT_EQ(specific->sm, 103);
  EXPECT_EQ(specific->suffix, 'a');
  for (const char* bad : {"sm_", "sm_a", "sm_90b", "sm_90aa", "sm_1000", "compute_90", "sm_9", ""})
    EXPECT_FALSE(parse_target(bad)) << bad;
}

TEST(TargetTest, VersionNewerThanKnown) {
  const auto parsed = parse(".version 9.9\n.target sm_80\n.address_size 64\n", "k.ptx");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code, ErrorCode::unsupported);
  EXPECT_EQ(format_error(parsed.error()),
            "k.ptx:1:10: PTX 9.9 is newer than any this version knows, the newest is 9.4; compile "
            "with an older toolkit");
  EXPECT_EQ(error_of(".version 9.4\n.target sm_80\n.address_size 64\n"), "");
}

TEST(TargetTest, TargetNewerThanItsVersion) {
  EXPECT_EQ(error_of(".version 7.0\n.target sm_90\n"),
            "<ptx>:2:9: target 'sm_90' needs PTX 7.8 or newer, but .version is 7.0");
  EXPECT_EQ(error_of(".version 8.6\n.target sm_100f\n"),
            "<ptx>:2:9: target 'sm_100f' needs PTX 8.8 or newer, but .version is 8.6");
}

struct Use {
  const char* text;
  const char* target;
  const char* needs; // "" = allowed
};

class Architecture : public testing::TestWithParam<Use> {};

TEST_P(Architecture, IsAskedFor) {
  const std::string error = error_of(in_kernel(GetParam().text, GetParam().target, "9.2"));
  if (*GetParam().needs == 0) {
    EXPECT_EQ(error, "");
    return;
  }
  EXPECT_THAT(error, StartsWith("<ptx>:10:"));
  EXPECT_THAT(error, HasSubstr(std::string("needs .target ") + GetParam().needs));
  EXPECT_THAT(error, HasSubstr(std::string("but .target is ") + GetParam().target));
}

// As ptxas 13.2 accepts and refuses them.
INSTANTIATE_TEST_SUITE_P(
    Targets, Architecture,
    testing::Values(
        Use{"wgmma.fence.sync.aligned;", "sm_90", "sm_90a (H100"},
        Use{"wgmma.fence.sync.aligned;", "sm_90a", ""},
        Use{"wgmma.fence.sync.aligned;", "sm_100a", "sm_90a (H100"},
        Use{"setmaxnreg.inc.sync.aligned.u32 64;", "sm_90",
            "sm_90a, sm_100f, sm_110f or sm_120f ("},
        Use{"setmaxnreg.inc.sync.aligned.u32 64;", "sm_120a", ""},
        Use{"setmaxnreg.inc.sync.aligned.u32 64;", "sm_103a", ""},
        Use{"setmaxnreg.inc.sync.aligned.u32 64;", "sm_120", "sm_90a"},
        Use{"redux.sync.min.f32 %f1, %f2, -1;", "sm_100a", ""},
        Use{"redux.sync.min.f32 %f1, %f2, -1;", "sm_103f", ""},
        Use{"redux.sync.min.f32 %f1, %f2, -1;", "sm_120a", "sm_100f (B200"},
        Use{"elect.sync %r1|%p1, -1;", "sm_80", "sm_90 or newer (H100"},
        Use{"elect.sync %r1|%p1, -1;", "sm_120", ""},
        Use{"mapa.u64 %d1, %d2, 1;", "sm_89", "sm_90 or newer"},
        Use{"mov.u32 %r1, %cluster_ctarank;", "sm_80", "sm_90 or newer"},
        Use{"mov.pred %p1, %is_explicit_cluster;", "sm_90", ""},
        Use{"ld.shared::cluster.u32 %r1, [%r2];", "sm_80", "sm_90 or newer"},
        Use{"ld.shared::cta.u32 %r1, [%r2];", "sm_80", ""},
        Use{"fence.sc.cluster;", "sm_80", "sm_90 or newer"},
        Use{"mbarrier.arrive.shared.b64 %d1, [%r1];", "sm_80", ""},
        Use{"mbarrier.arrive.relaxed.cta.shared.b64 %d1, [%r1];", "sm_80", "sm_90 or newer"},
        Use{"mbarrier.arrive.noComplete.shared.b64 %d1, [%r1], 2;", "sm_80", ""},
        Use{"st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r2, [%r3];", "sm_86",
            "sm_90 or newer"},
        Use{"add.f32x2 %d1, %d2, %d3;", "sm_90a", "sm_100 or newer (B200"},
        Use{"add.bf16 %h1, %h2, %h3;", "sm_80", "sm_90 or newer"}));

TEST(TargetTest, InstructionsLeftOutNameTheirGpus) {
  EXPECT_THAT(error_of(in_kernel("tcgen05.wait::ld.sync.aligned;", "sm_100a", "9.2")),
              HasSubstr("instruction 'tcgen05.wait::ld.sync.aligned' is not supported here: "
                        "fifth-generation tensor-core instructions, a feature of sm_100f or "
                        "sm_110f (B200)"));
}

TEST(TargetTest, WhereModulesRun) {
  Gpu gpu;
  gpu.name = "Some GPU";
  auto runs = [&](const char* target, int capability) {
    gpu.compute_capability = capability;
    return !why_not_on(*parse_target(target), gpu);
  };
  EXPECT_TRUE(runs("sm_80", 80));
  EXPECT_TRUE(runs("sm_80", 90));
  EXPECT_FALSE(runs("sm_90", 80));
  EXPECT_TRUE(runs("sm_90a", 90));
  EXPECT_FALSE(runs("sm_90a", 100));
  EXPECT_FALSE(runs("sm_90a", 89));
  EXPECT_TRUE(runs("sm_100f", 103));
  EXPECT_FALSE(runs("sm_103f", 100));
  EXPECT_FALSE(runs("sm_100f", 120));
  EXPECT_FALSE(runs("sm_100a", 103));
  gpu.compute_capability = 80;
  EXPECT_THAT(*why_not_on(*parse_target("sm_90a"), gpu),
              StartsWith("the module is for .target sm_90a, the Some GPU is sm_80; "
                         "architecture-specific code runs only on sm_90 (H100"));
}

// CUDA 13 has no sm_70: what it compiles for a V100 is sm_75's.
TEST(Target, AVoltaTakesTheOldestThatIsCompiled) {
  Gpu volta;
  volta.name = "V100";
  volta.compute_capability = 70;
  Target turing;
  turing.sm = 75;
  Target ampere;
  ampere.sm = 80;
  EXPECT_EQ(why_not_on(turing, volta), std::nullopt);
  EXPECT_NE(why_not_on(ampere, volta), std::nullopt);
}

} // namespace
} // namespace kernevo::ptx
