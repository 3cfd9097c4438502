#include "kernevo/evolve/bandit.h"

#include "kernevo/base/hash.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kernevo::evolve {
namespace {

constexpr double kCuriosity = 0.3;      // weight of not having tried
constexpr double kUnasked = 0.05;       // prior of a direction no bottleneck asks for
constexpr double kLaterDirection = 0.8; // a rule lists its directions best first

// Before anything is known a proposer counts as having brought this by one step of usual cost.
constexpr double kHopedFor = 0.3;

struct Asked {
  double prior = kUnasked;
  const BottleneckFinding* finding = nullptr;
};

Asked asked_for(const Member& parent, const std::string& direction) {
  Asked best;
  for (const BottleneckFinding& finding : parent.findings) {
    double weight = finding.severity;
    for (const BottleneckDirection& entry : finding.directions) {
      if (entry.name == direction && weight > best.prior)
        best = {weight, &finding};
      weight *= kLaterDirection;
    }
  }
  return best;
}

// Gain per cost of each proposer, the best one's being 1. Cost is the share of the budget its steps
// took, so that a model's tokens and the playbook's evaluations compare without a rate between
// them.
std::map<std::string, double> worths(const RunState& state, const std::vector<OpenArm>& arms) {
  std::uint64_t steps = 0;
  double cost = 0;
  for (const auto& [name, record] : state.proposers) {
    steps += record.steps;
    cost += record.cost;
  }
  std::map<std::string, double> worth;
  double most = 0;
  for (const OpenArm& arm : arms) {
    ProposerRecord record;
    if (const auto found = state.proposers.find(arm.proposer); found != state.proposers.end())
      record = found->second;
    const double usual_steps = cost > 0 ? record.cost * static_cast<double>(steps) / cost
                                        : static_cast<double>(record.steps);
    worth[arm.proposer] = (record.reward + kHopedFor * arm.weight) / (usual_steps + 1);
    most = std::max(most, worth[arm.proposer]);
  }
  for (auto& [name, value] : worth)
    value = most > 0 ? value / most : 1;
  return worth;
}

} // namespace

std::vector<ScoredArm> score_arms(const RunState& state, const Member& parent,
                                  const std::vector<OpenArm>& arms, std::uint64_t seed) {
  std::vector<ScoredArm> scored;
  const std::map<std::string, double> worth = worths(state, arms);
  for (const OpenArm& open : arms) {
    ScoredArm entry{open, 0, 0, 0, 0, worth.at(open.proposer), nullptr};
    const Asked asked = asked_for(parent, open.direction);
    entry.prior = asked.prior;
    entry.finding = asked.finding;
    if (const auto found = state.arms.find({open.proposer, open.direction});
        found != state.arms.end() && found->second.tries > 0) {
      entry.tries = found->second.tries;
      entry.reward = found->second.reward / static_cast<double>(entry.tries);
    }
    const auto tries = static_cast<double>(entry.tries);
    // The prior counts as one try.
    entry.score =
        entry.worth *
        ((tries * entry.reward + entry.prior) / (tries + 1) +
         kCuriosity * std::sqrt(std::log1p(static_cast<double>(state.lessons_told)) / (tries + 1)));
    scored.push_back(std::move(entry));
  }
  const auto lot = [&](const ScoredArm& entry) {
    return sha256_hex(fmt::format("{} {} {}", seed, entry.arm.proposer, entry.arm.direction));
  };
  std::stable_sort(scored.begin(), scored.end(), [&](const ScoredArm& a, const ScoredArm& b) {
    return a.score != b.score ? a.score > b.score : lot(a) < lot(b);
  });
  return scored;
}

} // namespace kernevo::evolve
