// What whoever writes kernels may know of a verdict: nothing of the shapes that are kept from them.
#pragma once

#include "kernevo/model/diagnosis.h"
#include "kernevo/model/task.h"

#include <optional>
#include <string_view>

namespace kernevo::cli {

class CommandLine;

struct BlindVerdict {
  Verdict verdict;                    // without hidden cases
  std::size_t hidden_cases = 0;       // that were run
  std::optional<Diagnosis> diagnosis; // of a fault
};

BlindVerdict blind_verdict(Verdict verdict, const Task& task, std::string_view source);

void add_blind(CommandLine& command, bool& blind);

} // namespace kernevo::cli
