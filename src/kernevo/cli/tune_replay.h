#pragma once

#include "kernevo/cli/command.h"
#include "kernevo/search/search.h"

namespace kernevo::cli {

// Searches a recorded space from several seeds and prints how near the optimum it came.
Result<int> replay_recorded(const std::string& file, const search::SearchOptions& options,
                            std::size_t evaluations, std::size_t ahead, std::uint64_t seeds,
                            const CommonOptions& common);

} // namespace kernevo::cli
