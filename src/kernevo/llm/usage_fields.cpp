#include "kernevo/llm/usage_fields.h"

#include <algorithm>
#include <cmath>

namespace kernevo::llm {
namespace {

constexpr double kMostTokens = 1e12; // beyond it somebody is joking

std::uint64_t count(const Json& json, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const auto value = number_member(json, name); value && *value > 0)
      return static_cast<std::uint64_t>(std::min(*value, kMostTokens));
  return 0;
}

} // namespace

std::optional<TokenUsage> usage_of(const Json& json) {
  TokenUsage usage;
  usage.prompt = count(json, {"prompt_tokens", "input_tokens"});
  usage.completion = count(json, {"completion_tokens", "output_tokens"});
  if (usage.total() == 0)
    return std::nullopt;
  usage.cached = count(member(json, "prompt_tokens_details"), {"cached_tokens"});
  if (usage.cached == 0)
    usage.cached = count(json, {"prompt_cache_hit_tokens"});
  usage.cached = std::min(usage.cached, usage.prompt);
  usage.reasoning = count(member(json, "completion_tokens_details"), {"reasoning_tokens"});
  // Some count the reasoning beside the completion: then only the total adds up.
  const std::uint64_t total = count(json, {"total_tokens"});
  if (usage.reasoning > usage.completion ||
      (usage.reasoning > 0 && total == usage.total() + usage.reasoning))
    usage.completion += usage.reasoning;
  return usage;
}

std::optional<double> cost_of(const Json& json) {
  const auto cost = number_member(json, "cost");
  return cost && std::isfinite(*cost) && *cost >= 0 ? cost : std::nullopt;
}

} // namespace kernevo::llm
