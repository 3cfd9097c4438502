#include "kernevo/llm/cost.h"

#include "kernevo/llm/client.h"

#include <algorithm>

namespace kernevo::llm {
namespace {

double priced(const TokenUsage& usage, const ModelPrice& price) {
  const auto tokens = [](std::uint64_t count) { return static_cast<double>(count) * 1e-6; };
  return tokens(usage.prompt - usage.cached) * price.prompt +
         tokens(usage.cached) * price.cached.value_or(price.prompt) +
         tokens(usage.completion) * price.completion;
}

TokenUsage usage_or_estimate(const ReadReply& read, const Messages& messages) {
  const bool answered = !read.content.empty() || !read.reasoning.empty() || !read.unread.empty();
  if (read.usage && (read.complete || read.error || !read.streamed))
    return *read.usage;
  // An error alone, or nothing at all, is not charged.
  if (read.bytes == 0 || (read.error && !answered))
    return read.usage.value_or(TokenUsage{});
  TokenUsage usage;
  usage.prompt = estimate_prompt(messages);
  usage.reasoning = estimate_tokens(read.reasoning);
  usage.completion = estimate_tokens(read.content) + usage.reasoning + estimate_tokens(read.unread);
  usage.estimated = true;
  if (read.usage) { // counted along the way, before the stream broke off
    usage.prompt = std::max(read.usage->prompt, std::uint64_t{1});
    usage.cached = read.usage->cached;
    usage.completion = std::max(usage.completion, read.usage->completion);
    usage.reasoning = std::max(usage.reasoning, read.usage->reasoning);
  }
  return usage;
}

std::string_view without_vendor(std::string_view name) {
  return name.substr(name.rfind('/') + 1); // npos + 1 is 0
}

} // namespace

bool is_fallback(std::string_view asked, std::string_view answered) {
  const std::string_view a = without_vendor(asked);
  const std::string_view b = without_vendor(answered);
  // A date or a variant behind the name is still the same model.
  return !b.empty() && !a.starts_with(b) && !b.starts_with(a);
}

std::uint64_t estimate_prompt(const Messages& messages) {
  std::uint64_t tokens = 0;
  for (const Message& message : messages)
    tokens += estimate_tokens(message.text);
  return tokens;
}

Spent spent_by(const ReadReply& read, const Messages& messages, const ModelSettings& model) {
  Spent spent{usage_or_estimate(read, messages), read.cost};
  if (spent.dollars)
    return spent;
  if (spent.usage.total() == 0)
    spent.dollars = 0;
  else if (model.price && !is_fallback(model.name, read.model))
    spent.dollars = priced(spent.usage, *model.price);
  return spent;
}

void add_spent(const Spent& spent, CallResult& result) {
  result.usage += spent.usage;
  if (result.dollars && spent.dollars)
    *result.dollars += *spent.dollars;
  else
    result.dollars.reset();
}

} // namespace kernevo::llm
