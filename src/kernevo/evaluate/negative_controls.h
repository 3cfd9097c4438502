// Answers that need no kernel: a task they pass proves nothing about one.
#pragma once

#include "kernevo/evaluate/run_case.h"

#include <string>
#include <vector>

namespace kernevo {

// Tries zeros, the mean of the expected values and a copy of each input of fitting size; returns
// one warning per control that would pass as this case's output.
Result<std::vector<std::string>> negative_controls(const CaseInputs& inputs,
                                                   const ExpectationSource& expectation);

} // namespace kernevo
