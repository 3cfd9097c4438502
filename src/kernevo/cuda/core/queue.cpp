#include "kernevo/cuda/core/queue.h"

#include "kernevo/cuda/core/last_error.h"
#include "kernevo/cuda/core/session.h"
#include "kernevo/vgpu/tier/plugin.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <pthread.h>
#include <thread>
#include <utility>

namespace kernevo::cuda {

// One lock and one bell for all queues: work is long, and what it waits for is in other queues.
struct Queues {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::weak_ptr<Queue>> all;
  std::weak_ptr<Queue> legacy;
  std::uint64_t made = 0;
  int threads = 0;
  int threads_ever = 0;
  bool ending = false;
  bool forked = false;

  // Never destroyed: programs give back what they hold from static destructors.
  static Queues& get() {
    static auto* const queues = [] {
      auto* const made = new Queues();
      // Handlers run in the opposite order, so before the destructors of what was there before: of
      // LLVM, too, which would otherwise be loaded by a thread that may still use it then.
      (void)vgpu::load_compiler();
      std::atexit([] { Queues::get().end(); });
      // Nobody else has the lock while the process doubles: it would stay locked in the child.
      pthread_atfork([] { Queues::get().mutex.lock(); }, [] { Queues::get().mutex.unlock(); },
                     [] {
                       Queues& ours = Queues::get();
                       ours.forked = ours.threads_ever != 0;
                       ours.mutex.unlock();
                     });
      return made;
    }();
    return *queues;
  }

  // The process exits: what runs is stopped, what waits is dropped, and the threads are gone before
  // the objects that they use.
  void end() {
    if (forked)
      return;
    Session::get().interrupt();
    std::unique_lock lock(mutex);
    ending = true;
    changed.notify_all();
    changed.wait_for(lock, std::chrono::seconds(2), [this] { return threads == 0; });
  }

  std::vector<std::shared_ptr<Queue>> living() {
    std::vector<std::shared_ptr<Queue>> found;
    std::erase_if(all, [&](const std::weak_ptr<Queue>& one) {
      auto held = one.lock();
      if (held == nullptr)
        return true;
      found.push_back(std::move(held));
      return false;
    });
    return found;
  }
};

namespace {

// The thread's first object, so that it goes after all others of the thread.
struct Departure {
  ~Departure() {
    Queues& queues = Queues::get();
    const std::lock_guard lock(queues.mutex);
    --queues.threads;
    queues.changed.notify_all();
  }
};

bool& queue_thread() {
  static thread_local bool is = false;
  return is;
}

} // namespace

std::shared_ptr<Queue> Queue::make(QueueKind kind) {
  std::shared_ptr<Queue> queue(new Queue(kind));
  Queues& queues = Queues::get();
  const std::lock_guard lock(queues.mutex);
  queues.all.push_back(queue);
  queue->id_ = ++queues.made;
  if (kind == QueueKind::legacy)
    queues.legacy = queue;
  return queue;
}

// The legacy default stream waits for what all blocking streams were given before, and they for it.
std::vector<Point> Queue::implied_needs() const {
  Queues& queues = Queues::get();
  std::vector<Point> needs;
  const auto need = [&](const std::shared_ptr<Queue>& other) {
    if (other != nullptr && other->done_ < other->given_)
      needs.push_back({other, other->given_});
  };
  if (kind_ == QueueKind::blocking)
    need(queues.legacy.lock());
  if (kind_ == QueueKind::legacy)
    for (const auto& other : queues.living())
      if (other->kind_ == QueueKind::blocking)
        need(other);
  return needs;
}

bool Queue::ready(const Task& task) const {
  return std::all_of(task.needs.begin(), task.needs.end(), [](const Point& point) {
    return point.queue == nullptr || point.queue->done_ >= point.number;
  });
}

Point Queue::add(Work work, const std::vector<Point>& needs) {
  Queues& queues = Queues::get();
  const std::lock_guard lock(queues.mutex);
  Task task{std::move(work), implied_needs()};
  task.needs.insert(task.needs.end(), needs.begin(), needs.end());
  tasks_.push_back(std::move(task));
  ++given_;
  if (!has_thread_)
    start_thread();
  else
    queues.changed.notify_all();
  return {shared_from_this(), given_};
}

cudaError_t Queue::add_and_wait(const Work& work) {
  Queues& queues = Queues::get();
  std::unique_lock lock(queues.mutex);
  const Task now{nullptr, implied_needs()};
  if (!tasks_.empty() || busy_ || !ready(now)) {
    lock.unlock();
    cudaError_t result = cudaSuccess;
    wait_for(add([&] { return result = work(); }));
    return result;
  }
  busy_ = true;
  ++given_;
  lock.unlock();
  const cudaError_t result = work();
  lock.lock();
  busy_ = false;
  ++done_;
  queues.changed.notify_all();
  return result;
}

Point Queue::last() const {
  const std::lock_guard lock(Queues::get().mutex);
  return {std::const_pointer_cast<Queue>(shared_from_this()), given_};
}

void Queue::close() {
  Queues& queues = Queues::get();
  const std::lock_guard lock(queues.mutex);
  closed_ = true;
  queues.changed.notify_all();
}

void Queue::start_thread() {
  has_thread_ = true;
  ++Queues::get().threads;
  ++Queues::get().threads_ever;
  std::thread(&Queue::loop, shared_from_this()).detach();
}

void Queue::loop(const std::shared_ptr<Queue>& queue) {
  static thread_local const Departure departure;
  queue_thread() = true;
  queue->work();
}

void Queue::work() {
  Queues& queues = Queues::get();
  std::unique_lock lock(queues.mutex);
  while (true) {
    queues.changed.wait(lock, [&] {
      return queues.ending || (tasks_.empty() ? closed_ : !busy_ && ready(tasks_.front()));
    });
    if (queues.ending || tasks_.empty())
      return;
    busy_ = true;
    {
      const Task task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      if (task.work != nullptr)
        note_failure(task.work());
    } // what the work holds is given back before anybody is told
    lock.lock();
    busy_ = false;
    ++done_;
    queues.changed.notify_all();
  }
}

bool is_reached(const Point& point) {
  const std::lock_guard lock(Queues::get().mutex);
  return point.queue == nullptr || point.queue->done_ >= point.number;
}

void wait_for(const Point& point) {
  Queues& queues = Queues::get();
  std::unique_lock lock(queues.mutex);
  queues.changed.wait(lock, [&] {
    return queues.ending || point.queue == nullptr || point.queue->done_ >= point.number;
  });
}

std::vector<Point> all_work() {
  Queues& queues = Queues::get();
  const std::lock_guard lock(queues.mutex);
  std::vector<Point> points;
  for (const auto& queue : queues.living())
    if (queue->done_ < queue->given_)
      points.push_back({queue, queue->given_});
  return points;
}

void wait_for_all_work() {
  for (const Point& point : all_work())
    wait_for(point);
}

bool is_queue_thread() {
  return queue_thread();
}

bool is_ending() {
  const std::lock_guard lock(Queues::get().mutex);
  return Queues::get().ending;
}

bool queues_are_ours() {
  return !Queues::get().forked;
}

} // namespace kernevo::cuda
