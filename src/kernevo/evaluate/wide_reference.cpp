#include "kernevo/evaluate/wide_reference.h"

#include "kernevo/evaluate/changed_inputs.h"
#include "kernevo/evaluate/kernel_subject.h"
#include "kernevo/kernel/wide_halves.h"
#include "kernevo/kernel/widened_source.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <utility>

namespace kernevo {
namespace {

constexpr int kChangedRuns = 2;

DType widened(DType dtype) {
  return is_floating(dtype) ? DType::float64 : dtype;
}

void widen(std::vector<ScalarSpec>& scalars) {
  for (ScalarSpec& scalar : scalars) {
    if (!is_floating(scalar.dtype))
      continue;
    std::array<std::byte, sizeof(double)> narrow = {};
    store_element(scalar.dtype, narrow.data(), 0, scalar.value);
    scalar.value = load_element(scalar.dtype, narrow.data(), 0);
    scalar.dtype = DType::float64;
  }
}

Task widened(Task task) {
  for (ArgumentSpec& argument : task.arguments)
    argument.dtype = widened(argument.dtype);
  widen(task.scalars);
  task.dtype = widened(task.dtype);
  return task;
}

CaseInputs widened(const CaseInputs& inputs) {
  CaseInputs wide = inputs;
  widen(wide.problem.scalars);
  wide.problem.dtype = widened(wide.problem.dtype);
  for (std::size_t i = 0; i < wide.problem.buffers.size(); ++i) {
    BufferSpec& buffer = wide.problem.buffers[i];
    const std::vector<std::byte>& narrow = inputs.initial[i];
    const DType before = std::exchange(buffer.dtype, widened(buffer.dtype));
    if (before == buffer.dtype || narrow.empty())
      continue;
    wide.initial[i].resize(buffer.bytes());
    for (std::int64_t e = 0; e < buffer.elements(); ++e)
      store_element(DType::float64, wide.initial[i].data(), e,
                    load_element(before, narrow.data(), e));
  }
  return wide;
}

// Dynamic shared memory is taken to hold the narrowest type there is; where it does not, more of it
// does no harm.
std::uint64_t growth_of(const Task& task) {
  std::uint64_t growth = 1;
  for (const ArgumentSpec& argument : task.arguments)
    if (is_floating(argument.dtype))
      growth = std::max(growth, size_of(DType::float64) / size_of(argument.dtype));
  return growth;
}

void widen_directives(KernelFile& kernel, std::uint64_t growth) {
  for (ScratchDirective& scratch : kernel.scratch)
    scratch.dtype = widened(scratch.dtype);
  for (LaunchDirective& launch : kernel.launches) {
    if (auto more = Expression::parse(fmt::format("{} * ({})", growth, launch.shared.text())))
      launch.shared = std::move(*more);
    for (std::string& argument : launch.template_arguments)
      if (argument == "float" || wide_half(argument) == "double")
        argument = "double";
  }
}

// Infinite where the type would have no number for it.
double in_range(DType dtype, double value) {
  const double most = largest_value(dtype) * (1 + unit_roundoff(dtype) / 2);
  return std::abs(value) > most ? std::copysign(std::numeric_limits<double>::infinity(), value)
                                : value;
}

// One widened kernel, ready to run.
struct Version {
  KernelFile kernel;
  PreparedKernel prepared;
  std::unique_ptr<KernelSubject> subject;
};

class WidenedReference final : public WideReference {
public:
  explicit WidenedReference(const Task& task) : task_(widened(task)), growth_(growth_of(task)) {}

  // False when it cannot be.
  Result<bool> prepare(Device& device, const KernelFile& kernel,
                       std::span<const ShapeCase> unseen) {
    KERNEVO_TRY(exact, load(device, kernel, unseen, 0, exact_));
    if (!exact)
      return false;
    return load(device, kernel, unseen, change_of(DType::float64), noisy_);
  }

  Result<Runs> run(const CaseInputs& inputs, const ReferenceLimits& limits) override {
    const CaseInputs wide = widened(inputs);
    KERNEVO_TRY(fresh, numbers_of(exact_, wide, limits));
    Runs runs{std::move(fresh), std::vector<std::vector<double>>(wide.problem.buffers.size())};
    for (int i = 0; i < kChangedRuns; ++i) {
      KERNEVO_TRY(changed, numbers_of(noisy_, changed_inputs(wide, i), limits));
      for (std::size_t o = 0; o < runs.values.size(); ++o)
        add_effects(runs.values[o], changed[o], change_of(DType::float64), runs.effects[o]);
    }
    for (std::size_t o = 0; o < runs.values.size(); ++o)
      for (double& value : runs.values[o])
        value = in_range(inputs.problem.buffers[o].dtype, value);
    return runs;
  }

private:
  Result<bool> load(Device& device, const KernelFile& kernel, std::span<const ShapeCase> unseen,
                    double noise, Version& version) {
    const auto source = widened_source(kernel.source, noise);
    if (!source)
      return false;
    auto parsed = parse_kernel_file(*source, kernel.path, kernel.first_line);
    if (!parsed)
      return false;
    version.kernel = std::move(*parsed);
    widen_directives(version.kernel, growth_);
    KERNEVO_TRY(prepared, prepare_kernel(device, task_, version.kernel, {}));
    version.prepared = std::move(prepared);
    if (version.prepared.fault)
      return false;
    KERNEVO_TRY(whole, build_for(device, version.prepared, unseen));
    if (!whole.ok)
      return false;
    auto loaded = load_kernel(device, version.prepared, std::move(whole), {.fresh_process = true});
    if (!loaded && loaded.error().code != ErrorCode::unsupported)
      return tl::unexpected<Error>(loaded.error());
    if (!loaded || loaded->refusal)
      return false;
    version.subject = std::move(loaded->subject);
    return true;
  }

  static Result<std::vector<std::vector<double>>>
  numbers_of(Version& version, const CaseInputs& inputs, const ReferenceLimits& limits) {
    KERNEVO_TRY(ran, run_reference(*version.subject, version.kernel.path, inputs,
                                   limits.instruction_budget, limits.seconds));
    std::vector<std::vector<double>> values(ran.outputs.size());
    for (std::size_t o = 0; o < ran.outputs.size(); ++o)
      if (!ran.outputs[o].empty() && is_floating(inputs.problem.buffers[o].dtype))
        values[o] = numbers(inputs.problem.buffers[o], ran.outputs[o]);
    return values;
  }

  Task task_;
  std::uint64_t growth_; // of the narrowest type
  Version exact_;
  Version noisy_; // whose approximated functions are off by chance
};

} // namespace

bool can_be_widened(const Task& task) {
  bool has_floats = false;
  for (const ArgumentSpec& argument : task.arguments) {
    if (argument.dtype == DType::float64)
      return false;
    has_floats = has_floats || is_floating(argument.dtype);
  }
  return has_floats;
}

Result<std::unique_ptr<WideReference>> make_wide_reference(Device& device, const Task& task,
                                                           const KernelFile& kernel,
                                                           std::span<const ShapeCase> unseen) {
  if (!can_be_widened(task))
    return std::unique_ptr<WideReference>();
  auto wide = std::make_unique<WidenedReference>(task);
  KERNEVO_TRY(can_be, wide->prepare(device, kernel, unseen));
  return can_be ? std::unique_ptr<WideReference>(std::move(wide)) : nullptr;
}

} // namespace kernevo
