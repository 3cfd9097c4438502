// kernevo profile TASK KERNEL: why does it take as long as it does?
#include "kernevo/cli/checked_bench.h"
#include "kernevo/cli/command_line.h"
#include "kernevo/cli/kernel_options.h"
#include "kernevo/cli/profile_report.h"
#include "kernevo/evaluate/explain_bench.h"
#include "kernevo/model/json.h"
#include "kernevo/model/json_fields.h"

#include <fmt/format.h>
#include <memory>
#include <optional>

namespace kernevo::cli {
namespace {

// Where the device that was timed is another than the one that was counted.
void print_measured(const CheckedBench& benched) {
  const DeviceIdentity& device = benched.result.device;
  for (const CaseBench& c : benched.result.cases)
    fmt::print("{}  {}  {} on {}\n", c.case_id, time_text(c.timing.median.value),
               name_of(c.timing.method), device_text(device));
  if (benched.counters && benched.counters->refusal.empty()) {
    fmt::print("counted by {}; what it does not count, and the times below, are of {}\n",
               benched.counters->label(), benched.modelled_on);
    return;
  }
  fmt::print("{} gives no counters: those below, and the times they come to, are modelled, of {}\n",
             device.name, benched.modelled_on);
  if (benched.counters)
    fmt::print("  {}; {}\n", benched.counters->refusal, benched.counters->remedy);
}

Json measured_json(const CheckedBench& benched) {
  Json json{{"device", benched.result.device.name},
            {"hardware", hardware_of(benched.result.device)},
            {"method", name_of(benched.result.device.method)},
            {"counters_of", benched.modelled_on},
            {"cases", Json::array()}};
  for (const CaseBench& c : benched.result.cases)
    json["cases"].push_back({{"case", c.case_id}, {"timing", Json::parse(to_json(c.timing))}});
  return json;
}

Result<int> run(const CheckedBenchOptions& options) {
  KERNEVO_TRY(rules, load_rules());
  KERNEVO_TRY(map, CounterMap::load());
  if (is_program(options))
    return bench_program(options, true);
  KERNEVO_TRY(benched, checked_bench(options));
  if (!benched)
    return kNo;
  const BenchResult& counted = benched->counted();
  std::optional<CounterEvidence> hardware;
  if (benched->counters && benched->counters->refusal.empty())
    hardware.emplace(
        CounterEvidence{*benched->counters, map, benched->modelled ? &benched->result : nullptr});
  KERNEVO_TRY(explanations, explain_bench(benched->task, counted, rules, nullptr,
                                          hardware ? &*hardware : nullptr));
  const ProfileReport report{options.task,    options.kernel,
                             benched->kernel, counted,
                             explanations,    benched->counters ? &*benched->counters : nullptr};
  if (options.common.json) {
    Json json = Json::parse(profile_json(report));
    if (benched->modelled)
      json["measured"] = measured_json(*benched);
    fmt::print("{}\n", dump_json(json, 2));
    return kYes;
  }
  if (benched->modelled)
    print_measured(*benched);
  fmt::print("{}", options.common.quiet ? profile_summary(report) : profile_text(report));
  return kYes;
}

} // namespace

Command add_profile(CommandLine& app) {
  auto options = std::make_shared<CheckedBenchOptions>();
  CommandLine* command = app.add_subcommand(
      "profile", "Why does this kernel take as long as it does? Counters, roofline, bounds, what "
                 "holds it back with what to try, and the source lines behind it");
  options->with_counters = true;
  add_checked_bench(*command, *options);
  command->add_option("--counters", options->counters,
                      "Counters of a real GPU, from a CSV of Nsight Compute: "
                      "ncu --csv --page raw --set full");
  return {[options] {
    const auto code = run(*options);
    return code ? *code : report_error(code.error(), options->common);
  }};
}

} // namespace kernevo::cli
