#include "kernevo/explain/explain.h"

#include "kernevo/explain/apply_counters.h"
#include "kernevo/explain/arithmetic.h"
#include "kernevo/explain/interpret.h"
#include "kernevo/explain/measure_launch.h"

namespace kernevo {

Result<Explanation> explain_launch(const LaunchEvidence& evidence, const std::vector<Rule>& rules) {
  const Arithmetic arithmetic = count_arithmetic(evidence.counts);
  Explanation explanation;
  explanation.lines = find_source_lines(evidence.counts, evidence.work, evidence.prediction);
  explanation.metrics = measure_launch(evidence, explanation.lines, arithmetic);
  explanation.roofline = find_roofline_point(evidence, arithmetic);
  if (evidence.counted != nullptr)
    apply_counters(*evidence.counted, evidence.planned, explanation.metrics, explanation.roofline);
  KERNEVO_TRY(bottleneck, interpret(evidence.prediction.kernel, explanation.metrics, rules));
  explanation.bottleneck = std::move(bottleneck);
  return explanation;
}

} // namespace kernevo
