// Starting workers: one process per role gets ready, then forks a worker for each job.
#include "kernevo/base/instrumented.h"
#include "kernevo/base/worker_process.h"

#include <array>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace kernevo {
namespace {

// Reading tables and loading a compiler's library, on a busy machine.
constexpr double kReadySeconds = 120;

std::string& worker_program() {
  static std::string path = "/proc/self/exe";
  return path;
}

struct Counts {
  std::mutex mutex;
  std::map<std::string, WorkerCounts> by_role;
};
Counts& counts() {
  static auto* all = new Counts; // never destroyed: threads may still be at work
  return *all;
}
void count(const std::string& role, std::uint64_t WorkerCounts::* what) {
  const std::lock_guard lock(counts().mutex);
  ++(counts().by_role[role].*what);
}

// Replaces this process, a fresh child, by the program in a role. Only async-signal-safe calls.
[[noreturn]] void become_nursery(const char* program, char* const* arguments, int null_device,
                                 int channel) {
  dup2(null_device, 0);
  dup2(null_device, 1);
  if (!kInstrumented) // a sanitizer's report must be read by somebody
    dup2(null_device, 2);
  // dup2 of a descriptor onto itself would keep its close-on-exec flag.
  const int moved = fcntl(channel, F_DUPFD, 10);
  if (moved < 0 || dup2(moved, WorkerChannel::kDescriptor) < 0)
    _exit(127);
  close_range(WorkerChannel::kDescriptor + 1, ~0U, 0);
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::array<char*, 1> environment = {nullptr};
  execve(program, arguments, environment.data());
  _exit(127);
}

Result<std::pair<pid_t, FileDescriptor>> start_program(const std::string& program,
                                                       const std::string& role) {
  KERNEVO_TRY(channel, make_socket_pair());
  std::string name = "kernevo";
  std::string command = "__worker";
  std::string role_copy = role;
  std::array<char*, 4> arguments = {name.data(), command.data(), role_copy.data(), nullptr};
  const FileDescriptor null_device(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null_device.valid())
    return fail(ErrorCode::infrastructure,
                fmt::format("cannot open /dev/null: {}", std::strerror(errno)));
  const pid_t pid = fork();
  if (pid < 0)
    return fail(ErrorCode::infrastructure,
                fmt::format("cannot start a worker process: {}", std::strerror(errno)));
  if (pid == 0)
    become_nursery(program.c_str(), arguments.data(), null_device.get(), channel.theirs.get());
  return std::pair(pid, std::move(channel.ours));
}

// Processes die with the thread that started them (PR_SET_PDEATHSIG), so all nurseries are started
// by one thread that lives as long as the program.
template <class F> auto on_lasting_thread(F job) -> decltype(job()) {
  struct Starter {
    std::mutex mutex;
    std::condition_variable wake;
    std::vector<std::function<void()>> jobs;
    Starter() {
      std::thread([this] {
        // Signals are for the threads that know what to do with them.
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, nullptr);
        std::unique_lock lock(mutex);
        for (;;) {
          wake.wait(lock, [this] { return !jobs.empty(); });
          auto next = std::move(jobs.back());
          jobs.pop_back();
          lock.unlock();
          next();
          lock.lock();
        }
      }).detach();
    }
  };
  static auto* starter = new Starter; // never destroyed: its thread ends with the program
  std::promise<decltype(job())> promise;
  {
    const std::lock_guard lock(starter->mutex);
    starter->jobs.emplace_back([&] { promise.set_value(job()); });
  }
  starter->wake.notify_one();
  return promise.get_future().get();
}

} // namespace

class Nursery {
public:
  Nursery(std::string program, std::string role, std::string preparation)
      : program_(std::move(program)), role_(std::move(role)), preparation_(std::move(preparation)) {
  }

  Result<WorkerProcess> fork_worker() {
    const std::lock_guard lock(mutex_);
    if (process_)
      if (auto worker = ask())
        return std::move(*worker);
    // Not started yet, or somebody has killed it since.
    KERNEVO_CHECK(start());
    if (auto worker = ask())
      return std::move(*worker);
    process_.reset();
    return fail(ErrorCode::infrastructure, fmt::format("the {} worker did not start", role_));
  }

private:
  Result<void> start() {
    KERNEVO_TRY(started, on_lasting_thread([&] { return start_program(program_, role_); }));
    process_.reset(new WorkerProcess(started.first, std::move(started.second)));
    count(role_, &WorkerCounts::nurseries);
    WorkerEnd end = WorkerEnd::crashed;
    if (process_->send(preparation_) && process_->receive(kReadySeconds, &end))
      return {};
    const std::string how = process_->describe_end();
    process_.reset();
    return fail(ErrorCode::infrastructure,
                fmt::format("the {} worker did not start: {}", role_, how));
  }

  std::optional<WorkerProcess> ask() {
    auto channel = make_socket_pair();
    if (!channel || !process_->send("fork", channel->theirs.get()))
      return std::nullopt;
    channel->theirs.reset();
    WorkerEnd end = WorkerEnd::crashed;
    const auto answer = process_->receive(kReadySeconds, &end);
    const pid_t pid = answer ? std::atoi(answer->text.c_str()) : 0;
    if (pid <= 0)
      return std::nullopt;
    count(role_, &WorkerCounts::workers);
    return WorkerProcess(pid, std::move(channel->ours));
  }

  std::string program_;
  std::string role_;
  std::string preparation_;
  std::mutex mutex_;
  std::unique_ptr<WorkerProcess> process_;
};

namespace {

// A child of whoever started this nursery, who can so wait for it and learn how it ended. A plain
// fork() cannot do that; the C library's handlers it leaves out matter only to programs with
// threads, and this has one.
pid_t fork_for_parent() {
  return static_cast<pid_t>(
      syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
}

} // namespace

void set_worker_program(const std::string& path) {
  worker_program() = path;
}

WorkerCounts worker_counts(const std::string& role) {
  const std::lock_guard lock(counts().mutex);
  return counts().by_role[role];
}

Result<WorkerProcess> WorkerProcess::start(const std::string& role,
                                           const std::string& preparation) {
  struct Nurseries {
    std::mutex mutex;
    std::map<std::array<std::string, 3>, std::shared_ptr<Nursery>> all;
  };
  // Never destroyed: threads may still be at work when the program ends.
  static auto* nurseries = new Nurseries;
  std::shared_ptr<Nursery> nursery;
  {
    const std::lock_guard lock(nurseries->mutex);
    auto& found = nurseries->all[{worker_program(), role, preparation}];
    if (!found)
      found = std::make_shared<Nursery>(worker_program(), role, preparation);
    nursery = found;
  }
  return nursery->fork_worker();
}

int serve_role(const WorkerRole& role) {
  WorkerChannel channel;
  const std::optional<Message> preparation = channel.receive();
  if (!preparation)
    return 0;
  role.prepare(preparation->text);
  if (!channel.send("ready"))
    return 0;
  while (std::optional<Message> request = channel.receive()) {
    if (!request->attached.valid())
      return 3;
    const pid_t pid = fork_for_parent();
    if (pid == 0) {
      setpgid(0, 0);
      // The worker's channel takes the place of the nursery's.
      if (dup2(request->attached.get(), WorkerChannel::kDescriptor) < 0)
        return 3;
      request->attached.reset();
      return role.serve();
    }
    if (!channel.send(fmt::format("{}", pid)))
      return 0;
  }
  return 0;
}

} // namespace kernevo
