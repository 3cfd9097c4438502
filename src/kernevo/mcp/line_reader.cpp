#include "kernevo/mcp/line_reader.h"

#include <array>
#include <cerrno>
#include <poll.h>
#include <unistd.h>
#include <utility>

namespace kernevo::mcp {
namespace {

constexpr int kLookEvery = 50; // milliseconds

} // namespace

// A whole line of the buffer, or word of one that has outgrown the limit.
std::optional<Line> LineReader::take() {
  const std::size_t end = buffer_.find('\n', searched_);
  if (end == std::string::npos) {
    searched_ = buffer_.size();
    if (buffer_.size() > limit_ || skipping_) {
      skipping_ = true;
      buffer_.clear();
      searched_ = 0;
    }
    return std::nullopt;
  }
  Line line{buffer_.substr(0, end), std::exchange(skipping_, false) || end > limit_};
  buffer_.erase(0, end + 1);
  searched_ = 0;
  if (line.too_long)
    line.text.clear();
  else if (line.text.ends_with('\r'))
    line.text.pop_back();
  return line;
}

bool LineReader::fill(const std::function<bool()>& stop) {
  std::array<char, 65536> bytes{};
  while (!stop()) {
    pollfd wait{descriptor_, POLLIN, 0};
    const int ready = ::poll(&wait, 1, kLookEvery);
    if (ready == 0 || (ready < 0 && errno == EINTR))
      continue;
    const ssize_t count = ready < 0 ? -1 : ::read(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN))
      continue;
    if (count <= 0)
      break;
    buffer_.append(bytes.data(), static_cast<std::size_t>(count));
    return true;
  }
  return false;
}

std::optional<Line> LineReader::next(const std::function<bool()>& stop) {
  while (!ended_) {
    if (auto line = take())
      return line;
    if (fill(stop))
      continue;
    ended_ = true;
    if (skipping_)
      return Line{"", true};
    if (!buffer_.empty()) // the last line may lack its end
      return Line{std::exchange(buffer_, {}), false};
  }
  return std::nullopt;
}

} // namespace kernevo::mcp
