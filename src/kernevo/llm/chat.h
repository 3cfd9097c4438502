// A conversation with a model, free of any endpoint's ways: what is asked, what comes back, and how
// it can fail.
#pragma once

#include "kernevo/model/model_call.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo::llm {

enum class Role { system, user, assistant };
std::string_view name_of(Role role);

struct Message {
  Role role = Role::user;
  std::string text;

  bool operator==(const Message&) const = default;
};
using Messages = std::vector<Message>;

struct ChatRequest {
  Messages messages;
  std::uint64_t max_tokens = 0; // of the reply, reasoning included; 0: as the model's settings say
  // When all of them went into reasoning the call is repeated once with up to this many; 0: twice
  // max_tokens.
  std::uint64_t most_tokens = 0;
  std::string id; // "7.code.0": names the call in traces and replays
  // Tokens that all tries together may take, prompts included (estimate_tokens of the messages,
  // until the endpoint tells): a further try that could go beyond is not made. Absent: no limit.
  std::optional<std::uint64_t> allowance;
};

enum class FailureKind {
  wrong_key,        // 401, 403
  wrong_model,      // 404, or a 400 that says so
  bad_request,      // 400 and the like, nothing we know to change
  context_overflow, // the prompt is too long for the model
  out_of_credit,    // 402
  rate_limited,     // 429, and patience is at its end
  unreachable,      // no connection, and patience is at its end
  server_error,     // 5xx, again and again
  timeout,          // no payload for too long, or the total deadline
  cut,              // the stream broke off, again and again
  malformed,        // an answer that is no chat completion
  empty_answer,     // no text at all
  out_of_length,    // all tokens went into reasoning
  cancelled,
};
std::string_view name_of(FailureKind kind);

struct CallFailure {
  FailureKind kind = FailureKind::malformed;
  std::string message; // one line, without secrets
  std::string fix;     // what the user can do; may be empty
};

// Whether going on makes no sense until somebody does something: the run stops, resumable.
bool stops_the_run(FailureKind kind);

struct ChatReply {
  std::string text;      // the answer alone
  std::string reasoning; // kept apart, never read as code
  std::string finish;    // "stop", "length", ...
  std::string model;     // as the endpoint named it
};

// What one call came to, all its tries together. A failed one may have cost something, too.
struct CallResult {
  std::optional<ChatReply> reply;
  std::optional<CallFailure> failure; // exactly one of the two is there
  TokenUsage usage;
  std::optional<double> dollars;
  double seconds = 0;
  std::uint32_t tries = 0; // requests that were sent
};

} // namespace kernevo::llm
