// Faults by their kind alone: what can be said of one without a number in it.
#pragma once

#include "kernevo/model/verdict.h"

#include <string_view>

namespace kernevo {

std::string_view in_words(FaultKind kind);
std::string_view in_words(FindingKind kind);

} // namespace kernevo
