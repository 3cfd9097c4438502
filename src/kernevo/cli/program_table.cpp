#include "kernevo/cli/program_table.h"

#include "kernevo/base/printable.h"
#include "kernevo/cli/command.h"
#include "kernevo/cli/kernel_options.h"
#include "kernevo/model/json_fields.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <map>

namespace kernevo::cli {
namespace {

constexpr double kShownShare = 0.02; // of a resource
constexpr std::size_t kMostProfiled = 10;
constexpr std::size_t kMostShapes = 8;

struct KernelSum {
  std::string kernel;
  std::uint64_t calls = 0;
  std::uint64_t unpriced = 0;
  std::string reason;
  double ns = 0;
  std::vector<const KernelUse*> shapes; // the longest first

  // The shape that most time goes into; null where nothing has a price.
  const LaunchPrice* price() const {
    for (const KernelUse* shape : shapes)
      if (shape->price)
        return &*shape->price;
    return nullptr;
  }
};

struct Sums {
  std::vector<KernelSum> kernels; // the longest first
  std::vector<TransferUse> transfers;
  std::vector<OperatorUse> operators; // the longest first
  double kernels_ns = 0;
  double transfers_ns = 0;
  double operators_ns = 0;
  double span_ns = 0; // of the process that took longest
  std::uint64_t launches = 0;
  std::uint64_t unpriced = 0;
  bool modelled = true;
  std::vector<std::string> findings;
  std::vector<std::string> problems;

  double all_ns() const { return kernels_ns + transfers_ns + operators_ns; }
};

void add_new(std::vector<std::string>& to, const std::vector<std::string>& from) {
  for (const std::string& text : from)
    if (std::find(to.begin(), to.end(), text) == to.end())
      to.push_back(text);
}

Sums sum_up(const std::vector<ProgramReport>& processes) {
  Sums sums;
  std::map<std::string, KernelSum> kernels;
  std::map<std::string, TransferUse> transfers;
  std::map<std::string, OperatorUse> operators;
  for (const ProgramReport& process : processes) {
    sums.modelled = sums.modelled && process.modelled;
    sums.span_ns = std::max(sums.span_ns, process.span.value);
    for (const KernelUse& use : process.kernels) {
      KernelSum& sum = kernels[use.kernel];
      sum.kernel = use.kernel;
      sum.calls += use.calls;
      sum.unpriced += use.unpriced;
      if (!use.reason.empty())
        sum.reason = use.reason;
      sum.ns += use.time.value;
      sum.shapes.push_back(&use);
      sums.launches += use.calls;
      sums.unpriced += use.unpriced;
      sums.kernels_ns += use.time.value;
    }
    for (const TransferUse& use : process.transfers) {
      TransferUse& sum = transfers[use.kind];
      sum.kind = use.kind;
      sum.calls += use.calls;
      sum.bytes += use.bytes;
      sum.time = sum.time + use.time;
      sums.transfers_ns += use.time.value;
    }
    for (const OperatorUse& use : process.operators) {
      OperatorUse& sum = operators[use.name];
      sum.name = use.name;
      sum.calls += use.calls;
      sum.bytes += use.bytes;
      sum.flops += use.flops;
      sum.time = sum.time + use.time;
      sums.operators_ns += use.time.value;
    }
    add_new(sums.findings, process.findings);
    add_new(sums.problems, process.problems);
  }
  for (auto& [name, sum] : kernels) {
    std::stable_sort(sum.shapes.begin(), sum.shapes.end(),
                     [](const auto* a, const auto* b) { return a->time > b->time; });
    sums.kernels.push_back(std::move(sum));
  }
  std::stable_sort(sums.kernels.begin(), sums.kernels.end(),
                   [](const auto& a, const auto& b) { return a.ns > b.ns; });
  for (auto& [kind, sum] : transfers)
    sums.transfers.push_back(std::move(sum));
  for (auto& [name, sum] : operators)
    sums.operators.push_back(std::move(sum));
  std::stable_sort(sums.operators.begin(), sums.operators.end(),
                   [](const auto& a, const auto& b) { return a.time > b.time; });
  return sums;
}

std::string share_text(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "";
}

std::string count_text(std::uint64_t count, std::string_view what, std::string_view many) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : many);
}

std::string bytes_text(std::uint64_t bytes) {
  const auto amount = static_cast<double>(bytes);
  return bytes < 10'000        ? fmt::format("{} B", bytes)
         : bytes < 10'000'000  ? fmt::format("{:.4g} kB", amount / 1e3)
         : bytes < 10000000000 ? fmt::format("{:.4g} MB", amount / 1e6)
                               : fmt::format("{:.4g} GB", amount / 1e9);
}

std::string cause_of(const LaunchPrice& price) {
  return printable(!price.bottleneck.empty() ? price.bottleneck
                   : price.limiter.empty()   ? "-"
                                             : price.limiter + " (no finding)");
}

std::string extents(const std::array<std::uint32_t, 3>& e) {
  return e[2] != 1   ? fmt::format("{},{},{}", e[0], e[1], e[2])
         : e[1] != 1 ? fmt::format("{},{}", e[0], e[1])
                     : fmt::format("{}", e[0]);
}

std::string main_table(const Sums& sums) {
  std::vector<std::vector<std::string>> rows = {
      {"kernel", "calls", "time", "share", "each", "error", "first bottleneck"}};
  for (const KernelSum& sum : sums.kernels) {
    const LaunchPrice* price = sum.price();
    const std::uint64_t priced = sum.calls - sum.unpriced;
    std::vector<std::string> row = {printable(sum.kernel), fmt::format("{}", sum.calls)};
    if (price == nullptr || priced == 0)
      row.insert(row.end(), {sums.modelled ? "no price" : "-", "", "", "", ""});
    else
      row.insert(row.end(), {time_text(sum.ns), share_text(sum.ns, sums.all_ns()),
                             time_text(sum.ns / static_cast<double>(priced)),
                             fmt::format("{:.0f} %", 100 * price->error), cause_of(*price)});
    rows.push_back(std::move(row));
  }
  for (const OperatorUse& use : sums.operators)
    rows.push_back({fmt::format("[torch] {}", printable(use.name)), fmt::format("{}", use.calls),
                    time_text(use.time.value), share_text(use.time.value, sums.all_ns()),
                    time_text(use.time.value / static_cast<double>(use.calls)), "roofline",
                    bytes_text(use.bytes)});
  for (const TransferUse& use : sums.transfers)
    rows.push_back({fmt::format("[copy] {}", printable(use.kind)), fmt::format("{}", use.calls),
                    time_text(use.time.value), share_text(use.time.value, sums.all_ns()), "", "",
                    bytes_text(use.bytes)});
  return table(rows);
}

std::string profile_of(const KernelSum& sum) {
  std::string text = fmt::format("{}\n", printable(sum.kernel));
  for (std::size_t i = 0; i < std::min(kMostShapes, sum.shapes.size()); ++i) {
    const KernelUse& use = *sum.shapes[i];
    text += fmt::format("  grid {} block {}{}: {}", extents(use.grid), extents(use.block),
                        use.dynamic_shared == 0
                            ? ""
                            : fmt::format(" and {} B of shared memory", use.dynamic_shared),
                        count_text(use.calls, "call", "s"));
    if (!use.price) {
      text += fmt::format(", no price: {}\n", printable(use.reason));
      continue;
    }
    const LaunchPrice& price = *use.price;
    text += fmt::format(", {} +- {:.0f} % each, occupancy {:.0f} %, {:.1f} waves\n",
                        time_text(price.time.value), 100 * price.error, 100 * price.occupancy,
                        price.waves);
    if (!price.note.empty())
      text += fmt::format("  from PTX alone: {}\n", printable(price.note));
    std::vector<std::vector<std::string>> rows;
    for (const TimingTerm& term : price.bounds)
      if (term.time.value >= kShownShare * price.time.value)
        rows.push_back({printable(term.name), share_text(term.time.value, price.time.value),
                        time_text(term.time.value)});
    text += table(rows, 4);
    if (!price.message.empty())
      text += fmt::format("    {}: {}\n", printable(price.bottleneck), printable(price.message));
  }
  if (sum.shapes.size() > kMostShapes)
    text += fmt::format("  and {} shapes more\n", sum.shapes.size() - kMostShapes);
  return text;
}

Json shape_json(const KernelUse& use) {
  Json json{
      {"grid", use.grid},    {"block", use.block},        {"dynamic_shared", use.dynamic_shared},
      {"calls", use.calls},  {"time_ns", use.time.value}, {"unpriced", use.unpriced},
      {"reason", use.reason}};
  if (use.price) {
    const LaunchPrice& price = *use.price;
    json["each_ns"] = price.time.value;
    json["error"] = price.error;
    json["from_machine_code"] = price.from_machine_code;
    json["note"] = price.note;
    json["occupancy"] = price.occupancy;
    json["waves"] = price.waves;
    json["limiter"] = price.limiter;
    json["bottleneck"] = price.bottleneck.empty() ? Json() : Json(price.bottleneck);
    json["message"] = price.message;
    json["bounds_ns"] = Json::object();
    for (const TimingTerm& term : price.bounds)
      json["bounds_ns"][term.name] = term.time.value;
  }
  return json;
}

std::string work_text(const Sums& sums, bool profile) {
  std::string text;
  if (!sums.kernels.empty() || !sums.transfers.empty() || !sums.operators.empty())
    text += main_table(sums);
  for (const KernelSum& sum : sums.kernels)
    if (sum.unpriced > 0 && sums.modelled)
      text += fmt::format("  {}: {} of {} launches have no price: {}\n", printable(sum.kernel),
                          sum.unpriced, sum.calls, printable(sum.reason));
  std::size_t profiled = 0;
  for (const KernelSum& sum : sums.kernels)
    if (profile && profiled++ < kMostProfiled)
      text += profile_of(sum);
  return text;
}

Json work_json(const Sums& sums) {
  Json json{{"kernels", Json::array()}, {"operators", Json::array()}, {"copies", Json::array()}};
  for (const KernelSum& sum : sums.kernels) {
    const LaunchPrice* price = sum.price();
    Json kernel{{"kernel", sum.kernel},
                {"calls", sum.calls},
                {"time_ns", price != nullptr ? Json(sum.ns) : Json()},
                {"share", sums.all_ns() > 0 ? sum.ns / sums.all_ns() : 0},
                {"error", price != nullptr ? Json(price->error) : Json()},
                {"bottleneck",
                 price != nullptr && !price->bottleneck.empty() ? Json(price->bottleneck) : Json()},
                {"limiter", price != nullptr ? Json(price->limiter) : Json()},
                {"unpriced", sum.unpriced},
                {"reason", sum.unpriced > 0 ? Json(sum.reason) : Json()},
                {"shapes", Json::array()}};
    for (const KernelUse* use : sum.shapes)
      kernel["shapes"].push_back(shape_json(*use));
    json["kernels"].push_back(std::move(kernel));
  }
  for (const OperatorUse& use : sums.operators)
    json["operators"].push_back({{"name", use.name},
                                 {"calls", use.calls},
                                 {"bytes", use.bytes},
                                 {"flops", use.flops},
                                 {"time_ns", use.time.value},
                                 {"method", "roofline"}});
  for (const TransferUse& use : sums.transfers)
    json["copies"].push_back({{"kind", use.kind},
                              {"calls", use.calls},
                              {"bytes", use.bytes},
                              {"time_ns", use.time.value}});
  return json;
}

} // namespace

std::string program_text(const ProgramRun& run) {
  std::string text;
  if (run.end.signal != 0)
    text += fmt::format("kernevo: '{}' was ended by signal {} ({})\n",
                        printable(run.command.front()), run.end.signal, strsignal(run.end.signal));
  if (run.processes.empty())
    return text + fmt::format("kernevo: '{}' used none of the CUDA libraries\n",
                              printable(run.command.front()));
  const Sums sums = sum_up(run.processes);
  text +=
      fmt::format("kernevo: {} of {} on a virtual {}", count_text(sums.launches, "launch", "es"),
                  count_text(sums.kernels.size(), "kernel", "s"), run.gpu);
  if (sums.modelled)
    text += fmt::format(": {} in kernels{} and {} in copies, modelled, not measured",
                        time_text(sums.kernels_ns),
                        sums.operators.empty() ? ""
                                               : fmt::format(", {} in operators of torch",
                                                             time_text(sums.operators_ns)),
                        time_text(sums.transfers_ns));
  text += '\n';
  text += work_text(sums, run.profile);
  if (std::any_of(run.processes.begin(), run.processes.end(),
                  [](const ProgramReport& process) { return !process.complete; }))
    text += "kernevo: not all processes ended by themselves; the last second of those is missing\n";
  for (const std::string& problem : sums.problems)
    text += fmt::format("not loaded  {}\n", printable(problem));
  for (const std::string& finding : sums.findings)
    text += fmt::format("FAULT  {}\n", printable(finding));
  return text;
}

std::string program_json(const ProgramRun& run) {
  const Sums sums = sum_up(run.processes);
  Json json{{"program", run.command},
            {"exit_code", run.end.signal == 0 ? Json(run.end.exit_code) : Json()},
            {"signal", run.end.signal == 0 ? Json() : Json(run.end.signal)},
            {"gpu", run.gpu},
            {"method", sums.modelled ? Json("modelled") : Json()},
            {"processes", run.processes.size()},
            {"complete", std::all_of(run.processes.begin(), run.processes.end(),
                                     [](const ProgramReport& p) { return p.complete; })},
            {"launches", sums.launches},
            {"unpriced", sums.unpriced},
            {"kernels_ns", sums.kernels_ns},
            {"copies_ns", sums.transfers_ns},
            {"operators_ns", sums.operators_ns},
            {"span_ns", sums.span_ns},
            {"findings", sums.findings},
            {"problems", sums.problems}};
  json.update(work_json(sums));
  return dump_json(json) + '\n';
}

std::string work_text(const std::vector<ProgramReport>& processes, bool profile) {
  return work_text(sum_up(processes), profile);
}

std::string work_json(const std::vector<ProgramReport>& processes) {
  return dump_json(work_json(sum_up(processes)));
}

} // namespace kernevo::cli
