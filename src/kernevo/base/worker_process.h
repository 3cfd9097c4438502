// A child process that serves requests over a socket: this same program started again in a role.
// A message is a text and, optionally, one file descriptor.
#pragma once

#include "kernevo/base/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace kernevo {

// An owned file descriptor.
class FileDescriptor {
public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int release();
  void reset();

private:
  int fd_ = -1;
};

struct Message {
  std::string text;
  FileDescriptor attached;
};

// How a conversation with a worker can end other than with an answer.
enum class WorkerEnd { crashed, timed_out };

class WorkerProcess {
public:
  // Starts `<program> __worker <role>` with an empty environment, its standard streams on /dev/null
  // and the channel as descriptor 3.
  static Result<WorkerProcess> start(const std::string& role);
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

private:
  WorkerProcess(pid_t pid, FileDescriptor channel) : pid_(pid), channel_(std::move(channel)) {}
  void stop();

  pid_t pid_ = -1;
  int status_ = 0;
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

} // namespace kernevo
