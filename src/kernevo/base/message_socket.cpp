#include "kernevo/base/message_socket.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace kernevo {
namespace {

using Clock = std::chrono::steady_clock;
// Larger than any PTX or build record; a corrupt length must not make us allocate the moon.
constexpr std::uint64_t kLargestMessage = std::uint64_t{256} << 20U;

// Waits until the descriptor is readable; false at the deadline.
bool wait_readable(int fd, const std::optional<Clock::time_point>& deadline) {
  for (;;) {
    int timeout = -1;
    if (deadline) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(*deadline - Clock::now()).count();
      if (left <= 0)
        return false;
      timeout = static_cast<int>(std::min<std::int64_t>(left, 1'000'000));
    }
    pollfd entry{fd, POLLIN, 0};
    const int ready = poll(&entry, 1, timeout);
    if (ready > 0)
      return true;
    if (ready < 0 && errno != EINTR)
      return true; // let the read report it
  }
}

MessageEnd read_all(int fd, char* out, std::size_t size,
                    const std::optional<Clock::time_point>& deadline, FileDescriptor* attached) {
  std::size_t done = 0;
  while (done < size) {
    if (!wait_readable(fd, deadline))
      return MessageEnd::late;
    iovec part{out + done, size - done};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    const ssize_t n = recvmsg(fd, &header, MSG_CMSG_CLOEXEC);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return MessageEnd::closed;
    for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
      if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
        continue;
      int received = -1;
      std::memcpy(&received, CMSG_DATA(c), sizeof received);
      FileDescriptor owned(received);
      if (attached != nullptr)
        *attached = std::move(owned);
    }
    done += static_cast<std::size_t>(n);
  }
  return MessageEnd::complete;
}

bool write_all(int fd, const char* data, std::size_t size, int attached) {
  std::size_t done = 0;
  while (done < size) {
    iovec part{const_cast<char*>(data) + done, size - done}; // NOLINT: sendmsg does not write
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    if (attached >= 0 && done == 0) {
      header.msg_control = control.data();
      header.msg_controllen = control.size();
      cmsghdr* c = CMSG_FIRSTHDR(&header);
      c->cmsg_level = SOL_SOCKET;
      c->cmsg_type = SCM_RIGHTS;
      c->cmsg_len = CMSG_LEN(sizeof attached);
      std::memcpy(CMSG_DATA(c), &attached, sizeof attached);
    }
    const ssize_t n = sendmsg(fd, &header, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

} // namespace

bool send_message(int socket, std::string_view text, int attached) {
  const std::uint64_t length = text.size();
  std::array<char, sizeof length> head{};
  std::memcpy(head.data(), &length, sizeof length);
  return write_all(socket, head.data(), head.size(), attached) &&
         write_all(socket, text.data(), text.size(), -1);
}

MessageEnd receive_message(int socket, Message& message,
                           const std::optional<Clock::time_point>& deadline) {
  std::array<char, sizeof(std::uint64_t)> head{};
  if (const MessageEnd end =
          read_all(socket, head.data(), head.size(), deadline, &message.attached);
      end != MessageEnd::complete)
    return end;
  std::uint64_t length = 0;
  std::memcpy(&length, head.data(), sizeof length);
  if (length > kLargestMessage)
    return MessageEnd::closed;
  message.text.resize(length);
  return read_all(socket, message.text.data(), length, deadline, nullptr);
}

Result<SocketPair> make_socket_pair() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return fail(ErrorCode::infrastructure,
                fmt::format("cannot make a channel to a worker: {}", std::strerror(errno)));
  return SocketPair{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

int FileDescriptor::release() {
  return std::exchange(fd_, -1);
}

void FileDescriptor::reset() {
  if (fd_ >= 0)
    close(release());
}

} // namespace kernevo
