#include "kernevo/model/bottleneck.h"

#include <gtest/gtest.h>

namespace kernevo {
namespace {

Bottleneck sample() {
  Bottleneck b;
  b.kernel = "k";
  b.findings = {
      {BottleneckTag::spills, 0.2, "spills", "why", {{"registers", 255, "register", {}}}, {}},
      {BottleneckTag::dram_bound,
       0.7,
       "memory",
       "why",
       {{"share.dram", 0.7, "fraction", 0.6}},
       {{"fuse_passes", "Fuse."}}}};
  b.trace = {
      {BottleneckTag::dram_bound,
       "share.dram >= busy",
       {{"share.dram >= busy", 0.7, 0.6, true}},
       true},
      {BottleneckTag::spills, "spill_bytes > 0", {{"spill_bytes > 0", 8.0, 0.0, true}}, true},
      {BottleneckTag::l2_bound, "rereads > 2", {{"rereads > 2", std::nullopt, 2.0, false}}, false}};
  return b;
}

TEST(Bottleneck, is_ordered_by_severity) {
  const auto made = make_bottleneck(sample());
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->findings.front().tag, BottleneckTag::dram_bound);
  EXPECT_NE(made->find(BottleneckTag::spills), nullptr);
  EXPECT_EQ(made->find(BottleneckTag::l2_bound), nullptr);
}

TEST(Bottleneck, refuses_findings_that_no_rule_backs) {
  Bottleneck unbacked = sample();
  unbacked.trace[1].fired = false;
  EXPECT_FALSE(make_bottleneck(unbacked));
  Bottleneck dropped = sample();
  dropped.findings.pop_back();
  EXPECT_FALSE(make_bottleneck(dropped));
  Bottleneck twice = sample();
  twice.trace.push_back(twice.trace.front());
  EXPECT_FALSE(make_bottleneck(twice));
}

TEST(Bottleneck, refuses_a_severity_that_is_no_share) {
  for (const double wrong : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    Bottleneck b = sample();
    b.findings[0].severity = wrong;
    EXPECT_FALSE(make_bottleneck(b)) << wrong;
  }
}

TEST(Bottleneck, survives_json) {
  const Bottleneck made = make_bottleneck(sample()).value();
  const auto again = bottleneck_from_json(to_json(made));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, made);
}

TEST(Bottleneck, json_is_strict) {
  const std::string good = to_json(make_bottleneck(sample()).value());
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"\"kernel\"", "\"kernal\""},
           {"\"dram_bound\"", "\"dram\""},
           {"\"holds\":true", "\"holds\":1"},
           {"\"severity\":0.7", "\"severity\":\"0.7\""}}) {
    std::string bad = good;
    ASSERT_NE(bad.find(from), std::string::npos) << from;
    bad.replace(bad.find(from), from.size(), to);
    EXPECT_FALSE(bottleneck_from_json(bad)) << to;
  }
}

TEST(Bottleneck, tags_have_names_of_their_own) {
  for (int i = 0; i < kBottleneckTags; ++i) {
    const auto tag = static_cast<BottleneckTag>(i);
    EXPECT_EQ(bottleneck_tag(name_of(tag)), tag);
  }
  EXPECT_FALSE(bottleneck_tag("fast"));
}

} // namespace
} // namespace kernevo
