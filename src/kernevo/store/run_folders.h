// Where runs live: one folder each, below $KERNEVO_RUNS or ./kernevo-runs.
#pragma once

#include "kernevo/base/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kernevo::store {

std::filesystem::path runs_folder();

// Every folder with a journal below the runs folder, by name.
Result<std::vector<std::filesystem::path>> list_runs();

// The folder of a run by its name or its path. A usage error with the nearest name when there is
// none.
Result<std::filesystem::path> find_run(const std::string& name_or_folder);

// "softmax", or "softmax-2" and so on when that is taken.
std::string free_run_name(const std::string& wanted);

} // namespace kernevo::store
