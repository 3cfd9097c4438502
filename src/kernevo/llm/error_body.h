// What an endpoint says went wrong, out of the many shapes it comes in.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kernevo::llm {

struct ErrorBody {
  std::string message;
  std::string code;  // "context_length_exceeded", or a type when there is no code
  std::string param; // the field of the request it is about, when it says so
  int status = 0;    // when the code is a status of HTTP
  std::optional<double> retry_after;

  // Message, code and parameter in lower case, to look for words in.
  std::string lower() const;
};

// From the body of a failed request: JSON of any shape, else its first text.
ErrorBody error_body(std::string_view body);

} // namespace kernevo::llm
