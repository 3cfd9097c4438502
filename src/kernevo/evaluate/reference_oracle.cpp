#include "kernevo/evaluate/reference_oracle.h"

#include "kernevo/base/random.h"
#include "kernevo/evaluate/kernel_subject.h"
#include "kernevo/evaluate/visible.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <mutex>
#include <span>
#include <utility>

namespace kernevo {
namespace {

// A reference kernel has rounding errors of its own. What an element is made of shows when the
// inputs are changed a little: its tolerance is this fraction of what goes into it.
double reference_tolerance(DType dtype) {
  switch (dtype) {
  case DType::float32: return 1e-4;
  case DType::float16: return 1e-2;
  case DType::bfloat16: return 2e-2;
  case DType::float64: return 1e-10;
  default: return 0;
  }
}

// By how much inputs are changed: far more than roundings, far less than what makes a function
// another one.
double change_of(DType dtype) {
  switch (dtype) {
  case DType::float16: return 0x1p-6;
  case DType::bfloat16: return 0x1p-4;
  case DType::float64: return 0x1p-20;
  default: return 0x1p-10;
  }
}
constexpr int kChangedRuns = 2;

// Changes of opposite sign may cancel in an element by chance. So much of what goes into its
// neighbours goes into it, too.
constexpr double kLikeNeighbours = 0.02;
constexpr std::size_t kNeighbours = 256;

CaseInputs changed_inputs(const CaseInputs& inputs, int run) {
  CaseInputs changed = inputs;
  for (std::size_t i = 0; i < inputs.problem.buffers.size(); ++i) {
    const BufferSpec& buffer = inputs.problem.buffers[i];
    std::vector<std::byte>& bytes = changed.initial[i];
    if (bytes.empty() || !is_floating(buffer.dtype))
      continue;
    const double change = change_of(buffer.dtype);
    const CounterRandom random(inputs.seed + 31 * i + 7 * static_cast<std::uint64_t>(run));
    for (std::int64_t e = 0; e < buffer.elements(); ++e) {
      const double value = load_element(buffer.dtype, bytes.data(), e);
      const bool up = (random.bits(static_cast<std::uint64_t>(e)) & 1U) != 0;
      store_element(buffer.dtype, bytes.data(), e, value * (up ? 1 + change : 1 - change));
    }
  }
  return changed;
}

double root_mean_square(std::span<const double> values) {
  double sum = 0;
  for (const double value : values)
    sum += std::isfinite(value) ? value * value : 0;
  return std::sqrt(sum / static_cast<double>(std::max<std::size_t>(1, values.size())));
}

using Outputs = std::vector<std::vector<std::byte>>;

struct Reference {
  KernelFile kernel;
  PreparedKernel prepared;
  std::unique_ptr<KernelSubject> subject;
  double seconds = 0;
  std::uint64_t instruction_budget = 0;
  std::mutex mutex; // of what follows
  // The last case, for one case is asked about output by output and piece by piece.
  std::uint64_t seed = 0;
  std::string case_id;
  InputSet set = InputSet::nominal;
  Outputs outputs;
  std::vector<std::vector<float>> tolerances; // as the outputs; none of integers

  Result<std::vector<Expected>> expect(const CaseInputs& inputs, std::size_t output,
                                       std::span<const std::int64_t> points) {
    const std::lock_guard lock(mutex);
    if (outputs.empty() || seed != inputs.seed || case_id != inputs.problem.case_id ||
        set != inputs.set)
      KERNEVO_CHECK(run(inputs));
    const BufferSpec& buffer = inputs.problem.buffers[output];
    std::vector<Expected> expected;
    expected.reserve(points.size());
    for (const std::int64_t point : points) {
      const auto at = static_cast<std::size_t>(point);
      expected.push_back({load_element(buffer.dtype, outputs[output].data(), point),
                          tolerances[output].empty() ? 0.0 : tolerances[output][at]});
    }
    return expected;
  }

private:
  Result<Outputs> outputs_of(const CaseInputs& inputs) {
    return run_reference(*subject, kernel.path, inputs, instruction_budget, seconds);
  }

  Result<void> run(const CaseInputs& inputs) {
    outputs.clear();
    KERNEVO_TRY(fresh, outputs_of(inputs));
    std::vector<std::vector<double>> effects(fresh.size()); // of the changes, on each element
    for (int i = 0; i < kChangedRuns; ++i) {
      KERNEVO_TRY(changed, outputs_of(changed_inputs(inputs, i)));
      for (std::size_t o = 0; o < fresh.size(); ++o)
        add_effects(inputs.problem.buffers[o], fresh[o], changed[o], effects[o]);
    }
    tolerances.assign(fresh.size(), {});
    for (std::size_t o = 0; o < fresh.size(); ++o)
      tolerances[o] =
          tolerances_of(inputs.problem, inputs.problem.buffers[o], fresh[o], effects[o]);
    outputs = std::move(fresh);
    seed = inputs.seed;
    case_id = inputs.problem.case_id;
    set = inputs.set;
    return {};
  }

  static void add_effects(const BufferSpec& buffer, const std::vector<std::byte>& fresh,
                          const std::vector<std::byte>& changed, std::vector<double>& effects) {
    if (fresh.empty() || !is_floating(buffer.dtype))
      return;
    effects.resize(static_cast<std::size_t>(buffer.elements()));
    const double scale = 1 / change_of(buffer.dtype);
    for (std::int64_t e = 0; e < buffer.elements(); ++e) {
      const double effect = std::abs(load_element(buffer.dtype, changed.data(), e) -
                                     load_element(buffer.dtype, fresh.data(), e));
      double& most = effects[static_cast<std::size_t>(e)];
      most = std::max(most, std::isfinite(effect) ? effect * scale : 0);
    }
  }

  static std::vector<float> tolerances_of(const Problem& problem, const BufferSpec& buffer,
                                          const std::vector<std::byte>& fresh,
                                          const std::vector<double>& effects) {
    std::vector<float> tolerances(effects.size());
    const double fraction =
        std::max(reference_tolerance(buffer.dtype), problem.tolerance.value_or(0));
    std::vector<double> values(kNeighbours);
    for (std::size_t first = 0; first < effects.size(); first += kNeighbours) {
      const std::size_t count = std::min(kNeighbours, effects.size() - first);
      for (std::size_t i = 0; i < count; ++i)
        values[i] = load_element(buffer.dtype, fresh.data(), static_cast<std::int64_t>(first + i));
      const double around = root_mean_square(std::span(values).first(count));
      const double effects_around = root_mean_square(std::span(effects).subspan(first, count));
      for (std::size_t i = 0; i < count; ++i) {
        const double into = std::max(effects[first + i], kLikeNeighbours * effects_around);
        tolerances[first + i] =
            static_cast<float>(fraction * std::max(std::abs(values[i]), std::min(into, around)));
      }
    }
    return tolerances;
  }
};

} // namespace

Result<ExpectationSource> make_reference_oracle(Device& device, const Task& task,
                                                std::span<const ShapeCase> unseen,
                                                const ReferenceLimits& limits) {
  auto reference = std::make_shared<Reference>();
  KERNEVO_TRY(kernel, parse_kernel_file(task.reference_kernel, task.reference_place.file,
                                        task.reference_place.line));
  reference->kernel = std::move(kernel);
  reference->seconds = limits.seconds;
  reference->instruction_budget = limits.instruction_budget;
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
  return ExpectationSource([reference](const CaseInputs& inputs, std::size_t output,
                                       std::span<const std::int64_t> points) {
    return reference->expect(inputs, output, points);
  });
}

} // namespace kernevo
