#include "kernevo/evaluate/bench.h"

#include "kernevo/device/virtual_device.h"
#include "kernevo/evaluate/check_limits.h"
#include "kernevo/evaluate/compile_kernel.h"
#include "kernevo/evaluate/objective_time.h"
#include "kernevo/evaluate/run_case.h"
#include "kernevo/predict/choose_blocks.h"
#include "kernevo/predict/l1_share.h"
#include "kernevo/predict/predict.h"
#include "kernevo/sass/disassemble.h"
#include "kernevo/toolchain/toolchain.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <utility>

namespace kernevo {
namespace {

// A later launch reads what earlier ones wrote; where it does not survive that most of it is
// missing, all blocks are run, if they are no more than this.
constexpr std::uint64_t kWholePlanBlocks = 20'000;

class Bench {
public:
  Bench(const Task& task, const KernelFile& kernel, const BenchOptions& options)
      : task_(task), kernel_(kernel), options_(options) {}

  Result<BenchResult> run() {
    KERNEVO_TRY(gpu, find_gpu(options_.gpu.empty() ? task_.target_gpu : options_.gpu));
    result_.gpu = std::move(gpu);
    if (kernel_.language != KernelLanguage::cuda)
      return fail(ErrorCode::unsupported, "Triton kernel files cannot be timed yet",
                  Place{kernel_.path}, "give a CUDA kernel file");
    KERNEVO_TRY(parameters, choose_parameters(kernel_, options_.parameters));
    result_.parameters = std::move(parameters);
    KERNEVO_CHECK(build());
    if (!result_.fault && options_.go_on_built && !options_.go_on_built(result_.build))
      result_.stopped = true;
    if (!result_.fault && !result_.stopped)
      KERNEVO_CHECK(load());
    for (const ShapeCase& shape : task_.shapes) {
      if (result_.fault || result_.stopped || !wanted(shape))
        continue;
      KERNEVO_CHECK(time_case(shape));
      if (!result_.fault && options_.go_on_timed && !options_.go_on_timed(result_.cases))
        result_.stopped = true;
    }
    if (result_.stopped)
      return std::move(result_);
    if (result_.fault)
      result_.cases.clear();
    else if (result_.cases.empty())
      return fail(ErrorCode::usage, "none of the task's shapes was chosen", Place{task_.file});
    else
      result_.objective = objective();
    return std::move(result_);
  }

private:
  bool wanted(const ShapeCase& shape) const {
    return options_.only_cases.empty() ||
           std::find(options_.only_cases.begin(), options_.only_cases.end(), shape.id) !=
               options_.only_cases.end();
  }

  void fault(FaultKind kind, std::string summary) {
    result_.fault = kind;
    result_.summary = std::move(summary);
  }

  Result<void> build() {
    KERNEVO_TRY(problem, make_problem(task_, task_.shapes.front()));
    auto plan = make_launch_plan(kernel_, result_.parameters, problem, task_.default_launch,
                                 Place{task_.file});
    if (!plan) {
      fault(FaultKind::interface_contract_error, format_error(plan.error()));
      return {};
    }
    KERNEVO_TRY(build, compile_kernel(kernel_, result_.parameters, *plan, result_.gpu));
    result_.build = std::move(build);
    if (result_.build.ok)
      return {};
    std::string summary = "does not compile";
    for (const Diagnostic& d : result_.build.diagnostics)
      if (d.severity == Diagnostic::Severity::error) {
        summary = fmt::format("{}:{}: {}", d.place.file, d.place.line, d.message);
        break;
      }
    fault(result_.build.syntax_error ? FaultKind::syntax_error : FaultKind::semantic_compile_error,
          std::move(summary));
    return {};
  }

  Result<void> load() {
    std::uint64_t arena = std::uint64_t{1} << 30U;
    for (const ShapeCase& shape : task_.shapes) {
      KERNEVO_TRY(problem, make_problem(task_, shape));
      std::uint64_t bytes = std::uint64_t{1} << 30U;
      for (const BufferSpec& buffer : problem.buffers)
        bytes += 2 * buffer.bytes();
      arena = std::max(arena, bytes);
    }
    KERNEVO_TRY(device, open_virtual_device(result_.gpu, {options_.memory_bytes, arena}));
    device_ = std::move(device);
    KERNEVO_TRY(refusal, device_->load(result_.build.ptx, kernel_.path + " (as PTX)"));
    if (refusal) {
      if (refusal->kind == FindingKind::unsupported_instruction ||
          refusal->kind == FindingKind::invalid_ptx)
        return fail(ErrorCode::unsupported, refusal->message);
      fault(fault_of(refusal->kind), refusal->message);
      return {};
    }
    subject_ = {&kernel_,      result_.parameters,   &result_.build,
                device_.get(), task_.default_launch, Place{task_.file}};
    return disassemble();
  }

  // Without the tools the PTX has to do; any other trouble is told.
  Result<void> disassemble() {
    KERNEVO_TRY(toolchain, find_toolchain());
    sass::DisassembleOptions how;
    how.architecture = result_.build.architecture;
    how.flags = kernel_.flags;
    how.max_registers = kernel_.max_registers;
    auto module = sass::disassemble(toolchain, result_.build.ptx, how);
    if (module)
      machine_code_ = std::move(*module);
    else if (module.error().code != ErrorCode::unsupported)
      return tl::unexpected<Error>(module.error());
    return {};
  }

  // What the counting needs to know of each launch; a fault where one does not fit. About so many
  // blocks are counted; all without a number.
  std::vector<RunRequest::Profile> profiles(const LaunchPlan& plan,
                                            std::optional<std::uint64_t> blocks) {
    std::vector<RunRequest::Profile> profiles;
    for (const Launch& launch : plan.launches) {
      RunRequest::Profile profile;
      std::array<std::uint32_t, 3> grid = {};
      for (std::size_t axis = 0; axis < 3; ++axis)
        grid.at(axis) = static_cast<std::uint32_t>(
            std::clamp<std::int64_t>(launch.grid.at(axis), 1, 0xFFFFFFFF));
      if (blocks && !launch.cooperative)
        profile.blocks = choose_blocks(grid, *blocks, options_.seed);
      const KernelResources* r = result_.build.resources_of(launch.kernel);
      const std::int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
      const Bytes shared{
          (r == nullptr ? 0 : r->static_shared.value_or(Bytes{0}).value) +
          static_cast<std::uint64_t>(std::max<std::int64_t>(0, launch.dynamic_shared))};
      if (threads >= 1 && threads <= result_.gpu.max_threads_per_block) {
        const auto fits = compute_occupancy(result_.gpu, static_cast<int>(threads),
                                            r == nullptr ? 0 : r->registers.value_or(0), shared);
        if (fits)
          profile.l1_bytes = l1_share(result_.gpu, *fits, shared).value;
        else
          fault(
              FaultKind::interface_contract_error,
              fmt::format("{}:{}: {}", launch.place.file, launch.place.line, fits.error().message));
      }
      profiles.push_back(std::move(profile));
    }
    return profiles;
  }

  static std::uint64_t blocks_of(const LaunchPlan& plan) {
    std::uint64_t blocks = 0;
    for (const Launch& launch : plan.launches)
      blocks += static_cast<std::uint64_t>(launch.grid[0] * launch.grid[1] * launch.grid[2]);
    return blocks;
  }

  Result<void> time_case(const ShapeCase& shape) {
    KERNEVO_TRY(problem, make_problem(task_, shape));
    auto plan = plan_for(subject_, problem);
    if (!plan) {
      fault(FaultKind::interface_contract_error, format_error(plan.error()));
      return {};
    }
    KERNEVO_TRY(bench, profile_and_predict(shape, problem, *plan, options_.blocks));
    if (bench && unlikely_sample(shape, *plan, *bench)) {
      KERNEVO_TRY(again, profile_and_predict(shape, problem, *plan, kMoreBlocks * options_.blocks));
      bench = std::move(again);
    }
    if (bench)
      result_.cases.push_back(std::move(*bench));
    return {};
  }

  // Blocks with unequal work may be sampled so that less seems to be moved than the task asks for.
  bool unlikely_sample(const ShapeCase& shape, const LaunchPlan& plan,
                       const CaseBench& bench) const {
    if (!task_.work.bytes || blocks_of(plan) <= options_.blocks)
      return false;
    const auto compulsory = task_.work.bytes->evaluate(shape.dims);
    if (!compulsory || *compulsory < static_cast<std::int64_t>(result_.gpu.l2_cache.value))
      return false; // what fits the cache need not be moved at all
    double moved = 0;
    for (const LaunchBench& launch : bench.launches)
      moved +=
          launch.prediction.traffic.dram_read_bytes + launch.prediction.traffic.dram_write_bytes;
    return moved < kUnlikely * static_cast<double>(*compulsory);
  }

  // Nothing when the kernel has a fault.
  Result<std::optional<CaseBench>> profile_and_predict(const ShapeCase& shape,
                                                       const Problem& problem,
                                                       const LaunchPlan& plan,
                                                       std::uint64_t blocks) {
    const auto sampled = profiles(plan, blocks);
    if (result_.fault)
      return std::optional<CaseBench>();
    CaseOptions limits;
    limits.seconds = options_.seconds;
    limits.instruction_budget = runaway_budget(estimated_work(task_, problem));
    KERNEVO_TRY(inputs, make_inputs_on_demand(problem, InputSet::nominal, options_.seed));
    KERNEVO_TRY(profiled, profile_case(subject_, inputs, plan, sampled, limits));
    if (profiled.finding && plan.launches.size() > 1 && blocks_of(plan) <= kWholePlanBlocks) {
      KERNEVO_TRY(whole,
                  profile_case(subject_, inputs, plan, profiles(plan, std::nullopt), limits));
      profiled = std::move(whole);
    }
    if (profiled.finding) {
      fault(fault_of(profiled.finding->kind),
            fmt::format("{} (case {})", profiled.finding->message, shape.id));
      result_.out_of_time = profiled.finding->kind == FindingKind::time_limit;
      return std::optional<CaseBench>();
    }
    CaseBench bench;
    bench.case_id = shape.id;
    bench.weight = shape.weight;
    for (std::size_t i = 0; i < profiled.counts.size(); ++i) {
      KERNEVO_TRY(launch, predict(plan.launches[i], std::move(profiled.counts[i])));
      bench.launches.push_back(std::move(launch));
    }
    KERNEVO_TRY(timing, timing_of(bench, shape));
    bench.timing = std::move(timing);
    return std::optional(std::move(bench));
  }

  Result<LaunchBench> predict(const Launch& launch, LaunchCounts counts) const {
    LaunchBench bench;
    bench.counts = std::move(counts);
    if (const KernelResources* r = result_.build.resources_of(launch.kernel))
      bench.resources = *r;
    const auto lowered = result_.build.lowered_names.find(launch.kernel);
    const std::string& entry =
        lowered == result_.build.lowered_names.end() ? launch.kernel : lowered->second;
    if (machine_code_)
      if (const sass::SassFunction* function = machine_code_->find(entry))
        bench.work = find_machine_work(*function, result_.build.ptx, bench.counts);
    KERNEVO_TRY(prediction, predict_launch(result_.gpu, bench.counts, bench.resources,
                                           bench.work ? &*bench.work : nullptr));
    bench.prediction = std::move(prediction);
    bench.prediction.kernel = launch.kernel;
    return bench;
  }

  Result<Timing> timing_of(const CaseBench& bench, const ShapeCase& shape) const {
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
    timing.receipt.device = "virtual:" + result_.gpu.name;
    timing.receipt.seed = options_.seed;
    std::string dims;
    for (const auto& [name, value] : shape.dims)
      dims += fmt::format("{}{}={}", dims.empty() ? "" : " ", name, value);
    timing.receipt.shapes = dims;
    timing.receipt.tools["compiler"] = result_.build.compiler;
    if (!result_.build.assembler.empty())
      timing.receipt.tools["assembler"] = result_.build.assembler;
    return make_timing(std::move(timing));
  }

  Nanoseconds objective() const {
    std::vector<WeightedTime> times;
    for (const CaseBench& c : result_.cases)
      times.push_back({c.timing.median, c.weight});
    return objective_time(task_.objective, times);
  }

  static constexpr double kUnlikely = 0.97;       // of what must be moved at least
  static constexpr std::uint64_t kMoreBlocks = 8; // times as many the second time
  // Errors are stated so that two validation launches in three lay within.
  static constexpr double kModelConfidence = 0.68;

  const Task& task_;
  const KernelFile& kernel_;
  const BenchOptions& options_;
  BenchResult result_;
  std::unique_ptr<Device> device_;
  Subject subject_;
  std::optional<sass::SassModule> machine_code_;
};

} // namespace

Result<BenchResult> bench_kernel(const Task& task, const KernelFile& kernel,
                                 const BenchOptions& options) {
  return Bench(task, kernel, options).run();
}

} // namespace kernevo
