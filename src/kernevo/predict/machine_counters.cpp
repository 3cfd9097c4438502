#include "kernevo/predict/machine_counters.h"

#include "kernevo/predict/machine_accesses.h"
#include "kernevo/sass/opcode_table.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

namespace kernevo {
namespace {

using sass::OpClass;
using sass::Pipe;

struct ClassName {
  OpClass op_class;
  std::string_view name;
};
constexpr std::array kClasses = {
    ClassName{OpClass::fp16, "fp16"},
    ClassName{OpClass::fp32, "fp32"},
    ClassName{OpClass::fp64, "fp64"},
    ClassName{OpClass::integer, "integer"},
    ClassName{OpClass::conversion, "conversion"},
    ClassName{OpClass::control, "control"},
    ClassName{OpClass::memory, "memory"},
    ClassName{OpClass::inter_thread, "inter_thread_communication"},
    ClassName{OpClass::misc, "misc"},
};

struct PipeName {
  Pipe pipe;
  std::string_view name;
};
// The multiplier of integers is half of the FP32 pipe: in `fma` as well.
constexpr std::array kPipes = {
    PipeName{Pipe::fma, "fma"},       PipeName{Pipe::fma_heavy, "fmaheavy"},
    PipeName{Pipe::alu, "alu"},       PipeName{Pipe::fp16, "fp16"},
    PipeName{Pipe::fp64, "fp64"},     PipeName{Pipe::xu, "xu"},
    PipeName{Pipe::lsu, "lsu"},       PipeName{Pipe::tex, "tex"},
    PipeName{Pipe::tensor, "tensor"}, PipeName{Pipe::uniform, "uniform"},
    PipeName{Pipe::cbu, "cbu"},       PipeName{Pipe::adu, "adu"},
};

struct Work {
  double warps = 0;
  double threads = 0;
  double threads_on = 0;
  double thread_reads = 0;            // of threadIdx
  std::map<OpClass, double> by_class; // threads whose guard holds
  std::map<Pipe, double> by_pipe;     // warps
};

Work add_up(const MachineWork& machine) {
  Work work;
  for (std::size_t k = 0; k < machine.function.instructions.size(); ++k) {
    const sass::SassInstruction& i = machine.function.instructions[k];
    const sass::ExecutionCounts& counts = machine.join.instructions[k];
    work.warps += counts.warps;
    work.threads += counts.threads;
    work.threads_on += counts.threads_on;
    work.by_class[sass::class_of(i)] += counts.threads_on;
    const Pipe pipe = sass::pipe_of(i);
    work.by_pipe[pipe] += counts.warps;
    if (pipe == Pipe::fma_heavy)
      work.by_pipe[Pipe::fma] += counts.warps;
    if (sass::reads_thread_index(i))
      work.thread_reads += counts.warps;
  }
  return work;
}

// Counters in the order given.
class List {
public:
  explicit List(double scale) : scale_(scale) {}

  void total(std::string name, double counted, std::string_view unit, std::string_view meaning) {
    all_.push_back({std::move(name), counted * scale_, unit, meaning, false});
  }
  void modelled(std::string name, double counted, std::string_view unit, std::string_view meaning) {
    all_.push_back({std::move(name), counted * scale_, unit, meaning, true});
  }
  void ratio(std::string name, double part, double whole, std::string_view unit,
             std::string_view meaning) {
    if (whole > 0)
      all_.push_back({std::move(name), part / whole, unit, meaning, false});
  }
  bool has(std::string_view name) const {
    return std::any_of(all_.begin(), all_.end(), [&](const Counter& c) { return c.name == name; });
  }
  // Those of `others` that are not here.
  void append(const std::vector<Counter>& others) {
    for (const Counter& other : others)
      if (!has(other.name))
        all_.push_back(other);
  }
  std::vector<Counter> take() { return std::move(all_); }

private:
  std::vector<Counter> all_;
  double scale_;
};

void add_instructions(List& list, const Work& work) {
  list.total("smsp__inst_executed.sum", work.warps, "inst", "machine instructions, by warps");
  list.total("smsp__thread_inst_executed.sum", work.threads, "inst", "the same, by threads");
  list.total("smsp__thread_inst_executed_pred_on.sum", work.threads_on, "inst",
             "by threads whose guard held");
  list.ratio("smsp__thread_inst_executed_per_inst_executed.ratio", work.threads, work.warps,
             "thread", "lanes that came by an instruction, of 32");
  list.ratio("smsp__thread_inst_executed_pred_on_per_inst_executed.ratio", work.threads_on,
             work.warps, "thread", "lanes that an instruction acted on, of 32");
  const auto counted = [](const auto& map, auto key) {
    const auto found = map.find(key);
    return found == map.end() ? 0.0 : found->second;
  };
  for (const ClassName& c : kClasses)
    list.total("smsp__sass_thread_inst_executed_op_" + std::string(c.name) + "_pred_on.sum",
               counted(work.by_class, c.op_class), "inst", "by threads whose guard held");
  for (const PipeName& p : kPipes)
    list.total("smsp__inst_executed_pipe_" + std::string(p.name) + ".sum",
               counted(work.by_pipe, p.pipe), "inst", "warp instructions given to the pipe");
}

void add_accesses(List& list, const MachineAccesses& accesses, const Work& work) {
  struct Named {
    AccessTotals MachineAccesses::* totals;
    const char* space;
    const char* op;
  };
  constexpr std::array in_l1 = {
      Named{&MachineAccesses::global_loads, "global", "ld"},
      Named{&MachineAccesses::global_stores, "global", "st"},
      Named{&MachineAccesses::global_atomics, "global", "atom"},
      Named{&MachineAccesses::global_reductions, "global", "red"},
      Named{&MachineAccesses::local_loads, "local", "ld"},
      Named{&MachineAccesses::local_stores, "local", "st"},
  };
  for (const Named& n : in_l1) {
    const AccessTotals& totals = accesses.*n.totals;
    const std::string name = std::string("_pipe_lsu_mem_") + n.space + "_op_" + n.op + ".sum";
    list.total("l1tex__t_requests" + name, totals.requests, "request", "warp accesses");
    list.total("l1tex__t_sectors" + name, totals.sectors, "sector", "of 32 bytes, they touch");
  }
  // Spills are taken to stay in L1 until they are read back.
  list.modelled("lts__t_sectors_op_read.sum",
                accesses.global_loads.misses + accesses.local_loads.misses, "sector",
                "read from L2, were L1 cold for every block");
  list.total("lts__t_sectors_op_write.sum",
             accesses.global_stores.sectors + accesses.local_stores.sectors, "sector",
             "written to L2: L1 keeps no store back");
  const std::string shared = "l1tex__data_pipe_lsu_wavefronts_mem_shared";
  const std::string_view passes = "passes over the banks of shared memory";
  const double loads = accesses.shared_loads.wavefronts;
  const double stores = accesses.shared_stores.wavefronts;
  const double atomics = accesses.shared_atomics.wavefronts;
  list.total(shared + "_op_ld.sum", loads, "wavefront", passes);
  list.total(shared + "_op_st.sum", stores, "wavefront", passes);
  list.total(shared + "_op_atom.sum", atomics, "wavefront", passes);
  list.total(shared + ".sum", loads + stores + atomics + work.thread_reads, "wavefront",
             "all of them, and one for every read of threadIdx");
  list.total("sass__spill_inst_executed.sum", accesses.spills, "inst",
             "warp accesses that save or restore registers");
}

} // namespace

double dependency_distance(const MachineWork& work) {
  struct Slot {
    sass::RegisterFile file;
    int index;
    auto operator<=>(const Slot&) const = default;
  };
  double distance = 0;
  double pairs = 0;
  for (std::size_t b = 0; b < work.flow.blocks.size(); ++b) {
    const sass::BasicBlock& block = work.flow.blocks[b];
    const double warps = work.join.blocks[b].warps;
    if (warps <= 0)
      continue;
    // Who wrote a register last, until it is read: by that, the instruction has found its reader.
    std::map<Slot, std::size_t> written;
    std::vector<bool> met(block.last - block.first, false);
    const auto read = [&](Slot slot, std::size_t k) {
      const auto found = written.find(slot);
      if (found == written.end() || met[found->second - block.first])
        return;
      met[found->second - block.first] = true;
      distance += warps * static_cast<double>(k - found->second);
      pairs += warps;
    };
    for (std::size_t k = block.first; k < block.last; ++k) {
      const sass::SassInstruction& i = work.function.instructions[k];
      if (i.guard)
        read({i.guard->file, i.guard->index}, k);
      for (const sass::Registers& r : i.sources)
        for (int n = 0; n < r.count; ++n)
          read({r.file, r.first + n}, k);
      for (const sass::Registers& r : i.destinations)
        for (int n = 0; n < r.count; ++n)
          written[{r.file, r.first + n}] = k;
    }
  }
  return pairs > 0 ? distance / pairs : 0;
}

Counters machine_counters(const LaunchCounts& launch, const MachineWork& work) {
  Counters result = counters_of(launch);
  if (result.blocks_counted == 0)
    return result;
  List list(static_cast<double>(result.blocks) / launch.represented());
  const Work executed = add_up(work);
  add_instructions(list, executed);
  if (const double distance = dependency_distance(work); distance > 0)
    list.ratio("sass__dependency_distance.ratio", distance, 1, "inst",
               "from one that writes a register to the first that reads it");
  add_accesses(list, find_accesses(launch, work), executed);
  list.append(result.all);
  result.all = list.take();
  return result;
}

} // namespace kernevo
