#include "kernevo/search/tuning_log.h"

#include "fixture.h"
#include "kernevo/base/files.h"
#include "kernevo/search/search.h"
#include "test_folder.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace kernevo::search {
namespace {

class TuningLogTest : public testing::Test {
protected:
  const TestFolder folder_;
  const std::filesystem::path path_ = folder_.path("file.jsonl");
  RecordedSpace recorded_ = made_up_space();
  LogHeader header_{"scale", "A100", "model", 7};
};

TEST_F(TuningLogTest, AnInterruptedRunResumesAsIfItHadNotStopped) {
  SearchOptions options;
  options.seed = 7;
  std::vector<Configuration> whole;
  auto search = *Search::create(recorded_.space, options);
  for (int i = 0; i < 40; ++i) {
    whole.push_back(*search.ask());
    search.tell(recorded_.trials[whole.back()]);
  }
  for (int stop = 0; stop < 40; stop += 13) {
    auto log = TuningLog::open(path_, header_, recorded_.space);
    ASSERT_TRUE(log) << format_error(log.error());
    auto resumed = *Search::create(recorded_.space, options);
    for (const Trial& trial : log->trials())
      resumed.tell(trial);
    std::vector<Configuration> order;
    for (const Trial& trial : log->trials())
      order.push_back(trial.configuration);
    while (order.size() < static_cast<std::size_t>(stop + 13) && order.size() < 40) {
      order.push_back(*resumed.ask());
      resumed.tell(recorded_.trials[order.back()]);
      ASSERT_TRUE(log->append(recorded_.trials[order.back()]));
    }
    EXPECT_TRUE(std::equal(order.begin(), order.end(), whole.begin()));
  }
  const auto log = TuningLog::open(path_, header_, recorded_.space);
  EXPECT_EQ(log->trials().size(), 40U);
}

TEST_F(TuningLogTest, EveryTrialComesBackAsItWas) {
  EXPECT_TRUE(rc::check([&] {
    std::filesystem::remove(path_);
    std::vector<Trial> written;
    {
      auto log = TuningLog::open(path_, header_, recorded_.space);
      RC_ASSERT(log.has_value());
      const int count = *rc::gen::inRange(0, 8);
      for (int i = 0; i < count; ++i) {
        Trial trial;
        trial.configuration = *rc::gen::inRange<std::size_t>(0, recorded_.space.size());
        const bool ok = *rc::gen::arbitrary<bool>();
        trial.outcome = ok ? Outcome::ok : *rc::gen::element(Outcome::compile, Outcome::wrong);
        if (ok)
          trial.time = Nanoseconds{*rc::gen::inRange(1, 1 << 30) / 7.0};
        if (*rc::gen::arbitrary<bool>())
          trial.compile_time = Nanoseconds{1.0 / 3};
        if (*rc::gen::arbitrary<bool>())
          trial.counters = {{"sectors", 0.1}, {"a \"b\"", 1e300}};
        if (log->find(trial.configuration) == nullptr)
          written.push_back(trial);
        RC_ASSERT(log->append(trial).has_value());
      }
    }
    const auto log = TuningLog::open(path_, header_, recorded_.space);
    RC_ASSERT(log.has_value());
    RC_ASSERT(log->trials().size() == written.size());
    for (std::size_t i = 0; i < written.size(); ++i) {
      const Trial& read = log->trials()[i];
      RC_ASSERT(read.configuration == written[i].configuration);
      RC_ASSERT(read.outcome == written[i].outcome);
      RC_ASSERT(read.time == written[i].time);
      RC_ASSERT(read.compile_time == written[i].compile_time);
      RC_ASSERT(read.counters == written[i].counters);
      RC_ASSERT(log->find(read.configuration) == &read);
    }
  }));
}

TEST_F(TuningLogTest, WhatATunerAddsComesBack) {
  Trial trial = recorded_.trials[0];
  trial.shapes = {{"64x64", {1.0 / 3}, {0.25}, {0.5}}, {"128x128", {2}, {1}, {3}}};
  trial.partial = true;
  Trial failure{1, Outcome::wrong, {}, {}, {}};
  failure.checked = true;
  failure.reason = "C[0] is \"1\", not 2";
  {
    auto log = TuningLog::open(path_, header_, recorded_.space);
    ASSERT_TRUE(log->append(trial));
    ASSERT_TRUE(log->append(failure));
  }
  const auto log = TuningLog::open(path_, header_, recorded_.space);
  ASSERT_EQ(log->trials().size(), 2U);
  EXPECT_EQ(log->trials()[0].shapes, trial.shapes);
  EXPECT_TRUE(log->trials()[0].partial);
  EXPECT_FALSE(log->trials()[0].checked);
  EXPECT_TRUE(log->trials()[1].checked);
  EXPECT_EQ(log->trials()[1].reason, failure.reason);
}

TEST_F(TuningLogTest, ALaterTrialStandsOnlyWhereItSaysMore) {
  Trial first = recorded_.trials[0];
  Trial estimate = recorded_.trials[1];
  estimate.partial = true;
  Trial checked = first;
  checked.checked = true;
  checked.time = Nanoseconds{2};
  Trial unchecked = first;
  unchecked.time = Nanoseconds{3};
  {
    auto log = TuningLog::open(path_, header_, recorded_.space);
    for (const Trial& trial : {first, estimate, checked, unchecked, recorded_.trials[1], estimate})
      ASSERT_TRUE(log->append(trial));
    EXPECT_EQ(log->find(0)->time->value, 2);
  }
  const auto log = TuningLog::open(path_, header_, recorded_.space);
  ASSERT_EQ(log->trials().size(), 2U);
  EXPECT_EQ(log->find(0)->time->value, 2);
  EXPECT_FALSE(log->find(1)->partial);
}

TEST_F(TuningLogTest, ALineCutShortByACrashIsDropped) {
  {
    auto log = TuningLog::open(path_, header_, recorded_.space);
    for (Configuration c = 0; c < 3; ++c)
      ASSERT_TRUE(log->append(recorded_.trials[c]));
  }
  std::ofstream(path_, std::ios::app) << R"({"values":{"BX":16,)";
  {
    auto log = TuningLog::open(path_, header_, recorded_.space);
    ASSERT_TRUE(log) << format_error(log.error());
    EXPECT_EQ(log->trials().size(), 3U);
    ASSERT_TRUE(log->append(recorded_.trials[9]));
  }
  EXPECT_EQ(TuningLog::open(path_, header_, recorded_.space)->trials().size(), 4U);
}

TEST_F(TuningLogTest, ALogOfSomethingElseIsRefusedAndLeftAlone) {
  ASSERT_TRUE(TuningLog::open(path_, header_, recorded_.space)->append(recorded_.trials[1]));
  const std::string before = *read_text_file(path_);
  auto refused = [&](const LogHeader& header, const SearchSpace& space) {
    const auto log = TuningLog::open(path_, header, space);
    EXPECT_FALSE(log);
    EXPECT_EQ(*read_text_file(path_), before);
    return log ? "" : format_error(log.error());
  };
  EXPECT_EQ(refused({"softmax", "A100", "model", 7}, recorded_.space),
            path_.string() +
                ":1: this log is of another kernel: 'scale', not 'softmax'; name another "
                "log; this one was left as it is");
  EXPECT_THAT(refused({"scale", "H100", "model", 7}, recorded_.space),
              testing::HasSubstr("another device: 'A100', not 'H100'"));
  SpaceDescription description;
  description.parameters = {{"BX", {16, 32}}};
  EXPECT_THAT(refused(header_, *SearchSpace::construct(description)),
              testing::HasSubstr("another space"));
  std::ofstream(path_) << "some notes\nof mine\n";
  const auto notes = TuningLog::open(path_, header_, recorded_.space);
  ASSERT_FALSE(notes);
  EXPECT_THAT(format_error(notes.error()), testing::HasSubstr("not a tuning log"));
  EXPECT_EQ(*read_text_file(path_), "some notes\nof mine\n");
}

} // namespace
} // namespace kernevo::search
