// Calls under way: a few at once, the others in a queue, each of which can be cancelled.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace kernevo::mcp {

class Calls {
public:
  // Work asks the function it is given now and then whether it was cancelled.
  using Work = std::function<void(const std::function<bool()>&)>;
  enum class Start { started, full, known };

  Calls(std::size_t at_once, std::size_t most);
  ~Calls(); // cancels all and waits for them
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

  // Refuses a key that is under way, and more than `most`.
  Start start(const std::string& key, Work work);
  void cancel(const std::string& key);
  void cancel_all();
  bool idle() const;

private:
  struct Call {
    std::string key;
    Work work;
    std::atomic<bool> cancelled = false;
  };

  void serve();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<Call>> under_way_; // queued ones included
  std::deque<std::shared_ptr<Call>> queue_;
  std::size_t most_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

} // namespace kernevo::mcp
