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

} // namespace

std::vector<ScoredArm> score_arms(const RunState& state, const Member& parent,
                                  const std::vector<OpenArm>& arms, std::uint64_t seed) {
  std::vector<ScoredArm> scored;
  std::vector<std::string> lots;
  for (const OpenArm& open : arms) {
    ScoredArm entry{open, 0, 0, 0, 0, nullptr};
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
        (tries * entry.reward + entry.prior) / (tries + 1) +
        kCuriosity * std::sqrt(std::log1p(static_cast<double>(state.lessons_told)) / (tries + 1));
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
