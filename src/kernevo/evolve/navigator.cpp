#include "kernevo/evolve/navigator.h"

#include "kernevo/base/random.h"
#include "kernevo/evolve/bandit.h"
#include "kernevo/evolve/stops.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace kernevo::evolve {
namespace {

constexpr std::uint64_t kBootstrap = 3;  // proposals from the reference before anything else
constexpr double kNearTarget = 1.1;      // of the target
constexpr std::uint64_t kStagnation = 4; // steps without a gain
constexpr std::size_t kDeepest = 16;     // times the first tuning
constexpr double kWorthTuning = 1.5;     // times the best
constexpr double kExploring = 0.2;       // share of the bandit's steps that leave the best
constexpr double kHopelessParent = 3;    // times the best: no change of it is likely to win
constexpr double kRankDecay = 0.6;       // the next best is taken so much less often

using Choice = std::optional<Decision>;

class Navigation {
public:
  Navigation(const RunState& state, const NavigatorView& view)
      : state_(state), view_(view), settings_(state.started.settings),
        random_(CounterRandom(settings_.seed + state.epoch).bits(state.next_step)) {}

  Result<Decision> decide() {
    if (const auto before = first_of_all())
      return *before;
    switch (settings_.search) {
    case SearchKind::best_of_n: return best_of_n();
    case SearchKind::sequential: return sequential();
    case SearchKind::evolve: break;
    }
    if (migration_due())
      return Decision(Migrated{state_.next_step});
    return evolve();
  }

  struct Gate {
    std::string_view name;
    Result<Choice> (Navigation::*ask)();
  };
  static const std::array<Gate, 7>& gates();

private:
  // Stops, restarts and budgets. What is under way may change them, so it is told first.
  Choice first_of_all() const {
    const auto after_pending = [&](Decision decision) {
      return state_.pending.empty() ? decision : Decision(Wait{});
    };
    if (auto stop = find_stop(state_))
      return after_pending(*stop);
    if (settings_.budget.rounds && state_.next_step > *settings_.budget.rounds)
      return Decision(Wait{});
    if (settings_.budget.evaluations &&
        state_.evaluations + state_.reserved() >= *settings_.budget.evaluations)
      return Decision(Wait{});
    if (auto restart = find_restart(state_))
      return after_pending(*restart);
    return std::nullopt;
  }

  Decision out_of_ideas(const std::string& text) const {
    if (!state_.pending.empty())
      return Wait{};
    return RunStopped{StopReason::exhausted, text};
  }

  bool migration_due() const {
    return settings_.islands > 1 && state_.next_step > 1 &&
           state_.next_step % settings_.migration == 0 && state_.last_migration != state_.next_step;
  }

  // --- what is there to choose from

  std::uint32_t island() const {
    return settings_.search == SearchKind::evolve
               ? static_cast<std::uint32_t>(state_.next_step % settings_.islands)
               : 0;
  }

  // The best of this island; with one island the best of all.
  const Member& leader() const {
    if (settings_.islands == 1 && state_.epoch == 0)
      return *state_.best();
    const std::vector<const Member*> own = elites();
    return own.empty() ? *state_.find(0) : *own.front();
  }

  // Of this island, fastest first.
  std::vector<const Member*> elites() const {
    std::vector<const Member*> found;
    for (const auto& [key, step] : state_.elites)
      if (key.first == island())
        found.push_back(&state_.members.at(step));
    std::sort(found.begin(), found.end(), [](const Member* a, const Member* b) {
      return a->objective != b->objective ? a->objective < b->objective
                                          : a->candidate.step < b->candidate.step;
    });
    return found;
  }

  bool under_way(Step parent, const OpenArm& arm) const {
    return std::any_of(state_.pending.begin(), state_.pending.end(), [&](const auto& entry) {
      return entry.second.parent == parent && entry.second.direction == arm.direction &&
             entry.second.proposer == arm.proposer;
    });
  }

  bool is_tabu(Step parent, const OpenArm& arm) const {
    return state_.is_tabu(parent, tabu_name(arm.proposer, arm.direction));
  }

  bool tuning_under_way(Step candidate) const {
    return std::any_of(state_.pending.begin(), state_.pending.end(), [&](const auto& entry) {
      return entry.second.mode == SearchMode::tune && entry.second.parent == candidate;
    });
  }

  // Open, not tabu, not being tried right now; best first.
  Result<std::vector<ScoredArm>> open_arms(const Member& parent) {
    KERNEVO_TRY(arms, view_.open_arms(parent));
    std::erase_if(arms, [&](const OpenArm& arm) {
      return is_tabu(parent.candidate.step, arm) || under_way(parent.candidate.step, arm);
    });
    return score_arms(state_, parent, arms, random_.bits(0));
  }

  // Directions that failed here lately and have other kernels still: a second look, when nothing
  // else is left. Without an end in sight there would be none to the looking.
  Result<std::vector<ScoredArm>> tabu_arms(const Member& parent) {
    KERNEVO_TRY(arms, view_.open_arms(parent));
    std::erase_if(arms, [&](const OpenArm& arm) {
      return !arm.moves || !is_tabu(parent.candidate.step, arm) ||
             under_way(parent.candidate.step, arm);
    });
    return score_arms(state_, parent, arms, random_.bits(0));
  }

  std::size_t grant(std::size_t wanted) const {
    if (!settings_.budget.evaluations)
      return wanted;
    const std::uint64_t left =
        *settings_.budget.evaluations - state_.evaluations - state_.reserved();
    return std::min<std::size_t>(wanted, left);
  }

  // --- directives

  Directive make(SearchMode mode, const Member& parent, std::string gate,
                 std::string reason) const {
    Directive d;
    d.step = state_.next_step;
    d.mode = mode;
    d.parent = parent.candidate.step;
    d.gate = std::move(gate);
    d.reason = std::move(reason);
    d.evaluations = grant(settings_.first_tuning);
    d.incumbent = state_.incumbent;
    d.incumbent_ns = state_.best()->objective.value;
    d.island = island();
    d.frontier = state_.pending.empty() ? state_.next_step : state_.pending.begin()->first;
    return d;
  }

  SearchMode mode_for(const Member& parent) const {
    return parent.candidate.step == state_.incumbent ? SearchMode::exploit : SearchMode::explore;
  }

  // Follow an arm: the finding that asks for it is the reason, else its score.
  Directive follow(const Member& parent, const ScoredArm& arm, const std::string& gate,
                   const std::string& why) const {
    Directive d = make(mode_for(parent), parent, gate, why);
    d.proposer = arm.arm.proposer;
    d.direction = arm.arm.direction;
    if (arm.finding != nullptr) {
      d.rule = name_of(arm.finding->tag);
      d.profile = parent.profile;
      d.reason +=
          fmt::format("; step {} is {}: {}", parent.candidate.step, d.rule, arm.finding->message);
      d.reasons.push_back({"severity", arm.finding->severity, std::nullopt});
      for (const BottleneckEvidence& evidence : arm.finding->evidence)
        d.reasons.push_back({evidence.metric, evidence.value, evidence.threshold});
    }
    d.reasons.push_back({"arm.score", arm.score, std::nullopt});
    d.reasons.push_back({"arm.tries", static_cast<double>(arm.tries), std::nullopt});
    d.reasons.push_back({"arm.mean_reward", arm.reward, std::nullopt});
    if (settings_.proposers.size() > 1 || settings_.llm.models.size() > 1)
      d.reasons.push_back({"proposer.gain_per_cost", arm.worth, std::nullopt});
    return d;
  }

  Directive tune(const Member& member, const std::string& gate, const std::string& why,
                 std::vector<Reason> reasons) const {
    Directive d = make(SearchMode::tune, member, gate, why);
    d.evaluations = grant(std::max(settings_.first_tuning, member.tuned));
    d.reasons = std::move(reasons);
    d.reasons.push_back({"tuned", static_cast<double>(member.tuned), std::nullopt});
    return d;
  }

  bool can_tune(const Member& member) const {
    return member.tunable && !member.exhausted && !tuning_under_way(member.candidate.step);
  }

  // --- the gates

  Result<Choice> bootstrap() {
    if (state_.epoch_proposals >= kBootstrap)
      return Choice();
    const Member& reference = *state_.find(0);
    KERNEVO_TRY(arms, open_arms(reference));
    if (arms.empty())
      return Choice();
    // A fresh start must not repeat the old one.
    const ScoredArm& arm = state_.epoch == 0 ? arms.front() : arms[random_.bits(1) % arms.size()];
    Directive d = follow(reference, arm, "bootstrap", "first structures from the reference");
    d.reasons.push_back({"proposals", static_cast<double>(state_.epoch_proposals),
                         static_cast<double>(kBootstrap)});
    return Choice(d);
  }

  Result<Choice> near_target() {
    const Member& best = *state_.best();
    if (!settings_.target_ns || best.objective.value > kNearTarget * *settings_.target_ns ||
        !can_tune(best))
      return Choice();
    return Choice(tune(
        best, "near_target", "the target is near: parameters may close the gap",
        {{"objective_over_target", best.objective.value / *settings_.target_ns, kNearTarget}}));
  }

  Result<Choice> new_bottleneck() {
    const Member& best = leader();
    if (best.candidate.step == 0 || best.findings.empty())
      return Choice();
    const BottleneckFinding& worst = best.findings.front();
    if (state_.tags_acted_on.contains(std::string(name_of(worst.tag))))
      return Choice();
    KERNEVO_TRY(arms, open_arms(best));
    for (const ScoredArm& arm : arms)
      if (arm.finding == &worst)
        return Choice(
            follow(best, arm, "new_bottleneck", "the best has a bottleneck not met before"));
    return Choice();
  }

  Result<Choice> untuned() {
    const Member& best = leader();
    if (!can_tune(best) || !best.tuning_helps || best.tuned >= kDeepest * settings_.first_tuning)
      return Choice();
    return Choice(tune(best, "untuned", "the best has parameters worth searching further",
                       {{"objective_us", best.objective.value / 1e3, std::nullopt}}));
  }

  Result<Choice> plateau() {
    if (state_.since_gain < kStagnation)
      return Choice();
    const Reason stuck{"steps_without_gain", static_cast<double>(state_.since_gain),
                       static_cast<double>(kStagnation)};
    const std::vector<const Member*> all = elites();
    const Member& best = leader();
    for (const Member* mate : all) {
      if (mate->candidate.step == best.candidate.step)
        continue;
      KERNEVO_TRY(joiner, view_.recombiner(best, *mate));
      if (joiner.empty() || joining_under_way(best, *mate))
        continue;
      Directive d = make(SearchMode::recombine, best, "plateau",
                         fmt::format("no gain for {} steps: join steps {} and {}",
                                     state_.since_gain, best.candidate.step, mate->candidate.step));
      d.mate = mate->candidate.step;
      d.proposer = joiner;
      d.direction = "recombine";
      d.reasons = {stuck};
      if (state_.is_tabu(best.candidate.step, tabu_name(d)))
        continue;
      return Choice(d);
    }
    return leave_the_best("plateau", fmt::format("no gain for {} steps", state_.since_gain), stuck);
  }

  bool joining_under_way(const Member& parent, const Member& mate) const {
    return std::any_of(state_.pending.begin(), state_.pending.end(), [&](const auto& entry) {
      return entry.second.parent == parent.candidate.step &&
             entry.second.mate == mate.candidate.step;
    });
  }

  // No change of it is likely to win.
  bool is_hopeless(const Member& member) const {
    return member.objective.value > kHopelessParent * leader().objective.value;
  }

  // Another elite, the faster the likelier, that still has something to try.
  Result<Choice> leave_the_best(const std::string& gate, const std::string& why,
                                const Reason& reason) {
    std::vector<const Member*> others = elites();
    const Member& best = leader();
    std::erase_if(others, [&](const Member* m) {
      return m->candidate.step == best.candidate.step || is_hopeless(*m);
    });
    for (std::uint64_t draw = 2; !others.empty(); ++draw) {
      std::size_t pick = 0;
      while (pick + 1 < others.size() && random_.uniform(16 * draw + pick) < kRankDecay)
        ++pick;
      const Member& parent = *others[pick];
      KERNEVO_TRY(arms, open_arms(parent));
      if (!arms.empty()) {
        Directive d = follow(parent, arms.front(), gate, why);
        d.reasons.insert(d.reasons.begin(), reason);
        return Choice(d);
      }
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(pick));
    }
    return Choice();
  }

  Result<Choice> exhausted() {
    KERNEVO_TRY(arms, open_arms(leader()));
    if (!arms.empty())
      return Choice();
    KERNEVO_TRY(elsewhere, leave_the_best("exhausted", "nothing is left to try on the best",
                                          {"open_directions", 0, std::nullopt}));
    if (elsewhere)
      return elsewhere;
    KERNEVO_TRY(again, second_look("exhausted"));
    if (again)
      return again;
    for (const Member* member : elites())
      if (can_tune(*member) &&
          member->objective.value <= kWorthTuning * state_.best()->objective.value)
        return Choice(tune(*member, "exhausted",
                           "no structure is left to try: search parameters further",
                           {{"open_directions", 0, std::nullopt}}));
    return Choice(out_of_ideas("no proposer has anything left to try"));
  }

  Result<Choice> second_look(const std::string& gate) {
    std::vector<const Member*> parents = {&leader()};
    for (const Member* member : elites())
      if (member != parents.front() && !is_hopeless(*member))
        parents.push_back(member);
    for (const Member* parent : parents) {
      KERNEVO_TRY(arms, tabu_arms(*parent));
      if (arms.empty())
        continue;
      Directive d = follow(*parent, arms.front(), gate,
                           "only directions that failed lately are left, with other kernels");
      d.reasons.insert(d.reasons.begin(), {"open_directions", 0, std::nullopt});
      return Choice(d);
    }
    return Choice();
  }

  Result<Choice> bandit() {
    if (random_.uniform(1) < kExploring) {
      KERNEVO_TRY(elsewhere, leave_the_best("bandit", "a look beside the best",
                                            {"exploring_share", kExploring, std::nullopt}));
      if (elsewhere)
        return elsewhere;
    }
    const Member& best = leader();
    KERNEVO_TRY(arms, open_arms(best));
    if (arms.empty())
      return Choice();
    return Choice(follow(best, arms.front(), "bandit",
                         fmt::format("the most promising of {} open directions", arms.size())));
  }

  Result<Decision> evolve() {
    for (const Gate& gate : gates()) {
      KERNEVO_TRY(choice, (this->*gate.ask)());
      if (choice)
        return *choice;
    }
    return out_of_ideas("no proposer has anything left to try");
  }

  // --- controls

  Result<Decision> best_of_n() {
    const Member& reference = *state_.find(0);
    KERNEVO_TRY(arms, view_.open_arms(reference));
    if (!arms.empty()) {
      const ScoredArm arm{arms[random_.bits(1) % arms.size()], 0, 0, 0, 0, 1, nullptr};
      return Decision(follow(reference, arm, "best_of_n", "an independent try"));
    }
    // No feedback: parameters of any of them.
    std::vector<const Member*> all = elites();
    std::erase_if(all, [&](const Member* m) { return !can_tune(*m); });
    if (all.empty())
      return out_of_ideas("no proposer has anything left to try");
    return Decision(
        tune(*all[random_.bits(1) % all.size()], "best_of_n", "parameters of any of them", {}));
  }

  Result<Decision> sequential() {
    const Member& best = *state_.best();
    KERNEVO_TRY(arms, open_arms(best));
    const auto asked = std::find_if(arms.begin(), arms.end(), [&](const ScoredArm& arm) {
      return !best.findings.empty() && arm.finding == &best.findings.front();
    });
    if (asked != arms.end())
      return Decision(follow(best, *asked, "sequential", "the first finding of the best"));
    if (!arms.empty())
      return Decision(follow(best, arms[random_.bits(1) % arms.size()], "sequential",
                             "any open direction of the best"));
    KERNEVO_TRY(again, tabu_arms(best));
    if (!again.empty())
      return Decision(follow(best, again.front(), "sequential", "another try of the best"));
    if (can_tune(best))
      return Decision(tune(best, "sequential", "parameters of the best", {}));
    return out_of_ideas("nothing is left to try on the best");
  }

  const RunState& state_;
  const NavigatorView& view_;
  const RunSettings& settings_;
  CounterRandom random_;
};

const std::array<Navigation::Gate, 7>& Navigation::gates() {
  static constexpr std::array<Gate, 7> kGates = {{{"bootstrap", &Navigation::bootstrap},
                                                  {"near_target", &Navigation::near_target},
                                                  {"new_bottleneck", &Navigation::new_bottleneck},
                                                  {"untuned", &Navigation::untuned},
                                                  {"plateau", &Navigation::plateau},
                                                  {"exhausted", &Navigation::exhausted},
                                                  {"bandit", &Navigation::bandit}}};
  return kGates;
}

} // namespace

Result<Decision> decide(const RunState& state, const NavigatorView& view) {
  return Navigation(state, view).decide();
}

std::vector<std::string_view> gate_names() {
  std::vector<std::string_view> names;
  for (const auto& gate : Navigation::gates())
    names.push_back(gate.name);
  return names;
}

} // namespace kernevo::evolve
