// The last rung: every real shape whole, on several kinds of inputs one after the other, as a
// program would launch the kernel again and again. What would take longer than anyone waits is
// bounded by a sample of its blocks where they can be run apart; what can be neither is unproven.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/evaluate/judge_subject.h"
#include "kernevo/evaluate/secret_seeds.h"
#include "kernevo/evaluate/verdict_writer.h"

namespace kernevo {

// `instructions_per_work`: what the subject took on smaller shapes, for estimated_work().
Result<void> judge_real_shapes(Subject& subject, const Task& task,
                               const ExpectationSource& expectation, const JudgeOptions& options,
                               double instructions_per_work, SecretSeeds& seeds,
                               VerdictWriter& verdict);

} // namespace kernevo
