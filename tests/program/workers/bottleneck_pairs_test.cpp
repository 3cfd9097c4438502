// examples/bottlenecks: each rule on the kernel made for it, and on the same kernel with the rule's
// direction applied. Both must be right; the rule must fire on the first and not on the second, and
// the second must be predicted faster.
#include "kernevo/device/open_device.h"
#include "kernevo/evaluate/check.h"
#include "kernevo/evaluate/explain_bench.h"

#include "kernevo/task/load_task.h"
#include "toolchain_test.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <set>

namespace kernevo {
namespace {

// Launches below this part of the plan's time are not what the pair is about.
constexpr double kSmallLaunch = 0.05;

struct Profiled {
  double time = 0;
  std::set<BottleneckTag> tags;
  std::set<std::string> directions; // of the pair's own tag
};

class BottleneckPair : public KernelTestOf<testing::TestWithParam<int>> {
protected:
  void SetUp() override {
    KernelTestOf::SetUp();
    if (IsSkipped())
      return;
    tag_ = static_cast<BottleneckTag>(GetParam());
    folder_ = std::filesystem::path(source_folder()) / "examples" / "bottlenecks" /
              std::string(name_of(tag_));
  }

  void profile(const std::string& file, Profiled& out) {
    const auto task = load_task((folder_ / "task.yaml").string());
    ASSERT_TRUE(task) << format_error(task.error());
    const auto kernel = load_kernel_file((folder_ / file).string());
    ASSERT_TRUE(kernel) << format_error(kernel.error());
    const auto device = open_device(DeviceChoice{}, task->task.target_gpu);
    ASSERT_TRUE(device) << format_error(device.error());
    CheckOptions check;
    check.small_only = true;
    const auto checked = check_kernel(**device, task->task, *kernel, check);
    ASSERT_TRUE(checked) << format_error(checked.error());
    ASSERT_TRUE(checked->verdict.correct) << file << ": " << checked->verdict.summary;
    const auto bench = bench_kernel(**device, task->task, *kernel, {});
    ASSERT_TRUE(bench) << format_error(bench.error());
    ASSERT_FALSE(bench->fault) << file << ": " << bench->summary;
    const auto rules = load_rules();
    ASSERT_TRUE(rules) << format_error(rules.error());
    const auto explained = explain_bench(task->task, *bench, *rules);
    ASSERT_TRUE(explained) << format_error(explained.error());
    out.time = bench->objective->value;
    for (const auto& launches : *explained)
      for (const Explanation& e : launches) {
        if (e.metrics.find("plan_share").value_or(1) < kSmallLaunch)
          continue;
        for (const BottleneckFinding& f : e.bottleneck.findings) {
          out.tags.insert(f.tag);
          if (f.tag == tag_)
            for (const BottleneckDirection& d : f.directions)
              out.directions.insert(d.name);
        }
      }
  }

  // The direction a kernel says it applies: "// more_in_flight, more_warps: ...".
  std::set<std::string> applied() const {
    const std::string source = load_kernel_file((folder_ / "after.cu").string()).value().source;
    std::set<std::string> names;
    std::string name;
    for (const char c : source.substr(0, source.find(':')) + ",") {
      if (c == ',' && !name.empty())
        names.insert(std::exchange(name, ""));
      else if ((c >= 'a' && c <= 'z') || c == '_')
        name += c;
    }
    return names;
  }

  BottleneckTag tag_ = BottleneckTag::dram_bound;
  std::filesystem::path folder_;
};

TEST_P(BottleneckPair, rule_fires_before_and_its_direction_helps) {
  Profiled before;
  Profiled after;
  ASSERT_NO_FATAL_FAILURE(profile("before.cu", before));
  ASSERT_NO_FATAL_FAILURE(profile("after.cu", after));
  const bool good_news = tag_ == BottleneckTag::near_roofline;
  EXPECT_EQ(before.tags.contains(tag_), !good_news);
  EXPECT_EQ(after.tags.contains(tag_), good_news);
  EXPECT_LT(after.time, before.time);
  if (good_news)
    return;
  EXPECT_FALSE(applied().empty());
  for (const std::string& direction : applied())
    EXPECT_TRUE(before.directions.contains(direction)) << direction;
}

INSTANTIATE_TEST_SUITE_P(Examples, BottleneckPair, testing::Range(0, kBottleneckTags),
                         [](const auto& pair) {
                           return std::string(name_of(static_cast<BottleneckTag>(pair.param)));
                         });

} // namespace
} // namespace kernevo
