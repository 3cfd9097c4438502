// kernevo runs: which runs are there?
#include "kernevo/cli/command.h"
#include "kernevo/cli/command_line.h"
#include "kernevo/cli/kernel_options.h"
#include "kernevo/evolve/orchestrator.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/run/stored_run.h"
#include "kernevo/store/open_journal.h"
#include "kernevo/store/run_folders.h"

#include <fmt/format.h>
#include <memory>

namespace kernevo::cli {
namespace {

struct Options {
  CommonOptions common;
  std::string repair;
};

std::string standing_of(const evolve::RunState& state) {
  if (!state.stopped)
    return "running or killed";
  return std::string(name_of(state.stopped->reason));
}

Json to_json(const std::filesystem::path& folder, const evolve::RunState& state) {
  Json json{{"run", folder.filename().string()},
            {"folder", folder.string()},
            {"task", state.started.task_file},
            {"operation", state.started.operation},
            {"gpu", state.started.gpu},
            {"method", state.started.method},
            {"steps", state.told},
            {"evaluations", state.evaluations},
            {"speedup", state.speedup()},
            {"stopped", standing_of(state)}};
  const evolve::Member* best = state.best();
  put_optional(json, "best_ns",
               best == nullptr ? std::optional<double>() : std::optional(best->objective.value));
  return json;
}

Result<int> list(const Options& options) {
  KERNEVO_TRY(folders, store::list_runs());
  Json all = Json::array();
  std::vector<std::vector<std::string>> rows = {
      {"run", "task", "gpu", "steps", "evaluations", "best", "speed-up", "stopped"}};
  for (const std::filesystem::path& folder : folders) {
    const auto run = run::open_stored_run(folder.string(), store::Journal::Access::read);
    const std::string name = folder.filename().string();
    if (!run) {
      all.push_back(Json{{"run", name}, {"error", format_error(run.error())}});
      rows.push_back({name, format_error(run.error())});
      continue;
    }
    const evolve::RunState& state = run->state;
    all.push_back(to_json(folder, state));
    const evolve::Member* best = state.best();
    rows.push_back({name, state.started.task_name, state.started.gpu, std::to_string(state.told),
                    std::to_string(state.evaluations),
                    best == nullptr ? "-" : time_text(best->objective.value),
                    fmt::format("{:.2f} x", state.speedup()), standing_of(state)});
  }
  if (options.common.json)
    fmt::print("{}\n", dump_json(Json{{"runs", all}}, 2));
  else if (folders.empty())
    fmt::print("no runs in {}; 'kernevo evolve TASK' makes one\n", store::runs_folder().string());
  else
    fmt::print("{}", table(rows, 0));
  return kYes;
}

Result<int> repair(const std::string& name) {
  KERNEVO_TRY(folder, store::find_run(name));
  KERNEVO_TRY(repair, store::repair_journal(folder));
  if (repair.aside.empty()) {
    fmt::print("nothing is damaged: all {} events are whole\n", repair.kept);
    return kYes;
  }
  // The fold of many events takes a while: once, here.
  KERNEVO_TRY(journal, store::open_journal(folder, store::Journal::Access::write));
  KERNEVO_TRY(state, evolve::fold_journal(*journal));
  KERNEVO_CHECK(journal->put_snapshot({journal->events(), evolve::to_json(state)}));
  fmt::print("{} events kept; the damaged file is {}; 'kernevo evolve --resume {}' goes on\n",
             repair.kept, repair.aside.string(), folder.string());
  return kYes;
}

} // namespace

Command add_runs(CommandLine& app) {
  auto options = std::make_shared<Options>();
  CommandLine* command =
      app.add_subcommand("runs", "List the runs of evolve and what came of them");
  command->add_option(
      "--repair", options->repair,
      "Keep all of this run's journal that is whole, and put the damaged file aside");
  add_common(*command, options->common);
  return {[options] {
    const auto code = options->repair.empty() ? list(*options) : repair(options->repair);
    return code ? *code : report_error(code.error(), options->common);
  }};
}

} // namespace kernevo::cli
