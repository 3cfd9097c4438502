// A child process that serves requests over a socket: this same program started again in a role.
// A message is a text and, optionally, one file descriptor.
//
// Starting a program, reading its tables and loading its libraries costs more than most jobs, so
// that is done once for each role: a *nursery* of the role prepares itself and then does nothing
// but fork one worker per job. A worker that a job has damaged takes nothing with it.
#pragma once

#include "kernevo/base/message_socket.h" // IWYU pragma: export
#include "kernevo/base/result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace kernevo {

// How a conversation with a worker can end other than with an answer.
enum class WorkerEnd { crashed, timed_out };

class WorkerProcess {
public:
  // A worker of this role with an empty environment, its standard streams on /dev/null and the
  // channel as descriptor 3, forked by the nursery of the role.
  // The nursery is started as `<program> __worker <role>` when it is first needed, and handed
  // `preparation`.
  // Each preparation has a nursery of its own.
  static Result<WorkerProcess> start(const std::string& role, const std::string& preparation = "");
  WorkerProcess(WorkerProcess&&) noexcept;
  WorkerProcess& operator=(WorkerProcess&&) noexcept;
  ~WorkerProcess(); // kills and reaps

  // False when the worker is gone.
  bool send(std::string_view text, int attached = -1);
  // The next message, or how the worker ended. `seconds` is a wall-clock limit; on time-out the
  // worker is killed.
  std::optional<Message> receive(double seconds, WorkerEnd* end);
  // "signal 11 (Segmentation fault)", "exit code 3": valid after it ended.
  std::string describe_end();
  // Valid after it ended: with a SIGKILL that was not ours. The system was out of memory, or
  // somebody did it by hand; no code brings it upon itself by what it computes.
  bool was_killed() const;

private:
  friend class Nursery;
  WorkerProcess(pid_t pid, FileDescriptor channel) : pid_(pid), channel_(std::move(channel)) {}
  void stop();

  pid_t pid_ = -1;
  int status_ = 0;
  bool stopped_ = false; // by us, while it still ran
  FileDescriptor channel_;
};

// The program WorkerProcess starts; /proc/self/exe unless set (by tests and embedding programs).
void set_worker_program(const std::string& path);

// The worker's side of the channel.
class WorkerChannel {
public:
  static constexpr int kDescriptor = 3;
  std::optional<Message> receive(); // nothing: the parent is gone
  bool send(std::string_view text);
};

// What a role consists of: getting ready, once, in the nursery, and the job of one worker.
struct WorkerRole {
  std::function<void(const std::string& preparation)> prepare;
  std::function<int()> serve;
};

// The nursery's main loop; in a worker it returns what `serve` returned.
int serve_role(const WorkerRole& role);

// How many nurseries of a role were started and how many workers they forked, in this process so
// far.
struct WorkerCounts {
  std::uint64_t nurseries = 0;
  std::uint64_t workers = 0;
};
WorkerCounts worker_counts(const std::string& role);

} // namespace kernevo
