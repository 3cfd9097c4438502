// A run with all it needs to go on: its task and device, its proposers, its journal. A new one
// comes of a settled plan, an old one of a stored run.
#pragma once

#include "kernevo/evolve/orchestrator.h"
#include "kernevo/run/fresh_folder.h"
#include "kernevo/run/plan.h"
#include "kernevo/run/proposers.h"
#include "kernevo/run/stored_run.h"

#include <functional>
#include <memory>
#include <optional>

namespace kernevo::run {

using Interrupted = std::function<bool()>; // asked often

class OpenRun {
public:
  // Models are asked whether they answer before anything is made; the folder appears, no event yet.
  static Result<std::unique_ptr<OpenRun>> begin(SettledPlan plan, const Interrupted& interrupted);
  // `llm`: the stored settings of its models, with what changed: an endpoint may have moved.
  static Result<std::unique_ptr<OpenRun>> resume(StoredRun stored, const LlmSettings& llm,
                                                 const Interrupted& interrupted);
  OpenRun(const OpenRun&) = delete;
  OpenRun& operator=(const OpenRun&) = delete;

  const evolve::RunContext& context() const { return context_; }
  // As it was when it was opened; of a new run only how it starts.
  const evolve::RunState& state() const { return state_; }
  const RunStarted& started() const { return state_.started; }
  bool is_new() const { return fresh_.has_value(); }
  const std::filesystem::path& folder() const { return journal_->folder(); }
  store::Journal& journal() { return *journal_; }
  evolve::Panel& panel() { return *panel_; }

  // Until a stop, or until a kernel is wanted from outside. A new run whose reference cannot be
  // timed leaves nothing behind.
  Result<evolve::RunState> go_on(evolve::OrchestratorOptions how);
  // Why the traces of its model calls are not whole; nothing when they are.
  std::optional<Error> trace_problem() const;

private:
  OpenRun(evolve::RunContext context, evolve::RunState state);
  // The proposers, tried out; traces of their calls go below the folder.
  Result<Proposers> gather(const RunSettings& settings, const std::filesystem::path& folder,
                           const Interrupted& interrupted);

  std::optional<FreshFolder> fresh_; // of a new run; outlives the journal in it
  evolve::RunContext context_;
  evolve::RunState state_;
  std::unique_ptr<store::Journal> journal_;
  std::optional<evolve::Panel> panel_;
  ChatClients clients_;
  std::vector<ModelCall> probes_;
};

// The first event of a run.
RunStarted first_event(const evolve::RunContext& context, const RunSettings& settings,
                       const std::string& task_file, const std::string& name);

} // namespace kernevo::run
