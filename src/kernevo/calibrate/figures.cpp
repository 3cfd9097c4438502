#include "kernevo/calibrate/figures.h"

#include "kernevo/predict/calibration.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace kernevo::calibrate {
namespace {

// Cycles from one FP32 operation to the next that needs its result, since Volta.
constexpr double kFmaCycles = 4;

struct Listed {
  const Gpu* gpu;
  const Architecture* architecture;
};

// How a figure follows from a probe's rate: work in a nanosecond, by the clock (GHz) and the number
// of multiprocessors where it is theirs.
enum class Per { second, clock, multiprocessor_clock, step_in_clocks };

struct Rule {
  const char* name;
  const char* unit;
  const char* probe;
  Per per;
  double scale;
  std::function<std::optional<double>(const Listed&)> listed;
  bool of_gpu;
  const char* note;
};

std::function<std::optional<double>(const Listed&)> of_gpu(std::optional<double> Gpu::* member) {
  return [member](const Listed& l) { return l.gpu != nullptr ? l.gpu->*member : std::nullopt; };
}
std::function<std::optional<double>(const Listed&)> of(double Architecture::* member) {
  return [member](const Listed& l) {
    return l.architecture != nullptr ? std::optional(l.architecture->*member) : std::nullopt;
  };
}
std::optional<double> none(const Listed& /*listed*/) {
  return std::nullopt;
}
std::optional<double> listed_dram(const Listed& l) {
  return l.gpu != nullptr ? std::optional(l.gpu->dram_gbps) : std::nullopt;
}

const std::vector<Rule>& rules() {
  using A = Architecture;
  static const std::vector<Rule> all = {
      {"fp32_tflops", "TFLOP/s", "fp32", Per::second, 1e-3, of_gpu(&Gpu::fp32_tflops), true, ""},
      {"fp16_tflops", "TFLOP/s", "fp16", Per::second, 1e-3, of_gpu(&Gpu::fp16_tflops), true, ""},
      {"fp64_tflops", "TFLOP/s", "fp64", Per::second, 1e-3, of_gpu(&Gpu::fp64_tflops), true, ""},
      {"tensor_fp16_tflops", "TFLOP/s", "tensor_fp16", Per::second, 1e-3,
       of_gpu(&Gpu::tensor_fp16_tflops), true, ""},
      {"tensor_tf32_tflops", "TFLOP/s", "tensor_tf32", Per::second, 1e-3,
       of_gpu(&Gpu::tensor_tf32_tflops), true, ""},
      {"tensor_fp64_tflops", "TFLOP/s", "tensor_fp64", Per::second, 1e-3,
       of_gpu(&Gpu::tensor_fp64_tflops), true, ""},
      {"tensor_int8_tops", "TOP/s", "tensor_int8", Per::second, 1e-3,
       of_gpu(&Gpu::tensor_int8_tops), true, ""},
      {"dram_gbps", "GB/s", "dram_read", Per::second, 1 / kCalibration.dram_efficiency, listed_dram,
       true,
       "what was read, over the share of a table's figure that the model takes to be reached"},
      {"dram_read", "GB/s", "dram_read", Per::second, 1, none, false, "as reached"},
      {"dram_write", "GB/s", "dram_write", Per::second, 1, none, false, "as reached"},
      {"dram_copy", "GB/s", "dram_copy", Per::second, 1, none, false, "as reached, both ways"},
      {"l2_bytes_per_clock", "B/clk", "l2_read", Per::clock, 1, of_gpu(&Gpu::l2_bytes_per_clock),
       true, "as reached by reads past L1"},
      {"fp32_lanes", "", "fp32", Per::multiprocessor_clock, 0.5, of(&A::fp32_lanes), false, ""},
      {"integer_multiply_lanes", "", "int32", Per::multiprocessor_clock, 1,
       of(&A::integer_multiply_lanes), false, ""},
      {"fp16_lanes", "", "fp16", Per::multiprocessor_clock, 0.25, of(&A::fp16_lanes), false,
       "of pairs"},
      {"fp64_lanes", "", "fp64", Per::multiprocessor_clock, 0.5, of(&A::fp64_lanes), false, ""},
      {"special_function_lanes", "", "special", Per::multiprocessor_clock, 1,
       of(&A::special_function_lanes), false, ""},
      {"shared_bytes_per_clock", "B/clk", "shared_read", Per::multiprocessor_clock, 1,
       of(&A::shared_bytes_per_clock), false, "of a multiprocessor"},
      {"shared_latency", "clk", "chase_shared", Per::step_in_clocks, 1, of(&A::shared_latency),
       false, ""},
      {"l1_latency", "clk", "chase_l1", Per::step_in_clocks, 1, of(&A::l1_latency), false, ""},
      {"l2_latency", "clk", "chase_l2", Per::step_in_clocks, 1, of(&A::l2_latency), false, ""},
      {"dram_latency", "clk", "chase_dram", Per::step_in_clocks, 1, of(&A::dram_latency), false,
       ""},
      {"atomics", "1/clk", "atomics", Per::clock, 1, none, false,
       "threads of the whole GPU, each at its own address"},
  };
  return all;
}

class Maker {
public:
  Maker(const Gpu& gpu, const std::vector<ProbeTime>& times, Listed listed)
      : gpu_(gpu), times_(times), listed_(listed) {}

  Figures make() {
    clock();
    launch();
    for (const Rule& rule : rules())
      add(rule);
    return std::move(figures_);
  }

private:
  const ProbeTime* time_of(const std::string& probe) const {
    const auto found = std::ranges::find(times_, probe, &ProbeTime::probe);
    return found == times_.end() ? nullptr : &*found;
  }

  void miss(const std::string& name, std::string why) {
    figures_.missing.push_back({name, std::move(why)});
  }

  void clock() {
    const ProbeTime* const chain = time_of("chain");
    if (chain == nullptr || !chain->fit)
      return miss("clock_ghz", chain == nullptr ? "it was not run" : chain->failed);
    const double steps = work_of("chain") / chain->fit->ns_per_size;
    clock_ = kFmaCycles * steps;
    clock_spread_ = chain->fit->spread;
    std::optional<double> listed;
    if (listed_.gpu != nullptr)
      listed = listed_.gpu->sustained_clock_ghz.value_or(listed_.gpu->clock_ghz);
    figures_.known.push_back({"clock_ghz", "GHz", "chain", *clock_, clock_spread_, listed, true,
                              "of dependent FP32 operations at 4 clocks each"});
  }

  void launch() {
    const ProbeTime* const empty = time_of("launch");
    if (empty == nullptr || !empty->at)
      return miss("launch_us", empty == nullptr ? "it was not run" : empty->failed);
    figures_.known.push_back({"launch_us", "us", "launch", empty->at->ns * 1e-3,
                              empty->at->half_width / empty->at->ns, kCalibration.launch_ns * 1e-3,
                              false, "an empty kernel between two events; listed: the model's"});
  }

  double work_of(const std::string& probe) const {
    for (const Probe& one : probes_for(gpu_))
      if (one.name == probe)
        return one.work_per_size;
    return 0;
  }

  void add(const Rule& rule) {
    const ProbeTime* const time = time_of(rule.probe);
    if (time == nullptr)
      return miss(rule.name, "this architecture has no instruction that shows it");
    if (!time->fit)
      return miss(rule.name, time->failed);
    if (rule.per != Per::second && !clock_)
      return miss(rule.name, "the clock is not known");
    const double rate = work_of(rule.probe) / time->fit->ns_per_size; // in a nanosecond
    double value = rate * rule.scale;
    if (rule.per == Per::clock)
      value /= *clock_;
    if (rule.per == Per::multiprocessor_clock)
      value /= *clock_ * gpu_.multiprocessors;
    if (rule.per == Per::step_in_clocks)
      value = *clock_ / rate;
    const double spread = time->fit->spread + (rule.per == Per::second ? 0 : clock_spread_);
    figures_.known.push_back({rule.name, rule.unit, rule.probe, value, spread, rule.listed(listed_),
                              rule.of_gpu, rule.note});
  }

  const Gpu& gpu_;
  const std::vector<ProbeTime>& times_;
  Listed listed_;
  Figures figures_;
  std::optional<double> clock_;
  double clock_spread_ = 0;
};

} // namespace

const Figure* Figures::find(const std::string& name) const {
  const auto found = std::ranges::find(known, name, &Figure::name);
  return found == known.end() ? nullptr : &*found;
}

Figures figures_of(const Gpu& gpu, const std::vector<ProbeTime>& times, const Gpu* listed,
                   const Architecture* architecture) {
  return Maker(gpu, times, {listed, architecture}).make();
}

} // namespace kernevo::calibrate
