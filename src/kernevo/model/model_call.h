// One call of a language model: what it was for, what it cost, how it ended. Unknown is absent,
// never zero.
#pragma once

#include "kernevo/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kernevo {

struct TokenUsage {
  std::uint64_t prompt = 0;     // cached ones included
  std::uint64_t cached = 0;     // of the prompt
  std::uint64_t completion = 0; // reasoning included
  std::uint64_t reasoning = 0;  // of the completion
  bool estimated = false;       // the endpoint did not say (a cut stream); counted by us

  std::uint64_t total() const { return prompt + completion; }
  TokenUsage& operator+=(const TokenUsage& other);
  bool operator==(const TokenUsage&) const = default;
};

// Of one step all calls have different ids.
struct ModelCall {
  std::uint64_t step = 0;
  std::string id;    // "code.0", "repair.2": the stage and which of its calls in this step
  std::string stage; // "plan", "code", "repair", "recombine", "insights", "lineage"
  std::string model; // as the endpoint named it, else as it was asked for
  TokenUsage usage;
  std::optional<double> dollars;
  double seconds = 0;
  std::uint32_t tries = 1;
  // "stop", "length", ... as the endpoint says; ours: "cut" (the stream broke off), "cancelled",
  // "failed", "lost" (this program ended while it waited).
  std::string finish;

  // Whether it may have cost something that nobody told.
  bool cost_unknown() const { return !dollars && (usage.total() > 0 || usage.estimated); }
  bool operator==(const ModelCall&) const = default;
};

std::string to_json(const ModelCall& call);
Result<ModelCall> model_call_from_json(std::string_view text);

} // namespace kernevo
