#include "kernevo/cli/tune_replay.h"

#include "kernevo/cli/kernel_options.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/search/replay.h"

#include <algorithm>
#include <fmt/format.h>

namespace kernevo::cli {
namespace {

struct Budget {
  std::size_t evaluations = 0;
  double mean = 0;
  double least = 1;
};

// 10, 25, 50, 100, 250, ... up to and with the last.
std::vector<Budget> budgets_up_to(std::size_t last) {
  std::vector<Budget> budgets;
  for (std::size_t tens = 10; tens < last; tens *= 10)
    for (const std::size_t step : {tens, tens * 5 / 2, tens * 5})
      if (step < last)
        budgets.push_back({step});
  budgets.push_back({last});
  return budgets;
}

} // namespace

Result<int> replay_recorded(const std::string& file, const search::SearchOptions& options,
                            std::size_t evaluations, std::size_t ahead, std::uint64_t seeds,
                            const CommonOptions& common) {
  KERNEVO_TRY(recorded, search::load_recorded_space(file));
  evaluations = std::min(evaluations, recorded.space.size());
  std::vector<Budget> budgets = budgets_up_to(evaluations);
  for (std::uint64_t i = 0; i < seeds; ++i) {
    search::SearchOptions each = options;
    each.seed = options.seed + i;
    KERNEVO_TRY(result, search::replay(recorded, each, evaluations, ahead));
    for (Budget& budget : budgets) {
      const double fraction = result.fraction[budget.evaluations - 1];
      budget.mean += fraction / static_cast<double>(seeds);
      budget.least = std::min(budget.least, fraction);
    }
  }
  if (common.json) {
    Json json{{"space", recorded.name},
              {"device", recorded.device},
              {"valid", recorded.space.size()},
              {"optimum_ns", recorded.best.value},
              {"strategy", options.strategy},
              {"seeds", seeds},
              {"ahead", ahead},
              {"budgets", Json::array()}};
    for (const Budget& budget : budgets)
      json["budgets"].push_back({{"evaluations", budget.evaluations},
                                 {"mean_fraction", budget.mean},
                                 {"least_fraction", budget.least}});
    fmt::print("{}\n", dump_json(json, 2));
    return kYes;
  }
  if (!common.quiet)
    fmt::print("space    {}: {} configurations, the fastest {}{}\nsearch   {}, {} seeds\n",
               recorded.name, recorded.space.size(), time_text(recorded.best.value),
               recorded.device.empty() ? "" : " on " + recorded.device, options.strategy, seeds);
  std::vector<std::vector<std::string>> rows = {{"evaluations", "of the optimum", "worst seed"}};
  for (const Budget& budget : budgets)
    rows.push_back({fmt::format("{}", budget.evaluations), fmt::format("{:.3f}", budget.mean),
                    fmt::format("{:.3f}", budget.least)});
  fmt::print("{}", table(rows));
  return kYes;
}

} // namespace kernevo::cli
