#include "kernevo/explain/apply_counters.h"
#include "kernevo/explain/counter_map.h"

#include <gtest/gtest.h>

namespace kernevo {
namespace {

struct ApplyCounters : testing::Test {
  CounterMap map = CounterMap::load().value();
  CounterReadings readings{
      "k",
      {{"gpu__time_duration.sum", 2000},
       {"smsp__issue_active.avg.pct_of_peak_sustained_elapsed", 10},
       {"smsp__issue_inst0.avg.pct_of_peak_sustained_active", 80},
       {"l1tex__t_sectors.avg.pct_of_peak_sustained_elapsed", 20},
       {"l1tex__m_xbar2l1tex_read_sectors.avg.pct_of_peak_sustained_elapsed", 30},
       {"lts__throughput.avg.pct_of_peak_sustained_elapsed", 40},
       {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 104},
       {"smsp__thread_inst_executed.sum", 160},
       {"smsp__inst_executed.sum", 10},
       {"dram__bytes.sum", 4000}}};
  Metrics m;
  RooflinePoint roofline;
  PlannedWork planned;

  ApplyCounters() {
    for (const char* share :
         {"issue", "fma", "alu", "xu", "fp64", "tensor", "lsu", "shared", "l1", "l2", "dram",
          "atomics", "latency", "compute", "memory", "multiprocessor", "busiest", "launch"})
      m.set(std::string("share.") + share, 0.05);
    m.set("share.fma", 0.6);
    m.set("time", 1000);
    m.set("lanes_active", 1);
    m.set("lanes_in_block", 0.75);
    m.set("divergence", 0);
    m.set("flops", 8000);
    m.set("flop_rate", 1);
    m.set("intensity", 1);
    m.set("dram_bytes", 1);
    m.set("excess_sector_fraction", 0.25);
    m.set("blocks", 7);
    m.set("plan_share", 1);
    m.set("roofline_fraction", 0.5);
    roofline.operations = 8000;
    planned.least = Nanoseconds{1000};
  }

  void apply(std::optional<Nanoseconds> plan_time = std::nullopt) {
    apply_counters({map, readings, "cuda:0", plan_time, "cuda:0"}, planned, m, roofline);
  }
};

using Sources = std::set<std::string>;

TEST_F(ApplyCounters, take_the_place_of_what_was_modelled) {
  apply();
  EXPECT_DOUBLE_EQ(*m.find("time"), 2000);
  EXPECT_DOUBLE_EQ(*m.find("share.l1"), 0.3);
  EXPECT_DOUBLE_EQ(*m.find("share.dram"), 1) << "a share is no more than all";
  EXPECT_DOUBLE_EQ(*m.find("share.memory"), 1);
  EXPECT_DOUBLE_EQ(*m.find("lanes_active"), 0.5);
  EXPECT_DOUBLE_EQ(*m.find("divergence"), 1 - 0.5 / 0.75);
  EXPECT_DOUBLE_EQ(*m.find("dram_bytes"), 4000);
  EXPECT_EQ(m.sources("share.l1"), Sources{"cuda:0"});
  EXPECT_EQ(m.sources("divergence"), Sources{"cuda:0"});
}

TEST_F(ApplyCounters, what_they_do_not_say_stays_and_says_so) {
  apply();
  EXPECT_DOUBLE_EQ(*m.find("share.fma"), 0.6);
  EXPECT_EQ(m.sources("share.fma"), Sources{"virtual GPU"});
  EXPECT_EQ(m.sources("excess_sector_fraction"), Sources{"virtual GPU"});
  EXPECT_EQ(m.sources("share.launch"), Sources{"virtual GPU"});
  EXPECT_EQ(m.sources("blocks"), Sources()) << "known of the launch before it runs";
  EXPECT_FALSE(m.find("share.tail")) << "neither has it";
}

TEST_F(ApplyCounters, what_follows_from_both_names_both) {
  apply();
  EXPECT_DOUBLE_EQ(*m.find("share.compute"), 0.6);
  EXPECT_EQ(m.sources("share.compute"), (Sources{"cuda:0", "virtual GPU"}));
  EXPECT_DOUBLE_EQ(*m.find("flop_rate"), 8000 / 2000e-9);
  EXPECT_EQ(source_text(m.sources("flop_rate")), "cuda:0 and virtual GPU");
  EXPECT_DOUBLE_EQ(*m.find("intensity"), 2);
  EXPECT_EQ(m.fact("busiest_unit"), "the FP32 pipe");
  EXPECT_DOUBLE_EQ(roofline.rate, 8000 / 2000e-9);
  EXPECT_DOUBLE_EQ(roofline.dram_bytes, 4000);
}

TEST_F(ApplyCounters, the_time_of_all_launches_is_used_where_it_is_known) {
  apply(Nanoseconds{4000});
  EXPECT_DOUBLE_EQ(*m.find("plan_share"), 0.5);
  EXPECT_DOUBLE_EQ(*m.find("roofline_fraction"), 0.25);
  EXPECT_EQ(m.sources("roofline_fraction"), Sources{"cuda:0"});
}

TEST_F(ApplyCounters, without_any_nobody_else_was_asked) {
  EXPECT_FALSE(m.have_sources());
  EXPECT_EQ(m.sources("time"), Sources());
}

} // namespace
} // namespace kernevo
