// Runs another program: argv (never a shell), an explicit environment, limits, captured output.
#pragma once

#include "kernevo/base/result.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kernevo {

class FileCage;

struct SubprocessRequest {
  std::vector<std::string> arguments;   // arguments[0] is the program's path
  std::vector<std::string> environment; // "NAME=value"; nothing is inherited
  std::string input;                    // given on stdin, which is then closed
  std::filesystem::path folder;         // working folder; empty keeps ours
  double time_limit_seconds = 60;
  std::optional<std::uint64_t> memory_limit_bytes; // address space
  std::optional<std::uint64_t> cpu_limit_seconds;
  std::optional<std::uint64_t> file_limit_bytes; // largest file it may write
  std::size_t output_limit = 4U << 20U;          // kept of stdout and of stderr, each
  std::function<bool()> cancelled; // asked about twenty times a second; true ends the program
  const FileCage* cage = nullptr;  // what it may see of the file system; null for all we see
  bool dies_with_us = false;       // killed when the thread that started it ends, however it ends
};

// What the program did is data, also when it crashed or had to be killed.
struct SubprocessResult {
  int exit_status = 0; // meaningful when signal == 0 and nobody stopped it
  int signal = 0;      // the signal that ended it, 0 when it exited
  bool timed_out = false;
  bool cancelled = false;
  bool output_truncated = false; // more than output_limit was written; the rest was discarded
  std::string output;
  std::string error_output;
  double seconds = 0;

  bool stopped() const { return timed_out || cancelled; }
  bool succeeded() const { return exit_status == 0 && signal == 0 && !stopped(); }
};

// An error only when the program cannot be started. Its whole process group is killed at the time
// limit or when it is cancelled, and again after it exits, so that nothing of it is left behind.
Result<SubprocessResult> run_subprocess(const SubprocessRequest& request);

} // namespace kernevo
