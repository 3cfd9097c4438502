#include "kernevo/base/subprocess.h"

#include "kernevo/base/file_cage.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace kernevo {

namespace {

using Clock = std::chrono::steady_clock;

// Closes on destruction; -1 means none.
class Descriptor {
public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { reset(); }

  int number() const { return number_; }
  bool open() const { return number_ >= 0; }
  void reset() {
    if (number_ >= 0)
      ::close(std::exchange(number_, -1));
  }

private:
  int number_ = -1;
};

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return fail(ErrorCode::infrastructure,
                fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

// Everything the child needs, made before fork: after it only async-signal-safe calls are allowed.
struct ChildSetup {
  std::vector<char*> arguments;
  std::vector<char*> environment;
  const char* folder = nullptr;
  int input = -1;
  int output = -1;
  int error_output = -1;
  int report = -1;
  pid_t parent = 0;
  const SubprocessRequest* request = nullptr;
};

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (const std::string& text : strings)
    result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

bool limit(int resource, const std::optional<std::uint64_t>& value) {
  if (!value)
    return true;
  const rlimit bounds{*value, *value};
  return ::setrlimit(resource, &bounds) == 0;
}

// dup2 leaves close-on-exec set when both numbers are the same, so that case clears it.
bool place_descriptor(int from, int to) {
  if (from == to)
    return ::fcntl(to, F_SETFD, 0) == 0;
  return ::dup2(from, to) >= 0;
}

[[noreturn]] void run_child(const ChildSetup& setup) {
  ::setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  // Checked after the wish is made: a parent that ended before it will not wake anybody.
  if (setup.request->dies_with_us &&
      (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != setup.parent))
    ::_exit(127);
  const rlimit no_core{0, 0};
  const bool ready = (setup.request->cage == nullptr || setup.request->cage->enter()) &&
                     (setup.folder == nullptr || ::chdir(setup.folder) == 0) &&
                     place_descriptor(setup.input, STDIN_FILENO) &&
                     place_descriptor(setup.output, STDOUT_FILENO) &&
                     place_descriptor(setup.error_output, STDERR_FILENO) &&
                     ::setrlimit(RLIMIT_CORE, &no_core) == 0 &&
                     limit(RLIMIT_AS, setup.request->memory_limit_bytes) &&
                     limit(RLIMIT_CPU, setup.request->cpu_limit_seconds) &&
                     limit(RLIMIT_FSIZE, setup.request->file_limit_bytes);
  if (ready)
    ::execve(setup.arguments[0], setup.arguments.data(), setup.environment.data());
  const int reason = errno;
  [[maybe_unused]] const ssize_t written = ::write(setup.report, &reason, sizeof reason);
  ::_exit(127);
}

// Appends what is readable, up to the cap; false at the end of the stream.
bool drain(int descriptor, std::string& into, std::size_t cap, bool& truncated) {
  std::array<char, 16384> buffer{};
  const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
  if (count < 0)
    return errno == EINTR || errno == EAGAIN;
  if (count == 0)
    return false;
  const std::size_t room = cap > into.size() ? cap - into.size() : 0;
  const auto got = static_cast<std::size_t>(count);
  into.append(buffer.data(), std::min(room, got));
  truncated = truncated || got > room;
  return true;
}

// Whether the program's time is over, by the clock or by whoever asked for it.
bool over(const SubprocessRequest& request, Clock::time_point deadline, SubprocessResult& result) {
  if (request.cancelled && request.cancelled())
    result.cancelled = true;
  else if (Clock::now() >= deadline)
    result.timed_out = true;
  return result.stopped();
}

// Feeds stdin and collects stdout and stderr until both end or the deadline passes. The pipes may
// outlive the program (a grandchild holds them), so its exit ends the wait as well.
void exchange(pid_t child, const SubprocessRequest& request, Descriptor input, Descriptor output,
              Descriptor error_output, Clock::time_point deadline, SubprocessResult& result) {
  std::size_t written = 0;
  if (request.input.empty())
    input.reset();
  else
    ::fcntl(input.number(), F_SETFL, O_NONBLOCK);
  while (output.open() || error_output.open()) {
    if (over(request, deadline, result))
      return;
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    std::array<pollfd, 3> waits{pollfd{output.number(), POLLIN, 0},
                                pollfd{error_output.number(), POLLIN, 0},
                                pollfd{input.number(), POLLOUT, 0}};
    const auto wait = static_cast<int>(std::clamp<long long>(left.count(), 1, 50));
    const int ready = ::poll(waits.data(), waits.size(), wait);
    if (ready == 0) {
      siginfo_t info{};
      if (::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
          info.si_pid == child)
        return;
      continue;
    }
    if (ready < 0)
      continue; // EINTR
    if (waits[0].revents != 0 &&
        !drain(output.number(), result.output, request.output_limit, result.output_truncated))
      output.reset();
    if (waits[1].revents != 0 && !drain(error_output.number(), result.error_output,
                                        request.output_limit, result.output_truncated))
      error_output.reset();
    if (waits[2].revents != 0) {
      const ssize_t count =
          ::write(input.number(), request.input.data() + written, request.input.size() - written);
      if (count > 0)
        written += static_cast<std::size_t>(count);
      if ((count < 0 && errno != EAGAIN && errno != EINTR) || written == request.input.size())
        input.reset();
    }
  }
}

// Waits for the end of a program that has closed its output but may still be running.
void await_exit(pid_t child, const SubprocessRequest& request, Clock::time_point deadline,
                SubprocessResult& result) {
  while (!result.stopped()) {
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == child)
      return;
    if (!over(request, deadline, result))
      ::usleep(1000);
  }
}

// A program that does not read all its input must not kill us through SIGPIPE; the mask is this
// thread's own, and a pending signal is taken off again.
class PipeSignalGuard {
public:
  PipeSignalGuard() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  PipeSignalGuard(const PipeSignalGuard&) = delete;
  PipeSignalGuard& operator=(const PipeSignalGuard&) = delete;
  ~PipeSignalGuard() {
    const timespec now{};
    while (::sigtimedwait(&pipe_, nullptr, &now) > 0) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

private:
  sigset_t pipe_{};
  sigset_t before_{};
};

} // namespace

Result<SubprocessResult> run_subprocess(const SubprocessRequest& request) {
  if (request.arguments.empty())
    return fail(ErrorCode::infrastructure, "no program to run");
  KERNEVO_TRY(input, make_pipe());
  KERNEVO_TRY(output, make_pipe());
  KERNEVO_TRY(error_output, make_pipe());
  KERNEVO_TRY(report, make_pipe());

  ChildSetup setup;
  setup.arguments = pointers(request.arguments);
  setup.environment = pointers(request.environment);
  const std::string folder = request.folder.string();
  setup.folder = folder.empty() ? nullptr : folder.c_str();
  setup.input = input.read.number();
  setup.output = output.write.number();
  setup.error_output = error_output.write.number();
  setup.report = report.write.number();
  setup.parent = ::getpid();
  setup.request = &request;

  const PipeSignalGuard guard;
  const auto start = Clock::now();
  const pid_t child = ::fork();
  if (child < 0)
    return fail(ErrorCode::infrastructure,
                fmt::format("cannot start {}: {}", request.arguments[0], std::strerror(errno)));
  if (child == 0)
    run_child(setup);
  ::setpgid(child, child); // also here: whichever of the two comes first
  input.read.reset();
  output.write.reset();
  error_output.write.reset();
  report.write.reset();

  int reason = 0;
  ssize_t reported = 0;
  do {
    reported = ::read(report.read.number(), &reason, sizeof reason);
  } while (reported < 0 && errno == EINTR);

  SubprocessResult result;
  if (reported != static_cast<ssize_t>(sizeof reason)) {
    const auto deadline = start + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(request.time_limit_seconds));
    exchange(child, request, std::move(input.write), std::move(output.read),
             std::move(error_output.read), deadline, result);
    await_exit(child, request, deadline, result);
  }
  ::kill(-child, SIGKILL); // before the wait: until then the group's number cannot be reused
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (reported == static_cast<ssize_t>(sizeof reason))
    return fail(ErrorCode::infrastructure,
                fmt::format("cannot run {}: {}", request.arguments[0], std::strerror(reason)));
  if (WIFSIGNALED(status))
    result.signal = WTERMSIG(status);
  else
    result.exit_status = WEXITSTATUS(status);
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return result;
}

} // namespace kernevo
