#include "kernevo/cuda/core/counted_range.h"

#include "kernevo/cuda/common/identity.h"
#include "kernevo/cuda/core/pricing.h"
#include "kernevo/predict/counters.h"

#include <algorithm>
#include <string_view>

namespace kernevo::cuda {
namespace {

constexpr int kRenamedMemory = 120; // from this compute capability on, DRAM's counters have _op_
constexpr const char* kTime = "gpu__time_duration.sum";

// A figure over the metrics of a launch, as a part of its time.
struct Part {
  std::string_view counter; // without what is taken of it
  std::string_view metric;
};
constexpr Part kParts[] = {
    {"smsp__issue_active.avg", "share.issue"},
    {"sm__inst_issued.avg", "share.issue"},
    {"sm__pipe_fma_cycles_active.avg", "share.fma"},
    {"sm__pipe_alu_cycles_active.avg", "share.alu"},
    {"sm__inst_executed_pipe_xu.avg", "share.xu"},
    {"sm__pipe_fp64_cycles_active.avg", "share.fp64"},
    {"sm__pipe_tensor_cycles_active.avg", "share.tensor"},
    {"l1tex__lsuin_requests.avg", "share.lsu"},
    {"sm__inst_executed_pipe_lsu.avg", "share.lsu"},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared.avg", "share.shared"},
    {"l1tex__t_sectors.avg", "share.l1"},
    {"l1tex__m_xbar2l1tex_read_sectors.avg", "share.l1"},
    {"l1tex__throughput.avg", "share.l1"},
    {"lts__throughput.avg", "share.l2"},
    {"dram__throughput.avg", "share.dram"},
};

bool is_sum(std::string_view counter) {
  return counter.ends_with(".sum");
}

} // namespace

std::map<std::string, double> hardware_counters(const LaunchCounts& counts,
                                                const LaunchPrice& price, const Gpu& gpu) {
  const auto metric = [&](std::string_view name) {
    const auto found = price.metrics.find(std::string(name));
    return found == price.metrics.end() ? 0.0 : found->second;
  };
  std::map<std::string, double> values;
  values[kTime] = price.time.value;
  // Multiprocessors work as long as the launch, but for the last wave.
  const double active = 1 - metric("share.tail");
  const double cycles = price.time.value * gpu.clock_ghz;
  values["gpc__cycles_elapsed.max"] = cycles;
  values["sm__cycles_active.max"] = cycles;
  values["sm__cycles_active.avg"] = cycles * active;
  for (const Part& part : kParts) {
    const double share = 100 * metric(part.metric);
    values[std::string(part.counter) + ".pct_of_peak_sustained_elapsed"] = share;
    values[std::string(part.counter) + ".pct_of_peak_sustained_active"] =
        active > 0 ? share / active : 0;
  }
  values["smsp__issue_inst0.avg.pct_of_peak_sustained_active"] = 100 * metric("share.latency");
  values["sm__warps_active.avg.pct_of_peak_sustained_active"] = 100 * metric("achieved_occupancy");
  // How long an instruction takes on the way does not show in shares; what of it is waiting does.
  const double latency = 1 / std::max(metric("share.issue"), 1e-3);
  values["smsp__average_warp_latency_per_inst_issued.ratio"] = latency;
  values["smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"] =
      latency * metric("share.barrier");
  values["smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio"] =
      latency * metric("share.instruction_cache");

  const Counters counted = counters_of(counts);
  const double instructions = counted.value_of("ptx__inst_executed.sum");
  values["smsp__inst_executed.sum"] = instructions;
  values["smsp__thread_inst_executed.sum"] = counted.value_of("ptx__thread_inst_executed.sum");
  values["smsp__thread_inst_executed_per_inst_executed.ratio"] = 32 * metric("lanes_active");
  values["l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum"] =
      instructions * metric("local_instruction_fraction");
  values["l1tex__t_requests_pipe_lsu_mem_local_op_st.sum"] = 0;
  double sectors = 0;
  for (const std::string op : {"ld", "st"}) {
    for (const std::string what : {"requests", "sectors"}) {
      const std::string name = "l1tex__t_" + what + "_pipe_lsu_mem_global_op_" + op + ".sum";
      values[name] = counted.value_of(name);
    }
    sectors += values["l1tex__t_sectors_pipe_lsu_mem_global_op_" + op + ".sum"];
    const std::string passes = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_" + op + ".sum";
    values[passes] = counted.value_of(passes);
    values["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_" + op + ".sum"] =
        values[passes] * metric("excess_wavefront_fraction");
  }
  const double loaded = values["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"];
  values["l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum"] =
      loaded * metric("l1_hit_fraction");
  values["l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct"] =
      100 * metric("l1_hit_fraction");

  const double read = metric("dram_bytes") * (sectors > 0 ? loaded / sectors : 1);
  const std::string op = gpu.compute_capability >= kRenamedMemory ? "op_" : "";
  values["dram__bytes.sum"] = metric("dram_bytes");
  values["dram__bytes_" + op + "read.sum"] = read;
  values["dram__bytes_" + op + "write.sum"] = metric("dram_bytes") - read;
  values["lts__t_sectors_srcunit_tex.sum"] = metric("l2_bytes") / 32;
  values["lts__t_sectors_srcunit_tex_op_read.sum"] = metric("rereads") * read / 32;
  return values;
}

void CountedRange::open() {
  const std::lock_guard lock(mutex_);
  values_.clear();
  time_ = 0;
  open_ = true;
}

void CountedRange::add(const LaunchCounts& counts, const LaunchPrice& price) {
  const auto launch = hardware_counters(counts, price, played_gpu());
  const std::lock_guard lock(mutex_);
  const double time = launch.at(kTime);
  for (const auto& [name, value] : launch) {
    double& sum = values_[name];
    sum = is_sum(name) ? sum + value : (sum * time_ + value * time) / (time_ + time);
  }
  time_ += time;
}

std::map<std::string, double> CountedRange::close() {
  const std::lock_guard lock(mutex_);
  open_ = false;
  return std::move(values_);
}

CountedRange& counted_range() {
  static auto* const range = new CountedRange; // never destroyed: threads of streams look at it
  return *range;
}

} // namespace kernevo::cuda

int kernevo_range_open() {
  if (!kernevo::cuda::pricing().modelled())
    return 1;
  kernevo::cuda::counted_range().open();
  return 0;
}

void kernevo_range_close(void (*take)(const char* name, double value, void* data), void* data) {
  for (const auto& [name, value] : kernevo::cuda::counted_range().close())
    take(name.c_str(), value, data);
}

int kernevo_range_counter(const char* name) {
  return kernevo::cuda::hardware_counters({}, {}, kernevo::cuda::played_gpu()).contains(name) ? 1
                                                                                              : 0;
}
