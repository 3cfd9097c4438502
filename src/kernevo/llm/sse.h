// Server-sent events, from pieces of any size.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace kernevo::llm {

struct SseEvent {
  std::string type; // mostly empty
  std::string data; // its lines joined by '\n'
};

class SseParser {
public:
  using OnEvent = std::function<void(const SseEvent&)>;
  explicit SseParser(OnEvent on_event) : on_event_(std::move(on_event)) {}

  // Holds no more than what it was fed since the last event.
  void feed(std::string_view piece);
  // Hands out what has no blank line behind it.
  void finish();

private:
  void end_line();
  void dispatch();

  OnEvent on_event_;
  std::string line_;
  SseEvent event_;
  bool has_data_ = false;
  bool after_cr_ = false;
};

} // namespace kernevo::llm
