#include "kernevo/base/worker_process.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

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

enum class ReadEnd { complete, closed, late };

ReadEnd read_all(int fd, char* out, std::size_t size,
                 const std::optional<Clock::time_point>& deadline, FileDescriptor* attached) {
  std::size_t done = 0;
  while (done < size) {
    if (!wait_readable(fd, deadline))
      return ReadEnd::late;
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
      return ReadEnd::closed;
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
  return ReadEnd::complete;
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

bool send_message(int fd, std::string_view text, int attached) {
  const std::uint64_t length = text.size();
  std::array<char, sizeof length> head{};
  std::memcpy(head.data(), &length, sizeof length);
  return write_all(fd, head.data(), head.size(), attached) &&
         write_all(fd, text.data(), text.size(), -1);
}

ReadEnd receive_message(int fd, Message& message,
                        const std::optional<Clock::time_point>& deadline) {
  std::array<char, sizeof(std::uint64_t)> head{};
  if (const ReadEnd end = read_all(fd, head.data(), head.size(), deadline, &message.attached);
      end != ReadEnd::complete)
    return end;
  std::uint64_t length = 0;
  std::memcpy(&length, head.data(), sizeof length);
  if (length > kLargestMessage)
    return ReadEnd::closed;
  message.text.resize(length);
  return read_all(fd, message.text.data(), length, deadline, nullptr);
}

} // namespace

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

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), status_(other.status_), stopped_(other.stopped_),
      channel_(std::move(other.channel_)) {}

WorkerProcess& WorkerProcess::operator=(WorkerProcess&& other) noexcept {
  if (this != &other) {
    stop();
    pid_ = std::exchange(other.pid_, -1);
    status_ = other.status_;
    stopped_ = other.stopped_;
    channel_ = std::move(other.channel_);
  }
  return *this;
}

WorkerProcess::~WorkerProcess() {
  stop();
}

void WorkerProcess::stop() {
  if (pid_ <= 0)
    return;
  stopped_ = true;
  kill(-pid_, SIGKILL);
  kill(pid_, SIGKILL);
  while (waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

bool WorkerProcess::send(std::string_view text, int attached) {
  return send_message(channel_.get(), text, attached);
}

std::optional<Message> WorkerProcess::receive(double seconds, WorkerEnd* end) {
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(seconds));
  Message message;
  const ReadEnd outcome = receive_message(channel_.get(), message, deadline);
  if (outcome == ReadEnd::complete)
    return message;
  *end = outcome == ReadEnd::late ? WorkerEnd::timed_out : WorkerEnd::crashed;
  // A closed channel means it is dying by itself: give it a moment, so that its own exit status is
  // reported rather than our SIGKILL.
  if (outcome == ReadEnd::closed)
    for (int i = 0; i < 100 && pid_ > 0; ++i) {
      if (waitpid(pid_, &status_, WNOHANG) == pid_)
        pid_ = -1;
      else
        usleep(2000);
    }
  stop();
  return std::nullopt;
}

std::string WorkerProcess::describe_end() {
  if (WIFSIGNALED(status_))
    return fmt::format("signal {} ({})", WTERMSIG(status_), strsignal(WTERMSIG(status_)));
  return fmt::format("exit code {}", WEXITSTATUS(status_));
}

bool WorkerProcess::was_killed() const {
  return !stopped_ && WIFSIGNALED(status_) && WTERMSIG(status_) == SIGKILL;
}

std::optional<Message> WorkerChannel::receive() {
  Message message;
  if (receive_message(kDescriptor, message, std::nullopt) != ReadEnd::complete)
    return std::nullopt;
  return message;
}

bool WorkerChannel::send(std::string_view text) {
  return send_message(kDescriptor, text, -1);
}

} // namespace kernevo
