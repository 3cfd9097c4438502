// kernevo bench TASK KERNEL: how fast?
#include "kernevo/cli/checked_bench.h"
#include "kernevo/cli/command_line.h"
#include "kernevo/cli/kernel_options.h"
#include "kernevo/model/json.h"
#include "kernevo/model/json_fields.h"

#include <fmt/format.h>
#include <memory>

namespace kernevo::cli {
namespace {

using Options = CheckedBenchOptions;

constexpr double kShownShare = 0.02;

std::string describe(const Prediction& p) {
  return fmt::format(
      "occupancy {:.0f} % ({} blocks per multiprocessor, limited by {}), {:.1f} waves",
      p.occupancy.fraction * 100, p.occupancy.blocks_per_multiprocessor,
      name_of(p.occupancy.limiter), p.waves);
}

void print_launch(const LaunchBench& launch) {
  const Prediction& p = launch.prediction;
  fmt::print("  {}  {} +- {:.0f} %  {}\n", p.kernel, time_text(p.time.value), p.error * 100,
             describe(p));
  std::vector<std::vector<std::string>> rows;
  for (const TimingTerm& term : p.bounds) {
    const double share = term.time.value / p.time.value;
    if (share >= kShownShare)
      rows.push_back({term.name, fmt::format("{:.0f} %", share * 100), time_text(term.time.value)});
  }
  fmt::print("{}", table(rows, 4));
}

void print_result(const Options& options, const BenchResult& result) {
  if (!options.common.quiet) {
    fmt::print("task     {}\nkernel   {}\ndevice   {}\n", options.task, options.kernel,
               device_text(result.device));
    if (!result.parameters.empty())
      fmt::print("with     {}\n", parameters_text(result.parameters));
  }
  for (const CaseBench& c : result.cases) {
    fmt::print("{}  {}  {}, {} to {}\n", paint(c.case_id, Tone::strong),
               paint(time_text(c.timing.median.value), Tone::strong), name_of(c.timing.method),
               time_text(c.timing.interval.low.value), time_text(c.timing.interval.high.value));
    if (options.common.quiet)
      continue;
    for (const LaunchBench& launch : c.launches)
      print_launch(launch);
  }
  if (!options.common.quiet && result.device.method == TimingMethod::modelled)
    fmt::print("shares are the time each resource alone would need, of the predicted time; they "
               "overlap and do not add up\n");
}

Json launch_json(const LaunchBench& launch) {
  const Prediction& p = launch.prediction;
  Json json{{"kernel", p.kernel},
            {"time_ns", p.time.value},
            {"error", p.error},
            {"limiter", p.limiter().name},
            {"from_machine_code", p.from_machine_code},
            {"unexplained", p.unexplained},
            {"waves", p.waves},
            {"occupancy",
             {{"fraction", p.occupancy.fraction},
              {"blocks_per_multiprocessor", p.occupancy.blocks_per_multiprocessor},
              {"limiter", name_of(p.occupancy.limiter)}}},
            {"traffic_bytes",
             {{"l1", p.traffic.l1_bytes},
              {"l2_read", p.traffic.l2_read_bytes},
              {"l2_write", p.traffic.l2_write_bytes},
              {"dram_read", p.traffic.dram_read_bytes},
              {"dram_write", p.traffic.dram_write_bytes}}},
            {"bounds", Json::array()}};
  for (const TimingTerm& term : p.bounds)
    json["bounds"].push_back({{"name", term.name},
                              {"time_ns", term.time.value},
                              {"share", term.time.value / p.time.value}});
  return json;
}

void print_json(const Options& options, const BenchResult& result) {
  Json json{{"task", options.task},
            {"kernel", options.kernel},
            {"device", result.device.name},
            {"parameters", result.parameters},
            {"objective_ns", result.objective->value},
            {"cases", Json::array()}};
  for (const CaseBench& c : result.cases) {
    Json one{{"case", c.case_id},
             {"timing", Json::parse(to_json(c.timing))},
             {"launches", Json::array()}};
    for (const LaunchBench& launch : c.launches)
      one["launches"].push_back(launch_json(launch));
    json["cases"].push_back(std::move(one));
  }
  fmt::print("{}\n", dump_json(json, 2));
}

Result<int> run(const Options& options) {
  KERNEVO_TRY(benched, checked_bench(options));
  if (!benched)
    return kNo;
  if (options.common.json)
    print_json(options, benched->result);
  else
    print_result(options, benched->result);
  return kYes;
}

} // namespace

Command add_bench(CommandLine& app) {
  auto options = std::make_shared<Options>();
  CommandLine* command = app.add_subcommand(
      "bench", "How fast is this kernel? Checks it on small shapes, then predicts its time on the "
               "task's shapes, with every term of the model");
  add_checked_bench(*command, *options);
  return {[options] {
    const auto code = run(*options);
    return code ? *code : report_error(code.error(), options->common);
  }};
}

} // namespace kernevo::cli
