// One run as one HTML file that needs nothing else.
#pragma once

#include "kernevo/report/run_story.h"

namespace kernevo::report {

// What a page holds at most; a longer run is thinned out, and the page says so.
struct PageLimits {
  std::size_t steps = 5000;
  std::size_t detail_bytes = 6U << 20U; // findings, figures and shapes of steps
  std::size_t source_bytes = 8U << 20U; // kernel files
};

// The page with its scripts and styles from share/report. `made` is in milliseconds since 1970.
Result<std::string> make_page(const RunStory& story, store::Journal& journal, std::int64_t made,
                              const PageLimits& limits = {});

} // namespace kernevo::report
