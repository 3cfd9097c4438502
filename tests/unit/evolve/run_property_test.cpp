// Random runs: whatever the world answers, decisions are sound and the fold is a fold.
#include "kernevo/base/random.h"
#include "made_up_run.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <set>

namespace kernevo::evolve {
namespace {

constexpr std::array kOutcomes = {
    StepOutcome::improved,    StepOutcome::improved,      StepOutcome::not_better,
    StepOutcome::not_better,  StepOutcome::duplicate,     StepOutcome::compile_failed,
    StepOutcome::wrong,       StepOutcome::failed,        StepOutcome::quarantined,
    StepOutcome::no_proposal, StepOutcome::infrastructure};
constexpr std::array kMemory = {"global", "shared", "async"};
constexpr std::array kTags = {BottleneckTag::dram_bound, BottleneckTag::spills,
                              BottleneckTag::latency_bound, BottleneckTag::bank_conflict};

class RandomRun {
public:
  RandomRun(const RunSettings& settings, std::uint64_t seed, bool endless)
      : run(settings), random_(seed) {
    for (int i = 0; i < 6; ++i)
      world_.open["d" + std::to_string(i)] =
          endless ? std::nullopt : std::optional<std::size_t>(pick(1, 6));
    world_.joiner = pick(0, 1) == 0 ? "" : "playbook";
    run.baseline(1000, findings());
  }

  MadeUpRun run;
  bool ended = false;
  std::function<void(const Directive&)> look = [](const Directive&) {};

  // One decision, and what follows of it.
  void go() {
    const RunSettings& settings = run.state.started.settings;
    if (run.state.pending.size() >= settings.ahead) {
      tell();
      return;
    }
    world_.asked.clear();
    const auto decision = decide(run.state, world_.view());
    ASSERT_TRUE(decision);
    const auto again = decide(run.state, world_.view());
    ASSERT_TRUE(again && *again == *decision) << "the same state, another decision";
    if (const auto* d = std::get_if<Directive>(&*decision)) {
      check(*d);
      look(*d);
      run.apply(*d);
      propose(*d);
    } else if (const auto* restarted = std::get_if<Restarted>(&*decision)) {
      run.apply(RunEvent(std::in_place_type<Restarted>, *restarted));
    } else if (const auto* migrated = std::get_if<Migrated>(&*decision)) {
      run.apply(*migrated);
    } else if (const auto* stopped = std::get_if<RunStopped>(&*decision)) {
      ASSERT_TRUE(run.state.pending.empty());
      ASSERT_FALSE(stopped->text.empty());
      run.apply(*stopped);
      ended = true;
    } else {
      ASSERT_FALSE(run.state.pending.empty()) << "waits for nothing";
      tell();
    }
  }

private:
  std::uint64_t pick(std::int64_t low, std::int64_t high) {
    return static_cast<std::uint64_t>(random_.integer(next_++, low, high));
  }
  double part() { return random_.uniform(next_++); }

  std::vector<BottleneckFinding> findings() {
    std::vector<BottleneckFinding> list;
    for (std::uint64_t i = pick(0, 2); i > 0; --i)
      list.push_back(finding(kTags.at(pick(0, 3)), part(),
                             {fmt::format("d{}", pick(0, 7)), fmt::format("d{}", pick(0, 7))}));
    return list;
  }

  void check(const Directive& d) {
    const RunState& state = run.state;
    const RunSettings& settings = state.started.settings;
    EXPECT_EQ(d.step, state.next_step);
    EXPECT_FALSE(d.gate.empty());
    if (settings.search == SearchKind::evolve) {
      const auto gates = gate_names();
      EXPECT_NE(std::find(gates.begin(), gates.end(), d.gate), gates.end()) << d.gate;
    }
    EXPECT_FALSE(d.reason.empty());
    ASSERT_FALSE(d.reasons.empty());
    for (const Reason& reason : d.reasons) {
      EXPECT_FALSE(reason.metric.empty());
      EXPECT_TRUE(std::isfinite(reason.value)) << reason.metric;
    }
    ASSERT_TRUE(d.parent);
    ASSERT_NE(state.find(*d.parent), nullptr);
    EXPECT_EQ(d.incumbent, state.incumbent);
    EXPECT_GE(d.evaluations, 1U);
    if (settings.budget.evaluations) {
      EXPECT_LE(state.evaluations + state.reserved() + d.evaluations, *settings.budget.evaluations);
    }
    if (settings.budget.rounds) {
      EXPECT_LE(d.step, *settings.budget.rounds);
    }
    for (const auto& [step, pending] : state.pending)
      EXPECT_LT(step, d.step);
    EXPECT_EQ(d.frontier, state.pending.empty() ? d.step : state.pending.begin()->first);
    if (d.mode == SearchMode::tune) {
      EXPECT_TRUE(d.proposer.empty());
      EXPECT_TRUE(state.find(*d.parent)->tunable);
      EXPECT_FALSE(state.find(*d.parent)->exhausted);
    } else if (d.mode == SearchMode::recombine) {
      ASSERT_TRUE(d.mate);
      EXPECT_NE(state.find(*d.mate), nullptr);
      EXPECT_FALSE(world_.joiner.empty());
    } else {
      EXPECT_EQ(d.mode, d.parent == state.incumbent ? SearchMode::exploit : SearchMode::explore);
      bool open = false;
      for (const auto& [parent, arms] : world_.asked)
        for (const OpenArm& arm : arms)
          open = open || (parent == *d.parent && arm.direction == d.direction &&
                          arm.proposer == d.proposer);
      EXPECT_TRUE(open) << d.direction << " is not open from step " << *d.parent;
    }
  }

  void propose(const Directive& d) {
    if (d.mode == SearchMode::tune || pick(0, 9) == 0)
      return;
    if (auto& moves = world_.open[d.direction]; moves && *moves > 0)
      --*moves;
    if (d.mode == SearchMode::recombine)
      world_.open.erase(d.direction);
    Candidate c;
    c.step = d.step;
    c.parents = {*d.parent};
    c.source = fmt::format("source {}", d.step);
    c.genes = run.state.find(*d.parent)->candidate.genes;
    if (c.genes.size() > 4)
      c.genes.clear();
    c.genes.push_back(fmt::format("g{}", pick(0, 9)));
    if (pick(0, 20) == 0) {
      ModelCall call;
      call.step = c.step;
      call.id = "code.0";
      call.stage = "code";
      call.usage.prompt = pick(1, 100);
      call.dollars = part();
      run.apply(call);
    }
    if (pick(0, 20) == 0)
      run.apply(Attempt{c.step, 0, "", "", {}, 0});
    run.apply(c);
  }

  void tell() {
    const Directive d = run.state.pending.begin()->second;
    const bool tuning = d.mode == SearchMode::tune;
    const bool proposed = run.state.pending_candidates.contains(d.step) || tuning;
    StepOutcome outcome =
        proposed ? kOutcomes.at(pick(0, kOutcomes.size() - 1)) : StepOutcome::no_proposal;
    // Near what is the best now, so that all kinds of gains and losses come up.
    const double ns = run.state.best()->objective.value * (0.97 + 0.2 * part());
    Evaluation e =
        made_up_evaluation(d.step, outcome, is_right(outcome) ? std::optional(ns) : std::nullopt);
    if (tuning)
      e.candidate = *d.parent;
    if (e.instances_timed > 0)
      e.instances_timed = pick(tuning ? 0 : 1, static_cast<std::int64_t>(d.evaluations));
    e.tunable = pick(0, 1) == 0;
    e.exhausted = pick(0, 5) == 0;
    if (e.facts) {
      e.facts->memory = kMemory.at(pick(0, 2));
      e.facts->vector_bytes = static_cast<int>(4U << pick(0, 2));
      e.facts->registers = static_cast<int>(pick(16, 255));
      e.bottlenecks = findings();
      e.roofline = 0.5 * part();
    }
    run.apply(settle(run.state, std::move(e), std::nullopt));
  }

  CounterRandom random_;
  std::uint64_t next_ = 0;
  World world_;
};

RunSettings random_settings() {
  RunSettings settings;
  settings.search = static_cast<SearchKind>(*rc::gen::inRange(0, 6) % 5 % 3);
  settings.seed = *rc::gen::inRange<std::uint64_t>(0, 1000);
  settings.ahead = *rc::gen::inRange<std::size_t>(1, 6);
  settings.islands = *rc::gen::inRange<std::uint32_t>(1, 4);
  settings.migration = *rc::gen::inRange<std::uint64_t>(1, 12);
  settings.plateau = *rc::gen::inRange<std::uint64_t>(0, 30);
  settings.restart_after = *rc::gen::inRange<std::uint64_t>(0, 40);
  if (*rc::gen::arbitrary<bool>())
    settings.budget.evaluations = *rc::gen::inRange<std::uint64_t>(2, 200);
  if (*rc::gen::arbitrary<bool>())
    settings.budget.rounds = *rc::gen::inRange<std::uint64_t>(1, 60);
  if (*rc::gen::arbitrary<bool>())
    settings.target_ns = *rc::gen::inRange<int>(100, 900);
  return settings;
}

TEST(RandomRuns, DecisionsAreSoundAndBudgetsHold) {
  EXPECT_TRUE(rc::check([] {
    RandomRun random(random_settings(), *rc::gen::arbitrary<std::uint64_t>(),
                     *rc::gen::arbitrary<bool>());
    for (int i = 0; i < 150 && !random.ended && !testing::Test::HasFailure(); ++i)
      random.go();
    RC_ASSERT(!testing::Test::HasFailure());
    const RunState& state = random.run.state;
    const RunBudget& budget = state.started.settings.budget;
    RC_ASSERT(!budget.evaluations || state.evaluations <= *budget.evaluations);
    RC_ASSERT(!budget.rounds || state.told <= *budget.rounds);
  }));
}

TEST(RandomRuns, ASnapshotAndTheRestIsTheWhole) {
  EXPECT_TRUE(rc::check([] {
    RandomRun random(random_settings(), *rc::gen::arbitrary<std::uint64_t>(), false);
    for (int i = 0; i < 100 && !random.ended; ++i)
      random.go();
    const auto& events = random.run.events;
    const auto cut = *rc::gen::inRange<std::size_t>(0, events.size());
    RunState before;
    for (std::size_t i = 0; i < cut; ++i)
      before.apply(events[i]);
    auto after = run_state_from_json(to_json(before));
    RC_ASSERT(after.has_value());
    RC_ASSERT(*after == before);
    for (std::size_t i = cut; i < events.size(); ++i) {
      // As the journal has it.
      const auto event = event_from_json(kind_of(events[i]), to_json(events[i]));
      RC_ASSERT(event.has_value());
      RC_ASSERT(*event == events[i]);
      after->apply(*event);
    }
    RC_ASSERT(*after == random.run.state);
  }));
}

TEST(RandomRuns, TheStateStaysSmall) {
  RunSettings settings;
  settings.plateau = 0;
  settings.restart_after = 0;
  settings.islands = 3;
  RandomRun random(settings, 11, true);
  std::size_t most = 0;
  std::size_t early = 0;
  for (int i = 0; random.run.state.told < 20'000 && !random.ended; ++i) {
    random.go();
    random.run.events.clear();
    ASSERT_FALSE(HasFailure());
    if (random.run.state.told == 4000 && early == 0)
      early = to_json(random.run.state).size();
    most = std::max(most, random.run.state.members.size());
    if (random.run.state.trouble_in_a_row >= 3)
      random.run.apply(
          RunResumed{random.run.state.next_step, random.run.state.started.settings.budget});
    if (random.ended)
      random.ended = false;
  }
  EXPECT_GE(random.run.state.told, 20'000U);
  EXPECT_LT(most, 600U);
  EXPECT_LT(random.run.state.tabu.size(), 2000U);
  EXPECT_LT(to_json(random.run.state).size(), std::max<std::size_t>(2 * early, 1'500'000));
}

} // namespace
} // namespace kernevo::evolve
