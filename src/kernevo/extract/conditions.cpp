#include "kernevo/extract/conditions.h"

#include "kernevo/evaluate/contest.h"

#include <fmt/format.h>

namespace kernevo::extract {

Result<std::optional<Receipt>> conditions_of(store::Journal& journal,
                                             const Evaluation& evaluation) {
  if (evaluation.contest.empty())
    return std::nullopt;
  KERNEVO_TRY(kept, journal.recall(evaluation.contest));
  if (!kept)
    return std::nullopt;
  // The objective decides what the shapes come to together, which nobody asks here.
  KERNEVO_TRY(contest, contest_from_json(*kept, Objective::geometric_mean_speedup));
  if (contest.cases.empty())
    return std::nullopt;
  return std::move(contest.cases.front().episode.candidate.receipt);
}

std::string clock_and_heat(const Receipt& receipt) {
  std::string text;
  if (receipt.clocks && receipt.clocks->multiprocessor_mhz)
    text = fmt::format("{:.0f} MHz", *receipt.clocks->multiprocessor_mhz);
  if (receipt.celsius)
    text += fmt::format("{}{:.0f} C", text.empty() ? "" : ", ", *receipt.celsius);
  return text;
}

} // namespace kernevo::extract
