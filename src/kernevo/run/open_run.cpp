#include "kernevo/run/open_run.h"

#include "kernevo/store/open_journal.h"

#include "kernevo/base/hash.h"
#include "kernevo/store/run_folders.h"

namespace kernevo::run {
namespace {

namespace fs = std::filesystem;

// Task files are often called task.yaml or task_fp16.yaml; their folder says more then.
std::string default_name(const std::string& task_name, const std::string& task_file) {
  if (!task_name.starts_with("task"))
    return task_name;
  std::error_code ignored;
  const std::string folder = fs::absolute(task_file, ignored).parent_path().filename().string();
  return folder.empty() ? task_name : folder;
}

fs::path folder_of(const RunPlan& plan, const Task& task) {
  if (!plan.folder.empty())
    return plan.folder;
  if (!plan.name.empty())
    return store::runs_folder() / plan.name;
  return store::runs_folder() / store::free_run_name(default_name(task.name, plan.task_file));
}

} // namespace

RunStarted first_event(const evolve::RunContext& context, const RunSettings& settings,
                       const std::string& task_file, const std::string& name) {
  return {name,
          task_file,
          sha256_hex(context.task_text),
          context.task.name,
          context.task.operation,
          context.gpu.name,
          context.device->identity().name,
          std::string(name_of(context.device->identity().method)),
          KERNEVO_VERSION,
          context.identity,
          settings,
          context.estimate,
          hardware_of(context.device->identity())};
}

OpenRun::OpenRun(evolve::RunContext context, evolve::RunState state)
    : context_(std::move(context)), state_(std::move(state)) {}

Result<Proposers> OpenRun::gather(const RunSettings& settings, const fs::path& folder,
                                  const Interrupted& interrupted) {
  KERNEVO_TRY(ready, make_proposers(settings, context_, folder / kTraces));
  KERNEVO_TRY(probes, probe_models(ready.clients, interrupted));
  probes_ = std::move(probes);
  clients_ = std::move(ready.clients);
  return std::move(ready.proposers);
}

Result<std::unique_ptr<OpenRun>> OpenRun::begin(SettledPlan settled,
                                                const Interrupted& interrupted) {
  const RunPlan& plan = settled.plan;
  const fs::path folder = folder_of(plan, settled.context.task);
  KERNEVO_CHECK(evolve::estimate_work_of(settled.context));
  evolve::RunState state;
  state.started =
      first_event(settled.context, settled.settings, plan.task_file, folder.filename().string());
  std::unique_ptr<OpenRun> run(new OpenRun(std::move(settled.context), std::move(state)));
  run->fresh_.emplace(folder);
  KERNEVO_TRY(proposers, run->gather(settled.settings, folder, interrupted));
  KERNEVO_TRY(journal, store::create_journal(folder));
  run->journal_ = std::move(journal);
  run->panel_.emplace(std::move(proposers), *run->journal_);
  return run;
}

Result<std::unique_ptr<OpenRun>> OpenRun::resume(StoredRun stored, const LlmSettings& llm,
                                                 const Interrupted& interrupted) {
  KERNEVO_TRY(context, context_of(stored));
  RunSettings settings = stored.state.started.settings;
  settings.llm = llm;
  std::unique_ptr<OpenRun> run(new OpenRun(std::move(context), std::move(stored.state)));
  KERNEVO_TRY(proposers, run->gather(settings, stored.journal->folder(), interrupted));
  run->journal_ = std::move(stored.journal);
  run->panel_.emplace(std::move(proposers), *run->journal_);
  return run;
}

std::optional<Error> OpenRun::trace_problem() const {
  for (const auto& client : clients_)
    if (auto problem = client->trace_problem())
      return problem;
  return std::nullopt;
}

Result<evolve::RunState> OpenRun::go_on(evolve::OrchestratorOptions how) {
  how.calls_before = probes_;
  if (!fresh_)
    return evolve::resume_run(context_, *journal_, *panel_, how);
  auto end = evolve::start_run(context_, state_.started, *journal_, *panel_, how);
  // A run without a baseline is no run.
  const auto folded = end ? Result<evolve::RunState>() : evolve::fold_journal(*journal_);
  if (end || !folded || folded->baseline) {
    fresh_->keep();
    fresh_.reset();
  }
  return end;
}

} // namespace kernevo::run
