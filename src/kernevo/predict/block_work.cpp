#include "kernevo/predict/block_work.h"

#include "kernevo/predict/access_table.h"
#include "kernevo/predict/calibration.h"
#include "kernevo/predict/tensor_rate.h"
#include "kernevo/predict/warp_walk.h"
#include "kernevo/sass/opcode_table.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace kernevo {
namespace {

constexpr double kLanes = 32;
constexpr double kSchedulers = 4;
constexpr double kLine = 128;
constexpr double kInstructionBytes = 16;
constexpr double kSectorsPerWord = 4; // a warp's 32 words of 4 bytes

double warps_of(const LaunchCounts& counts) {
  const double threads = static_cast<double>(counts.block[0]) * counts.block[1] * counts.block[2];
  return std::ceil(threads / kLanes);
}

// Costs, in cycles of a multiprocessor, of one warp instruction.
class Costs {
public:
  explicit Costs(const Architecture& architecture) : a_(architecture) {}

  double issue() const { return kCalibration.issue_factor / kSchedulers; }
  double fma() const { return kLanes / a_.fp32_lanes; }
  double fma_heavy() const { return kLanes / a_.integer_multiply_lanes; }
  double alu() const { return kLanes / a_.integer_lanes; }
  double fp16() const { return kLanes / a_.fp16_lanes; }
  double fp64() const { return kLanes / a_.fp64_lanes; }
  double xu() const { return kLanes / a_.special_function_lanes; }
  // No access is taken in less than the load-store units need for 32 threads.
  double taken() const { return kLanes / a_.load_store_units; }

  double shared(double passes, bool store) const {
    return std::max(passes * kLine / a_.shared_bytes_per_clock, taken()) *
           (store ? kCalibration.shared_store_factor : 1);
  }
  double global_load(double passes, double words) const {
    return std::max(std::max(passes, words) * kLine / a_.l1_bytes_per_clock, taken());
  }
  double global_store(double passes) const {
    return std::max(passes * kLine / a_.l1_bytes_per_clock, taken()) *
           kCalibration.global_store_factor;
  }

private:
  const Architecture& a_;
};

double requests_share(const AccessCounts& access, double executions) {
  return executions > 0 ? std::min(1.0, static_cast<double>(access.requests) / executions) : 0;
}

double shared_passes(const AccessCounts& access) {
  if (access.requests == 0)
    return 1;
  const auto requests = static_cast<double>(access.requests);
  return static_cast<double>(access.wavefronts) / requests +
         (access.action == MemoryAction::atomic ? static_cast<double>(access.collisions) / requests
                                                : 0);
}

void add_arithmetic(ResourceCycles& cycles, sass::Pipe pipe, const Costs& costs, double n) {
  switch (pipe) {
  case sass::Pipe::fma: cycles.fma += n * costs.fma(); break;
  case sass::Pipe::fma_heavy: cycles.fma += n * costs.fma_heavy(); break;
  case sass::Pipe::alu: cycles.alu += n * costs.alu(); break;
  case sass::Pipe::fp16: cycles.fp16 += n * costs.fp16(); break;
  case sass::Pipe::fp64: cycles.fp64 += n * costs.fp64(); break;
  case sass::Pipe::xu: cycles.xu += n * costs.xu(); break;
  default: break;
  }
}

// `n` executions by warps of the sampled blocks.
void add_memory(ResourceCycles& cycles, const sass::SassInstruction& i, const AccessTable& accesses,
                const Costs& costs, double n) {
  const sass::MemoryAccess& memory = *i.memory;
  if (memory.space == sass::MemorySpace::constant)
    return;
  const int line = i.ptx_line.value_or(0);
  const double words = std::max(1.0, memory.bytes / 4.0);
  if (memory.space == sass::MemorySpace::local) {
    cycles.l1 += n * (memory.load ? costs.global_load(words, words) : costs.global_store(words));
    return;
  }
  const AccessCounts* shared = accesses.find(line, MemorySpace::shared);
  const AccessCounts* global = accesses.find(line, MemorySpace::global);
  if (shared != nullptr && (memory.space == sass::MemorySpace::shared || global == nullptr)) {
    cycles.shared += n * requests_share(*shared, n) *
                     costs.shared(shared_passes(*shared), memory.store && !memory.load);
    return;
  }
  if (memory.space == sass::MemorySpace::shared) {
    cycles.shared += n * costs.shared(words, memory.store && !memory.load);
    return;
  }
  const double passes = global != nullptr ? l1_passes(*global) : words;
  const double share = global != nullptr ? requests_share(*global, n) : 1;
  // cp.async reads as a load does, but hands nothing to registers: it fills shared memory.
  const double words_returned = i.opcode == "LDGSTS" ? 0 : words;
  cycles.l1 +=
      n * share *
      (memory.load ? costs.global_load(passes, words_returned) : costs.global_store(passes));
  if (shared != nullptr)
    cycles.shared += n * share * costs.shared(shared_passes(*shared), false);
}

ResourceCycles scaled(ResourceCycles c, double factor) {
  for (double* value :
       {&c.issue, &c.fma, &c.alu, &c.fp16, &c.fp64, &c.xu, &c.tensor, &c.shared, &c.l1})
    *value *= factor;
  return c;
}

// The pipe a PTX instruction would mostly be executed by.
sass::Pipe pipe_of_ptx(std::string_view opcode) {
  const auto is = [&](std::string_view prefix) { return opcode.starts_with(prefix); };
  const bool f32 = opcode.find(".f32") != std::string_view::npos;
  if (opcode.find(".f64") != std::string_view::npos && !is("ld") && !is("st") && !is("mov"))
    return sass::Pipe::fp64;
  if ((is("fma") || is("add") || is("mul") || is("sub") || is("mad")) && f32)
    return sass::Pipe::fma;
  if (is("mad") || is("mul"))
    return sass::Pipe::fma_heavy;
  if (is("ex2") || is("lg2") || is("rcp") || is("rsqrt") || is("sqrt") || is("sin") || is("cos") ||
      is("div") || is("tanh") || is("cvt"))
    return sass::Pipe::xu;
  if (is("bra") || is("ret") || is("exit") || is("bar") || is("call"))
    return sass::Pipe::cbu;
  if (is("ld.param") || is("cvta") || is("mov"))
    return sass::Pipe::other;
  return sass::Pipe::alu;
}

} // namespace

ResourceCycles& ResourceCycles::operator+=(const ResourceCycles& o) {
  issue += o.issue;
  fma += o.fma;
  alu += o.alu;
  fp16 += o.fp16;
  fp64 += o.fp64;
  xu += o.xu;
  tensor += o.tensor;
  shared += o.shared;
  l1 += o.l1;
  return *this;
}

LocalTraffic local_traffic(const LaunchCounts& counts, const MachineWork& work,
                           double stack_bytes) {
  LocalTraffic local;
  local.bytes_per_thread = stack_bytes;
  for (std::size_t k = 0; k < work.function.instructions.size(); ++k) {
    const auto& memory = work.function.instructions[k].memory;
    if (!memory || memory->space != sass::MemorySpace::local)
      continue;
    const double sectors = work.join.instructions[k].warps / counts.represented() *
                           std::max(1.0, memory->bytes / 4.0) * kSectorsPerWord;
    (memory->load ? local.load_sectors : local.store_sectors) += sectors;
  }
  return local;
}

BlockWork block_work(const Gpu& gpu, const Architecture& architecture, const LaunchCounts& counts,
                     const MachineWork& work, double far_latency) {
  BlockWork block;
  block.warps = warps_of(counts);
  const AccessTable accesses(counts);
  const Costs costs(architecture);
  const std::vector<double> latency = walk_warp(work, accesses, architecture, far_latency);
  const double blocks = counts.represented();
  for (std::size_t b = 0; b < work.flow.blocks.size(); ++b) {
    const sass::BasicBlock& code = work.flow.blocks[b];
    Segment segment;
    double most = 0;
    for (std::size_t k = code.first; k < code.last; ++k) {
      const sass::SassInstruction& i = work.function.instructions[k];
      const double n = work.join.instructions[k].warps;
      if (n <= 0)
        continue;
      most = std::max(most, n);
      block.code_bytes += kInstructionBytes;
      segment.cycles.issue += n * costs.issue();
      const sass::Pipe pipe = sass::pipe_of(i);
      add_arithmetic(segment.cycles, pipe, costs, n);
      if (pipe == sass::Pipe::tensor)
        segment.cycles.tensor += n * tensor_cycles(i, gpu);
      if (i.memory && !i.never_executes())
        add_memory(segment.cycles, i, accesses, costs, n);
      if (i.opcode == "BAR")
        block.barriers_per_warp += n / blocks / block.warps;
    }
    if (most <= 0)
      continue;
    segment.cycles = scaled(segment.cycles, 1 / blocks);
    segment.executions = most / blocks / block.warps;
    segment.latency = latency[b];
    block.cycles += segment.cycles;
    block.segments.push_back(segment);
  }
  return block;
}

BlockWork block_work(const Gpu& /*gpu*/, const Architecture& architecture,
                     const LaunchCounts& counts, double far_latency) {
  constexpr double dependent_issue = 4; // cycles until a result can be used
  BlockWork block;
  block.warps = warps_of(counts);
  const Costs costs(architecture);
  const double blocks = counts.represented();
  Segment segment;
  for (const InstructionCounts& i : counts.instructions) {
    const auto n = static_cast<double>(i.executions);
    const sass::Pipe pipe = pipe_of_ptx(i.opcode);
    if (pipe != sass::Pipe::other) {
      segment.cycles.issue += n * costs.issue();
      segment.latency += n / blocks / block.warps * dependent_issue;
      block.code_bytes += kInstructionBytes;
    }
    add_arithmetic(segment.cycles, pipe, costs, n);
    if (i.opcode.starts_with("bar"))
      block.barriers_per_warp += n / blocks / block.warps;
    for (const AccessCounts& a : i.accesses) {
      const auto requests = static_cast<double>(a.requests);
      const double words = a.threads == 0 ? 1
                                          : std::max(1.0, static_cast<double>(a.useful_bytes) /
                                                              static_cast<double>(a.threads) / 4);
      const bool store = a.action == MemoryAction::store;
      if (a.space == MemorySpace::shared) {
        segment.cycles.shared += requests * costs.shared(shared_passes(a), store);
        segment.latency += requests / blocks / block.warps * architecture.shared_latency;
      } else if (a.space != MemorySpace::constant) {
        segment.cycles.l1 +=
            requests * (a.action == MemoryAction::load ? costs.global_load(l1_passes(a), words)
                                                       : costs.global_store(l1_passes(a)));
        if (a.action == MemoryAction::load && a.sectors > 0)
          segment.latency +=
              requests / blocks / block.warps *
              (architecture.l1_latency + (far_latency - architecture.l1_latency) *
                                             static_cast<double>(a.sectors - a.l1_hits) /
                                             static_cast<double>(a.sectors));
      }
    }
  }
  segment.executions = 1;
  segment.cycles = scaled(segment.cycles, 1 / blocks);
  block.cycles = segment.cycles;
  block.segments.push_back(segment);
  return block;
}

} // namespace kernevo
