// Work in order: a stream's queue and the thread that does it. Everything that waits, waits for a
// point of a queue.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <cuda_runtime_api.h>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace kernevo::cuda {

using Work = std::function<cudaError_t()>;

class Queue;

// When so many pieces of the queue's work are done. No queue: already.
struct Point {
  std::shared_ptr<Queue> queue;
  std::uint64_t number = 0;
};

// How a stream stands to the legacy default stream: it, one that waits for it and is waited for, or
// one that does not care.
enum class QueueKind : std::uint8_t { legacy, blocking, independent };

class Queue : public std::enable_shared_from_this<Queue> {
public:
  static std::shared_ptr<Queue> make(QueueKind kind);

  // Puts the work at the end; it waits for these points, too. Never blocks.
  Point add(Work work, const std::vector<Point>& needs = {});
  // The same and waits until it is done: in this thread where nothing stands before it. Returns
  // what the work returns.
  cudaError_t add_and_wait(const Work& work);
  // After everything that is in the queue now, and for the default streams what they stand for.
  Point last() const;
  QueueKind kind() const { return kind_; }
  // Of its own in this process.
  std::uint64_t id() const { return id_; }
  // No more work comes: the thread ends when all is done.
  void close();

private:
  struct Task {
    Work work;
    std::vector<Point> needs;
  };

  explicit Queue(QueueKind kind) : kind_(kind) {}
  bool ready(const Task& task) const;
  std::vector<Point> implied_needs() const;
  void start_thread();
  void work();
  static void loop(const std::shared_ptr<Queue>& queue);

  friend struct Queues;
  friend bool is_reached(const Point& point);
  friend void wait_for(const Point& point);
  friend std::vector<Point> all_work();

  QueueKind kind_;
  std::uint64_t id_ = 0;
  std::deque<Task> tasks_;
  std::uint64_t given_ = 0;
  std::uint64_t done_ = 0;
  bool busy_ = false;
  bool has_thread_ = false;
  bool closed_ = false;
};

bool is_reached(const Point& point);
void wait_for(const Point& point);
// Everything given to any queue so far.
std::vector<Point> all_work();
void wait_for_all_work();
// Whether this thread does the work of a queue: it must not wait for one.
bool is_queue_thread();
// The process exits: who waits for the program's doing must give up.
bool is_ending();
// False in a process that was forked after work began: its threads are the parent's.
bool queues_are_ours();

} // namespace kernevo::cuda
