// Of the program that models GPUs and of the figures it models them from.
#pragma once

#include "kernevo/base/result.h"

#include <filesystem>
#include <string>

namespace kernevo {

// Twelve hexadecimal digits, worked out once.
Result<std::string> model_fingerprint();

// Of all figures in this folder that times are modelled from.
Result<std::string> hash_of_tables(const std::filesystem::path& share);

} // namespace kernevo
