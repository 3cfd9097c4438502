// Which changes helped: candidates that differ from a relative in one gene tell what that gene
// does.
#pragma once

#include "kernevo/model/search_records.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace kernevo::evolve {

// Two candidates that differ in one gene alone.
struct Ablation {
  Step without = 0;
  Step with = 0;
  double gain = 0; // ln(time without / time with)

  bool operator==(const Ablation&) const = default;
};

struct GeneEffect {
  std::uint64_t pairs = 0;
  double sum = 0; // of the gains
  double least = 0;
  double most = 0;
  std::uint64_t faults = 0;     // candidates it was added to and that were wrong or failed
  std::vector<Ablation> latest; // evidence

  double mean() const { return pairs == 0 ? 0 : sum / static_cast<double>(pairs); }
  bool operator==(const GeneEffect&) const = default;
};

using GeneLessons = std::map<std::string, GeneEffect>;

// The gene `with` has and `without` has not, when that is the only difference; else empty.
std::string single_difference(const std::vector<std::string>& without,
                              const std::vector<std::string>& with);

void learn(GeneLessons& lessons, const std::string& gene, const Ablation& ablation);
void learn_fault(GeneLessons& lessons, const std::string& gene);

// Genes that did harm wherever they were tried, at least twice.
std::set<std::string> avoid_patterns(const GeneLessons& lessons);
// For people: "made it 12 % slower in 3 of 3 pairs (steps 4 and 7, ...)".
std::string describe(const GeneEffect& effect);

} // namespace kernevo::evolve
