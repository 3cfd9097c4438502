#include "kernevo/evaluate/reference_oracle.h"

#include "kernevo/evaluate/changed_inputs.h"
#include "kernevo/evaluate/kernel_subject.h"
#include "kernevo/evaluate/reference_tolerance.h"
#include "kernevo/evaluate/visible.h"
#include "kernevo/evaluate/wide_reference.h"
#include "kernevo/kernel/widened_source.h"
#include "kernevo/ptx/facts.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <mutex>
#include <span>
#include <utility>

namespace kernevo {
namespace {

constexpr int kChangedRuns = 2;
constexpr double kInstructionsOfTerm = 2; // at least: a load and an addition

struct Answer {
  std::vector<double> values;
  std::vector<float> tolerances; // none of integers
};

struct Reference {
  KernelFile kernel;
  PreparedKernel prepared;
  std::unique_ptr<KernelSubject> subject;
  std::unique_ptr<WideReference> wide; // where there can be one
  ReferenceLimits limits;
  bool exchanges = false; // values between threads, so that sums may be longer than one adds up
  std::mutex mutex;       // of what follows
  // The last case, for one case is asked about output by output and piece by piece.
  std::uint64_t seed = 0;
  std::string case_id;
  InputSet set = InputSet::nominal;
  std::vector<Answer> answers; // as the buffers; empty for inputs
  bool was_coarse = false;     // on nominal inputs

  Result<std::vector<Expected>> expect(const CaseInputs& inputs, std::size_t output,
                                       std::span<const std::int64_t> points) {
    const std::lock_guard lock(mutex);
    if (answers.empty() || seed != inputs.seed || case_id != inputs.problem.case_id ||
        set != inputs.set)
      KERNEVO_CHECK(run(inputs));
    const Answer& answer = answers[output];
    std::vector<Expected> expected;
    expected.reserve(points.size());
    for (const std::int64_t point : points) {
      const auto at = static_cast<std::size_t>(point);
      expected.push_back(
          {answer.values[at], answer.tolerances.empty() ? 0.0 : answer.tolerances[at]});
    }
    return expected;
  }

private:
  Result<ReferenceRun> run_once(const CaseInputs& inputs) {
    return run_reference(*subject, kernel.path, inputs, limits.instruction_budget, limits.seconds);
  }

  Result<void> run(const CaseInputs& inputs) {
    answers.clear();
    KERNEVO_TRY(plain, run_once(inputs));
    const std::vector<BufferSpec>& buffers = inputs.problem.buffers;
    std::vector<Answer> fresh(buffers.size());
    for (std::size_t o = 0; o < buffers.size(); ++o)
      if (!plain.outputs[o].empty())
        fresh[o].values = numbers(buffers[o], plain.outputs[o]);
    if (limits.rough) {
      guess(inputs.problem, fresh);
    } else {
      KERNEVO_TRY(is_fine, refine(inputs, chain_of(inputs.problem, plain), fresh));
      if (!is_fine)
        KERNEVO_CHECK(estimate(inputs, fresh));
      was_coarse = was_coarse || (!is_fine && inputs.set == InputSet::nominal);
    }
    answers = std::move(fresh);
    seed = inputs.seed;
    case_id = inputs.problem.case_id;
    set = inputs.set;
    return {};
  }

  // How many terms a sum may have at most, by what a thread does, or where threads work together
  // those of a block.
  double chain_of(const Problem& problem, const ReferenceRun& plain) const {
    const auto plan = prepared.plan(problem);
    if (!plan)
      return static_cast<double>(plain.warp_instructions);
    double warps = 0;
    double threads = 1;
    for (const Launch& launch : plan->launches) {
      const auto block = static_cast<double>(launch.block[0] * launch.block[1] * launch.block[2]);
      warps += std::ceil(block / 32) *
               static_cast<double>(launch.grid[0] * launch.grid[1] * launch.grid[2]);
      threads = std::max(threads, block);
    }
    const double each = static_cast<double>(plain.warp_instructions) / std::max(1.0, warps);
    return each / kInstructionsOfTerm *
           (exchanges ? threads * static_cast<double>(plan->launches.size()) : 1.0);
  }

  // Expected values and tolerances from float64 runs; false where there are none.
  Result<bool> refine(const CaseInputs& inputs, double chain, std::vector<Answer>& fresh) {
    if (!wide)
      return false;
    auto runs = wide->run(inputs, limits);
    if (!runs && runs.error().code != ErrorCode::input)
      return tl::unexpected<Error>(runs.error());
    if (!runs)
      return false;
    std::vector<Answer> refined = fresh;
    for (std::size_t o = 0; o < fresh.size(); ++o) {
      const BufferSpec& buffer = inputs.problem.buffers[o];
      if (fresh[o].values.empty() || !is_floating(buffer.dtype))
        continue;
      auto tolerances =
          fine_tolerances(runs->values[o], fresh[o].values, runs->effects[o], chain, buffer.dtype);
      if (!tolerances)
        return false;
      refined[o] = {std::move(runs->values[o]), std::move(*tolerances)};
      if (inputs.problem.tolerance)
        widen(refined[o], runs->effects[o], *inputs.problem.tolerance);
    }
    fresh = std::move(refined);
    return true;
  }

  static void widen(Answer& answer, std::span<const double> effects, double declared) {
    const std::vector<float> wider = coarse_tolerances(answer.values, effects, declared);
    for (std::size_t e = 0; e < wider.size(); ++e)
      answer.tolerances[e] = std::max(answer.tolerances[e], wider[e]);
  }

  static void guess(const Problem& problem, std::vector<Answer>& fresh) {
    for (std::size_t o = 0; o < fresh.size(); ++o) {
      const DType dtype = problem.buffers[o].dtype;
      const std::vector<double> anything(fresh[o].values.size(),
                                         std::numeric_limits<double>::max());
      if (!anything.empty() && is_floating(dtype))
        fresh[o].tolerances =
            coarse_tolerances(fresh[o].values, anything,
                              std::max(coarse_share(dtype), problem.tolerance.value_or(0)));
    }
  }

  // Tolerances by what goes into each element.
  Result<void> estimate(const CaseInputs& inputs, std::vector<Answer>& fresh) {
    const std::vector<BufferSpec>& buffers = inputs.problem.buffers;
    std::vector<std::vector<double>> effects(fresh.size());
    for (int i = 0; i < kChangedRuns; ++i) {
      KERNEVO_TRY(changed, run_once(changed_inputs(inputs, i)));
      for (std::size_t o = 0; o < fresh.size(); ++o)
        if (!fresh[o].values.empty() && is_floating(buffers[o].dtype))
          add_effects(fresh[o].values, numbers(buffers[o], changed.outputs[o]),
                      change_of(buffers[o].dtype), effects[o]);
    }
    for (std::size_t o = 0; o < fresh.size(); ++o)
      if (!effects[o].empty())
        fresh[o].tolerances = coarse_tolerances(
            fresh[o].values, effects[o],
            std::max(coarse_share(buffers[o].dtype), inputs.problem.tolerance.value_or(0)));
    return {};
  }
};

} // namespace

Result<ReferenceOracle> make_reference_oracle(Device& device, const Task& task,
                                              std::span<const ShapeCase> unseen,
                                              const ReferenceLimits& limits) {
  auto reference = std::make_shared<Reference>();
  KERNEVO_TRY(kernel, parse_kernel_file(task.reference_kernel, task.reference_place.file,
                                        task.reference_place.line));
  reference->kernel = std::move(kernel);
  reference->limits = limits;
  KERNEVO_TRY(prepared, prepare_kernel(device, task, reference->kernel, {}));
  reference->prepared = std::move(prepared);
  const Build& build = reference->prepared.build;
  if (const auto& fault = reference->prepared.fault) {
    const bool compiled = fault->rung == Rung::compile;
    const bool told = !build.diagnostics.empty();
    return fail(ErrorCode::input,
                compiled ? "the reference kernel does not compile: " +
                               (told ? build.diagnostics.front().message : "no message")
                         : fault->summary,
                compiled && told ? build.diagnostics.front().place : task.reference_place,
                "mend the task's reference_kernel");
  }
  KERNEVO_TRY(whole, build_for(device, reference->prepared, unseen));
  if (!whole.ok)
    return tl::unexpected<Error>(of_hidden_case(
        {ErrorCode::input, "the reference kernel does not compile: " + compile_fault(whole).summary,
         task.reference_place, "mend the task's reference_kernel"}));
  KERNEVO_TRY(loaded,
              load_kernel(device, reference->prepared, std::move(whole), {.fresh_process = true}));
  if (loaded.refusal)
    return fail(ErrorCode::unsupported,
                "the reference kernel cannot run: " + loaded.refusal->message);
  reference->subject = std::move(loaded.subject);
  if (!limits.rough) {
    KERNEVO_TRY(wide, make_wide_reference(device, task, reference->kernel, unseen));
    reference->wide = std::move(wide);
  }
  const auto facts = ptx::facts_of(build.ptx);
  reference->exchanges = !facts || facts->shared_memory || facts->atomics ||
                         exchanges_in_warps(reference->kernel.source);
  return ReferenceOracle{[reference](const CaseInputs& inputs, std::size_t output,
                                     std::span<const std::int64_t> points) {
                           return reference->expect(inputs, output, points);
                         },
                         [reference, known = can_be_widened(task)] {
                           const std::lock_guard lock(reference->mutex);
                           return known && reference->was_coarse;
                         }};
}

} // namespace kernevo
