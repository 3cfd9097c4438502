// Evidence of one launch -> the metrics rules speak of.
#pragma once

#include "kernevo/explain/arithmetic.h"
#include "kernevo/explain/launch_evidence.h"
#include "kernevo/explain/metrics.h"
#include "kernevo/explain/source_lines.h"

#include <vector>

namespace kernevo {

Metrics measure_launch(const LaunchEvidence& evidence, const std::vector<SourceLine>& lines,
                       const Arithmetic& arithmetic);

// The fact "busiest_unit", by the shares as they stand.
void name_busiest_unit(Metrics& metrics);

} // namespace kernevo
