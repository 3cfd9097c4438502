// A few threads that do jobs in the order they were given.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace kernevo {

class JobPool {
public:
  explicit JobPool(unsigned threads);
  ~JobPool(); // drops what has not begun, waits for what has

  void submit(std::function<void()> job);
  // Drops what has not begun. Jobs begin in order, so what is done or under way is a prefix.
  void cancel();

private:
  void work();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> jobs_;
  bool closing_ = false;
  std::vector<std::jthread> threads_;
};

} // namespace kernevo
