// What one exchange spent: tokens as the endpoint says, else estimated; dollars as it says, else by
// the configured price, else unknown.
#pragma once

#include "kernevo/llm/chat.h"
#include "kernevo/llm/reply_reader.h"
#include "kernevo/model/llm_settings.h"

namespace kernevo::llm {

struct Spent {
  TokenUsage usage;
  std::optional<double> dollars; // absent: unknown
};

std::uint64_t estimate_prompt(const Messages& messages);

// `read` of an exchange with a status of success.
Spent spent_by(const ReadReply& read, const Messages& messages, const ModelSettings& model);

// Adds a try to the sum of a call, whose dollars are known so far or absent.
void add_spent(const Spent& spent, CallResult& result);

// Whether the endpoint answered with another model than was asked, to which no price applies.
bool is_fallback(std::string_view asked, std::string_view answered);

} // namespace kernevo::llm
