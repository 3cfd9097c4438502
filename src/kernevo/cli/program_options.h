// What commands about Python programs share: which task, in which arithmetic, on which GPU.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/cli/command.h"
#include "kernevo/device/open_device.h"
#include "kernevo/programs/stage_jobs.h"

#include <string>
#include <vector>

namespace kernevo::cli {

class CommandLine;

struct ProgramTaskOptions {
  std::string checkout; // of KernelBench; empty: a task file is named
  int level = 0;
  std::string problem; // number or name
  std::string precision = "fp32";
  std::string mode;
  bool allow_tf32 = false;
  std::string class_name = "ModelNew";
};

void add_program_task(CommandLine& command, ProgramTaskOptions& options);

// Whether the words of a command line are of a task for Python programs: a file task.py, a folder
// that has one, a problem of KernelBench.
bool is_program_task(const std::string& task, const ProgramTaskOptions& options);

// Its name; programs are judged on virtual GPUs.
Result<std::string> program_gpu(const DeviceChoice& device);

struct ProgramWords {
  std::string title; // of the task, as people named it
  ProgramTask task;
  std::vector<std::filesystem::path> programs;
};

// `words`: the positional ones, a task first unless it is a problem of KernelBench, then as many
// programs as the command takes.
Result<ProgramWords> find_program_task(StageJobs& jobs, const std::vector<std::string>& words,
                                       const ProgramTaskOptions& options,
                                       const DeviceChoice& device, std::size_t programs);

} // namespace kernevo::cli
