// Whatever an endpoint sends, in pieces of any size, is a reply or said to be none.
#include "kernevo/llm/error_body.h"
#include "kernevo/llm/model_list.h"
#include "kernevo/llm/reply_reader.h"
#include "kernevo/llm/thinking.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kernevo::llm;
  if (size == 0)
    return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t piece = data[0] + std::size_t{1};
  ReplyReader reader;
  for (std::size_t at = 0; at < text.size(); at += piece)
    if (!reader.feed(text.substr(at, piece)))
      break;
  reader.finish();
  const ReadReply& read = reader.read();
  // A byte that is no UTF-8 becomes three.
  if (read.content.size() > 3 * size || read.reasoning.size() > 3 * size)
    std::abort();
  assembled_json(read);
  const Thought thought = split_thinking(read.content);
  if (thought.text.size() + thought.reasoning.size() > read.content.size() + 2)
    std::abort();
  error_body(text).lower();
  if (const auto names = parse_model_list(text))
    lists_model(*names, "model");
  return 0;
}
