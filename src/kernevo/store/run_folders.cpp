#include "kernevo/store/run_folders.h"

#include "kernevo/base/suggest.h"
#include "kernevo/store/open_journal.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

namespace kernevo::store {

namespace fs = std::filesystem;

fs::path runs_folder() {
  const char* set = std::getenv("KERNEVO_RUNS");
  return set != nullptr && *set != '\0' ? fs::path(set) : fs::path("kernevo-runs");
}

Result<std::vector<fs::path>> list_runs() {
  std::vector<fs::path> runs;
  KERNEVO_CHECK(check_location(runs_folder()));
  std::error_code problem;
  if (!fs::exists(runs_folder(), problem))
    return runs;
  for (const auto& entry : fs::directory_iterator(runs_folder(), problem))
    if (holds_run(entry.path()))
      runs.push_back(entry.path());
  if (problem)
    return fail(ErrorCode::infrastructure, "cannot be listed: " + problem.message(),
                Place{runs_folder().string()});
  std::sort(runs.begin(), runs.end());
  return runs;
}

Result<fs::path> find_run(const std::string& name_or_folder) {
  KERNEVO_CHECK(check_location(name_or_folder));
  if (const fs::path below = runs_folder() / name_or_folder; holds_run(below))
    return below;
  if (holds_run(name_or_folder))
    return fs::path(name_or_folder);
  KERNEVO_TRY(runs, list_runs());
  std::vector<std::string> names;
  for (const fs::path& run : runs)
    names.push_back(run.filename().string());
  return fail(
      ErrorCode::usage,
      fmt::format("there is no run '{}'{}", name_or_folder, did_you_mean(name_or_folder, names)),
      std::nullopt,
      names.empty()
          ? fmt::format("no run is in {}; 'kernevo evolve TASK' makes one", runs_folder().string())
          : "'kernevo runs' lists those there are");
}

std::string free_run_name(const std::string& wanted) {
  std::error_code ignored;
  if (!fs::exists(runs_folder() / wanted, ignored))
    return wanted;
  for (int number = 2;; ++number) {
    std::string name = fmt::format("{}-{}", wanted, number);
    if (!fs::exists(runs_folder() / name, ignored))
      return name;
  }
}

} // namespace kernevo::store
