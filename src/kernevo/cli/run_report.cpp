#include "kernevo/cli/run_report.h"

#include "kernevo/base/printable.h"
#include "kernevo/device/device_name.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/predict/counters.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <span>

namespace kernevo::cli {
namespace {

constexpr std::size_t kShown = 8;

std::vector<std::string> first_elements(const RunArgument& argument,
                                        std::span<const std::byte> bytes) {
  std::vector<std::string> shown;
  const std::size_t count = bytes.size() / argument.type.bytes;
  for (std::size_t i = 0; i < std::min(count, kShown); ++i)
    shown.push_back(show_element(argument.type, bytes.data(), i));
  if (count > kShown)
    shown.emplace_back("...");
  return shown;
}

std::string amount(double value) {
  return value >= 1e7 ? fmt::format("{:.4g}", value) : fmt::format("{:.6g}", value);
}

// The counters of the whole grid, then the instructions that touch memory most.
void print_profile(const LaunchCounts& counts) {
  const Counters counters = counters_of(counts);
  std::string sample;
  if (counters.blocks_counted < counters.blocks)
    sample = counters.sampling_error > 0 ? fmt::format(", totals scaled to all, good to {:.1f} %",
                                                       100 * counters.sampling_error)
                                         : ", each with as many instructions; totals scaled to all";
  fmt::print("profile  {} of {} blocks counted{}\n", counters.blocks_counted, counters.blocks,
             sample);
  std::vector<std::vector<std::string>> rows;
  for (const Counter& counter : counters.all)
    rows.push_back({counter.name, amount(counter.value), std::string(counter.unit),
                    fmt::format("{}{}", counter.meaning, counter.modelled ? " (modelled)" : "")});
  fmt::print("{}", table(rows));
  std::vector<const InstructionCounts*> busiest;
  for (const InstructionCounts& instruction : counts.instructions)
    if (!instruction.accesses.empty())
      busiest.push_back(&instruction);
  const auto cost = [](const InstructionCounts* i) {
    std::uint64_t sum = 0;
    for (const AccessCounts& access : i->accesses)
      sum += access.sectors + access.wavefronts;
    return sum;
  };
  std::stable_sort(busiest.begin(), busiest.end(),
                   [&](const auto* a, const auto* b) { return cost(a) > cost(b); });
  rows.clear();
  for (std::size_t i = 0; i < std::min(busiest.size(), kShown); ++i)
    for (const AccessCounts& access : busiest[i]->accesses) {
      const auto requests = static_cast<double>(access.requests);
      const bool banks =
          access.space == MemorySpace::shared || access.space == MemorySpace::constant;
      rows.push_back(
          {fmt::format("{}{}", busiest[i]->source_line > 0 ? "line " : "PTX line ",
                       busiest[i]->source_line > 0 ? busiest[i]->source_line
                                                   : busiest[i]->ptx_line),
           busiest[i]->opcode, fmt::format("{} requests", access.requests),
           fmt::format("{:.2f} {} each",
                       static_cast<double>(banks ? access.wavefronts : access.sectors) / requests,
                       banks ? "wavefronts" : "sectors")});
    }
  if (!rows.empty())
    fmt::print("memory   instructions that move most, on the blocks counted\n{}", table(rows));
}

void print_text(const RunReport& run, bool quiet) {
  const vgpu::LaunchResult& result = run.result;
  if (!quiet) {
    fmt::print("{}", printable(result.printed, Lines::kept));
    fmt::print("ran      {} on virtual {}: {} blocks, {} warp instructions\n", run.kernel.demangled,
               run.machine.gpu().name, result.statistics.blocks_run,
               result.statistics.warp_instructions);
    for (const RunBuffer& buffer : run.buffers) {
      const RunArgument& argument = run.arguments[buffer.argument];
      if (argument.writable)
        fmt::print("argument {}  {}\n", buffer.argument + 1,
                   argument.save_to.empty()
                       ? fmt::to_string(fmt::join(
                             first_elements(argument, run.machine.bytes(buffer.pointer)), " "))
                       : "saved to " + argument.save_to);
    }
  }
  if (result.counts && !quiet)
    print_profile(*result.counts);
  if (run.prediction)
    print_prediction(*run.prediction);
  if (result.fault)
    fmt::print("{}  {}: {}\n", paint("FAULT", Tone::bad), name_of(result.fault->kind),
               printable(result.fault->message));
}

void print_json(const RunReport& run) {
  const vgpu::LaunchResult& result = run.result;
  const auto& prediction = run.prediction;
  Json json{{"kernel", run.kernel.name},
            {"device", to_text(DeviceName::of_virtual(run.machine.gpu().name))},
            {"blocks", result.statistics.blocks_run},
            {"warp_instructions", result.statistics.warp_instructions},
            {"thread_instructions", result.statistics.thread_instructions},
            {"printed", printable(result.printed, Lines::kept)},
            {"finding", nullptr}};
  if (result.counts) {
    const Counters counters = counters_of(*result.counts);
    json["profile"] = {{"blocks", counters.blocks},
                       {"blocks_counted", counters.blocks_counted},
                       {"sampling_error", counters.sampling_error},
                       {"counters", Json::object()},
                       {"counts", Json::parse(to_json(*result.counts))}};
    for (const Counter& counter : counters.all)
      json["profile"]["counters"][counter.name] = {
          {"value", counter.value}, {"unit", counter.unit}, {"modelled", counter.modelled}};
  }
  if (prediction) {
    json["prediction"] = {
        {"method", "modelled"},       {"time_ns", prediction->time.value},
        {"error", prediction->error}, {"from_machine_code", prediction->from_machine_code},
        {"waves", prediction->waves}, {"bounds_ns", Json::object()}};
    for (const TimingTerm& term : prediction->bounds)
      json["prediction"]["bounds_ns"][term.name] = term.time.value;
  }
  if (result.fault)
    json["finding"] = {{"kind", name_of(result.fault->kind)},
                       {"message", printable(result.fault->message)}};
  fmt::print("{}\n", dump_json(json, 2));
}

} // namespace

void print_run(const RunReport& run, const CommonOptions& options) {
  if (options.json)
    print_json(run);
  else
    print_text(run, options.quiet);
}

} // namespace kernevo::cli
