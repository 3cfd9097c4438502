// What a run came to, for the end of `evolve` and for `show`.
#pragma once

#include "kernevo/evolve/run_state.h"
#include "kernevo/store/journal.h"

#include <filesystem>

namespace kernevo::cli {

// A device that is real, or played, went away: the run waits for it.
bool paused_on_a_device(const evolve::RunState& state);

// Yes for a faster kernel, and where the baseline was all that was asked for.
int exit_code_of(const evolve::RunState& state);

void print_run_summary(const evolve::RunState& state, store::Journal& journal,
                       const std::filesystem::path& folder, bool quiet);

// The last line of a stream of events.
void print_run_summary_json(const evolve::RunState& state, const std::filesystem::path& folder);

} // namespace kernevo::cli
