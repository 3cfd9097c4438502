// Takes the key out of everything that is shown or kept.
#pragma once

#include <string>
#include <string_view>

namespace kernevo::llm {

class Redactor {
public:
  explicit Redactor(std::string key = "") : key_(std::move(key)) {}

  // For bodies and answers: the key alone, also where it is written with escapes of JSON or a URL.
  // Keys as short as a word ("none", "EMPTY") are no secrets and stay.
  std::string without_key(std::string_view text) const;
  // For messages and headers: also whatever follows "Bearer" or "api_key=".
  std::string redact(std::string_view text) const;
  // As redact, on one line of bounded length, without control characters.
  std::string one_line(std::string_view text) const;

private:
  std::string key_;
};

} // namespace kernevo::llm
