#include "kernevo/programs/price_program.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kernevo {
namespace {

void sum_up(ProgramPrice& price) {
  double kernels = 0;
  double variance = 0;
  for (const KernelUse& use : price.report.kernels) {
    if (use.unpriced > 0 && price.unpriced.empty())
      price.unpriced = fmt::format("{}: {}", use.kernel,
                                   use.reason.empty() ? "it could not be priced" : use.reason);
    kernels += use.time.value;
    const double own = use.time.value * (use.price ? use.price->error : 0);
    variance += own * own;
  }
  double operators = 0;
  for (const OperatorUse& use : price.report.operators)
    operators += use.time.value;
  price.time = price.report.span;
  if (kernels + operators > 0)
    price.authored_share = kernels / (kernels + operators);
  if (price.time.value > 0)
    price.error = std::sqrt(variance) / price.time.value;
  if (!price.report.modelled && price.unpriced.empty())
    price.unpriced = "there is no price worker";
}

} // namespace

Result<Timing> timing_of(const ProgramPrice& price, const ProgramTask& task,
                         const ProgramCase& one) {
  constexpr double confidence = 2.0 / 3; // of the model's stated error
  Timing timing;
  timing.method = TimingMethod::modelled;
  timing.median = price.time;
  double operators = 0;
  for (const KernelUse& use : price.report.kernels)
    timing.terms.push_back({use.kernel, use.time});
  for (const OperatorUse& use : price.report.operators) {
    timing.terms.push_back({use.name, use.time});
    operators += use.time.value;
  }
  const double kernels = price.time.value * price.error;
  timing.interval = {Nanoseconds{std::max(price.time.value - kernels, price.time.value * 0.1)},
                     Nanoseconds{price.time.value + kernels + operators}, confidence};
  timing.quality.grade = operators > 0 ? TimingGrade::extrapolated : TimingGrade::good;
  timing.quality.reason =
      operators > 0 ? "operators of torch by their roofline" : "within the model's validation";
  timing.receipt.device = fmt::format("virtual:{}", task.gpu);
  timing.receipt.seed = task.seed;
  timing.receipt.shapes = one.inputs;
  return make_timing(std::move(timing));
}

ProgramClass reference_of(const ProgramTask& task) {
  return {task.file, "Model"};
}

Result<Answer<ProgramPrice>> price_recording(StageJobs& jobs, const ProgramTask& task,
                                             const Recording& recording,
                                             const std::filesystem::path& inputs,
                                             const std::filesystem::path& place) {
  KERNEVO_TRY(replayed, jobs.replay(task, recording, inputs, ReplayMode::priced, place));
  if (!replayed)
    return Answer<ProgramPrice>(tl::unexpected<StageFault>(replayed.error()));
  ProgramPrice price;
  price.recording = recording;
  price.report = std::move(replayed->report);
  sum_up(price);
  if (price.unpriced.empty() && !replayed->findings.empty())
    price.unpriced = replayed->findings.front().text;
  return Answer<ProgramPrice>(std::move(price));
}

Result<Answer<ProgramPrice>> price_program(StageJobs& jobs, const ProgramTask& task,
                                           const ProgramClass& program, const ProgramCase& one,
                                           const std::filesystem::path& place) {
  KERNEVO_TRY(prepared, jobs.prepare_shapes(task, one, place));
  if (!prepared)
    return Answer<ProgramPrice>(tl::unexpected<StageFault>(prepared.error()));
  KERNEVO_TRY(recording, jobs.record(task, program, *prepared, 1, false, place));
  if (!recording)
    return Answer<ProgramPrice>(tl::unexpected<StageFault>(recording.error()));
  KERNEVO_TRY(price, price_recording(jobs, task, *recording, {}, place));
  if (price && recording->reads_back && price->unpriced.empty())
    price->unpriced = "it looks at values, and at these sizes there are none";
  return std::move(price);
}

} // namespace kernevo
