#include "kernevo/llm/sse.h"

#include <utility>

namespace kernevo::llm {

void SseParser::feed(std::string_view piece) {
  while (!piece.empty()) {
    if (after_cr_) {
      after_cr_ = false;
      if (piece.front() == '\n') { // the second half of CR LF
        piece.remove_prefix(1);
        continue;
      }
    }
    const std::size_t end = piece.find_first_of("\r\n");
    line_ += piece.substr(0, end);
    if (end == std::string_view::npos)
      return;
    after_cr_ = piece[end] == '\r';
    piece.remove_prefix(end + 1);
    end_line();
  }
}

void SseParser::finish() {
  if (!line_.empty())
    end_line();
  dispatch();
}

void SseParser::end_line() {
  const std::string line = std::exchange(line_, {});
  if (line.empty()) {
    dispatch();
    return;
  }
  if (line.front() == ':')
    return;
  // An error some gateways write into a stream as it is, without the field's name.
  if (line.front() == '{') {
    dispatch();
    on_event_({"", line});
    return;
  }
  const std::size_t colon = line.find(':');
  const std::string_view field = std::string_view(line).substr(0, colon);
  std::string_view value;
  if (colon != std::string::npos)
    value = std::string_view(line).substr(colon + 1);
  if (value.starts_with(' '))
    value.remove_prefix(1);
  if (field == "event") {
    event_.type = value;
  } else if (field == "data") {
    if (has_data_)
      event_.data += '\n';
    event_.data += value;
    has_data_ = true;
  }
}

void SseParser::dispatch() {
  const SseEvent event = std::exchange(event_, {});
  if (std::exchange(has_data_, false))
    on_event_(event);
}

} // namespace kernevo::llm
