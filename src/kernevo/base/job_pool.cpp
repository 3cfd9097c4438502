#include "kernevo/base/job_pool.h"

#include <algorithm>

namespace kernevo {

JobPool::JobPool(unsigned threads) {
  for (unsigned i = 0; i < std::max(1U, threads); ++i)
    threads_.emplace_back([this] { work(); });
}

JobPool::~JobPool() {
  {
    const std::lock_guard lock(mutex_);
    jobs_.clear();
    closing_ = true;
  }
  wake_.notify_all();
  threads_.clear(); // joins
}

void JobPool::submit(std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  wake_.notify_one();
}

void JobPool::cancel() {
  const std::lock_guard lock(mutex_);
  jobs_.clear();
}

void JobPool::work() {
  for (;;) {
    std::function<void()> job;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return closing_ || !jobs_.empty(); });
      if (jobs_.empty())
        return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job();
  }
}

} // namespace kernevo
