#include "kernevo/cli/start_program.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kernevo::cli {
namespace {

std::atomic<pid_t> running = 0;

void pass_on(int signal) {
  if (const pid_t pid = running; pid > 0)
    kill(pid, signal);
}

// What we do with signals while the program runs, and what we did before.
class SignalsMeanwhile {
public:
  SignalsMeanwhile() {
    struct sigaction ours{};
    ours.sa_flags = SA_RESTART;
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      const bool of_terminal = kSignals.at(i) == SIGINT || kSignals.at(i) == SIGQUIT;
      ours.sa_handler = of_terminal ? SIG_IGN : pass_on;
      sigaction(kSignals.at(i), &ours, &before_.at(i));
    }
  }
  ~SignalsMeanwhile() { restore(); }
  SignalsMeanwhile(const SignalsMeanwhile&) = delete;
  SignalsMeanwhile& operator=(const SignalsMeanwhile&) = delete;

  void restore() const {
    for (std::size_t i = 0; i < kSignals.size(); ++i)
      sigaction(kSignals.at(i), &before_.at(i), nullptr);
  }

private:
  static constexpr std::array<int, 4> kSignals = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_ = {};
};

} // namespace

Result<ProgramEnd>
run_in_our_place(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                 const std::vector<std::pair<std::string, std::string>>& settings) {
  std::vector<char*> list;
  for (const std::string& argument : arguments)
    list.push_back(const_cast<char*>(argument.c_str())); // NOLINT: exec does not write
  list.push_back(nullptr);
  std::array<int, 2> trouble{}; // tells why the program did not start; closed by its start
  if (pipe2(trouble.data(), O_CLOEXEC) != 0)
    return fail(ErrorCode::infrastructure, fmt::format("no pipe: {}", std::strerror(errno)));
  const SignalsMeanwhile signals;
  const pid_t pid = fork();
  if (pid == 0) {
    signals.restore();
    for (const auto& [name, value] : settings)
      setenv(name.c_str(), value.c_str(), 1);
    execv(program.c_str(), list.data());
    const int why = errno;
    static_cast<void>(!write(trouble[1], &why, sizeof why));
    _exit(127);
  }
  close(trouble[1]);
  if (pid < 0) {
    close(trouble[0]);
    return fail(ErrorCode::infrastructure,
                fmt::format("cannot start another process: {}", std::strerror(errno)));
  }
  running = pid;
  int why = 0;
  ssize_t told = 0;
  while ((told = read(trouble[0], &why, sizeof why)) < 0 && errno == EINTR) {
  }
  close(trouble[0]);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  running = 0;
  if (told == sizeof why)
    return fail(ErrorCode::input,
                fmt::format("cannot start '{}': {}", program.string(), std::strerror(why)));
  ProgramEnd end;
  if (WIFSIGNALED(status))
    end.signal = WTERMSIG(status);
  else
    end.exit_code = WEXITSTATUS(status);
  return end;
}

} // namespace kernevo::cli
