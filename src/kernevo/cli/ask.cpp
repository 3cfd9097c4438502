// kernevo ask TASK|RUN: what should be tried next? For coding agents and people who write kernels.
#include "kernevo/cli/agent_run.h"
#include "kernevo/cli/new_run.h"
#include "kernevo/cli/proposers.h"
#include "kernevo/store/run_folders.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

namespace kernevo::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kDefaultRounds = 20;

struct Options {
  CommonOptions common;
  std::string what;
  std::string gpu;
  std::string name;
  std::string out;
  std::vector<std::string> proposers = {"agent"};
  RunSettings settings;
  bool guide = false;
  std::string settled; // an option given that only a new run takes
};

bool is_task_file(const std::string& what) {
  std::error_code ignored;
  return fs::is_regular_file(what, ignored);
}

// The step that waits for the agent; null when the run is over.
const Directive* waiting(const evolve::RunState& state) {
  for (const auto& [step, directive] : state.pending)
    if (directive.proposer == "agent")
      return &directive;
  return nullptr;
}

Json parent_json(const propose::Parent& parent) {
  Json json{{"step", parent.candidate.step},
            {"title", parent.candidate.title},
            {"source", parent.source},
            {"parameters", parent.parameters}};
  if (parent.objective)
    json["time_us"] = parent.objective->value / 1e3;
  return json;
}

Json attempts_json(const evolve::RunState& state, Step step) {
  Json list = Json::array();
  if (const auto found = state.pending_attempts.find(step); found != state.pending_attempts.end())
    for (const Attempt& attempt : found->second)
      list.push_back(Json::parse(to_json(attempt.diagnosis)));
  return list;
}

Result<int> answer(const Options& options, const evolve::RunContext& context,
                   const evolve::RunState& state, evolve::Panel& panel, const fs::path& folder,
                   double seconds) {
  KERNEVO_TRY(writer, make_writer(context, state.started.settings.llm));
  const Directive* directive = waiting(state);
  Json json{{"run", state.started.run},
            {"folder", folder.string()},
            {"over", directive == nullptr},
            {"best", best_json(state)},
            {"budget", budget_json(state, seconds)}};
  if (directive == nullptr) {
    json["reason"] = state.stopped ? Json(name_of(state.stopped->reason)) : Json(nullptr);
    json["text"] = state.stopped ? state.stopped->text : "";
    if (options.common.json)
      fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
    else
      fmt::print("over     {}\nbest     {:.2f} x the reference's speed; kernevo extract {}\n",
                 state.stopped ? state.stopped->text : "nothing more is asked", state.speedup(),
                 folder.string());
    return kNo;
  }
  KERNEVO_TRY(request, panel.request(state, *directive));
  const std::string text = writer.request_text(request);
  const Json attempts = attempts_json(state, directive->step);
  json["step"] = directive->step;
  json["repairs_left"] = state.started.settings.llm.repairs - attempts.size();
  json["directive"] = {{"direction", directive->direction},
                       {"reason", directive->reason},
                       {"gate", directive->gate},
                       {"mode", name_of(directive->mode)}};
  json["request"] = text;
  if (options.guide)
    json["guide"] = writer.guide();
  json["parent"] = parent_json(request.parent);
  json["attempts"] = attempts;
  if (options.common.json) {
    fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
    return kYes;
  }
  if (options.guide)
    fmt::print("{}\n", writer.guide());
  if (!options.common.quiet)
    fmt::print("run      {}, step {}, {}\n\n", folder.string(), directive->step,
               budget_line(state));
  fmt::print("{}\n", text);
  if (!options.common.quiet)
    fmt::print("\nanswer   kernevo tell {} KERNEL.cu --step {}\n", folder.string(),
               directive->step);
  return kYes;
}

Result<int> start(const Options& options) {
  const StopSignals signals;
  KERNEVO_TRY(context, evolve::make_run_context(options.what, options.gpu));
  RunSettings settings = options.settings;
  settings.proposers = options.proposers;
  KERNEVO_CHECK(settle_proposers(settings));
  settings.ahead = 1; // what is asked rests on everything told
  RunBudget& budget = settings.budget;
  if (!budget.rounds && !budget.evaluations && !budget.seconds)
    budget.rounds = kDefaultRounds;
  if (context.task.target_us)
    settings.target_ns = *context.task.target_us * 1e3;
  const std::string name = !options.name.empty()
                               ? options.name
                               : store::free_run_name(run_name(context.task.name, options.what));
  const fs::path folder = options.out.empty() ? store::runs_folder() / name : fs::path(options.out);
  FreshFolder made(folder);
  KERNEVO_TRY(proposers, make_proposers(settings, context, folder / kTraces));
  KERNEVO_TRY(journal, store::Journal::create(folder));
  evolve::Panel panel(std::move(proposers), *journal);
  const RunStarted started = run_started(context, settings, options.what,
                                         options.out.empty() ? name : folder.filename().string());
  auto state =
      evolve::start_run(context, started, *journal, panel, agent_orchestration(signals, 0));
  if (!state) {
    journal.reset();
    return tl::unexpected<Error>(state.error());
  }
  made.keep();
  return answer(options, context, *state, panel, folder, 0);
}

Result<int> ask_again(const Options& options) {
  if (!options.settled.empty())
    return fail(ErrorCode::usage, fmt::format("{} is settled when a run begins", options.settled),
                std::nullopt, "leave it out, or name a task file to begin a new run");
  const StopSignals signals;
  KERNEVO_TRY(run, open_run(options.what, store::Journal::Access::write));
  KERNEVO_TRY(context, context_of(run));
  const RunSettings& settings = run.state.started.settings;
  if (std::find(settings.proposers.begin(), settings.proposers.end(), "agent") ==
      settings.proposers.end())
    return fail(ErrorCode::usage, "this run asks nobody outside", Place{options.what},
                "'kernevo ask TASK.yaml' begins one that does");
  KERNEVO_TRY(proposers, make_proposers(settings, context, run.journal->folder() / kTraces));
  evolve::Panel panel(std::move(proposers), *run.journal);
  KERNEVO_TRY(seconds, seconds_since_start(*run.journal));
  KERNEVO_TRY(state, evolve::go_on_until_asked(context, *run.journal, panel,
                                               agent_orchestration(signals, seconds)));
  return answer(options, context, state, panel, run.journal->folder(), seconds);
}

} // namespace

Command add_ask(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "ask", "Ask what to try next: begins a run of a task, or goes on with one, whose kernels you "
             "write and 'tell'");
  command->add_option("TASK|RUN", options->what, "Task file (a new run) or a run's name or folder")
      ->required();
  command->add_option("--gpu,--device", options->gpu, "Named GPU instead of the task's target");
  command->add_option("--name", options->name, "Name of the new run (default: the task's)");
  command->add_option("--out", options->out, "Folder of the new run");
  command
      ->add_option("--proposer", options->proposers,
                   "Who writes kernels: agent (you); agent,playbook lets the bandit choose")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  RunSettings& settings = options->settings;
  command->add_option("--rounds", settings.budget.rounds, "Take so many steps (default: 20)")
      ->check(CLI::PositiveNumber);
  command->add_option("--evaluations", settings.budget.evaluations, "Time so many kernels")
      ->check(CLI::PositiveNumber);
  command->add_option("--seconds", settings.budget.seconds, "Ask nothing new after so long")
      ->check(CLI::PositiveNumber);
  command->add_option("--repairs", settings.llm.repairs, "Tries to mend a faulty kernel")
      ->capture_default_str()
      ->check(CLI::Range(0, 20));
  command->add_option("--seed", settings.seed, "Seed of every choice")->capture_default_str();
  command->add_flag("--guide", options->guide,
                    "Also the task, the GPU and the kernel-file format, once at the beginning");
  add_common(*command, options->common);
  return {[options, command] {
    for (const CLI::Option* option : command->get_options())
      if (const std::string name = option->get_name(); option->count() > 0 && name != "TASK|RUN" &&
                                                       name != "--guide" && name != "--json" &&
                                                       name != "-q" && name != "--quiet")
        options->settled = name;
    const auto code = is_task_file(options->what) ? start(*options) : ask_again(*options);
    return code ? *code : report_error(code.error(), options->common);
  }};
}

} // namespace kernevo::cli
