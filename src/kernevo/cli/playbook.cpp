// kernevo playbook TASK [KERNEL]: what would the playbook propose?
#include "kernevo/propose/playbook.h"
#include "kernevo/base/files.h"
#include "kernevo/cli/command.h"
#include "kernevo/cli/command_line.h"
#include "kernevo/cli/kernel_options.h"
#include "kernevo/evolve/run_context.h"
#include "kernevo/kernel/kernel_file.h"
#include "kernevo/model/json_fields.h"

#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>

namespace kernevo::cli {
namespace {

namespace fs = std::filesystem;
using propose::Move;

struct Options {
  CommonOptions common;
  std::string task;
  std::string kernel;
  DeviceChoice device;
  std::string write;
};

Result<void> write_moves(const std::vector<Move>& moves, const fs::path& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem)
    return fail(ErrorCode::infrastructure, "cannot be made: " + problem.message(),
                Place{folder.string()}, "give --write a folder you may write");
  for (const Move& move : moves)
    KERNEVO_CHECK(write_file_atomically(folder / (move.name + ".cu"), move.source));
  return {};
}

void print_json(const std::vector<Move>& moves) {
  Json list = Json::array();
  for (const Move& move : moves)
    list.push_back(Json{{"name", move.name},
                        {"kind", move.recipe ? "recipe" : "rewrite"},
                        {"title", move.title},
                        {"answers", move.answers},
                        {"source", move.source}});
  fmt::print("{}\n", dump_json(Json{{"moves", list}}, 2));
}

void print_text(const std::vector<Move>& moves, bool recipes, const std::string& written) {
  for (const Move& move : moves)
    if (move.recipe == recipes)
      fmt::print("{}  {}\n  answers {}\n{}", paint(move.name, Tone::strong), move.title,
                 fmt::join(move.answers, ", "),
                 written.empty() ? ""
                                 : fmt::format("  written {}\n",
                                               (fs::path(written) / (move.name + ".cu")).string()));
}

Result<int> run(const Options& options) {
  KERNEVO_TRY(context, evolve::make_run_context(options.task, options.device));
  propose::Parent parent;
  parent.source = context.reference_source;
  if (!options.kernel.empty()) {
    KERNEVO_TRY(source, read_text_file(options.kernel));
    parent.source = std::move(source);
    KERNEVO_CHECK(load_kernel_file(options.kernel));
  }
  KERNEVO_TRY(playbook, propose::Playbook::create(context.task, context.gpu));
  KERNEVO_TRY(moves, playbook->moves(parent));
  if (!options.write.empty())
    KERNEVO_CHECK(write_moves(*moves, options.write));
  if (options.common.json)
    print_json(*moves);
  else if (moves->empty())
    fmt::print("the playbook has nothing for {} on the {}\n", context.task.operation,
               context.gpu.name);
  else {
    const bool any = moves->front().recipe;
    fmt::print("{} for {} {} on the {}\n{}", any ? "recipes" : "no recipes", context.task.operation,
               name_of(context.task.dtype), context.gpu.name, any ? "\n" : "");
    print_text(*moves, true, options.write);
    fmt::print("\nrewrites of {}\n\n", options.kernel.empty() ? "the reference" : options.kernel);
    print_text(*moves, false, options.write);
  }
  return moves->empty() ? kNo : kYes;
}

} // namespace

Command add_playbook(CommandLine& app) {
  auto options = std::make_shared<Options>();
  CommandLine* command = app.add_subcommand(
      "playbook",
      "What would the playbook propose? Lists its recipes for the task and its rewrites "
      "of a kernel, and writes them if asked");
  command->add_option("TASK", options->task, "Task file (YAML)")->required();
  command->add_option("KERNEL", options->kernel,
                      "Kernel file to rewrite (default: the task's reference)");
  add_device_options(*command, options->device);
  command->add_option("--write", options->write, "Write each kernel into this folder");
  add_common(*command, options->common);
  return {[options] {
    const auto code = run(*options);
    return code ? *code : report_error(code.error(), options->common);
  }};
}

} // namespace kernevo::cli
