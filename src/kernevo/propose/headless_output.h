// What a coding agent prints when it runs without a person: its last words, and what they cost, in
// the JSON forms in use. Anything else is taken as plain text.
#pragma once

#include "kernevo/model/model_call.h"

#include <optional>
#include <string>
#include <string_view>

namespace kernevo::propose {

struct HeadlessOutput {
  std::string text;
  std::string model; // empty: it did not say
  TokenUsage usage;  // of what it did not say `estimated` is set
  std::optional<double> dollars;
  std::optional<std::string> failure; // it says of itself that it failed

  bool operator==(const HeadlessOutput&) const = default;
};

HeadlessOutput read_headless_output(std::string_view printed);

} // namespace kernevo::propose
