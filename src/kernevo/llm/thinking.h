// Some models think aloud inside their answer: <think>...</think>.
#pragma once

#include <string>
#include <string_view>

namespace kernevo::llm {

struct Thought {
  std::string text;
  std::string reasoning;
};

// A block that is never closed is reasoning to the end; a </think> without its beginning ends one
// that began in the prompt. Inside fenced code the tags are code.
Thought split_thinking(std::string_view content);

} // namespace kernevo::llm
