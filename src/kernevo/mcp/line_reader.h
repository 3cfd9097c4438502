// Lines from a descriptor, with a bound on their length: one that is too long is reported and
// skipped, and never held in memory.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace kernevo::mcp {

struct Line {
  std::string text;      // without its end
  bool too_long = false; // then `text` is empty
};

class LineReader {
public:
  LineReader(int descriptor, std::size_t limit) : descriptor_(descriptor), limit_(limit) {}

  // The next line; nothing at the end of the stream or when `stop` says so, which is asked about
  // twenty times a second.
  std::optional<Line> next(const std::function<bool()>& stop);

private:
  std::optional<Line> take();
  bool fill(const std::function<bool()>& stop);

  int descriptor_;
  std::size_t limit_;
  std::string buffer_;
  std::size_t searched_ = 0; // so much of the buffer holds no end of a line
  bool skipping_ = false;    // inside a line that is too long
  bool ended_ = false;
};

} // namespace kernevo::mcp
