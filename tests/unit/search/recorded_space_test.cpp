#include "kernevo/search/recorded_space.h"

#include "fixture.h"
#include "kernevo/search/replay.h"
#include "places.h"
#include "test_folder.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

namespace kernevo::search {
namespace {

using testing::HasSubstr;

class RecordedSpaceTest : public testing::Test {
protected:
  Result<RecordedSpace> load(const std::string& text) {
    std::ofstream(path_, std::ios::binary) << text;
    return load_recorded_space(path_);
  }
  std::string error_of(const std::string& text) {
    const auto recorded = load(text);
    return recorded ? "" : format_error(recorded.error());
  }

  const TestFolder folder_;
  const std::filesystem::path path_ = folder_.path("file.tsv");
};

constexpr const char* kTable = "BX\tfixed\tTY\tstatus\tms\tcompile_ms\tsectors\n"
                               "32\t1\t2\tok\t2.5\t100\t640\n"
                               "32\t1\t4\tcompile\t\t90\t\n"
                               "64\t1\t2\tok\t1.25\t\t320\n";

void check_table(const Result<RecordedSpace>& recorded) {
  ASSERT_TRUE(recorded) << format_error(recorded.error());
  ASSERT_EQ(recorded->space.size(), 3U);
  EXPECT_EQ(recorded->space.parameters().size(), 2U); // the fixed one is nothing to search
  EXPECT_DOUBLE_EQ(recorded->best.value, 1.25e6);
  const Trial& failed = recorded->trials[*recorded->space.find({{"BX", 32}, {"TY", 4}})];
  EXPECT_EQ(failed.outcome, Outcome::compile);
  EXPECT_FALSE(failed.time);
  EXPECT_DOUBLE_EQ(failed.compile_time->value, 9e7);
  const Trial& best = recorded->trials[*recorded->space.find({{"BX", 64}, {"TY", 2}})];
  EXPECT_FALSE(best.compile_time);
  EXPECT_EQ(best.counters.at("sectors"), 320);
}

TEST_F(RecordedSpaceTest, ReadsATable) {
  check_table(load(kTable));
}

TEST_F(RecordedSpaceTest, ReadsAGzipTableWhateverItsName) {
  const gzFile file = gzopen(path_.c_str(), "wb");
  gzputs(file, kTable);
  gzclose(file);
  check_table(load_recorded_space(path_));
}

TEST_F(RecordedSpaceTest, ADamagedGzipFileIsAnError) {
  EXPECT_THAT(error_of(std::string("\x1f\x8b\x08\x00garbage", 11)),
              HasSubstr("not a whole gzip file"));
}

TEST_F(RecordedSpaceTest, MistakesAreNamedWithTheirLine) {
  const std::string head = "BX\tstatus\tms\n";
  EXPECT_THAT(error_of("a,b,c\n"), HasSubstr(":1: is not a recorded space"));
  EXPECT_THAT(error_of(head + "32\tok\n"), HasSubstr(":2: has 2 columns, the header 3"));
  EXPECT_THAT(error_of(head + "32\tok\t1\nx\tok\t1\n"),
              HasSubstr(":3: 'x' is not an integer value of BX"));
  EXPECT_THAT(error_of(head + "32\tfine\t1\n"), HasSubstr("unknown status 'fine'"));
  EXPECT_THAT(error_of(head + "32\tok\t-1\n"), HasSubstr("'-1' is not a time in ms"));
  EXPECT_THAT(error_of(head + "32\tok\t1\n32\tok\t2\n64\tok\t2\n"),
              HasSubstr("BX=32 appears twice"));
  EXPECT_THAT(error_of(head + "32\trun\t\n64\trun\t\n"), HasSubstr("no configuration"));
  EXPECT_FALSE(load_recorded_space(path_.string() + ".absent"));
}

TEST_F(RecordedSpaceTest, AFailureCostsAnEvaluation) {
  const auto recorded = load("BX\tstatus\tms\n1\trun\t\n2\tok\t4\n3\tok\t2\n");
  SearchOptions options;
  options.seeds = {0, 1, 2};
  EXPECT_THAT(replay(*recorded, options, 10)->fraction, testing::ElementsAre(0, 0.5, 1));
}

TEST_F(RecordedSpaceTest, ChoosingAheadDependsOnWhatIsKnownByThen) {
  const auto recorded = load_recorded_space(test_folder("unit/search") + "/made_up.tsv.gz");
  SearchOptions options;
  options.strategy = "evolutionary";
  const auto one = replay(*recorded, options, 60);
  const auto three = replay(*recorded, options, 60, 3);
  EXPECT_EQ(three->order.size(), 60U);
  EXPECT_NE(three->order, one->order);
  EXPECT_EQ(replay(*recorded, options, 60, 3)->order, three->order);
  EXPECT_EQ(std::set(three->order.begin(), three->order.end()).size(), 60U);
}

// The file that ships for trying things out is the made-up space, as a table.
TEST_F(RecordedSpaceTest, TheShippedTableIsTheMadeUpSpace) {
  const auto recorded = load_recorded_space(test_folder("unit/search") + "/made_up.tsv.gz");
  ASSERT_TRUE(recorded) << format_error(recorded.error());
  const RecordedSpace expected = made_up_space();
  ASSERT_EQ(recorded->space.id(), expected.space.id());
  for (Configuration c = 0; c < expected.space.size(); ++c) {
    EXPECT_EQ(recorded->trials[c].outcome, expected.trials[c].outcome);
    if (expected.trials[c].time) {
      EXPECT_NEAR(recorded->trials[c].time->value / expected.trials[c].time->value, 1, 1e-5);
    }
  }
}

} // namespace
} // namespace kernevo::search
