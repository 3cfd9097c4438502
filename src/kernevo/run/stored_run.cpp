#include "kernevo/run/stored_run.h"

#include "kernevo/base/suggest.h"
#include "kernevo/evolve/orchestrator.h"
#include "kernevo/propose/playbook.h"
#include "kernevo/store/open_journal.h"
#include "kernevo/store/run_folders.h"

#include <algorithm>
#include <fmt/format.h>

namespace kernevo::run {

Result<StoredRun> open_stored_run(const std::string& name_or_folder,
                                  store::Journal::Access access) {
  KERNEVO_TRY(folder, store::find_run(name_or_folder));
  KERNEVO_TRY(journal, store::open_journal(folder, access));
  KERNEVO_TRY(state, evolve::fold_journal(*journal));
  if (state.started.run.empty())
    return fail(ErrorCode::input, "the run ended before it began", Place{folder.string()},
                "remove the folder and start anew");
  return StoredRun{std::move(journal), std::move(state)};
}

Result<evolve::RunContext> context_of(StoredRun& run) {
  const RunStarted& started = run.state.started;
  KERNEVO_TRY(task_text, run.journal->blob(started.task));
  const DeviceChoice device = started.device.empty() ? DeviceChoice{.gpu = started.gpu}
                                                     : DeviceChoice{.device = started.device};
  KERNEVO_TRY(context, evolve::make_run_context(task_text, started.task_file, device));
  context.time_with(started.settings.hot_cache);
  if (context.identity != started.context)
    return fail(ErrorCode::input,
                "this run was made with another program, compiler, table of the GPU or reference; "
                "its times and new ones would not compare",
                Place{run.journal->location()}, "start a new run");
  context.take(started.estimate);
  return std::move(context);
}

} // namespace kernevo::run
