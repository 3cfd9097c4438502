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

std::string conditions_text(const Timing& timing) {
  const Receipt& receipt = timing.receipt;
  std::string text = fmt::format("{} samples, {} ({})", timing.samples.size(),
                                 name_of(timing.quality.grade), timing.quality.reason);
  if (receipt.cache)
    text += fmt::format(", {} cache", name_of(*receipt.cache));
  if (receipt.clocks && receipt.clocks->multiprocessor_mhz)
    text += fmt::format(", {:.0f} MHz{}", *receipt.clocks->multiprocessor_mhz,
                        receipt.clocks->locked ? " locked" : "");
  if (receipt.celsius)
    text += fmt::format(", {:.0f} C", *receipt.celsius);
  if (receipt.watts)
    text += fmt::format(", {:.0f} W", *receipt.watts);
  if (receipt.code)
    text += "; " + text_of(*receipt.code);
  return text;
}

// One line for each shape, nothing made of the two together but how far apart they are.
void print_beside(const CheckedBench& benched) {
  const BenchResult& result = benched.result;
  std::vector<std::vector<std::string>> rows = {
      {"shape", std::string(name_of(result.device.method)), "modelled", "", "modelled / it"}};
  for (std::size_t i = 0; i < result.cases.size(); ++i) {
    const Timing& model = benched.modelled->cases.at(i).timing;
    rows.push_back(
        {result.cases[i].case_id, time_text(result.cases[i].timing.median.value),
         time_text(model.median.value),
         fmt::format("{} to {}", time_text(model.interval.low.value),
                     time_text(model.interval.high.value)),
         fmt::format("{:.2f}", model.median.value / result.cases[i].timing.median.value)});
  }
  fmt::print("the model beside it, of {}\n{}", benched.modelled_on, table(rows));
}

void print_result(const Options& options, const CheckedBench& benched) {
  const BenchResult& result = benched.result;
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
    if (c.timing.quality.grade == TimingGrade::disturbed)
      fmt::print("  {} {}\n", paint("disturbed:", Tone::warning), c.timing.quality.reason);
    if (has_samples(c.timing.method))
      fmt::print("  {}\n", conditions_text(c.timing));
    for (const LaunchBench& launch : c.launches)
      print_launch(launch);
  }
  if (benched.modelled)
    print_beside(benched);
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

void print_json(const Options& options, const CheckedBench& benched) {
  const BenchResult& result = benched.result;
  Json json{{"task", options.task},
            {"kernel", options.kernel},
            {"device", result.device.name},
            {"method", name_of(result.device.method)},
            {"hardware", hardware_of(result.device)},
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
  if (benched.modelled) {
    json["modelled"] = {{"on", benched.modelled_on}, {"cases", Json::array()}};
    for (const CaseBench& c : benched.modelled->cases)
      json["modelled"]["cases"].push_back(
          {{"case", c.case_id}, {"timing", Json::parse(to_json(c.timing))}});
  }
  fmt::print("{}\n", dump_json(json, 2));
}

Result<int> run(const Options& options) {
  if (is_program(options))
    return bench_program(options, false);
  KERNEVO_TRY(benched, checked_bench(options));
  if (!benched)
    return kNo;
  if (options.common.json)
    print_json(options, *benched);
  else
    print_result(options, *benched);
  return kYes;
}

} // namespace

Command add_bench(CommandLine& app) {
  auto options = std::make_shared<Options>();
  CommandLine* command = app.add_subcommand(
      "bench", "How fast is this kernel? Checks it on small shapes, then measures its time on the "
               "task's shapes, or predicts it, with every term of the model");
  add_checked_bench(*command, *options);
  command->add_flag("--with-model", options->with_model,
                    "Where times are measured: the model's beside them, to see what it is worth");
  return {[options] {
    const auto code = run(*options);
    return code ? *code : report_error(code.error(), options->common);
  }};
}

} // namespace kernevo::cli
