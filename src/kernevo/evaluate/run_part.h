// Some blocks of one launch with every sanitizer, where they cannot be run as the plan would: other
// launches come before, or other blocks wait and are waited for.
#pragma once

#include "kernevo/evaluate/run_case.h"

#include <cstddef>

namespace kernevo {

// Floating outputs and scratch hold numbers in place of what the rest of the plan would have left;
// integers, which may be indices, count as never written. So a finding means something only when
// it is about threads and what they do to each other; `is_race` says which are. Compares nothing.
// `inputs` are made on demand; the blocks are options.only_blocks.
Result<CaseReport> run_part(BoundSubject& subject, std::size_t part, const CaseInputs& inputs,
                            const CaseOptions& options);
bool is_race(FindingKind kind);

} // namespace kernevo
