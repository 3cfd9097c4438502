// The kernels and copies of a program, over all its processes, as a table or as JSON.
#pragma once

#include "kernevo/cli/start_program.h"
#include "kernevo/model/program_report.h"

#include <string>
#include <vector>

namespace kernevo::cli {

struct ProgramRun {
  std::vector<std::string> command;
  ProgramEnd end;
  std::string gpu;
  bool profile = false;                 // shapes and resources, too
  std::vector<ProgramReport> processes; // that used the CUDA libraries
};

// Ends with a line break.
std::string program_text(const ProgramRun& run);
std::string program_json(const ProgramRun& run); // one line

// The same of one program's work alone: a table, and with `profile` each kernel's shapes and
// resources.
std::string work_text(const std::vector<ProgramReport>& processes, bool profile);
std::string work_json(const std::vector<ProgramReport>& processes);

} // namespace kernevo::cli
