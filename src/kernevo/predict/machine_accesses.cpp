#include "kernevo/predict/machine_accesses.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace kernevo {
namespace {

constexpr double kSectorBytes = 32;
constexpr double kBankBytes = 128; // that all banks give in a pass

MemoryAction action_of(const sass::MemoryAccess& access) {
  if (access.atomic)
    return MemoryAction::atomic;
  return access.load ? MemoryAction::load : MemoryAction::store;
}

class Accesses {
public:
  Accesses(const LaunchCounts& launch, const MachineWork& work) : work_(work) {
    for (const InstructionCounts& i : launch.instructions)
      for (const AccessCounts& a : i.accesses)
        add(lines_[i.ptx_line], a);
    for (std::size_t k = 0; k < work.function.instructions.size(); ++k) {
      const sass::SassInstruction& i = work.function.instructions[k];
      if (i.guard && i.memory)
        guarded_[i.ptx_line.value_or(0)] += work.join.instructions[k].warps;
    }
  }

  MachineAccesses run() {
    for (std::size_t k = 0; k < work_.function.instructions.size(); ++k)
      if (const auto& memory = work_.function.instructions[k].memory;
          memory && memory->bytes > 0 && work_.join.instructions[k].warps > 0)
        count(k, *memory);
    return result_;
  }

private:
  // Two instructions of one line (inlined twice) are one row.
  static void add(std::vector<AccessCounts>& rows, const AccessCounts& a) {
    auto row = std::find_if(rows.begin(), rows.end(), [&](const AccessCounts& r) {
      return r.space == a.space && r.action == a.action;
    });
    if (row == rows.end())
      row = rows.insert(rows.end(), AccessCounts{a.space, a.action});
    row->requests += a.requests;
    row->threads += a.threads;
    row->sectors += a.sectors;
    row->l1_hits += a.l1_hits;
    row->wavefronts += a.wavefronts;
  }

  void count(std::size_t k, const sass::MemoryAccess& memory) {
    switch (memory.space) {
    case sass::MemorySpace::global:
      count_in(k, memory, MemorySpace::global, action_of(memory));
      if (memory.load && memory.store && !memory.atomic) // LDGSTS: from global to shared
        count_in(k, memory, MemorySpace::shared, MemoryAction::store);
      break;
    case sass::MemorySpace::shared:
      count_in(k, memory, MemorySpace::shared, action_of(memory));
      break;
    case sass::MemorySpace::local:
      count_in(k, memory, MemorySpace::local, action_of(memory));
      break;
    case sass::MemorySpace::generic:
      // Where its lanes really went.
      for (const AccessCounts& row : rows_of(k))
        if (row.action == action_of(memory) && row.space != MemorySpace::constant)
          count_in(k, memory, row.space, row.action);
      break;
    default: break;
    }
  }

  const std::vector<AccessCounts>& rows_of(std::size_t k) {
    return lines_[work_.function.instructions[k].ptx_line.value_or(0)];
  }

  void count_in(std::size_t k, const sass::MemoryAccess& memory, MemorySpace space,
                MemoryAction action) {
    const sass::SassInstruction& i = work_.function.instructions[k];
    const sass::ExecutionCounts& counts = work_.join.instructions[k];
    AccessTotals& totals = totals_of(space, action, memory.load);
    const std::vector<AccessCounts>& rows = rows_of(k);
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const AccessCounts& a) {
      return a.space == space && a.action == action && a.requests > 0;
    });
    if (row != rows.end()) {
      const auto requests = static_cast<double>(row->requests);
      // Warps also come by when no lane's guard holds.
      double made = counts.warps;
      if (i.guard)
        made *= std::min(1.0, requests / guarded_[i.ptx_line.value_or(0)]);
      totals.requests += made;
      totals.sectors += made * static_cast<double>(row->sectors) / requests;
      totals.misses += made * static_cast<double>(row->sectors - row->l1_hits) / requests;
      totals.wavefronts += made * static_cast<double>(row->wavefronts) / requests;
      return;
    }
    // No PTX asked for it: side by side, as the compiler lays out what it saves.
    if (counts.threads_on <= 0)
      return;
    const double bytes = counts.threads_on / counts.warps * memory.bytes;
    totals.requests += counts.warps;
    totals.sectors += counts.warps * std::ceil(bytes / kSectorBytes);
    totals.wavefronts += counts.warps * std::ceil(bytes / kBankBytes);
    if (space == MemorySpace::local)
      result_.spills += counts.warps;
  }

  AccessTotals& totals_of(MemorySpace space, MemoryAction action, bool gives_back) {
    const bool load = action == MemoryAction::load;
    const bool atomic = action == MemoryAction::atomic;
    if (space == MemorySpace::local)
      return load ? result_.local_loads : result_.local_stores;
    if (space == MemorySpace::shared)
      return atomic ? result_.shared_atomics : load ? result_.shared_loads : result_.shared_stores;
    if (atomic)
      return gives_back ? result_.global_atomics : result_.global_reductions;
    return load ? result_.global_loads : result_.global_stores;
  }

  const MachineWork& work_;
  std::map<int, std::vector<AccessCounts>> lines_;
  std::map<int, double> guarded_; // warps that come by the guarded accesses of a line
  MachineAccesses result_;
};

} // namespace

MachineAccesses find_accesses(const LaunchCounts& launch, const MachineWork& work) {
  return Accesses(launch, work).run();
}

} // namespace kernevo
