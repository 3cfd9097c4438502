// Another program in our place: with our streams, our arguments for it and some settings more.
#pragma once

#include "kernevo/base/result.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace kernevo::cli {

struct ProgramEnd {
  int exit_code = 0;
  int signal = 0; // that ended it; 0 when it exited

  // As a shell passes it on.
  int status() const { return signal != 0 ? 128 + signal : exit_code; }
};

// Waits for it. Keys that end a program (Ctrl-C) reach it from the terminal and leave us alone;
// SIGTERM and SIGHUP sent to us are passed on. An error when it cannot be started.
Result<ProgramEnd>
run_in_our_place(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                 const std::vector<std::pair<std::string, std::string>>& settings);

} // namespace kernevo::cli
