#include "kernevo/predict/predict.h"

#include <algorithm>
#include <utility>

namespace kernevo {

double Prediction::share_of(std::string_view bound) const {
  for (const TimingTerm& term : bounds)
    if (term.name == bound)
      return time.value > 0 ? term.time.value / time.value : 0;
  return 0;
}

Result<Prediction> predict_launch(const Gpu& gpu, const LaunchCounts& counts,
                                  const KernelResources& resources, const MachineWork* work) {
  Prediction p;
  p.kernel = counts.kernel;
  p.from_machine_code = work != nullptr;
  const auto threads = static_cast<int>(counts.block[0] * counts.block[1] * counts.block[2]);
  KERNEVO_TRY(occupancy, compute_occupancy(gpu, threads, resources.registers.value_or(32),
                                           Bytes{counts.shared_bytes}));
  p.occupancy = occupancy;
  const double blocks = double(counts.grid[0]) * counts.grid[1] * counts.grid[2];
  const double scale = blocks / std::max<double>(1, double(counts.blocks.size()));
  p.waves = blocks / (double(occupancy.blocks_per_multiprocessor) * gpu.multiprocessors);
  double instructions = 0;
  double sectors = 0;
  double misses = 0;
  double wavefronts = 0;
  for (const InstructionCounts& i : counts.instructions) {
    instructions += double(i.executions);
    for (const AccessCounts& a : i.accesses) {
      wavefronts += a.space == MemorySpace::shared ? double(a.wavefronts) : 0;
      if (a.space != MemorySpace::global && a.space != MemorySpace::local)
        continue;
      sectors += double(a.sectors);
      misses += double(a.sectors - a.l1_hits);
    }
  }
  if (work != nullptr) {
    instructions = 0;
    for (const sass::ExecutionCounts& c : work->join.instructions)
      instructions += c.warps;
  }
  const double clock = gpu.clock_ghz;
  const double sms = gpu.multiprocessors;
  p.traffic.l1_bytes = sectors * 32 * scale;
  p.traffic.l2_read_bytes = misses * 32 * scale;
  p.traffic.dram_read_bytes = 0;
  for (const FootprintCounts& f : counts.footprints) {
    p.traffic.dram_read_bytes += std::min(double(f.bytes), f.read_sectors * 32 * blocks);
    p.traffic.dram_write_bytes += std::min(double(f.bytes), f.write_sectors * 32 * blocks);
  }
  const auto bound = [&](const char* name, double ns) {
    p.bounds.push_back({name, Nanoseconds{std::max(ns, 1e-3)}});
  };
  bound("issue", instructions * scale / (sms * 4) / clock);
  bound("shared", wavefronts * scale / sms / clock);
  bound("l1", sectors * scale * 32 / 128 / sms / clock);
  bound("l2", p.traffic.l2_read_bytes / (sms * 64) / clock);
  bound("dram", (p.traffic.dram_read_bytes + p.traffic.dram_write_bytes) / (0.92 * gpu.dram_gbps));
  std::stable_sort(p.bounds.begin(), p.bounds.end(),
                   [](const TimingTerm& a, const TimingTerm& b) { return a.time > b.time; });
  p.time = Nanoseconds{p.bounds.front().time.value + 3000};
  p.error = 0.3;
  return p;
}

} // namespace kernevo
