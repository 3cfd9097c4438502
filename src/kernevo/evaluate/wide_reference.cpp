#include "kernevo/evaluate/wide_reference.h"

#include "kernevo/evaluate/changed_inputs.h"
#include "kernevo/evaluate/kernel_subject.h"
#include "kernevo/kernel/widened_source.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <utility>

namespace kernevo {
namespace {

constexpr int kChangedRuns = 2;

DType widened(DType dtype) {
  return dtype == DType::float32 ? DType::float64 : dtype;
}

void widen(std::vector<ScalarSpec>& scalars) {
  for (ScalarSpec& scalar : scalars)
    if (scalar.dtype == DType::float32) {
      scalar.dtype = DType::float64;
      scalar.value = static_cast<float>(scalar.value);
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
    if (buffer.dtype != DType::float32)
      continue;
    buffer.dtype = DType::float64;
    if (narrow.empty())
      continue;
    wide.initial[i].resize(buffer.bytes());
    for (std::int64_t e = 0; e < buffer.elements(); ++e)
      store_element(DType::float64, wide.initial[i].data(), e,
                    load_element(DType::float32, narrow.data(), e));
  }
  return wide;
}

// Dynamic shared memory is taken to hold floats; where it does not, more of it does no harm.
void widen_directives(KernelFile& kernel) {
  for (ScratchDirective& scratch : kernel.scratch)
    scratch.dtype = widened(scratch.dtype);
  for (LaunchDirective& launch : kernel.launches) {
    if (auto doubled = Expression::parse(fmt::format("2 * ({})", launch.shared.text())))
      launch.shared = std::move(*doubled);
    for (std::string& argument : launch.template_arguments)
      if (argument == "float")
        argument = "double";
  }
}

double as_float_range(double value) {
  constexpr double most = std::numeric_limits<float>::max();
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
  explicit WidenedReference(Task task) : task_(std::move(task)) {}

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
    for (std::vector<double>& values : runs.values)
      for (double& value : values)
        value = as_float_range(value);
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
    widen_directives(version.kernel);
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
  Version exact_;
  Version noisy_; // whose approximated functions are off by chance
};

} // namespace

bool computes_in_float(const Task& task) {
  bool has_float = false;
  for (const ArgumentSpec& argument : task.arguments) {
    if (is_floating(argument.dtype) && argument.dtype != DType::float32)
      return false;
    has_float = has_float || argument.dtype == DType::float32;
  }
  return has_float;
}

Result<std::unique_ptr<WideReference>> make_wide_reference(Device& device, const Task& task,
                                                           const KernelFile& kernel,
                                                           std::span<const ShapeCase> unseen) {
  if (!computes_in_float(task))
    return std::unique_ptr<WideReference>();
  auto wide = std::make_unique<WidenedReference>(widened(task));
  KERNEVO_TRY(can_be, wide->prepare(device, kernel, unseen));
  return can_be ? std::unique_ptr<WideReference>(std::move(wide)) : nullptr;
}

} // namespace kernevo
