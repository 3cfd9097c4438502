#include "kernevo/predict/counters.h"

#include <algorithm>
#include <cmath>

namespace kernevo {
namespace {

// The accesses of all instructions to one kind of memory, added up.
AccessCounts total_of(const LaunchCounts& launch, MemorySpace space, MemoryAction action) {
  AccessCounts total{space, action};
  for (const InstructionCounts& instruction : launch.instructions)
    for (const AccessCounts& a : instruction.accesses) {
      if (a.space != space || a.action != action)
        continue;
      total.requests += a.requests;
      total.threads += a.threads;
      total.useful_bytes += a.useful_bytes;
      total.sectors += a.sectors;
      total.lines += a.lines;
      total.l1_hits += a.l1_hits;
      total.wavefronts += a.wavefronts;
      total.collisions += a.collisions;
    }
  return total;
}

// Known where every block was tallied, else the relative standard error of the mean of the blocks,
// of a finite grid.
double sampling_error(const LaunchCounts& launch, double blocks) {
  if (launch.sampling_error)
    return *launch.sampling_error;
  const auto count = static_cast<double>(launch.blocks.size());
  if (count < 2 || count >= blocks)
    return 0;
  double sum = 0;
  double squares = 0;
  for (const BlockCounts& block : launch.blocks) {
    const auto value = static_cast<double>(block.warp_instructions);
    sum += value;
    squares += value * value;
  }
  const double mean = sum / count;
  const double variance = std::max(0.0, (squares - sum * mean) / (count - 1));
  return mean > 0 ? std::sqrt(variance / count * (1 - count / blocks)) / mean : 0;
}

class Totals {
public:
  Totals(std::vector<Counter>& all, double scale) : all_(all), scale_(scale) {}

  void add(std::string name, std::uint64_t counted, std::string_view unit, std::string_view meaning,
           bool modelled = false) {
    all_.push_back(
        {std::move(name), static_cast<double>(counted) * scale_, unit, meaning, modelled});
  }
  // Of two counts: not scaled. Left out where there is nothing to divide by.
  void add_ratio(std::string name, std::uint64_t part, std::uint64_t whole, std::string_view unit,
                 std::string_view meaning, bool modelled = false) {
    if (whole != 0)
      all_.push_back({std::move(name), static_cast<double>(part) / static_cast<double>(whole), unit,
                      meaning, modelled});
  }

private:
  std::vector<Counter>& all_;
  double scale_;
};

void add_instructions(Totals& totals, const LaunchCounts& launch) {
  std::uint64_t warps = 0;
  std::uint64_t threads = 0;
  std::uint64_t branches = 0;
  std::uint64_t diverged = 0;
  std::uint64_t barriers = 0;
  for (const InstructionCounts& instruction : launch.instructions) {
    warps += instruction.executions;
    threads += instruction.threads;
    diverged += instruction.diverged;
    if (instruction.opcode.starts_with("bra"))
      branches += instruction.executions;
    if (instruction.opcode.starts_with("bar.") || instruction.opcode.starts_with("barrier"))
      barriers += instruction.executions;
  }
  totals.add("ptx__inst_executed.sum", warps, "inst", "PTX instructions executed by warps");
  totals.add("ptx__thread_inst_executed.sum", threads, "inst", "the same, by threads");
  totals.add_ratio("ptx__thread_inst_executed_per_inst_executed.ratio", threads, warps, "thread",
                   "lanes at work in an instruction, of 32");
  totals.add("ptx__branches_divergent.sum", diverged, "inst", "branches that parted a warp");
  totals.add_ratio("ptx__branches_divergent.ratio", diverged, branches, "", "of all branches");
  totals.add("ptx__barriers.sum", barriers, "inst", "waits at a barrier of the block");
}

void add_global(Totals& totals, const AccessCounts& a, const std::string& suffix) {
  const std::string unit = "l1tex__t_";
  const std::string pipe = "_pipe_lsu_mem_global_op_" + suffix;
  totals.add(unit + "requests" + pipe + ".sum", a.requests, "request", "warp accesses");
  totals.add(unit + "sectors" + pipe + ".sum", a.sectors, "sector", "of 32 bytes, they touch");
  totals.add_ratio("smsp__sass_average_data_bytes_per_sector_mem_global_op_" + suffix + ".ratio",
                   a.useful_bytes, a.sectors, "byte", "asked for, of the 32 of a sector");
}

} // namespace

double Counters::value_of(std::string_view name) const {
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Counter& counter) { return counter.name == name; });
  return found == all.end() ? 0 : found->value;
}

Counters counters_of(const LaunchCounts& launch) {
  Counters result;
  result.blocks = std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  result.blocks_counted = launch.blocks.size();
  if (result.blocks_counted == 0)
    return result;
  result.sampling_error = sampling_error(launch, static_cast<double>(result.blocks));
  Totals totals(result.all, static_cast<double>(result.blocks) / launch.represented());
  add_instructions(totals, launch);
  const AccessCounts loads = total_of(launch, MemorySpace::global, MemoryAction::load);
  const AccessCounts stores = total_of(launch, MemorySpace::global, MemoryAction::store);
  const AccessCounts atomics = total_of(launch, MemorySpace::global, MemoryAction::atomic);
  const AccessCounts local_loads = total_of(launch, MemorySpace::local, MemoryAction::load);
  const AccessCounts local_stores = total_of(launch, MemorySpace::local, MemoryAction::store);
  const AccessCounts shared_loads = total_of(launch, MemorySpace::shared, MemoryAction::load);
  const AccessCounts shared_stores = total_of(launch, MemorySpace::shared, MemoryAction::store);
  const AccessCounts shared_atomics = total_of(launch, MemorySpace::shared, MemoryAction::atomic);
  if (loads.requests != 0) {
    add_global(totals, loads, "ld");
    totals.add_ratio("l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.ratio", loads.l1_hits,
                     loads.sectors, "", "of the sectors read, found in L1", true);
  }
  if (stores.requests != 0)
    add_global(totals, stores, "st");
  if (atomics.requests != 0) {
    add_global(totals, atomics, "red");
    totals.add("ptx__atomic_collisions_global.sum", atomics.collisions, "thread",
               "lanes that wait for another lane at their address");
  }
  if (local_loads.requests + local_stores.requests != 0) {
    totals.add("l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", local_loads.sectors, "sector",
               "of stack arrays; spills of registers come on top");
    totals.add("l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", local_stores.sectors, "sector",
               "the same, written");
  }
  const auto add_shared = [&](const AccessCounts& a, const std::string& suffix) {
    if (a.requests == 0)
      return;
    totals.add("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_" + suffix + ".sum", a.wavefronts,
               "wavefront", "passes over the banks of shared memory");
    totals.add_ratio("ptx__shared_wavefronts_per_request_op_" + suffix + ".ratio", a.wavefronts,
                     a.requests, "wavefront", "1 without conflicts, 2 and 4 for wider accesses");
  };
  add_shared(shared_loads, "ld");
  add_shared(shared_stores, "st");
  add_shared(shared_atomics, "atom");
  if (loads.requests + local_loads.requests != 0)
    totals.add("lts__t_sectors_op_read.sum",
               loads.sectors - loads.l1_hits + local_loads.sectors - local_loads.l1_hits, "sector",
               "read from L2, were L1 cold for every block", true);
  // L1 keeps no store back.
  if (stores.requests + local_stores.requests != 0)
    totals.add("lts__t_sectors_op_write.sum", stores.sectors + local_stores.sectors, "sector",
               "written to L2", true);
  return result;
}

} // namespace kernevo
