#include "kernevo/evaluate/predict_case.h"

#include "kernevo/predict/model_launch.h"
#include "kernevo/sass/disassemble.h"
#include "kernevo/task/catalogue.h"
#include "kernevo/toolchain/toolchain.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace kernevo {
namespace {

constexpr double kUnlikely = 0.97;       // of what must be moved at least
constexpr std::uint64_t kMoreBlocks = 8; // times as many the second time
// Errors are stated so that two validation launches in three lay within.
constexpr double kModelConfidence = 0.68;

class Predictor {
public:
  Predictor(const DeviceIdentity& device, KernelSubject& subject,
            const std::optional<sass::SassModule>& machine_code, const ShapeCase& shape,
            const BenchOptions& options, const TimedReference& reference)
      : device_(device), subject_(subject), task_(*subject.prepared().task),
        build_(subject.prepared().build), machine_code_(machine_code), shape_(shape),
        options_(options), reference_(reference) {}

  Result<TimedCase> run() {
    KERNEVO_TRY(problem, make_problem(task_, shape_));
    auto plan = subject_.prepared().plan(problem);
    if (!plan) {
      fault(FaultKind::interface_contract_error, format_error(plan.error()));
      return std::move(result_);
    }
    KERNEVO_CHECK(count_and_predict(problem, *plan, options_.blocks));
    if (!result_.fault && !held_against_all_ && unlikely_sample(*plan))
      KERNEVO_CHECK(count_and_predict(problem, *plan, kMoreBlocks * options_.blocks));
    return std::move(result_);
  }

private:
  void fault(FaultKind kind, std::string summary) {
    result_.fault = CaseFault{kind, std::move(summary)};
  }

  // Blocks with unequal work may be sampled so that less seems to be moved than the task asks for.
  bool unlikely_sample(const LaunchPlan& plan) const {
    if (!task_.work.bytes || plan.blocks() <= options_.blocks)
      return false;
    const auto compulsory = task_.work.bytes->evaluate(shape_.dims);
    if (!compulsory || *compulsory < static_cast<std::int64_t>(device_.gpu.l2_cache.value))
      return false; // what fits the cache need not be moved at all
    double moved = 0;
    for (const LaunchBench& launch : result_.bench.launches)
      moved +=
          launch.prediction.traffic.dram_read_bytes + launch.prediction.traffic.dram_write_bytes;
    return moved < kUnlikely * static_cast<double>(*compulsory);
  }

  Result<void> count_and_predict(const Problem& problem, const LaunchPlan& plan,
                                 std::uint64_t blocks) {
    KERNEVO_TRY(counted,
                count_case(device_, subject_, problem, plan, blocks, options_, reference_));
    if (counted.fault) {
      result_.fault = std::move(counted.fault);
      return {};
    }
    CaseBench bench;
    bench.case_id = shape_.id;
    bench.weight = shape_.weight;
    for (std::size_t i = 0; i < counted.counts.size(); ++i) {
      KERNEVO_TRY(launch, predict(plan.launches[i], std::move(counted.counts[i])));
      bench.launches.push_back(std::move(launch));
    }
    held_against_all_ = counted.held_against_all;
    KERNEVO_TRY(timing, timing_of(bench));
    bench.timing = std::move(timing);
    result_.bench = std::move(bench);
    return {};
  }

  Result<LaunchBench> predict(const Launch& launch, LaunchCounts counts) const {
    LaunchBench bench;
    bench.counts = std::move(counts);
    const KernelResources* resources = build_.resources_of(launch.kernel);
    const auto lowered = build_.lowered_names.find(launch.kernel);
    const std::string& entry =
        lowered == build_.lowered_names.end() ? launch.kernel : lowered->second;
    KERNEVO_TRY(modelled,
                model_launch(device_.gpu, build_.ptx, machine_code_ ? &*machine_code_ : nullptr,
                             entry, resources == nullptr ? KernelResources{} : *resources,
                             bench.counts));
    bench.resources = std::move(modelled.resources);
    bench.work = std::move(modelled.work);
    bench.prediction = std::move(modelled.prediction);
    bench.prediction.kernel = launch.kernel;
    return bench;
  }

  Result<Timing> timing_of(const CaseBench& bench) const {
    Timing timing;
    timing.method = TimingMethod::modelled;
    double low = 0;
    double high = 0;
    for (const LaunchBench& launch : bench.launches) {
      const Prediction& p = launch.prediction;
      timing.median = timing.median + p.time;
      low += p.time.value / (1 + p.error);
      high += p.time.value * (1 + p.error);
      for (const TimingTerm& term : p.bounds)
        timing.terms.push_back(
            {bench.launches.size() > 1 ? fmt::format("{} {}", p.kernel, term.name) : term.name,
             term.time});
    }
    timing.interval = {Nanoseconds{low}, Nanoseconds{high}, kModelConfidence};
    timing.quality.reason = "the timing model's prediction; its error is that of its validation";
    if (options_.whole && !held_against_all_)
      timing.quality.reason += "; what most blocks do was not seen: all of them would take longer "
                               "than --patience, or more than --memory";
    timing.receipt = receipt_of(device_, build_, shape_, options_.seed);
    return make_timing(std::move(timing));
  }

  const DeviceIdentity& device_;
  KernelSubject& subject_;
  const Task& task_;
  const Build& build_;
  const std::optional<sass::SassModule>& machine_code_;
  const ShapeCase& shape_;
  const BenchOptions& options_;
  const TimedReference& reference_;
  bool held_against_all_ = false;
  TimedCase result_;
};

} // namespace

Result<std::optional<sass::SassModule>> machine_code_of(const PreparedKernel& prepared) {
  KERNEVO_TRY(toolchain, find_toolchain());
  sass::DisassembleOptions how;
  how.architecture = prepared.build.architecture;
  how.flags = prepared.kernel->flags;
  how.max_registers = prepared.kernel->max_registers;
  return sass::disassemble_if_possible(toolchain, prepared.build.ptx, how);
}

Receipt receipt_of(const DeviceIdentity& device, const Build& build, const ShapeCase& shape,
                   std::uint64_t seed) {
  Receipt receipt;
  receipt.device = title_of(device);
  receipt.driver = device.driver;
  receipt.stand_in = device.stand_in;
  receipt.seed = seed;
  for (const auto& [name, value] : shape.dims)
    receipt.shapes += fmt::format("{}{}={}", receipt.shapes.empty() ? "" : " ", name, value);
  receipt.tools["compiler"] = build.compiler;
  if (!build.assembler.empty())
    receipt.tools["assembler"] = build.assembler;
  return receipt;
}

Result<TimedCase> predict_case(const DeviceIdentity& device, KernelSubject& subject,
                               const std::optional<sass::SassModule>& machine_code,
                               const ShapeCase& shape, const BenchOptions& options,
                               const TimedReference& reference) {
  return Predictor(device, subject, machine_code, shape, options, reference).run();
}

} // namespace kernevo
