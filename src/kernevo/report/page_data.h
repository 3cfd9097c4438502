// What a page shows of a run, as JSON for its script.
#pragma once

#include "kernevo/report/page.h"

namespace kernevo::report {

// Safe inside a <script> element: without '<'.
Result<std::string> page_data(const RunStory& story, store::Journal& journal, std::int64_t made,
                              const PageLimits& limits);

// "modelled on virtual A100": what every time on a page is.
std::string provenance(const RunStarted& started);

} // namespace kernevo::report
