#include "kernevo/evaluate/predict_case.h"

#include "kernevo/evaluate/check_limits.h"
#include "kernevo/evaluate/run_case.h"
#include "kernevo/evaluate/secret_seeds.h"
#include "kernevo/predict/choose_blocks.h"
#include "kernevo/predict/l1_share.h"
#include "kernevo/predict/predict.h"
#include "kernevo/sass/disassemble.h"
#include "kernevo/task/catalogue.h"
#include "kernevo/toolchain/toolchain.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace kernevo {
namespace {

// A later launch reads what earlier ones wrote; where it does not survive that most of it is
// missing, all blocks are run, if they are no more than this.
constexpr std::uint64_t kWholePlanBlocks = 20'000;
constexpr double kUnlikely = 0.97;       // of what must be moved at least
constexpr std::uint64_t kMoreBlocks = 8; // times as many the second time
// Errors are stated so that two validation launches in three lay within.
constexpr double kModelConfidence = 0.68;

class Predictor {
public:
  Predictor(const DeviceIdentity& device, KernelSubject& subject,
            const std::optional<sass::SassModule>& machine_code, const ShapeCase& shape,
            const BenchOptions& options)
      : device_(device), subject_(subject), task_(*subject.prepared().task),
        build_(subject.prepared().build), machine_code_(machine_code), shape_(shape),
        options_(options) {}

  Result<TimedCase> run() {
    KERNEVO_TRY(problem, make_problem(task_, shape_));
    auto plan = subject_.prepared().plan(problem);
    if (!plan) {
      fault(FaultKind::interface_contract_error, format_error(plan.error()));
      return std::move(result_);
    }
    KERNEVO_CHECK(count_and_predict(problem, *plan, options_.blocks));
    if (!result_.fault && unlikely_sample(*plan))
      KERNEVO_CHECK(count_and_predict(problem, *plan, kMoreBlocks * options_.blocks));
    return std::move(result_);
  }

private:
  void fault(FaultKind kind, std::string summary) {
    result_.fault = CaseFault{kind, std::move(summary)};
  }

  // What the counting needs to know of each launch; a fault where one does not fit. About so many
  // blocks are counted; all without a number.
  std::vector<Instruments::Profile> profiles(const LaunchPlan& plan,
                                             std::optional<std::uint64_t> blocks) {
    std::vector<Instruments::Profile> profiles;
    for (const Launch& launch : plan.launches) {
      Instruments::Profile profile;
      std::array<std::uint32_t, 3> grid = {};
      for (std::size_t axis = 0; axis < 3; ++axis)
        grid.at(axis) = static_cast<std::uint32_t>(
            std::clamp<std::int64_t>(launch.grid.at(axis), 1, 0xFFFFFFFF));
      if (blocks && !launch.cooperative)
        profile.blocks = choose_blocks(grid, *blocks, options_.seed);
      const KernelResources* r = build_.resources_of(launch.kernel);
      const std::int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
      const Bytes shared{
          (r == nullptr ? 0 : r->static_shared.value_or(Bytes{0}).value) +
          static_cast<std::uint64_t>(std::max<std::int64_t>(0, launch.dynamic_shared))};
      if (threads >= 1 && threads <= device_.gpu.max_threads_per_block) {
        const auto fits = compute_occupancy(device_.gpu, static_cast<int>(threads),
                                            r == nullptr ? 0 : r->registers.value_or(0), shared);
        if (fits)
          profile.l1_bytes = l1_share(device_.gpu, *fits, shared).value;
        else
          fault(
              FaultKind::interface_contract_error,
              fmt::format("{}:{}: {}", launch.place.file, launch.place.line, fits.error().message));
      }
      profiles.push_back(std::move(profile));
    }
    return profiles;
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

  // What a few blocks write must be right when they do not depend on others.
  Result<const ExpectationSource*> expectation_for(const Problem& problem) {
    KERNEVO_TRY(bound, subject_.bind(problem));
    const bool comparable =
        task_.oracle == OracleKind::catalogue && bound->separable_grid().has_value();
    return comparable ? &catalogue_ : nullptr;
  }

  Result<void> count_and_predict(const Problem& problem, const LaunchPlan& plan,
                                 std::uint64_t blocks) {
    const auto sampled = profiles(plan, blocks);
    if (result_.fault)
      return {};
    CaseOptions limits;
    limits.seconds = options_.seconds;
    limits.instruction_budget = runaway_budget(estimated_work(task_, problem));
    KERNEVO_TRY(inputs, make_inputs_on_demand(problem, InputSet::nominal, options_.seed));
    limits.points_seed = SecretSeeds(options_.seed).next();
    KERNEVO_TRY(expectation, expectation_for(problem));
    KERNEVO_TRY(profiled, profile_case(subject_, inputs, plan, sampled, limits, expectation));
    if (!profiled.wrong.empty()) {
      fault(FaultKind::correctness_mismatch, "wrong while it is timed: " + profiled.wrong);
      return {};
    }
    if (profiled.finding && plan.launches.size() > 1 && plan.blocks() <= kWholePlanBlocks) {
      KERNEVO_TRY(whole,
                  profile_case(subject_, inputs, plan, profiles(plan, std::nullopt), limits));
      profiled = std::move(whole);
    }
    if (profiled.finding) {
      fault(fault_of(profiled.finding->kind),
            fmt::format("{} (case {})", profiled.finding->message, shape_.id));
      result_.fault->out_of_time = profiled.finding->kind == FindingKind::time_limit;
      return {};
    }
    CaseBench bench;
    bench.case_id = shape_.id;
    bench.weight = shape_.weight;
    for (std::size_t i = 0; i < profiled.counts.size(); ++i) {
      KERNEVO_TRY(launch, predict(plan.launches[i], std::move(profiled.counts[i])));
      bench.launches.push_back(std::move(launch));
    }
    KERNEVO_TRY(timing, timing_of(bench));
    bench.timing = std::move(timing);
    result_.bench = std::move(bench);
    return {};
  }

  Result<LaunchBench> predict(const Launch& launch, LaunchCounts counts) const {
    LaunchBench bench;
    bench.counts = std::move(counts);
    if (const KernelResources* r = build_.resources_of(launch.kernel))
      bench.resources = *r;
    const auto lowered = build_.lowered_names.find(launch.kernel);
    const std::string& entry =
        lowered == build_.lowered_names.end() ? launch.kernel : lowered->second;
    if (machine_code_)
      if (const sass::SassFunction* function = machine_code_->find(entry))
        bench.work = find_machine_work(*function, build_.ptx, bench.counts);
    KERNEVO_TRY(prediction, predict_launch(device_.gpu, bench.counts, bench.resources,
                                           bench.work ? &*bench.work : nullptr));
    bench.prediction = std::move(prediction);
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
  const ExpectationSource catalogue_ = catalogue_expectation();
  TimedCase result_;
};

} // namespace

Result<std::optional<sass::SassModule>> machine_code_of(const PreparedKernel& prepared) {
  KERNEVO_TRY(toolchain, find_toolchain());
  sass::DisassembleOptions how;
  how.architecture = prepared.build.architecture;
  how.flags = prepared.kernel->flags;
  how.max_registers = prepared.kernel->max_registers;
  auto module = sass::disassemble(toolchain, prepared.build.ptx, how);
  if (module)
    return std::optional(std::move(*module));
  if (module.error().code != ErrorCode::unsupported)
    return tl::unexpected<Error>(module.error());
  return std::optional<sass::SassModule>();
}

Receipt receipt_of(const DeviceIdentity& device, const Build& build, const ShapeCase& shape,
                   std::uint64_t seed) {
  Receipt receipt;
  receipt.device = device.name;
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
                               const ShapeCase& shape, const BenchOptions& options) {
  return Predictor(device, subject, machine_code, shape, options).run();
}

} // namespace kernevo
