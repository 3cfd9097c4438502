#include "kernevo/model/verdict.h"

#include "kernevo/model/comparison.h"

#include <gtest/gtest.h>
#include <set>
#include <string>

namespace kernevo {
namespace {

// Names are written to records: each must exist, be distinct and stay a plain word.
template <class Enum> void expect_distinct_names(int count) {
  std::set<std::string> names;
  for (int i = 0; i < count; ++i) {
    const std::string name(name_of(static_cast<Enum>(i)));
    EXPECT_NE(name, "unknown") << i;
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string::npos) << name;
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  EXPECT_EQ(name_of(static_cast<Enum>(count)), "unknown");
}

TEST(Names, AreDistinctWords) {
  expect_distinct_names<FaultClass>(static_cast<int>(FaultClass::ambiguous) + 1);
  expect_distinct_names<FaultKind>(static_cast<int>(FaultKind::unproven) + 1);
  expect_distinct_names<Rung>(static_cast<int>(Rung::real_shapes) + 1);
  expect_distinct_names<FindingKind>(static_cast<int>(FindingKind::crash) + 1);
  expect_distinct_names<TimingMethod>(static_cast<int>(TimingMethod::stand_in) + 1);
  expect_distinct_names<TimingGrade>(static_cast<int>(TimingGrade::disturbed) + 1);
  expect_distinct_names<CacheState>(static_cast<int>(CacheState::hot) + 1);
  expect_distinct_names<Standing>(static_cast<int>(Standing::not_comparable) + 1);
}

TEST(Names, AreTheOnesRecordsUse) {
  EXPECT_EQ(name_of(FaultKind::race_or_sync_error), "race_or_sync_error");
  EXPECT_EQ(name_of(FaultClass::candidate), "candidate");
  EXPECT_EQ(name_of(Rung::hidden_shapes), "hidden_shapes");
  EXPECT_EQ(name_of(FindingKind::barrier_divergence), "barrier_divergence");
}

} // namespace
} // namespace kernevo
