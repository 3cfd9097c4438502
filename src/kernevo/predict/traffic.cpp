#include "kernevo/predict/traffic.h"

#include "kernevo/predict/calibration.h"
#include "kernevo/predict/l1_share.h"

#include <algorithm>

namespace kernevo {
namespace {

constexpr double kSector = 32;

// Of a working set that is gone through again and again, what a cache still holds: hardware does
// not replace strictly by age, so half a cache gives half the hits.
double kept(double capacity, double working_set) {
  return working_set > 0 ? std::min(1.0, capacity / working_set) : 1.0;
}

struct Side {
  double sectors; // of a block
  std::array<double, 3> overlap;
};

double footprint(const Side& side, const std::array<double, 3>& blocks) {
  double sectors = side.sectors;
  for (std::size_t d = 0; d < 3; ++d)
    sectors *= 1 + (blocks.at(d) - 1) * (1 - side.overlap.at(d));
  return sectors * kSector;
}

// Blocks start in order, x fastest. Neighbours that run at the same time read a shared sector from
// DRAM once; later ones find it in L2 if what was touched in between still fits.
double dram_bytes(const Side& side, const std::vector<Side>& all, const std::array<double, 3>& grid,
                  double resident, double capacity) {
  double bytes = side.sectors * kSector;
  std::array<double, 3> inner = {1, 1, 1};
  double inner_blocks = 1;
  for (std::size_t d = 0; d < 3; ++d) {
    const double together = std::clamp(resident / inner_blocks, 1.0, grid.at(d));
    inner.at(d) = together;
    double window = 0;
    for (const Side& other : all)
      window += footprint(other, inner);
    const double overlap = side.overlap.at(d);
    bytes *= 1 + (together - 1) * (1 - overlap);
    bytes *= 1 + (grid.at(d) / together - 1) * (1 - overlap * kept(capacity, window));
    inner.at(d) = grid.at(d);
    inner_blocks *= grid.at(d);
  }
  return bytes;
}

Side side_of(double sectors, const std::array<std::optional<double>, 3>& overlap) {
  return {sectors, {overlap[0].value_or(0), overlap[1].value_or(0), overlap[2].value_or(0)}};
}

} // namespace

GridTraffic grid_traffic(const Gpu& gpu, const LaunchCounts& counts, const Occupancy& occupancy,
                         const LocalTraffic& local) {
  GridTraffic traffic;
  MemoryTraffic& total = traffic.total;
  const double blocks = static_cast<double>(counts.grid[0]) * counts.grid[1] * counts.grid[2];
  const double scale = blocks / counts.represented();
  for (const InstructionCounts& instruction : counts.instructions)
    for (const AccessCounts& a : instruction.accesses) {
      if (a.space != MemorySpace::global)
        continue;
      const double bytes = static_cast<double>(a.sectors) * kSector * scale;
      total.l1_bytes += bytes;
      if (a.action != MemoryAction::store)
        total.l2_read_bytes += bytes - static_cast<double>(a.l1_hits) * kSector * scale;
      if (a.action != MemoryAction::load)
        total.l2_write_bytes += bytes;
    }

  const double resident = std::min(
      blocks, static_cast<double>(occupancy.blocks_per_multiprocessor) * gpu.multiprocessors);
  const double capacity = static_cast<double>(gpu.l2_cache.value) * kCalibration.l2_capacity;
  const std::array<double, 3> grid = {static_cast<double>(counts.grid[0]),
                                      static_cast<double>(counts.grid[1]),
                                      static_cast<double>(counts.grid[2])};
  std::vector<Side> all;
  for (const FootprintCounts& f : counts.footprints) {
    all.push_back(side_of(f.read_sectors, f.read_overlap));
    all.push_back(side_of(f.write_sectors, f.write_overlap));
  }
  double read = 0;
  double written = 0;
  for (std::size_t i = 0; i < counts.footprints.size(); ++i) {
    const FootprintCounts& f = counts.footprints[i];
    const auto size = static_cast<double>(f.bytes);
    const auto once_at_least = [&](const Side& side) {
      const double bytes = dram_bytes(side, all, grid, resident, capacity);
      // A buffer that L2 holds whole is read once, however it is shared.
      return size <= capacity ? std::min(bytes, size) : bytes;
    };
    read += once_at_least(all[2 * i]);
    written += once_at_least(all[2 * i + 1]);
  }
  total.dram_read_bytes = std::min(read, std::max(total.l2_read_bytes, 0.0));
  total.dram_write_bytes = std::min(written, total.l2_write_bytes);
  traffic.dram_share =
      total.l2_read_bytes > 0 ? std::min(1.0, total.dram_read_bytes / total.l2_read_bytes) : 0;

  if (local.load_sectors + local.store_sectors > 0) {
    const double threads = static_cast<double>(counts.block[0]) * counts.block[1] *
                           counts.block[2] * occupancy.blocks_per_multiprocessor;
    const double stack = std::max(local.bytes_per_thread, 4.0) * threads;
    const double l1 =
        static_cast<double>(l1_share(gpu, occupancy, Bytes{counts.shared_bytes}).value *
                            static_cast<std::uint64_t>(occupancy.blocks_per_multiprocessor));
    const double reads = local.load_sectors * blocks * kSector * (1 - kept(l1, stack));
    const double writes = local.store_sectors * blocks * kSector; // L1 writes through
    const double missed = 1 - kept(capacity, stack * gpu.multiprocessors);
    total.l1_bytes += (local.load_sectors + local.store_sectors) * blocks * kSector;
    total.l2_read_bytes += reads;
    total.l2_write_bytes += writes;
    total.dram_read_bytes += reads * missed;
    total.dram_write_bytes += writes * missed;
    traffic.local_dram_bytes = (reads + writes) * missed;
  }
  return traffic;
}

} // namespace kernevo
