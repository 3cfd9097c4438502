// Messages over a connected socket: a length, so many bytes, and optionally a file descriptor.
#pragma once

#include "kernevo/base/result.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

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

// How waiting for a message ended. A length that no message of ours has counts as closed.
enum class MessageEnd { complete, closed, late };

// Without a deadline it waits for as long as the other end lives.
MessageEnd receive_message(int socket, Message& message,
                           const std::optional<std::chrono::steady_clock::time_point>& deadline);
// False when the other end is gone.
bool send_message(int socket, std::string_view text, int attached = -1);

struct SocketPair {
  FileDescriptor ours;
  FileDescriptor theirs;
};
// Both are closed in programs that are started from here, unless they are handed on.
Result<SocketPair> make_socket_pair();

} // namespace kernevo
