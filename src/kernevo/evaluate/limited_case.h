// One case within its limits: slow kernels get their time, endless ones are found out cheaply.
#pragma once

#include "kernevo/evaluate/run_case.h"

namespace kernevo {

// As run_case with the budget of `options`. A sanitized run that takes more than `first_budget`
// waits for the word of a plain run, which has the whole budget: if that ends, the sanitized one
// may take all it needs.
Result<CaseReport> run_limited_case(BoundSubject& subject, const CaseInputs& inputs,
                                    const ExpectationSource& expectation,
                                    const CaseOptions& options, std::uint64_t first_budget);

} // namespace kernevo
