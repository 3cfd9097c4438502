#include "kernevo/cli/program_options.h"

#include "kernevo/cli/command_line.h"
#include "kernevo/hardware/gpu_table.h"

#include <algorithm>
#include <fmt/format.h>

namespace kernevo::cli {
namespace fs = std::filesystem;

namespace {

constexpr const char* kGpu = "A100"; // a task file names none

Result<fs::path> task_file(const std::string& word) {
  std::error_code ignored;
  fs::path file = fs::absolute(word);
  if (fs::is_directory(file, ignored))
    file /= "task.py";
  if (!fs::exists(file, ignored))
    return fail(ErrorCode::input, "there is no such task file", Place{word},
                "name a Python file with Model, get_inputs and get_init_inputs");
  return file;
}

Result<fs::path> program_file(const std::string& word) {
  std::error_code ignored;
  if (!fs::is_regular_file(word, ignored))
    return fail(ErrorCode::input, "there is no such program", Place{word},
                "name a Python file with the class ModelNew");
  return fs::absolute(word);
}

Result<fs::path> problem_file(StageJobs& jobs, const ProgramTaskOptions& options) {
  if (options.level == 0 || options.problem.empty())
    return fail(ErrorCode::usage, "--kernelbench needs a level and a problem", std::nullopt,
                "for example --kernelbench KernelBench --level 1 --problem 23");
  KERNEVO_TRY(found,
              jobs.find_problem(fs::absolute(options.checkout), options.level, options.problem));
  if (!found)
    return tl::unexpected<Error>(error_of(found.error()));
  return found->file;
}

} // namespace

void add_program_task(CommandLine& command, ProgramTaskOptions& options) {
  command.add_option("--kernelbench", options.checkout,
                     "A checkout of KernelBench: the task is one of its problems, and no TASK is "
                     "named");
  command.add_option("--level", options.level, "Level of the problem")->in_range(1, 9);
  command.add_option("--problem", options.problem, "Its number or name");
  command.add_option("--precision", options.precision, "Of a program's tensors: fp32, fp16, bf16")
      ->capture_default_str()
      ->one_of({"fp32", "fp16", "bf16"});
  command.add_option("--mode", options.mode, "Whether modules train or are only used (eval)")
      ->one_of({"train", "eval"});
  command.add_flag("--allow-tf32", options.allow_tf32,
                   "Products of fp32 tensors may be rounded to TF32");
  command.add_option("--class", options.class_name, "The program's class")->capture_default_str();
}

bool is_program_task(const std::string& task, const ProgramTaskOptions& options) {
  std::error_code ignored;
  return !options.checkout.empty() || task.ends_with(".py") ||
         fs::exists(fs::path(task) / "task.py", ignored);
}

Result<std::string> program_gpu(const DeviceChoice& choice) {
  KERNEVO_TRY(name, choose_device(choice, kGpu, {}));
  if (name.kind != DeviceName::Kind::virtual_gpu)
    return fail(ErrorCode::unsupported,
                fmt::format("Python programs are judged on virtual GPUs, not on '{}'",
                            choice.device.value_or("")),
                std::nullopt, "name one, for example --gpu H100");
  KERNEVO_TRY(gpu, find_gpu(name.gpu));
  return gpu.name;
}

Result<ProgramWords> find_program_task(StageJobs& jobs, const std::vector<std::string>& words,
                                       const ProgramTaskOptions& options,
                                       const DeviceChoice& device, std::size_t programs) {
  const std::size_t tasks = options.checkout.empty() ? 1 : 0;
  const auto given = static_cast<std::size_t>(
      std::ranges::count_if(words, [](const std::string& word) { return !word.empty(); }));
  if (given != tasks + programs)
    return fail(ErrorCode::usage,
                fmt::format("{} files are named, {} are needed: {}{}", given, tasks + programs,
                            tasks == 1 ? "the task and " : "",
                            programs == 1 ? "a program" : "two programs"),
                std::nullopt, "'--help' shows the command's form");
  ProgramWords found;
  found.task.precision = options.precision;
  found.task.mode = options.mode;
  found.task.allow_tf32 = options.allow_tf32;
  KERNEVO_TRY(gpu, program_gpu(device));
  found.task.gpu = gpu;
  for (std::size_t i = 0; i < programs; ++i) {
    KERNEVO_TRY(program, program_file(words[tasks + i]));
    found.programs.push_back(program);
  }
  KERNEVO_TRY(file, tasks == 1 ? task_file(words.front()) : problem_file(jobs, options));
  found.task.file = file;
  found.title = tasks == 1 ? words.front() : file.string();
  return found;
}

} // namespace kernevo::cli
