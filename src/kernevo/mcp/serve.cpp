#include "kernevo/mcp/serve.h"

#include <atomic>
#include <cerrno>
#include <poll.h>
#include <string>
#include <unistd.h>

namespace kernevo::mcp {
namespace {

constexpr int kLookEvery = 50; // milliseconds

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count > 0)
      text.remove_prefix(static_cast<std::size_t>(count));
    else if (count < 0 && errno != EINTR)
      return false;
  }
  return true;
}

// Waits a little; true when nobody will read any more.
bool reader_gone(int descriptor) {
  pollfd wait{descriptor, 0, 0};
  const int ready = ::poll(&wait, 1, kLookEvery);
  return ready > 0 && (wait.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0;
}

} // namespace

void serve(const ServerOptions& options, int input, int output, const std::function<bool()>& stop) {
  std::atomic<bool> gone = false;
  Server server(options, [&](const std::string& message) {
    if (!gone && !write_all(output, message + "\n"))
      gone = true;
  });
  const auto over = [&] { return gone || stop(); };
  LineReader reader(input, kLongestMessage);
  while (!over()) {
    const auto line = reader.next(over);
    if (!line)
      break;
    server.receive(*line);
  }
  // No more requests; whoever sent the last ones may still want to read what comes of them.
  while (!over() && !server.idle())
    if (reader_gone(output))
      gone = true;
}

} // namespace kernevo::mcp
