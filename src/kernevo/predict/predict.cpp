#include "kernevo/predict/predict.h"

#include "kernevo/hardware/architecture_table.h"
#include "kernevo/model/architecture.h"
#include "kernevo/predict/block_work.h"
#include "kernevo/predict/calibration.h"
#include "kernevo/predict/traffic.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

namespace kernevo {
namespace {

constexpr double kSchedulers = 4;
// Registers a thread is taken to use when ptxas was not there to say.
constexpr int kGuessedRegisters = 32;
// How far off the model was for two launches in three; docs/timing-model.md.
constexpr double kError = 0.20;
constexpr double kErrorFromPtx = 0.45;
// Machine counts that leave more than this unexplained are worse than none.
constexpr double kMostUnexplained = 0.25;
constexpr double kDramWindow = 5;     // exponent: how sharply DRAM takes over
constexpr double kSlicesAtomics = 64; // L2 works on so many different sectors at once

// The larger of the two where they differ much, more than either where they are close.
double norm(std::initializer_list<double> values, double exponent) {
  const double largest = std::max(values);
  if (largest <= 0)
    return 0;
  const double p = std::clamp(exponent, 1.0, 24.0);
  double sum = 0;
  for (const double value : values)
    sum += std::pow(value / largest, p);
  return largest * std::pow(sum, 1 / p);
}

double memory_unit(const ResourceCycles& c) {
  return c.shared + c.l1;
}

// Cycles of a multiprocessor for this work when `warps` share it.
double throughput(const ResourceCycles& c, double l2, double warps) {
  const double arithmetic = norm({c.issue, c.fma, c.alu, c.fp16, c.fp64, c.xu, c.tensor},
                                 kCalibration.same_kind_exponent);
  const double memory = norm({memory_unit(c), l2}, kCalibration.cache_exponent);
  return norm({arithmetic, memory}, 1 + kCalibration.overlap_per_warp * warps / kSchedulers);
}

// Everything of one launch the terms are made of.
class Model {
public:
  Model(const Gpu& gpu, const Architecture& architecture, const LaunchCounts& counts,
        const KernelResources& resources, const MachineWork* work)
      : gpu_(gpu), architecture_(architecture), counts_(counts), resources_(resources),
        work_(work != nullptr && work->join.residual <= kMostUnexplained ? work : nullptr) {
    prediction_.unexplained = work != nullptr ? work->join.residual : 0;
  }

  Result<Prediction> run() {
    const auto threads = static_cast<int>(std::min<std::uint64_t>(
        std::uint64_t{counts_.block[0]} * counts_.block[1] * counts_.block[2], 1U << 20U));
    KERNEVO_TRY(occupancy,
                compute_occupancy(gpu_, threads, resources_.registers.value_or(kGuessedRegisters),
                                  Bytes{counts_.shared_bytes}));
    prediction_.kernel = counts_.kernel;
    prediction_.occupancy = occupancy;
    prediction_.from_machine_code = work_ != nullptr;
    blocks_ = static_cast<double>(counts_.grid[0]) * counts_.grid[1] * counts_.grid[2];
    per_multiprocessor_ = blocks_ / gpu_.multiprocessors;
    resident_ = std::min<double>(occupancy.blocks_per_multiprocessor,
                                 std::max(1.0, std::ceil(per_multiprocessor_)));
    prediction_.waves =
        blocks_ / (static_cast<double>(occupancy.blocks_per_multiprocessor) * gpu_.multiprocessors);
    find_work();
    find_time();
    return std::move(prediction_);
  }

private:
  void find_work() {
    LocalTraffic local;
    if (work_ != nullptr)
      local = local_traffic(counts_, *work_,
                            static_cast<double>(resources_.stack.value_or(Bytes{0}).value));
    traffic_ = grid_traffic(gpu_, counts_, prediction_.occupancy, local);
    prediction_.traffic = traffic_.total;
    const double share = traffic_.dram_share;
    const double far = (1 - share) * kCalibration.loaded_l2_latency * architecture_.l2_latency +
                       share * kCalibration.loaded_dram_latency * architecture_.dram_latency;
    work_of_block_ = work_ != nullptr ? block_work(gpu_, architecture_, counts_, *work_, far)
                                      : block_work(gpu_, architecture_, counts_, far);
    const double l2_bytes = traffic_.total.l2_read_bytes + traffic_.total.l2_write_bytes;
    l2_cycles_ = l2_bytes / blocks_ / l2_bytes_per_clock();
  }

  // A multiprocessor's share of what L2 delivers.
  double l2_bytes_per_clock() const {
    const double whole = gpu_.l2_bytes_per_clock.value_or(0) / gpu_.multiprocessors;
    return whole > 0 ? std::min(whole, architecture_.l2_bytes_per_clock)
                     : architecture_.l2_bytes_per_clock / 4;
  }

  // One block with a multiprocessor to itself: its warps overlap within a stretch of code only.
  double alone() const {
    double cycles = kCalibration.block_start_cycles;
    for (const Segment& s : work_of_block_.segments)
      cycles += norm({throughput(s.cycles, 0, work_of_block_.warps), s.executions * s.latency},
                     kCalibration.segment_exponent);
    return cycles + fetch_cycles();
  }

  double fetch_cycles() const {
    const double beyond = work_of_block_.code_bytes - architecture_.instruction_cache_kib * 1024;
    return std::max(0.0, beyond) / kCalibration.instruction_fetch_bytes_per_cycle;
  }

  // `count` blocks together on a multiprocessor: while one waits the others work.
  double together(double count) const {
    const double own = throughput(work_of_block_.cycles, l2_cycles_, count * work_of_block_.warps);
    if (count <= 1)
      return std::max(alone(), own);
    return norm({count * own, alone()}, kCalibration.residence_exponent * count / (count - 1));
  }

  void find_time() {
    const double full_waves = std::floor(per_multiprocessor_ / resident_ + 1e-9);
    const double rest = std::max(0.0, per_multiprocessor_ - full_waves * resident_);
    double cycles = full_waves * together(resident_);
    const double even = per_multiprocessor_ / resident_ * together(resident_);
    if (rest > 1e-9) {
      const double whole = std::max(1.0, std::ceil(rest));
      // Multiprocessors do not stay in step: behind several waves the last one is filled up.
      cycles += together(whole) * (full_waves < 1 ? 1 : std::min(1.0, rest / whole));
    }
    const double busy = ns(cycles);
    const double dram = dram_ns();
    const double atomics = atomics_ns();
    const double launch = kCalibration.launch_ns;
    const double starts = ns(per_multiprocessor_ * kCalibration.block_launch_cycles);
    const double time = norm({busy, dram, atomics, starts}, kDramWindow) + launch;
    prediction_.time = Nanoseconds{time};
    prediction_.error = work_ != nullptr ? kError + prediction_.unexplained : kErrorFromPtx;

    const ResourceCycles& c = work_of_block_.cycles;
    const double all = per_multiprocessor_;
    bound("issue", ns(c.issue * all));
    bound("fma", ns(c.fma * all));
    bound("alu", ns(c.alu * all));
    bound("fp16", ns(c.fp16 * all));
    bound("fp64", ns(c.fp64 * all));
    bound("xu", ns(c.xu * all));
    bound("tensor", ns(c.tensor * all));
    bound("lsu", ns(memory_unit(c) * all));
    bound("shared", ns(c.shared * all));
    bound("l1", ns(c.l1 * all));
    bound("l2", ns(l2_cycles_ * all));
    bound("dram", dram);
    bound("atomics", atomics);
    const double waves = std::max(1.0, all / resident_);
    bound("latency", ns(waves * alone()));
    bound("instruction_cache", ns(waves * fetch_cycles()));
    if (work_of_block_.barriers_per_warp > 0)
      bound("barrier", ns(waves * barrier_cycles()));
    bound("tail", std::max(0.0, busy - ns(even)));
    bound("launch", launch + starts);
    std::stable_sort(prediction_.bounds.begin(), prediction_.bounds.end(),
                     [](const TimingTerm& a, const TimingTerm& b) { return a.time > b.time; });
  }

  // What a block loses because its warps wait for each other between stretches of code.
  double barrier_cycles() const {
    double apart = 0;
    double latency = 0;
    for (const Segment& s : work_of_block_.segments) {
      const double own = s.executions * s.latency;
      apart += std::max(throughput(s.cycles, 0, work_of_block_.warps), own);
      latency += own;
    }
    const double overlapped =
        std::max(throughput(work_of_block_.cycles, 0, work_of_block_.warps), latency);
    return std::max(0.0, apart - overlapped);
  }

  double dram_ns() const {
    const MemoryTraffic& t = traffic_.total;
    const double streamed = t.dram_read_bytes + t.dram_write_bytes - traffic_.local_dram_bytes;
    return streamed / (gpu_.dram_gbps * kCalibration.dram_efficiency) +
           traffic_.local_dram_bytes / (gpu_.dram_gbps * kCalibration.local_dram_efficiency);
  }

  // L2 serves one thread after another at the same address.
  double atomics_ns() const {
    double threads = 0;
    for (const InstructionCounts& i : counts_.instructions)
      for (const AccessCounts& a : i.accesses)
        if (a.space == MemorySpace::global && a.action == MemoryAction::atomic)
          threads += static_cast<double>(a.threads);
    if (threads == 0)
      return 0;
    double sectors = 0;
    for (const FootprintCounts& f : counts_.footprints)
      if (f.write_sectors > 0)
        sectors += std::min(static_cast<double>(f.bytes) / 32, f.write_sectors * blocks_);
    const double scale = blocks_ / counts_.represented();
    return threads * scale / std::clamp(sectors, 1.0, kSlicesAtomics) / gpu_.clock_ghz;
  }

  void bound(const char* name, double nanoseconds) {
    if (nanoseconds > 0)
      prediction_.bounds.push_back({name, Nanoseconds{nanoseconds}});
  }

  double ns(double cycles) const {
    return cycles / gpu_.sustained_clock_ghz.value_or(gpu_.clock_ghz);
  }

  const Gpu& gpu_;
  const Architecture& architecture_;
  const LaunchCounts& counts_;
  const KernelResources& resources_;
  const MachineWork* work_;
  Prediction prediction_;
  GridTraffic traffic_;
  BlockWork work_of_block_;
  double l2_cycles_ = 0; // of a block
  double blocks_ = 0;
  double per_multiprocessor_ = 0;
  double resident_ = 1;
};

} // namespace

double Prediction::share_of(std::string_view bound) const {
  for (const TimingTerm& term : bounds)
    if (term.name == bound)
      return time.value > 0 ? term.time.value / time.value : 0;
  return 0;
}

Result<Prediction> predict_launch(const Gpu& gpu, const LaunchCounts& counts,
                                  const KernelResources& resources, const MachineWork* work) {
  KERNEVO_TRY(architecture, find_architecture(gpu.compute_capability));
  return Model(gpu, architecture, counts, resources, work).run();
}

} // namespace kernevo
