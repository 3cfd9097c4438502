#include "kernevo/evolve/run_state.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kernevo::evolve {
namespace {

constexpr Step kTabuSteps = 12; // a direction may look different once much else has changed
constexpr std::size_t kBestsKept = 4096;
constexpr double kTuningGain = 0.01;
constexpr std::size_t kRecentKept = 6;
constexpr std::size_t kLessonsKept = 8;

double log2_gain(Nanoseconds before, Nanoseconds after) {
  return std::log2(before.value / after.value);
}

// One fold step each.
class Fold {
public:
  explicit Fold(RunState& state) : state_(state) {}

  void operator()(const RunStarted& started) { state_.started = started; }

  void operator()(const Directive& directive) {
    state_.pending[directive.step] = directive;
    state_.next_step = std::max(state_.next_step, directive.step + 1);
    if (!directive.proposer.empty())
      ++state_.epoch_proposals;
    // The best of an island, or of a fresh start, need not be the best of all.
    if (!directive.rule.empty() && directive.parent &&
        (directive.parent == state_.incumbent || directive.gate == "new_bottleneck"))
      state_.tags_acted_on.insert(directive.rule);
    state_.stopped.reset();
  }

  void operator()(const Candidate& candidate) {
    state_.pending_candidates[candidate.step] = candidate;
  }

  void operator()(const Attempt& attempt) {
    state_.pending_attempts[attempt.step].push_back(attempt);
  }

  void operator()(const ModelCall& call) {
    if (state_.pending.contains(call.step))
      state_.pending_calls[call.step][call.id] = call;
    state_.tokens += call.usage.total();
    state_.dollars_known += call.dollars.value_or(0);
    if (call.cost_unknown())
      state_.dollars.reset();
    else if (state_.dollars)
      *state_.dollars += call.dollars.value_or(0);
    state_.by_stage[call.stage].add(call);
    state_.by_model[call.model].add(call);
  }

  void operator()(const Evaluation& e) {
    Directive directive;
    if (const auto found = state_.pending.find(e.step); found != state_.pending.end())
      directive = found->second;
    std::optional<Candidate> candidate;
    if (const auto found = state_.pending_candidates.find(e.step);
        found != state_.pending_candidates.end())
      candidate = found->second;
    const double cost = cost_of(e);
    std::size_t timed = e.instances_timed; // of the candidate itself
    if (const auto found = state_.pending_attempts.find(e.step);
        found != state_.pending_attempts.end())
      for (const Attempt& attempt : found->second)
        timed -= std::min(timed, attempt.instances_timed);
    mended(e);
    state_.pending.erase(e.step);
    state_.pending_candidates.erase(e.step);
    state_.pending_attempts.erase(e.step);
    state_.pending_calls.erase(e.step);
    state_.evaluations += e.instances_timed;
    ++state_.outcomes[std::string(name_of(e.outcome))];
    state_.trouble_in_a_row =
        e.outcome == StepOutcome::infrastructure ? state_.trouble_in_a_row + 1 : 0;
    if (e.outcome == StepOutcome::baseline) {
      baseline(e, candidate);
      return;
    }
    ++state_.told;
    const bool gained = e.outcome == StepOutcome::improved;
    if (gained)
      state_.since_gain = 0;
    else if (e.outcome != StepOutcome::infrastructure)
      ++state_.since_gain;
    teach(directive, candidate, e, cost);
    if (!directive.proposer.empty())
      keep_for_authors(directive, candidate, e);
    if (directive.mode == SearchMode::tune)
      tuned(e);
    else if (candidate && is_right(e.outcome))
      admit(directive, *candidate, e, timed);
    if (gained) {
      state_.incumbent = e.candidate;
      note_best(e);
    }
    forget();
  }

  void operator()(const Restarted& restarted) {
    state_.epoch = restarted.epoch;
    state_.epoch_step = restarted.step;
    state_.epoch_evaluations = state_.evaluations;
    state_.epoch_proposals = 0;
    state_.epoch_tokens = state_.tokens;
    state_.since_gain = 0;
    state_.proposers.clear();
    state_.recent.clear(); // fresh eyes
    state_.lessons.clear();
    state_.tabu.clear();
    state_.arms.clear();
    state_.lessons_told = 0;
    state_.tags_acted_on.clear();
    state_.elites.clear();
    for (auto& [step, member] : state_.members)
      if (step == 0)
        state_.elites[{0, member.cell}] = step;
    forget();
  }

  void operator()(const Migrated& migrated) {
    state_.last_migration = migrated.step;
    const std::uint32_t islands = state_.started.settings.islands;
    std::map<std::uint32_t, Step> best;
    for (const auto& [key, step] : state_.elites) {
      const auto found = best.find(key.first);
      if (found == best.end() ||
          state_.members.at(step).objective < state_.members.at(found->second).objective)
        best[key.first] = step;
    }
    for (const auto& [island, step] : best) {
      const Member& traveller = state_.members.at(step);
      settle_in((island + 1) % islands, traveller.cell, step);
    }
    forget();
  }

  void operator()(const RunStopped& stopped) { state_.stopped = stopped; }
  void operator()(const RunResumed& resumed) {
    RunBudget& budget = state_.started.settings.budget;
    if (resumed.budget != budget) { // somebody wants more: a plateau is no reason to stop at once
      budget = resumed.budget;
      state_.since_gain = 0;
    }
    state_.stopped.reset();
    state_.trouble_in_a_row = 0;
  }

private:
  void baseline(const Evaluation& e, const std::optional<Candidate>& candidate) {
    if (!candidate || !e.objective)
      return;
    state_.baseline = e.objective;
    state_.baseline_shapes = e.shapes;
    state_.incumbent = 0;
    admit(Directive{}, *candidate, e, e.instances_timed);
    for (std::uint32_t island = 1; island < state_.started.settings.islands; ++island)
      settle_in(island, state_.members.at(0).cell, 0);
    note_best(e);
  }

  void note_best(const Evaluation& e) {
    if (state_.bests.size() >= kBestsKept)
      state_.bests.erase(state_.bests.begin() + 1);
    state_.bests.push_back(
        {e.step, e.candidate, state_.evaluations, *e.objective,
         e.bottlenecks.empty() ? std::string() : std::string(name_of(e.bottlenecks.front().tag))});
  }

  static void measure(Member& member, const Evaluation& e) {
    member.objective = *e.objective;
    member.parameters = e.parameters;
    member.findings = e.bottlenecks;
    member.profile = e.profile;
    member.roofline = e.roofline;
    member.cell = e.facts ? e.facts->cell() : "unknown";
  }

  // The faster of two stays in a cell; ties never replace.
  void settle_in(std::uint32_t island, const std::string& cell, Step step) {
    const auto [found, fresh] = state_.elites.try_emplace({island, cell}, step);
    if (!fresh && state_.members.at(step).objective < state_.members.at(found->second).objective)
      found->second = step;
  }

  void admit(const Directive& directive, const Candidate& candidate, const Evaluation& e,
             std::size_t timed) {
    Member member;
    member.candidate = candidate;
    member.island = directive.island;
    member.epoch = state_.epoch;
    member.tuned = timed;
    member.tunable = e.tunable;
    member.exhausted = e.exhausted;
    measure(member, e);
    const Step step = candidate.step;
    compare_with_relatives(member);
    state_.members[step] = std::move(member);
    settle_in(directive.island, state_.members.at(step).cell, step);
  }

  void compare_with_relatives(const Member& fresh) {
    for (const auto& [step, other] : state_.members) {
      if (const std::string gene = single_difference(other.candidate.genes, fresh.candidate.genes);
          !gene.empty())
        learn(
            state_.genes, gene,
            {step, fresh.candidate.step, std::log(other.objective.value / fresh.objective.value)});
      else if (const std::string lost =
                   single_difference(fresh.candidate.genes, other.candidate.genes);
               !lost.empty())
        learn(
            state_.genes, lost,
            {fresh.candidate.step, step, std::log(fresh.objective.value / other.objective.value)});
    }
  }

  void tuned(const Evaluation& e) {
    const auto found = state_.members.find(e.candidate);
    if (found == state_.members.end())
      return;
    Member& member = found->second;
    member.tuned += e.instances_timed;
    member.exhausted = e.exhausted || e.instances_timed == 0;
    if (!is_right(e.outcome) || !e.objective) {
      member.exhausted = true; // what it found does not hold
      return;
    }
    member.tuning_helps = log2_gain(member.objective, *e.objective) > kTuningGain;
    // The best is only ever what was confirmed on hidden shapes.
    const bool announced = e.candidate == state_.incumbent && e.outcome != StepOutcome::improved;
    if (*e.objective < member.objective && !announced) {
      measure(member, e);
      move_to_its_cell(e.candidate);
    }
  }

  // Other parameters may make it another kind of kernel: it leaves the places it had.
  void move_to_its_cell(Step step) {
    const Member& member = state_.members.at(step);
    std::set<std::uint32_t> islands = {member.island};
    for (const auto& [key, elite] : state_.elites)
      if (elite == step)
        islands.insert(key.first);
    std::erase_if(state_.elites, [&](const auto& entry) {
      return entry.second == step && entry.first.second != member.cell;
    });
    for (const std::uint32_t island : islands)
      settle_in(island, member.cell, step);
  }

  // The share of the budget that a step took, of whatever it took most of.
  double cost_of(const Evaluation& e) const {
    const RunBudget& budget = state_.started.settings.budget;
    double share = 0;
    if (budget.evaluations)
      share = static_cast<double>(e.instances_timed) / static_cast<double>(*budget.evaluations);
    if (budget.rounds)
      share = std::max(share, 1 / static_cast<double>(*budget.rounds));
    std::uint64_t tokens = 0;
    double dollars = 0;
    if (const auto found = state_.pending_calls.find(e.step); found != state_.pending_calls.end())
      for (const auto& [id, call] : found->second) {
        tokens += call.usage.total();
        dollars += call.dollars.value_or(0);
      }
    if (budget.tokens)
      share = std::max(share, static_cast<double>(tokens) / static_cast<double>(*budget.tokens));
    if (budget.dollars)
      share = std::max(share, dollars / *budget.dollars);
    return share;
  }

  void mended(const Evaluation& e) {
    const auto found = state_.pending_attempts.find(e.step);
    if (found == state_.pending_attempts.end() || !is_right(e.outcome))
      return;
    ++state_.repaired;
    for (const Attempt& attempt : found->second)
      ++state_
            .faults_mended[attempt.diagnosis.fault ? std::string(name_of(*attempt.diagnosis.fault))
                                                   : "unreadable_reply"];
  }

  void keep_for_authors(const Directive& directive, const std::optional<Candidate>& candidate,
                        const Evaluation& e) {
    PastStep recent{e.step,
                    candidate ? candidate->title : std::string(),
                    directive.direction,
                    std::string(name_of(e.outcome)),
                    std::nullopt,
                    e.fault ? std::string(name_of(*e.fault)) : std::string()};
    if (e.objective && state_.baseline)
      recent.speedup = state_.baseline->value / e.objective->value;
    state_.recent.push_back(std::move(recent));
    if (state_.recent.size() > kRecentKept)
      state_.recent.erase(state_.recent.begin());
    if (!candidate)
      return;
    for (const std::string& lesson : candidate->lessons)
      if (std::find(state_.lessons.begin(), state_.lessons.end(), lesson) == state_.lessons.end())
        state_.lessons.push_back(lesson);
    while (state_.lessons.size() > kLessonsKept)
      state_.lessons.erase(state_.lessons.begin());
  }

  // Credit goes to the candidate's own direction, by how much faster it is than the best before it;
  // being faster than its parent counts a little.
  void teach(const Directive& directive, const std::optional<Candidate>& candidate,
             const Evaluation& e, double cost) {
    if (directive.proposer.empty() || !directive.parent)
      return;
    // Whatever came of it, it was paid for; but trouble of the machine is nobody's fault.
    ProposerRecord& record = state_.proposers[directive.proposer];
    if (e.outcome != StepOutcome::infrastructure) {
      ++record.steps;
      record.cost += cost;
    }
    const bool nothing_came =
        e.outcome == StepOutcome::no_proposal || e.outcome == StepOutcome::duplicate;
    if (is_lesson(e.outcome)) {
      double reward = 0;
      if (is_right(e.outcome) && e.objective) {
        if (const Member* best = state_.best())
          reward += std::clamp(log2_gain(best->objective, *e.objective), 0.0, 1.0);
        if (const Member* parent = state_.find(*directive.parent))
          reward += 0.25 * std::clamp(log2_gain(parent->objective, *e.objective), 0.0, 1.0);
      } else if (candidate) {
        learn_faults(*directive.parent, *candidate);
      }
      Arm& arm = state_.arms[{directive.proposer, directive.direction}];
      ++arm.tries;
      arm.reward += std::min(reward, 1.0);
      record.reward += std::min(reward, 1.0);
      ++state_.lessons_told;
    }
    // Faults of syntax and of the machine say nothing against the direction.
    if ((is_lesson(e.outcome) && e.outcome != StepOutcome::improved) || nothing_came)
      state_.tabu[{*directive.parent, tabu_name(directive)}] = e.step + kTabuSteps;
  }

  void learn_faults(Step parent, const Candidate& candidate) {
    const Member* member = state_.find(parent);
    if (member == nullptr)
      return;
    if (const std::string gene = single_difference(member->candidate.genes, candidate.genes);
        !gene.empty())
      learn_fault(state_.genes, gene);
  }

  // Keeps the state small: members that are nobody's elite, and what was tabu for them.
  void forget() {
    std::set<Step> kept = {0};
    if (state_.incumbent)
      kept.insert(*state_.incumbent);
    for (const auto& [cell, step] : state_.elites)
      kept.insert(step);
    for (const auto& [step, directive] : state_.pending)
      for (const auto& parent : {directive.parent, directive.mate})
        if (parent)
          kept.insert(*parent);
    std::erase_if(state_.members, [&](const auto& entry) { return !kept.contains(entry.first); });
    std::erase_if(state_.tabu, [&](const auto& entry) {
      return !kept.contains(entry.first.first) || entry.second < state_.next_step;
    });
  }

  RunState& state_;
};

} // namespace

void RunState::apply(const RunEvent& event) {
  std::visit(Fold(*this), event);
}

std::uint64_t RunState::reserved() const {
  std::uint64_t sum = 0;
  for (const auto& [step, directive] : pending)
    sum += directive.evaluations;
  return sum;
}

const Member* RunState::find(Step candidate) const {
  const auto found = members.find(candidate);
  return found == members.end() ? nullptr : &found->second;
}

const Member* RunState::best() const {
  return incumbent ? find(*incumbent) : nullptr;
}

double RunState::speedup() const {
  const Member* member = best();
  return member == nullptr || !baseline ? 1 : baseline->value / member->objective.value;
}

bool RunState::is_tabu(Step parent, const std::string& name) const {
  const auto found = tabu.find({parent, name});
  return found != tabu.end() && found->second >= next_step;
}

std::string tabu_name(const std::string& proposer, const std::string& direction) {
  return fmt::format("{} {}", proposer, direction);
}

std::string tabu_name(const Directive& directive) {
  const std::string name = tabu_name(directive.proposer, directive.direction);
  return directive.mate ? fmt::format("{} {}", name, *directive.mate) : name;
}

void Spending::add(const ModelCall& call) {
  ++calls;
  usage += call.usage;
  seconds += call.seconds;
  if (call.cost_unknown())
    dollars.reset();
  else if (dollars)
    *dollars += call.dollars.value_or(0);
}

Evaluation settle(const RunState& state, Evaluation evaluation,
                  const std::optional<Step>& same_identity) {
  if (same_identity && !evaluation.duplicate_of && evaluation.candidate == evaluation.step) {
    evaluation.outcome = StepOutcome::duplicate;
    evaluation.duplicate_of = same_identity;
    evaluation.summary = fmt::format("compiles to the same kernel as step {}", *same_identity);
    return evaluation;
  }
  if (evaluation.outcome != StepOutcome::improved)
    return evaluation;
  const RunSettings& settings = state.started.settings;
  if (const Member* best = state.best();
      best != nullptr &&
      evaluation.objective->value >= best->objective.value * (1 - settings.least_gain)) {
    evaluation.outcome = StepOutcome::not_better;
    return evaluation;
  }
  for (const ShapeTime& shape : evaluation.shapes)
    for (const ShapeTime& reference : state.baseline_shapes)
      if (shape.shape == reference.shape &&
          shape.time.value > reference.time.value * (1 + settings.guard)) {
        evaluation.outcome = StepOutcome::guarded;
        evaluation.summary =
            fmt::format("faster in all, but {} takes {:.2f} times as long as with the reference",
                        shape.shape, shape.time.value / reference.time.value);
        return evaluation;
      }
  return evaluation;
}

} // namespace kernevo::evolve
