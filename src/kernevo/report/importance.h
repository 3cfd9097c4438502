// Which steps of a long run are worth a place on a page.
#pragma once

#include "kernevo/report/run_story.h"

namespace kernevo::report {

// Every step (its index in the story) once, most telling first: the way to the best with all its
// ancestors, the other bests, then the rest such that any beginning of it is spread evenly over the
// run.
std::vector<std::size_t> by_importance(const RunStory& story);

} // namespace kernevo::report
