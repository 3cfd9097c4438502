#include "fixture.h"
#include "kernevo/search/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace kernevo::search {
namespace {

const RecordedSpace& space() {
  static const RecordedSpace recorded = made_up_space();
  return recorded;
}

std::string arbitrary_strategy() {
  return std::string(strategies()[*rc::gen::inRange<std::size_t>(0, strategies().size())].name);
}

SearchOptions options_for(std::string strategy, std::uint64_t seed) {
  SearchOptions options;
  options.strategy = std::move(strategy);
  options.seed = seed;
  return options;
}

TEST(Strategies, SameSeedSameSearchAndNothingTwice) {
  EXPECT_TRUE(rc::check([] {
    const auto options = options_for(arbitrary_strategy(), *rc::gen::arbitrary<std::uint64_t>());
    const auto first = replay(space(), options, 40);
    const auto second = replay(space(), options, 40);
    RC_ASSERT(first->order == second->order);
    const std::set<Configuration> distinct(first->order.begin(), first->order.end());
    RC_ASSERT(distinct.size() == 40U);
  }));
}

TEST(Strategies, OtherSeedOtherSearch) {
  for (const StrategyEntry& entry : strategies())
    EXPECT_NE(replay(space(), options_for(std::string(entry.name), 1), 20)->order,
              replay(space(), options_for(std::string(entry.name), 2), 20)->order)
        << entry.name;
}

TEST(Strategies, ToldAgainTheyContinueAsIfNeverStopped) {
  EXPECT_TRUE(rc::check([] {
    const auto options = options_for(arbitrary_strategy(), *rc::gen::arbitrary<std::uint64_t>());
    const auto stop = *rc::gen::inRange<std::size_t>(0, 40);
    const auto whole = replay(space(), options, 40);
    auto resumed = *Search::create(space().space, options);
    for (std::size_t i = 0; i < stop; ++i)
      resumed.tell(space().trials[whole->order[i]]);
    for (std::size_t i = stop; i < 40; ++i) {
      const auto next = resumed.ask();
      RC_ASSERT(next == whole->order[i]);
      resumed.tell(space().trials[*next]);
    }
  }));
}

TEST(Strategies, ExhaustTheSpaceAndThenStop) {
  SpaceDescription description;
  description.parameters = {{"A", {1, 2, 4}}, {"B", {0, 1}}, {"C", {3, 5, 7, 9}}};
  const auto small = *SearchSpace::construct(description);
  for (const StrategyEntry& entry : strategies()) {
    auto search = *Search::create(small, options_for(std::string(entry.name), 5));
    std::set<Configuration> tried;
    while (const auto next = search.ask()) {
      tried.insert(*next);
      // A third of them fails.
      Trial trial{*next, Outcome::compile, {}, {}, {}};
      if (*next % 3 != 0)
        trial = {*next, Outcome::ok, Nanoseconds{100.0 + static_cast<double>(*next)}, {}, {}};
      search.tell(trial);
    }
    EXPECT_EQ(tried.size(), small.size()) << entry.name;
  }
}

TEST(Strategies, SurviveASpaceWhereEverythingFails) {
  for (const StrategyEntry& entry : strategies()) {
    auto search = *Search::create(space().space, options_for(std::string(entry.name), 3));
    for (int i = 0; i < 60; ++i)
      search.tell({*search.ask(), Outcome::compile, {}, {}, {}});
    EXPECT_EQ(search.history().trials().size(), 60U);
    EXPECT_EQ(search.history().best(), nullptr);
  }
}

TEST(Strategies, ProposeAheadWithoutRepeating) {
  for (const StrategyEntry& entry : strategies()) {
    auto search = *Search::create(space().space, options_for(std::string(entry.name), 9));
    std::vector<Configuration> pending;
    std::set<Configuration> tried;
    for (int i = 0; i < 60; ++i) {
      while (pending.size() < 8) {
        pending.push_back(*search.ask());
        EXPECT_TRUE(tried.insert(pending.back()).second) << entry.name;
      }
      search.tell(space().trials[pending.front()]);
      pending.erase(pending.begin());
    }
    EXPECT_EQ(search.history().pending().size(), 7U);
  }
}

TEST(Strategies, SeedsComeFirst) {
  auto options = options_for("model", 1);
  options.seeds = {30, 12, 500};
  EXPECT_THAT(std::vector<Configuration>(replay(space(), options, 3)->order),
              testing::ElementsAre(30, 12, 500));
  options.seeds = {space().space.size()};
  EXPECT_FALSE(Search::create(space().space, options));
}

TEST(Strategies, AnUnknownNameIsAnError) {
  const auto search = Search::create(space().space, options_for("modle", 1));
  ASSERT_FALSE(search);
  EXPECT_EQ(format_error(search.error()), "unknown strategy 'modle' (did you mean 'model'?); there "
                                          "are model, evolutionary, local, random");
}

double mean_fraction(const std::string& strategy, std::size_t evaluations,
                     const Prior& prior = {}) {
  double sum = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    auto options = options_for(strategy, seed);
    options.prior = prior;
    sum += replay(space(), options, evaluations)->fraction.back() / 10;
  }
  return sum;
}

TEST(Strategies, EveryOneBeatsRandomSearchAndTheModelBeatsAll) {
  const double random = mean_fraction("random", 60);
  const double model = mean_fraction("model", 60);
  EXPECT_GT(mean_fraction("local", 60), random);
  EXPECT_GT(mean_fraction("evolutionary", 60), random);
  EXPECT_GT(model, mean_fraction("local", 60));
  EXPECT_GT(model, mean_fraction("evolutionary", 60));
  EXPECT_GT(model, 0.97);
}

TEST(Prior, SteersTheFirstEvaluations) {
  Prior prior;
  RandomStream random(4);
  for (const Trial& trial : space().trials) {
    const double known = trial.time ? trial.time->value : 2e6;
    // In another unit, and off by a third either way.
    prior.predicted.push_back(1e-9 * known * std::exp(0.3 * random.normal()));
  }
  EXPECT_GT(mean_fraction("model", 10, prior), mean_fraction("model", 10) + 0.05);
  EXPECT_GT(mean_fraction("model", 10, prior), 0.9);
}

TEST(Prior, MayKnowOnlySomeConfigurations) {
  Prior prior;
  for (const Trial& trial : space().trials)
    prior.predicted.push_back(trial.configuration % 10 == 0 && trial.time ? trial.time->value
                                                                          : std::nan(""));
  EXPECT_GT(mean_fraction("model", 12, prior), mean_fraction("model", 12));
}

TEST(Prior, ThatIsWrongDoesNotBlindTheSearch) {
  Prior prior;
  for (const Trial& trial : space().trials)
    prior.predicted.push_back(trial.time ? 1 / trial.time->value : 1e-6);
  EXPECT_GT(mean_fraction("model", 80, prior), 0.95);
}

TEST(Prior, MustFitTheSpace) {
  auto options = options_for("model", 1);
  options.prior.predicted = {1, 2, 3};
  EXPECT_FALSE(Search::create(space().space, options));
}

} // namespace
} // namespace kernevo::search
