// What commands about a kernel of a task share: which files, which GPU, which parameters.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/kernel/kernel_file.h"

#include <string>
#include <vector>

namespace kernevo::cli {

// "BM=64" each; integers only.
Result<ParameterValues> parse_parameters(const std::vector<std::string>& settings);

// "BM=64 BN=32".
std::string parameters_text(const ParameterValues& parameters);

// 1234567 ns -> "1.235 ms", with a unit that suits.
std::string time_text(double nanoseconds);

} // namespace kernevo::cli
