#include "kernevo/evaluate/reference_oracle.h"

#include "kernevo/evaluate/kernel_subject.h"
#include "kernevo/evaluate/visible.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace kernevo {
namespace {

// A reference kernel has rounding errors of its own and says nothing about conditioning, so its
// tolerance is a plain fraction of max(|value|, rms of the output).
double reference_tolerance(DType dtype) {
  switch (dtype) {
  case DType::float32: return 1e-4;
  case DType::float16: return 1e-2;
  case DType::bfloat16: return 2e-2;
  case DType::float64: return 1e-10;
  default: return 0;
  }
}

struct Reference {
  KernelFile kernel;
  PreparedKernel prepared;
  std::unique_ptr<KernelSubject> subject;
  double seconds = 0;
  // The last case, for one case is asked about output by output.
  std::uint64_t seed = 0;
  std::string case_id;
  InputSet set = InputSet::nominal;
  std::vector<std::vector<std::byte>> outputs;

  Result<std::vector<Expected>> expect(const CaseInputs& inputs, std::size_t output,
                                       std::span<const std::int64_t> points) {
    if (outputs.empty() || seed != inputs.seed || case_id != inputs.problem.case_id ||
        set != inputs.set) {
      KERNEVO_TRY(fresh, run_reference(*subject, kernel.path, inputs, seconds));
      outputs = std::move(fresh);
      seed = inputs.seed;
      case_id = inputs.problem.case_id;
      set = inputs.set;
    }
    const BufferSpec& buffer = inputs.problem.buffers[output];
    std::vector<Expected> expected;
    double sum = 0;
    for (const std::int64_t point : points) {
      const double value = load_element(buffer.dtype, outputs[output].data(), point);
      expected.push_back({value, 0});
      sum += std::isfinite(value) ? value * value : 0;
    }
    const double rms = points.empty() ? 0 : std::sqrt(sum / static_cast<double>(points.size()));
    for (Expected& e : expected)
      e.tolerance = reference_tolerance(buffer.dtype) * std::max(std::abs(e.value), rms);
    return expected;
  }
};

} // namespace

Result<ExpectationSource> make_reference_oracle(Device& device, const Task& task, double seconds) {
  auto reference = std::make_shared<Reference>();
  KERNEVO_TRY(kernel, parse_kernel_file(task.reference_kernel, task.reference_place.file,
                                        task.reference_place.line));
  reference->kernel = std::move(kernel);
  reference->seconds = seconds;
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
  KERNEVO_TRY(whole, build_for(device, reference->prepared, unseen_shapes(task)));
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
