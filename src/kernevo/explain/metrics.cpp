#include "kernevo/explain/metrics.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace kernevo {
namespace {

// A share is the time the resource alone would need, as a fraction of the predicted time.
constexpr MetricInfo kMetrics[] = {
    {"share.launch", "fraction", "starting the launch and its blocks"},
    {"share.issue", "fraction", "issue slots of the schedulers"},
    {"share.fma", "fraction", "the FP32 pipe"},
    {"share.alu", "fraction", "the integer and logic pipe"},
    {"share.xu", "fraction", "the pipe of transcendentals and conversions"},
    {"share.fp64", "fraction", "the FP64 pipe"},
    {"share.tensor", "fraction", "the tensor cores"},
    {"share.lsu", "fraction", "the load/store units"},
    {"share.shared", "fraction", "passes over the banks of shared memory"},
    {"share.l1", "fraction", "L1"},
    {"share.l2", "fraction", "L2"},
    {"share.dram", "fraction", "device memory"},
    {"share.atomics", "fraction", "atomic updates"},
    {"share.latency", "fraction", "waiting for results that other warps do not cover"},
    {"share.barrier", "fraction", "waiting at barriers of the block"},
    {"share.tail", "fraction", "multiprocessors without work in the last wave"},
    {"share.instruction_cache", "fraction", "fetching instructions"},
    {"share.compute", "fraction", "the busiest of issue, fma, alu, xu, fp64, tensor"},
    {"share.memory", "fraction", "the busiest of l1, l2, dram"},
    {"share.multiprocessor", "fraction", "the busiest of compute, lsu, shared, l1"},
    {"share.busiest", "fraction", "the busiest of multiprocessor, l2, dram, atomics"},
    {"time", "ns", "predicted time of the launch"},
    {"plan_share", "fraction", "the launch's part of the time of all launches of the shape"},
    {"occupancy", "fraction", "warps a multiprocessor holds, of those it could"},
    {"achieved_occupancy", "fraction", "the same, over the whole GPU with the blocks the grid has"},
    {"blocks_per_multiprocessor", "block", "resident at once"},
    {"limiter.threads", "flag", "threads bound the occupancy"},
    {"limiter.registers", "flag", "registers bound the occupancy"},
    {"limiter.shared_memory", "flag", "shared memory bounds the occupancy"},
    {"limiter.blocks", "flag", "the number of blocks bounds the occupancy"},
    {"registers", "register", "of a thread"},
    {"shared_bytes", "byte", "of a block"},
    {"threads_per_block", "thread", "of the launch"},
    {"blocks", "block", "of the grid"},
    {"waves", "wave", "blocks of the grid / blocks the whole GPU holds at once"},
    {"grid_balance", "fraction",
     "multiprocessor time with work in it, were all blocks equally long"},
    {"grid_blocks_per_multiprocessor", "block", "blocks of the grid / multiprocessors"},
    {"machine_code", "flag", "machine instructions were counted, not PTX alone"},
    {"spill_bytes", "byte", "of registers a thread spills, stores and loads in the code"},
    {"stack_bytes", "byte", "of local memory a thread has: arrays and spilled registers"},
    {"local_instruction_fraction", "fraction", "instructions issued that access local memory"},
    {"lanes_active", "fraction", "lanes at work in an instruction, of 32"},
    {"lanes_in_block", "fraction", "lanes of the block's warps that have a thread"},
    {"divergence", "fraction", "lanes idle although the block has a thread for them"},
    {"divergent_branch_fraction", "fraction", "branches that part a warp"},
    {"sectors_per_request.load", "sector", "a global load touches"},
    {"sectors_per_request.store", "sector", "a global store touches"},
    {"ideal_sectors_per_request.load", "sector", "the bytes a global load asks for would fill"},
    {"ideal_sectors_per_request.store", "sector", "the bytes a global store asks for would fill"},
    {"useful_byte_fraction", "fraction", "bytes asked for, of those in the sectors touched"},
    {"excess_sector_fraction", "fraction", "global sectors that a dense layout would not touch"},
    {"l1_hit_fraction", "fraction", "sectors of global loads found in L1"},
    {"bank_conflict_factor", "factor", "passes over the banks / passes without conflicts"},
    {"excess_wavefront_fraction", "fraction", "passes over the banks that conflicts cause"},
    {"barriers_per_warp", "barrier", "waits of a warp at barriers of its block"},
    {"instructions_per_barrier", "instruction", "of a warp, from one barrier to the next"},
    {"atomic_instruction_fraction", "fraction", "instructions issued that are atomics"},
    {"atomic_collision_fraction", "fraction",
     "atomic updates that find another lane at their address"},
    {"dram_bytes", "byte", "to and from device memory"},
    {"l2_bytes", "byte", "to and from L2"},
    {"dram_rate", "byte/s", "dram_bytes / time"},
    {"rereads", "factor", "bytes read from L2 / bytes read from device memory"},
    {"flops", "operation", "floating-point operations executed"},
    {"flop_rate", "operation/s", "flops / time"},
    {"intensity", "operation/byte", "flops / dram_bytes"},
    {"tensor_flop_fraction", "fraction", "flops done by tensor cores"},
    {"tensor_possible", "flag", "tensor cores take the task's type without losing precision"},
    {"task_intensity", "operation/byte", "work of the task / bytes it must at least move"},
    {"roofline_fraction", "fraction",
     "least time the roofline allows / predicted time, of all launches of the shape"},
};

constexpr FactInfo kFacts[] = {
    {"limiter", "the resource that bounds the occupancy"},
    {"busiest_unit", "the busiest of issue, fma, alu, xu, fp64, tensor, lsu, shared, l1"},
    {"line.issue", "the source line with most issue slots"},
    {"line.sectors", "the source line with most excess sectors"},
    {"line.wavefronts", "the source line with most passes over the banks that conflicts cause"},
    {"line.divergence", "the source line with most idle lanes"},
    {"line.atomics", "the source line with most atomic updates"},
};

std::string with_prefix(double value, std::string_view unit) {
  constexpr std::array<const char*, 6> prefixes = {"", "k", "M", "G", "T", "P"};
  std::size_t step = 0;
  while (std::abs(value) >= 999.5 && step + 1 < prefixes.size()) {
    value /= 1000;
    ++step;
  }
  const int decimals = std::abs(value) >= 100 || value == std::floor(value) ? 0
                       : std::abs(value) >= 10                              ? 1
                                                                            : 2;
  return fmt::format("{:.{}f} {}{}", value, decimals, prefixes.at(step), unit);
}

} // namespace

std::span<const MetricInfo> metric_table() {
  return kMetrics;
}

const MetricInfo* find_metric(std::string_view name) {
  const auto* found = std::find_if(std::begin(kMetrics), std::end(kMetrics),
                                   [&](const MetricInfo& m) { return m.name == name; });
  return found == std::end(kMetrics) ? nullptr : found;
}

std::span<const FactInfo> fact_table() {
  return kFacts;
}

void Metrics::set(std::string_view name, double value) {
  assert(find_metric(name) != nullptr);
  if (std::isfinite(value))
    values_.insert_or_assign(std::string(name), value);
}

std::optional<double> Metrics::find(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

void Metrics::set_fact(std::string_view name, std::string text) {
  facts_.insert_or_assign(std::string(name), std::move(text));
}

std::string Metrics::fact(std::string_view name) const {
  const auto found = facts_.find(name);
  return found == facts_.end() ? "" : found->second;
}

void Metrics::set_sources(std::string_view name, std::set<std::string> sources) {
  assert(find_metric(name) != nullptr);
  sources_.insert_or_assign(std::string(name), std::move(sources));
}

const std::set<std::string>& Metrics::sources(std::string_view name) const {
  static const std::set<std::string> none;
  const auto found = sources_.find(name);
  return found == sources_.end() ? none : found->second;
}

std::string source_text(const std::set<std::string>& sources) {
  std::string text;
  for (const std::string& source : sources)
    text += (text.empty() ? "" : " and ") + source;
  return text;
}

std::string metric_text(double value, std::string_view unit) {
  if (unit == "fraction")
    return fmt::format("{:.{}f} %", value * 100, value > 0 && value < 0.0995 ? 1 : 0);
  if (unit == "byte")
    return with_prefix(value, "B");
  if (unit == "byte/s")
    return with_prefix(value, "B/s");
  if (unit == "operation")
    return with_prefix(value, "FLOP");
  if (unit == "operation/s")
    return with_prefix(value, "FLOP/s");
  if (unit == "ns")
    return value < 1e3   ? fmt::format("{:.4g} ns", value)
           : value < 1e6 ? fmt::format("{:.4g} us", value / 1e3)
           : value < 1e9 ? fmt::format("{:.4g} ms", value / 1e6)
                         : fmt::format("{:.4g} s", value / 1e9);
  if (value == std::floor(value) && std::abs(value) < 1e6)
    return fmt::format("{:.0f}", value);
  if (std::abs(value) >= 0.095 && std::abs(value) < 1e4)
    return fmt::format("{:.{}f}", value, std::abs(value) < 100 ? 1 : 0);
  return fmt::format("{:.2g}", value);
}

} // namespace kernevo
