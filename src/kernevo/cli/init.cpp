// kernevo init OPERATION: a new task with a naive kernel that passes.
#include "kernevo/base/files.h"
#include "kernevo/base/suggest.h"
#include "kernevo/cli/command.h"
#include "kernevo/cli/command_line.h"
#include "kernevo/hardware/gpu_table.h"
#include "kernevo/model/gpu.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/task/catalogue.h"

#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <utility>

namespace kernevo::cli {
namespace {
namespace fs = std::filesystem;

struct Options {
  CommonOptions common;
  std::string operation;
  std::string folder;
  std::string dtype = "float32";
  std::string gpu = "A100";
};

void list_operations(bool json) {
  if (json) {
    Json list = Json::array();
    for (const OperationInfo& op : operations())
      list.push_back({{"name", op.name}, {"semantics", op.semantics}});
    fmt::print("{}\n", Json{{"operations", list}}.dump(2));
    return;
  }
  std::vector<std::vector<std::string>> rows;
  for (const OperationInfo& op : operations()) {
    std::vector<std::string> sizes;
    for (const DimensionSpec& dimension : op.dimensions)
      if (!dimension.attribute)
        sizes.push_back(dimension.name);
    rows.push_back({op.name, fmt::format("{}", fmt::join(sizes, " ")), op.semantics});
  }
  fmt::print("operations (kernevo init NAME)\n{}", table(rows));
}

Result<fs::path> prepare_folder(const Options& options, const std::string& kernel_file) {
  fs::path folder = options.folder.empty() ? fs::path(options.operation) : fs::path(options.folder);
  for (const std::string& name : {std::string("task.yaml"), kernel_file})
    if (fs::exists(folder / name))
      return fail(ErrorCode::usage, "exists already", Place{(folder / name).string()},
                  "choose another folder with --folder, or remove it");
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return fail(ErrorCode::infrastructure, "cannot be made: " + error.message(),
                Place{folder.string()});
  return folder;
}

Result<std::pair<fs::path, fs::path>> write_starter(const Options& options) {
  if (find_operation(options.operation) == nullptr) {
    std::vector<std::string> names;
    for (const OperationInfo& op : operations())
      names.push_back(op.name);
    return fail(ErrorCode::usage,
                fmt::format("unknown operation '{}'{}", options.operation,
                            did_you_mean(options.operation, names)),
                std::nullopt, "'kernevo init --list' shows them all");
  }
  const auto dtype = parse_dtype(options.dtype);
  if (!dtype)
    return fail(ErrorCode::usage, fmt::format("unknown dtype '{}'", options.dtype), std::nullopt,
                "use float32, float16, bfloat16, float64, int32 or int8");
  KERNEVO_TRY(gpu, find_gpu(options.gpu));
  KERNEVO_TRY(starter, make_starter(options.operation, *dtype, gpu.name));
  KERNEVO_TRY(folder, prepare_folder(options, starter.kernel_file));
  KERNEVO_CHECK(write_file_atomically(folder / starter.kernel_file, starter.kernel_source));
  KERNEVO_CHECK(write_file_atomically(folder / "task.yaml", starter.task_yaml));
  return std::pair{folder / "task.yaml", folder / starter.kernel_file};
}

int run(const Options& options, bool list) {
  if (list) {
    list_operations(options.common.json);
    return kYes;
  }
  if (options.operation.empty())
    return report_error(
        {ErrorCode::usage, "which operation?", std::nullopt,
         "for example 'kernevo init softmax'; 'kernevo init --list' shows them all"},
        options.common);
  const auto written = write_starter(options);
  if (!written)
    return report_error(written.error(), options.common);
  const std::string task = written->first.string();
  const std::string kernel = written->second.string();
  if (options.common.json)
    fmt::print("{}\n", Json{{"task", task}, {"kernel", kernel}}.dump(2));
  else
    fmt::print("wrote {} and {}\nnext: kernevo check {} {}\n", task, kernel, task, kernel);
  return kYes;
}

} // namespace

Command add_init(CommandLine& app) {
  auto options = std::make_shared<Options>();
  auto list = std::make_shared<bool>(false);
  CommandLine* command = app.add_subcommand("init", "A new task with a naive kernel that passes");
  command->add_option("OPERATION", options->operation,
                      "Operation of the catalogue, for example softmax");
  command->add_option("--folder", options->folder,
                      "Where to write (default: the operation's name)");
  command->add_option("--dtype", options->dtype, "Element type")->capture_default_str();
  command->add_option("--gpu", options->gpu, "Target GPU")->capture_default_str();
  command->add_flag("--list", *list, "List the operations");
  add_common(*command, options->common);
  return {[options, list] { return run(*options, *list); }};
}

} // namespace kernevo::cli
