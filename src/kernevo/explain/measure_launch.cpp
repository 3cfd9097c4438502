#include "kernevo/explain/measure_launch.h"

#include "kernevo/explain/access_totals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

namespace kernevo {
namespace {

constexpr double kLanes = 32;
constexpr double kSectorBytes = 32;

constexpr std::array<std::string_view, 17> kBounds = {
    "launch",           "issue", "fma", "alu",  "xu",      "fp64",    "tensor",  "lsu",
    "shared",           "l1",    "l2",  "dram", "atomics", "latency", "barrier", "tail",
    "instruction_cache"};
constexpr std::array<std::string_view, 6> kCompute = {"issue", "fma",  "alu",
                                                      "xu",    "fp64", "tensor"};
constexpr std::array<std::string_view, 9> kMultiprocessor = {
    "issue", "fma", "alu", "xu", "fp64", "tensor", "lsu", "shared", "l1"};
constexpr std::array<std::string_view, 3> kMemory = {"l1", "l2", "dram"};

std::string words_of(std::string_view bound) {
  constexpr std::array<std::pair<std::string_view, const char*>, 9> words = {
      {{"issue", "the schedulers' issue slots"},
       {"fma", "the FP32 pipe"},
       {"alu", "the integer pipe"},
       {"xu", "the pipe of transcendentals and conversions"},
       {"fp64", "the FP64 pipe"},
       {"tensor", "the tensor cores"},
       {"lsu", "the load/store units"},
       {"shared", "shared memory"},
       {"l1", "L1"}}};
  for (const auto& [name, text] : words)
    if (name == bound)
      return text;
  return std::string(bound);
}

class Measurement {
public:
  Measurement(const LaunchEvidence& evidence, const std::vector<SourceLine>& lines,
              const Arithmetic& arithmetic)
      : e_(evidence), lines_(lines), arithmetic_(arithmetic) {}

  Metrics run() {
    shares();
    shape();
    instructions();
    memory();
    work();
    places();
    return std::move(m_);
  }

private:
  template <std::size_t N>
  std::string_view busiest(const std::array<std::string_view, N>& bounds) const {
    return *std::max_element(bounds.begin(), bounds.end(),
                             [&](std::string_view a, std::string_view b) {
                               return e_.prediction.share_of(a) < e_.prediction.share_of(b);
                             });
  }

  void shares() {
    const Prediction& p = e_.prediction;
    for (const std::string_view bound : kBounds)
      m_.set("share." + std::string(bound), p.share_of(bound));
    const std::string_view compute = busiest(kCompute);
    m_.set("share.compute", p.share_of(compute));
    m_.set("share.memory", p.share_of(busiest(kMemory)));
    const std::string_view unit = busiest(kMultiprocessor);
    m_.set("share.multiprocessor", p.share_of(unit));
    m_.set("share.busiest", std::max({p.share_of(unit), p.share_of("l2"), p.share_of("dram"),
                                      p.share_of("atomics")}));
    name_busiest_unit(m_);
    m_.set("time", p.time.value);
    if (e_.planned.predicted.value > 0)
      m_.set("plan_share", p.time.value / e_.planned.predicted.value);
  }

  void shape() {
    const Prediction& p = e_.prediction;
    m_.set("occupancy", p.occupancy.fraction);
    m_.set("achieved_occupancy", p.occupancy.fraction * std::min(1.0, p.waves));
    m_.set("blocks_per_multiprocessor", p.occupancy.blocks_per_multiprocessor);
    m_.set_fact("limiter", p.occupancy.limiter == OccupancyLimiter::shared_memory
                               ? "shared memory"
                               : std::string(name_of(p.occupancy.limiter)));
    for (const auto limiter : {OccupancyLimiter::threads, OccupancyLimiter::registers,
                               OccupancyLimiter::shared_memory, OccupancyLimiter::blocks})
      m_.set("limiter." + std::string(name_of(limiter)), p.occupancy.limiter == limiter ? 1 : 0);
    if (e_.resources.registers)
      m_.set("registers", *e_.resources.registers);
    m_.set("shared_bytes", static_cast<double>(e_.counts.shared_bytes));
    const double threads = double(e_.counts.block[0]) * e_.counts.block[1] * e_.counts.block[2];
    const double blocks = double(e_.counts.grid[0]) * e_.counts.grid[1] * e_.counts.grid[2];
    const double sms = e_.gpu.multiprocessors;
    m_.set("threads_per_block", threads);
    m_.set("lanes_in_block", threads / (std::ceil(threads / kLanes) * kLanes));
    m_.set("blocks", blocks);
    m_.set("waves", p.waves);
    m_.set("grid_blocks_per_multiprocessor", blocks / sms);
    // Within the first wave blocks are dealt to multiprocessors one by one; later waves are whole.
    m_.set("grid_balance",
           p.waves <= 1 ? blocks / (std::ceil(blocks / sms) * sms) : p.waves / std::ceil(p.waves));
  }

  void instructions() {
    double executions = 0;
    double threads = 0;
    double branches = 0;
    double diverged = 0;
    double barriers = 0;
    double atomics = 0;
    for (const InstructionCounts& i : e_.counts.instructions) {
      const auto count = static_cast<double>(i.executions);
      executions += count;
      threads += static_cast<double>(i.threads);
      diverged += static_cast<double>(i.diverged);
      branches += i.opcode.starts_with("bra") || i.opcode.starts_with("brx") ? count : 0;
      barriers += i.opcode.starts_with("bar.") || i.opcode.starts_with("barrier") ? count : 0;
      atomics += i.opcode.starts_with("atom") || i.opcode.starts_with("red.") ? count : 0;
    }
    if (executions > 0) {
      const double active = threads / (executions * kLanes);
      m_.set("lanes_active", active);
      m_.set("divergence", std::max(0.0, 1 - active / *m_.find("lanes_in_block")));
      m_.set("atomic_instruction_fraction", atomics / executions);
    }
    if (branches > 0)
      m_.set("divergent_branch_fraction", diverged / branches);
    const double warps =
        std::ceil(*m_.find("threads_per_block") / kLanes) * e_.counts.represented();
    if (warps > 0)
      m_.set("barriers_per_warp", barriers / warps);
    if (barriers > 0)
      m_.set("instructions_per_barrier", executions / barriers);
    m_.set("machine_code", e_.work != nullptr ? 1 : 0);
    if (e_.resources.spill_stores || e_.resources.spill_loads)
      m_.set("spill_bytes", static_cast<double>(e_.resources.spill_stores.value_or(Bytes{0}).value +
                                                e_.resources.spill_loads.value_or(Bytes{0}).value));
    if (e_.resources.stack)
      m_.set("stack_bytes", static_cast<double>(e_.resources.stack->value));
    local_instructions();
  }

  void local_instructions() {
    if (e_.work == nullptr)
      return;
    double all = 0;
    double local = 0;
    for (std::size_t n = 0; n < e_.work->join.instructions.size(); ++n) {
      const double warps = e_.work->join.instructions[n].warps;
      const auto& memory = e_.work->function.instructions[n].memory;
      all += warps;
      local += memory && memory->space == sass::MemorySpace::local ? warps : 0;
    }
    if (all > 0)
      m_.set("local_instruction_fraction", local / all);
  }

  void memory() {
    AccessTotals loads;
    AccessTotals stores;
    AccessTotals atomics;
    AccessTotals shared;
    for (const InstructionCounts& i : e_.counts.instructions)
      for (const AccessCounts& a : i.accesses) {
        if (a.action == MemoryAction::atomic)
          atomics.add(a);
        else if (a.space == MemorySpace::global)
          (a.action == MemoryAction::load ? loads : stores).add(a);
        else if (a.space == MemorySpace::shared)
          shared.add(a);
      }
    const auto requests = [&](const AccessTotals& t, const std::string& action) {
      if (t.requests <= 0)
        return;
      m_.set("sectors_per_request." + action, t.sectors / t.requests);
      m_.set("ideal_sectors_per_request." + action, t.ideal_sectors / t.requests);
    };
    requests(loads, "load");
    requests(stores, "store");
    if (const double sectors = loads.sectors + stores.sectors; sectors > 0) {
      m_.set("useful_byte_fraction", (loads.bytes + stores.bytes) / (sectors * kSectorBytes));
      m_.set("excess_sector_fraction", 1 - (loads.ideal_sectors + stores.ideal_sectors) / sectors);
    }
    if (loads.sectors > 0)
      m_.set("l1_hit_fraction", loads.l1_hits / loads.sectors);
    if (shared.wavefronts > 0) {
      m_.set("bank_conflict_factor", shared.wavefronts / shared.ideal_wavefronts);
      m_.set("excess_wavefront_fraction", 1 - shared.ideal_wavefronts / shared.wavefronts);
    }
    if (atomics.threads > 0)
      m_.set("atomic_collision_fraction", atomics.collisions / atomics.threads);
    const MemoryTraffic& t = e_.prediction.traffic;
    const double dram = t.dram_read_bytes + t.dram_write_bytes;
    m_.set("dram_bytes", dram);
    m_.set("l2_bytes", t.l2_read_bytes + t.l2_write_bytes);
    m_.set("dram_rate", dram / (e_.prediction.time.value * 1e-9));
    if (t.dram_read_bytes > 0)
      m_.set("rereads", t.l2_read_bytes / t.dram_read_bytes);
  }

  void work() {
    double flops = 0;
    double tensor = 0;
    for (const auto& [unit, count] : arithmetic_) {
      flops += count;
      tensor += unit.starts_with("tensor") ? count : 0;
    }
    const double seconds = e_.prediction.time.value * 1e-9;
    const double dram = *m_.find("dram_bytes");
    m_.set("flops", flops);
    m_.set("flop_rate", flops / seconds);
    if (dram > 0)
      m_.set("intensity", flops / dram);
    m_.set("tensor_flop_fraction", flops > 0 ? tensor / flops : 0);
    m_.set("tensor_possible", tensor_possible() ? 1 : 0);
    const PlannedWork& planned = e_.planned;
    if (planned.flops && planned.bytes && *planned.bytes > 0)
      m_.set("task_intensity", *planned.flops / *planned.bytes);
    // Absent where the task does not say what must be done: what was done is no measure of it.
    if (planned.least.value > 0 && planned.predicted.value > 0)
      m_.set("roofline_fraction", planned.least.value / planned.predicted.value);
  }

  bool tensor_possible() const {
    switch (e_.planned.dtype) {
    case DType::float16: return e_.gpu.tensor_fp16_tflops.has_value();
    case DType::bfloat16:
      return e_.gpu.compute_capability >= 80 && e_.gpu.tensor_fp16_tflops.has_value();
    case DType::float32: return e_.planned.allow_tf32 && e_.gpu.tensor_tf32_tflops.has_value();
    case DType::float64: return e_.gpu.tensor_fp64_tflops.has_value();
    case DType::int8: return e_.gpu.tensor_int8_tops.has_value();
    default: return false;
    }
  }

  // The line with most of something, where any has it.
  template <class Amount> void place(std::string_view fact, Amount amount) {
    const auto worst = std::max_element(
        lines_.begin(), lines_.end(),
        [&](const SourceLine& a, const SourceLine& b) { return amount(a) < amount(b); });
    if (worst != lines_.end() && amount(*worst) > 0)
      m_.set_fact(fact, worst->place());
  }

  void places() {
    place("line.issue", [](const SourceLine& l) { return l.file.empty() ? 0 : l.issue_share; });
    place("line.sectors",
          [](const SourceLine& l) { return l.memory.sectors - l.memory.ideal_sectors; });
    place("line.wavefronts",
          [](const SourceLine& l) { return l.shared.wavefronts - l.shared.ideal_wavefronts; });
    place("line.divergence", [](const SourceLine& l) { return l.file.empty() ? 0 : l.idle_lanes; });
    place("line.atomics", [](const SourceLine& l) { return l.atomic_updates; });
  }

  const LaunchEvidence& e_;
  const std::vector<SourceLine>& lines_;
  const Arithmetic& arithmetic_;
  Metrics m_;
};

} // namespace

Metrics measure_launch(const LaunchEvidence& evidence, const std::vector<SourceLine>& lines,
                       const Arithmetic& arithmetic) {
  return Measurement(evidence, lines, arithmetic).run();
}

void name_busiest_unit(Metrics& metrics) {
  const auto share = [&](std::string_view bound) {
    return metrics.share("share." + std::string(bound));
  };
  metrics.set_fact("busiest_unit", words_of(*std::ranges::max_element(kMultiprocessor, {}, share)));
}

} // namespace kernevo
