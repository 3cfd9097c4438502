// Of the program that models GPUs and of the figures it models them from.
#pragma once

#include "kernevo/base/result.h"

#include <string>

namespace kernevo {

// Twelve hexadecimal digits, worked out once.
Result<std::string> model_fingerprint();

} // namespace kernevo
