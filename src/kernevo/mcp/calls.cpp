#include "kernevo/mcp/calls.h"

#include <algorithm>
#include <utility>

namespace kernevo::mcp {

Calls::Calls(std::size_t at_once, std::size_t most) : most_(most) {
  for (std::size_t i = 0; i < at_once; ++i)
    threads_.emplace_back([this] { serve(); });
}

Calls::~Calls() {
  cancel_all();
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_)
    thread.join();
}

Calls::Start Calls::start(const std::string& key, Work work) {
  {
    const std::lock_guard lock(mutex_);
    if (std::any_of(under_way_.begin(), under_way_.end(),
                    [&](const auto& call) { return call->key == key; }))
      return Start::known;
    if (under_way_.size() >= most_)
      return Start::full;
    auto call = std::make_shared<Call>();
    call->key = key;
    call->work = std::move(work);
    under_way_.push_back(call);
    queue_.push_back(std::move(call));
  }
  changed_.notify_one();
  return Start::started;
}

void Calls::cancel(const std::string& key) {
  const std::lock_guard lock(mutex_);
  for (const auto& call : under_way_)
    if (call->key == key)
      call->cancelled = true;
}

void Calls::cancel_all() {
  const std::lock_guard lock(mutex_);
  for (const auto& call : under_way_)
    call->cancelled = true;
}

bool Calls::idle() const {
  const std::lock_guard lock(mutex_);
  return under_way_.empty();
}

void Calls::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ending_ || !queue_.empty(); });
    if (queue_.empty())
      return;
    const std::shared_ptr<Call> call = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    if (!call->cancelled)
      call->work([&] { return call->cancelled.load(); });
    call->work = nullptr; // and what it held, before anybody hears that all is done
    lock.lock();
    std::erase(under_way_, call);
  }
}

} // namespace kernevo::mcp
