// One launch, explained: figures, findings, the lines behind them, its place under the roofline.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/explain/launch_evidence.h"
#include "kernevo/explain/metrics.h"
#include "kernevo/explain/roofline_point.h"
#include "kernevo/explain/rules.h"
#include "kernevo/explain/source_lines.h"
#include "kernevo/model/bottleneck.h"

#include <vector>

namespace kernevo {

struct Explanation {
  Metrics metrics;
  Bottleneck bottleneck;
  std::vector<SourceLine> lines; // heaviest first
  RooflinePoint roofline;
};

// Deterministic.
Result<Explanation> explain_launch(const LaunchEvidence& evidence, const std::vector<Rule>& rules);

} // namespace kernevo
