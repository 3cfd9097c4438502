// kernevo run -- PROGRAM ARGS: any CUDA program on the virtual GPU, with a table of its kernels.
#include "kernevo/base/files.h"
#include "kernevo/base/temporary_folder.h"
#include "kernevo/cli/command.h"
#include "kernevo/cli/command_line.h"
#include "kernevo/cli/program_table.h"
#include "kernevo/hardware/gpu_table.h"
#include "kernevo/programs/cuda_libraries.h"
#include "kernevo/programs/program_file.h"
#include "kernevo/programs/python_environment.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <memory>

namespace kernevo::cli {
namespace fs = std::filesystem;

namespace {

struct Options {
  CommonOptions common;
  std::string gpu = "A100";
  bool sanitize = false;
  bool profile = false;
  int cores = 0;
  std::string output;
  std::vector<std::string> command;
};

// 'python' alone, where no environment is active, is the one that 'kernevo setup python' made.
std::vector<std::string> command_of(const std::vector<std::string>& asked) {
  std::vector<std::string> command = asked;
  const char* const active = std::getenv("VIRTUAL_ENV");
  const bool other =
      active != nullptr && *active != '\0' && std::getenv("KERNEVO_PYTHON") == nullptr;
  if (command.front() == "python" && !other)
    if (const auto python = environment_python())
      command.front() = python->string(); // a Python looks for its packages by how it was called
  return command;
}

std::vector<std::pair<std::string, std::string>> settings_for(const Options& options,
                                                              const Gpu& gpu,
                                                              const fs::path& libraries,
                                                              const fs::path& reports) {
  std::string search = libraries.string();
  if (const char* before = std::getenv("LD_LIBRARY_PATH"); before != nullptr && *before != '\0')
    search += fmt::format(":{}", before);
  std::vector<std::pair<std::string, std::string>> settings = {
      {"LD_LIBRARY_PATH", search},
      {"KERNEVO_GPU", gpu.name},
      {"KERNEVO_RUN_REPORT", reports.string()}};
  if (options.sanitize)
    settings.emplace_back("KERNEVO_SANITIZE", "1");
  if (options.cores > 0)
    settings.emplace_back("KERNEVO_CORES", fmt::format("{}", options.cores));
  return settings;
}

// What the processes of the program wrote down. One that was killed while it did leaves nothing.
std::vector<ProgramReport> read_reports(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".json")
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<ProgramReport> reports;
  for (const fs::path& file : files) {
    const auto text = read_text_file(file);
    if (auto report = text ? program_report_from_json(*text) : tl::unexpected<Error>(text.error()))
      reports.push_back(std::move(*report));
    else
      fmt::print(stderr, "kernevo: {}\n", format_error(report.error()));
  }
  return reports;
}

Result<int> run(const Options& options) {
  if (options.command.empty())
    return fail(ErrorCode::usage, "no program is named", std::nullopt,
                "kernevo run --gpu H100 -- PROGRAM ARGS");
  KERNEVO_TRY(gpu, find_gpu(options.gpu));
  const std::vector<std::string> command = command_of(options.command);
  KERNEVO_TRY(program, find_program_file(command.front()));
  if (const std::string why = why_not_served(program); !why.empty())
    return fail(ErrorCode::input, why, std::nullopt, "build it with 'nvcc -cudart shared'");
  KERNEVO_TRY(libraries, find_cuda_libraries());
  KERNEVO_TRY(reports, TemporaryFolder::make());
  ProgramRun ran;
  ran.command = options.command;
  ran.gpu = gpu.name;
  ran.profile = options.profile;
  KERNEVO_TRY(end, run_in_our_place(program.path, command,
                                    settings_for(options, gpu, libraries, reports.path())));
  ran.end = end;
  ran.processes = read_reports(reports.path());
  const std::string text = options.common.json ? program_json(ran) : program_text(ran);
  if (!options.output.empty()) {
    KERNEVO_CHECK(write_file_atomically(options.output, text));
  } else if (options.common.json) {
    fmt::print("{}", text); // the last line of standard output
  } else if (!options.common.quiet) {
    fmt::print(stderr, "{}", text); // standard output is the program's
  }
  const bool faults =
      std::any_of(ran.processes.begin(), ran.processes.end(),
                  [](const ProgramReport& process) { return !process.findings.empty(); });
  return faults && end.status() == 0 && options.sanitize ? kNo : end.status();
}

} // namespace

Command add_run_program(CommandLine& app, std::vector<std::string> command_of_program) {
  auto options = std::make_shared<Options>();
  options->command = std::move(command_of_program);
  CommandLine* command =
      app.add_subcommand("run", "Run a CUDA program on the virtual GPU: options -- PROGRAM ARGS");
  command->add_option("--gpu", options->gpu, "Named GPU")->capture_default_str();
  command->add_flag("--sanitize", options->sanitize,
                    "Find races and reads of memory nobody wrote (slower)");
  command->add_flag("--profile", options->profile,
                    "Say of each kernel which shapes it has and what each resource would need");
  command->add_option("--cores", options->cores, "Cores of this machine to use; 0 = all")
      ->in_range(0, 1024);
  command->add_option("-o,--output", options->output, "Write the table (or the JSON) to this file");
  add_common(*command, options->common);
  return {[options] {
    const auto code = run(*options);
    return code ? *code : report_error(code.error(), options->common);
  }};
}

} // namespace kernevo::cli
