// What an exchange means for a call: an answer, a failure for good, or one worth another try.
#pragma once

#include "kernevo/llm/exchange.h"

namespace kernevo::llm {

struct Judgement {
  std::optional<CallFailure> failure; // absent: the reply is good
  ErrorBody error;
  bool refused = false;       // a parameter may be the reason
  bool retry = false;         // the same may pass later
  bool endpoint_down = false; // counts towards an outage
  std::optional<double> wait; // asked for by the endpoint
};

struct Asked {
  const ModelSettings& model;
  const std::string& base_url;
  const Redactor& redactor;
};

Judgement judge(const Exchanged& exchanged, const Asked& asked);

} // namespace kernevo::llm
