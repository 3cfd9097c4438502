#include "kernevo/base/worker_process.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace kernevo {
namespace {

using Clock = std::chrono::steady_clock;

} // namespace

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
  const MessageEnd outcome = receive_message(channel_.get(), message, deadline);
  if (outcome == MessageEnd::complete)
    return message;
  *end = outcome == MessageEnd::late ? WorkerEnd::timed_out : WorkerEnd::crashed;
  // A closed channel means it is dying by itself: give it a moment, so that its own exit status is
  // reported rather than our SIGKILL.
  if (outcome == MessageEnd::closed)
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
  if (receive_message(kDescriptor, message, std::nullopt) != MessageEnd::complete)
    return std::nullopt;
  return message;
}

bool WorkerChannel::send(std::string_view text) {
  return send_message(kDescriptor, text);
}

} // namespace kernevo
