// The parts of a model's reply: reasoning, fenced blocks, prose. Nothing here throws or takes more
// than time linear in the text, whatever the bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernevo::propose {

// Without <think>...</think> and the like. An end without a beginning takes all before it, a
// beginning without an end all after it.
std::string without_reasoning(std::string_view text);

struct FencedBlock {
  std::string language; // the word after the fence, in lower case; may be empty
  std::string text;     // as deep as its fence
  bool closed = true;
  std::size_t begin = 0; // of the line that opens it, in the text
};

struct ReplyParts {
  std::vector<FencedBlock> blocks;
  std::string prose; // all lines outside blocks
};
ReplyParts split_reply(std::string_view text);

// On one line, valid UTF-8, without control characters and repeated blanks, at most so many
// bytes.
std::string clean_line(std::string_view text, std::size_t limit);

// The string values of these keys in JSON that may be broken: raw line breaks and quotes in
// strings, missing ends, commas too many.
std::vector<std::string> json_strings(std::string_view text,
                                      const std::vector<std::string_view>& keys);

} // namespace kernevo::propose
