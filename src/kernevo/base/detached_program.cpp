#include "kernevo/base/detached_program.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kernevo {
namespace {

constexpr int kChannel = 3;

// A fork whose end the parent is told by this signal. A plain fork() would run handlers of
// libraries we know nothing of.
pid_t fork_with(int signal) {
  return static_cast<pid_t>(syscall(SYS_clone, signal, nullptr, nullptr, nullptr, nullptr));
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts)
    pointers.push_back(const_cast<char*>(text.c_str())); // NOLINT: exec does not write
  pointers.push_back(nullptr);
  return pointers;
}

// In a process that was just forked from one with threads: only async-signal-safe calls.
[[noreturn]] void become(const char* program, char* const* arguments, char* const* environment,
                         int null_device, int channel) {
  setsid();
  for (int stream = 0; stream < 3; ++stream)
    dup2(null_device, stream);
  // dup2 of a descriptor onto itself would keep its close-on-exec flag.
  const int moved = fcntl(channel, F_DUPFD, 10);
  if (moved < 0 || dup2(moved, kChannel) < 0)
    _exit(127);
  close_range(kChannel + 1, ~0U, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execve(program, arguments, environment);
  _exit(127);
}

} // namespace

Result<FileDescriptor> start_detached(const std::string& program,
                                      const std::vector<std::string>& arguments,
                                      const std::vector<std::string>& environment) {
  KERNEVO_TRY(channel, make_socket_pair());
  const FileDescriptor null_device(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null_device.valid())
    return fail(ErrorCode::infrastructure,
                fmt::format("cannot open /dev/null: {}", std::strerror(errno)));
  const std::vector<char*> argument_list = pointers_to(arguments);
  const std::vector<char*> environment_list = pointers_to(environment);
  // A child without a signal is not met by wait(); it leaves its own child to whoever adopts it.
  const pid_t between = fork_with(0);
  if (between < 0)
    return fail(ErrorCode::infrastructure,
                fmt::format("cannot start '{}': {}", program, std::strerror(errno)));
  if (between == 0) {
    if (fork_with(SIGCHLD) == 0)
      become(program.c_str(), argument_list.data(), environment_list.data(), null_device.get(),
             channel.theirs.get());
    _exit(0);
  }
  while (waitpid(between, nullptr, __WCLONE) < 0 && errno == EINTR) {
  }
  return std::move(channel.ours);
}

} // namespace kernevo
