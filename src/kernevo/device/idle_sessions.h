// Sessions nobody uses at the moment, the last used first: a kernel that was checked is timed next.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

namespace kernevo {

// A session has alive() and says by serves(...) whether it has what somebody wants.
template <class Session> class IdleSessions {
public:
  explicit IdleSessions(std::size_t most) : most_(most) {}

  // Null when none serves.
  template <class... Wanted> std::unique_ptr<Session> take(const Wanted&... wanted) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(idle_.begin(), idle_.end(), [&](const auto& session) {
      return session->serves(wanted...);
    });
    if (found == idle_.end())
      return nullptr;
    auto session = std::move(*found);
    idle_.erase(found);
    return session;
  }

  // Those that ended are dropped.
  void put(std::unique_ptr<Session> session) {
    if (!session->alive())
      return;
    std::unique_ptr<Session> oldest; // ended outside the lock
    const std::lock_guard lock(mutex_);
    idle_.push_front(std::move(session));
    if (idle_.size() > most_) {
      oldest = std::move(idle_.back());
      idle_.pop_back();
    }
  }

private:
  std::size_t most_;
  std::mutex mutex_;
  std::deque<std::unique_ptr<Session>> idle_;
};

} // namespace kernevo
