#include "kernevo/cli/stop_signals.h"

#include <csignal>
#include <cstdlib>
#include <ctime>

namespace kernevo::cli {
namespace {

constexpr long kLookEvery = 50'000'000; // nanoseconds

sigset_t stop_set() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

} // namespace

StopSignals::StopSignals() {
  const sigset_t signals = stop_set();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  watcher_ = std::jthread([this](const std::stop_token& done) {
    const sigset_t awaited = stop_set();
    const timespec patience{0, kLookEvery};
    while (!done.stop_requested()) {
      const int signal = sigtimedwait(&awaited, nullptr, &patience);
      if (signal <= 0)
        continue;
      if (requested_)
        std::_Exit(128 + signal);
      requested_ = true;
    }
  });
}

StopSignals::~StopSignals() {
  watcher_.request_stop();
  watcher_.join();
  const sigset_t signals = stop_set();
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

} // namespace kernevo::cli
