#include "kernevo/llm/quirks.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <mutex>

namespace kernevo::llm {
namespace {

using Words = std::initializer_list<std::string_view>;

bool has_any(std::string_view text, Words words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

bool in_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// As a word of its own: "stream" is not in "stream_options".
bool names_field(std::string_view text, std::string_view field) {
  for (std::size_t at = text.find(field); at != std::string_view::npos;
       at = text.find(field, at + 1)) {
    const std::size_t end = at + field.size();
    if ((at == 0 || !in_name(text[at - 1])) && (end == text.size() || !in_name(text[end])))
      return true;
  }
  return false;
}

bool says_unsupported(std::string_view text) {
  return has_any(text,
                 {"unsupported",       "not support",      "n't support",      "unknown",
                  "unrecognized",      "unrecognised",     "unexpected",       "not permitted",
                  "not allowed",       "extra field",      "extra input",      "extra_forbidden",
                  "invalid parameter", "invalid argument", "deprecated",       "cannot be used",
                  "can't be used",     "cannot both",      "not a valid",      "no such",
                  "not available",     "not implemented",  "only the default", "must not be",
                  "use 'max_",         "use max_",         "incompatible",     "not recognized"});
}

// The largest number in the text below the limit that was refused.
std::optional<std::uint64_t> smaller_limit(std::string_view text, std::uint64_t limit) {
  std::uint64_t best = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (std::isdigit(static_cast<unsigned char>(text[i])) == 0) {
      ++i;
      continue;
    }
    const bool part_of_name = i > 0 && (in_name(text[i - 1]) || text[i - 1] == '-');
    std::uint64_t value = 0;
    for (; i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0; ++i)
      if (value < (1U << 30U))
        value = value * 10 + static_cast<std::uint64_t>(text[i] - '0');
    if (!part_of_name && value < limit)
      best = std::max(best, value);
  }
  constexpr std::uint64_t kUseful = 64;
  return best >= kUseful ? std::optional(best) : std::nullopt;
}

std::optional<Quirks> without_field(std::string_view text, Quirks quirks,
                                    const ModelSettings& model) {
  if (names_field(text, quirks.completion_limit ? "max_completion_tokens" : "max_tokens")) {
    quirks.completion_limit = !quirks.completion_limit;
    return quirks;
  }
  const auto drop = [&](bool sent, bool& field, const char* name) {
    if (!sent || !field || !names_field(text, name))
      return false;
    field = false;
    return true;
  };
  // Where two exclude each other the temperature is the one people mean.
  if (drop(model.top_p.has_value(), quirks.top_p, "top_p") ||
      drop(model.temperature.has_value(), quirks.temperature, "temperature") ||
      drop(model.seed.has_value(), quirks.seed, "seed") ||
      drop(quirks.stream, quirks.stream_options, "stream_options") ||
      drop(quirks.stream, quirks.stream_options, "include_usage"))
    return quirks;
  if (!model.reasoning_effort.empty() && quirks.reasoning != ReasoningForm::none &&
      (names_field(text, "reasoning_effort") || names_field(text, "reasoning"))) {
    quirks.reasoning =
        quirks.reasoning == ReasoningForm::effort ? ReasoningForm::object : ReasoningForm::none;
    return quirks;
  }
  if (drop(true, quirks.stream, "stream") || drop(true, quirks.stream, "streaming"))
    return quirks;
  return std::nullopt;
}

struct Memory {
  std::mutex mutex;
  std::map<std::pair<std::string, std::string>, Quirks> known;
};

Memory& memory() {
  static Memory instance;
  return instance;
}

} // namespace

std::optional<Quirks> learn_from(const ErrorBody& error, const Quirks& sent,
                                 const ModelSettings& model, std::uint64_t limit) {
  const std::string text = error.lower();
  if (has_any(text, {"max_tokens", "max_completion_tokens"}) &&
      has_any(text, {"too large", "at most", "valid range", "less than or equal",
                     "<=", "must be between", "exceeds", "greater than"})) {
    if (const auto most = smaller_limit(text, limit)) {
      Quirks quirks = sent;
      quirks.most_tokens = most;
      return quirks;
    }
  }
  if (!says_unsupported(text))
    return std::nullopt;
  if (!error.param.empty())
    if (auto quirks = without_field(error.param, sent, model))
      return quirks;
  return without_field(text, sent, model);
}

Quirks known_quirks(const std::string& base_url, const std::string& model) {
  Memory& all = memory();
  const std::lock_guard lock(all.mutex);
  const auto found = all.known.find({base_url, model});
  return found == all.known.end() ? Quirks{} : found->second;
}

void remember_quirks(const std::string& base_url, const std::string& model, const Quirks& quirks) {
  Memory& all = memory();
  const std::lock_guard lock(all.mutex);
  all.known[{base_url, model}] = quirks;
}

} // namespace kernevo::llm
