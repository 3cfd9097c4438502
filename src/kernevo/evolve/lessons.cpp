#include "kernevo/evolve/lessons.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kernevo::evolve {
namespace {

constexpr std::size_t kEvidenceKept = 4;
constexpr std::uint64_t kEnoughPairs = 2;
constexpr double kHarm = -0.02; // ln: 2 % slower

} // namespace

std::string single_difference(const std::vector<std::string>& without,
                              const std::vector<std::string>& with) {
  if (with.size() != without.size() + 1)
    return {};
  std::vector<std::string> rest = with;
  for (const std::string& gene : without) {
    const auto found = std::find(rest.begin(), rest.end(), gene);
    if (found == rest.end())
      return {};
    rest.erase(found);
  }
  return rest.front();
}

void learn(GeneLessons& lessons, const std::string& gene, const Ablation& ablation) {
  GeneEffect& effect = lessons[gene];
  effect.least = effect.pairs == 0 ? ablation.gain : std::min(effect.least, ablation.gain);
  effect.most = effect.pairs == 0 ? ablation.gain : std::max(effect.most, ablation.gain);
  ++effect.pairs;
  effect.sum += ablation.gain;
  effect.latest.push_back(ablation);
  if (effect.latest.size() > kEvidenceKept)
    effect.latest.erase(effect.latest.begin());
}

void learn_fault(GeneLessons& lessons, const std::string& gene) {
  ++lessons[gene].faults;
}

std::set<std::string> avoid_patterns(const GeneLessons& lessons) {
  std::set<std::string> harmful;
  for (const auto& [gene, effect] : lessons)
    if ((effect.pairs >= kEnoughPairs && effect.most < kHarm) ||
        (effect.pairs == 0 && effect.faults >= kEnoughPairs))
      harmful.insert(gene);
  return harmful;
}

std::string describe(const GeneEffect& effect) {
  std::string text;
  if (effect.pairs > 0) {
    const double change = std::exp(effect.mean());
    text = fmt::format("{:.2f} times as fast on average of {} pair{} ({:.2f} to {:.2f})", change,
                       effect.pairs, effect.pairs == 1 ? "" : "s", std::exp(effect.least),
                       std::exp(effect.most));
    const Ablation& last = effect.latest.back();
    text += fmt::format(", as step {} beside {}", last.with, last.without);
  }
  if (effect.faults > 0)
    text += fmt::format("{}wrong or failing {} time{}", text.empty() ? "" : "; ", effect.faults,
                        effect.faults == 1 ? "" : "s");
  return text;
}

} // namespace kernevo::evolve
