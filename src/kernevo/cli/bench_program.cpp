#include "kernevo/cli/bench_program.h"

#include "kernevo/base/temporary_folder.h"
#include "kernevo/cli/kernel_options.h"
#include "kernevo/cli/program_table.h"
#include "kernevo/cli/status_line.h"
#include "kernevo/evaluate/secret_seeds.h"
#include "kernevo/model/json.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/programs/judge_program.h"
#include "kernevo/programs/price_program.h"
#include "kernevo/timing/compare_timings.h"

#include <fmt/format.h>

namespace kernevo::cli {
namespace fs = std::filesystem;

namespace {

// What is priced, in the order it is shown.
struct Entry {
  std::string title; // "reference", "program", "A", "B"
  ProgramClass program;
  bool trusted = false;
  ProgramPrice price = {};
  std::optional<Timing> timing = {};
};

struct Wrong {
  std::string title;
  std::string file;
  std::string fault;
  std::string summary;
};

class Pricing {
public:
  Pricing(const BenchProgramOptions& options, StageJobs& jobs, const ProgramWords& words)
      : options_(options), jobs_(jobs), title_(words.title), task_(words.task),
        status_(options.common) {}

  // Nothing when all entries have a time; else what is wrong with one.
  Result<std::optional<Wrong>> price_all(std::vector<Entry>& entries) {
    status_.show("the task's own sizes", std::nullopt);
    KERNEVO_TRY(described, jobs_.describe(task_));
    if (!described)
      return tl::unexpected<Error>(error_of(described.error()));
    sizes_ = *described->find(CaseKind::real);
    for (Entry& entry : entries) {
      KERNEVO_TRY(wrong, entry.trusted || options_.unchecked ? price(entry) : check(entry));
      if (wrong)
        return wrong;
      if (!entry.price.unpriced.empty())
        return fail(
            ErrorCode::unsupported,
            fmt::format("the {} has no modelled time: {}", entry.title, entry.price.unpriced),
            Place{entry.program.file.string()});
      KERNEVO_TRY(timing, timing_of(entry.price, task_, sizes_));
      entry.timing = std::move(timing);
    }
    status_.clear();
    return std::optional<Wrong>();
  }

  const std::string& title() const { return title_; }
  const ProgramTask& task() const { return task_; }
  const ProgramCase& sizes() const { return sizes_; }

private:
  // What is not judged, or nobody needs to judge.
  Result<std::optional<Wrong>> price(Entry& entry) {
    status_.show(fmt::format("{} at the task's own sizes", entry.title), std::nullopt);
    KERNEVO_TRY(scratch, TemporaryFolder::make());
    KERNEVO_TRY(price, price_program(jobs_, task_, entry.program, sizes_, scratch.path()));
    if (!price) {
      const StageFault& fault = price.error();
      if (entry.trusted || !charged_with(fault.kind))
        return tl::unexpected<Error>(error_of(fault));
      return std::optional(Wrong{entry.title, entry.program.file.string(),
                                 std::string(name_of(*charged_with(fault.kind))), fault.text});
    }
    entry.price = std::move(*price);
    return std::optional<Wrong>();
  }

  Result<std::optional<Wrong>> check(Entry& entry) {
    ProgramCheckOptions check;
    check.task = task_;
    check.program = entry.program;
    check.patience_minutes = options_.patience_minutes;
    check.price = true;
    check.observe = [&](const std::string& what) {
      status_.show(fmt::format("{}: {}", entry.title, what), std::nullopt);
    };
    auto checked = kernevo::check_program(jobs_, check);
    status_.clear();
    if (!checked)
      return tl::unexpected<Error>(std::move(checked).error());
    const Verdict& verdict = checked->verdict;
    if (!verdict.correct)
      return std::optional(Wrong{entry.title, entry.program.file.string(),
                                 std::string(name_of(*verdict.fault)), verdict.summary});
    if (!checked->price)
      return fail(ErrorCode::infrastructure, fmt::format("the {} was not priced", entry.title));
    entry.price = std::move(*checked->price);
    return std::optional<Wrong>();
  }

  const BenchProgramOptions& options_;
  StageJobs& jobs_;
  std::string title_;
  ProgramTask task_;
  ProgramCase sizes_;
  StatusLine status_;
};

int report_wrong(const BenchProgramOptions& options, const Pricing& pricing, const Wrong& wrong) {
  if (options.common.json)
    fmt::print("{}\n", dump_json(Json{{"task", pricing.task().file.string()},
                                      {"wrong", wrong.title},
                                      {"program", wrong.file},
                                      {"fault", wrong.fault},
                                      {"summary", wrong.summary}},
                                 2));
  else
    fmt::print("{}  {} ({})  {}\n  {}\n",
               wrong.fault == name_of(FaultKind::unproven) ? paint("UNPROVEN", Tone::warning)
                                                           : paint("WRONG", Tone::bad),
               wrong.title, wrong.file, wrong.fault, wrong.summary);
  return kNo;
}

std::string time_line(const Entry& entry) {
  const Timing& timing = *entry.timing;
  return fmt::format("{:<9}  {}  modelled, {} to {}; {:.0f} % of it in kernels of its own",
                     entry.title, paint(time_text(timing.median.value), Tone::strong),
                     time_text(timing.interval.low.value), time_text(timing.interval.high.value),
                     100 * entry.price.authored_share);
}

Json entry_json(const Entry& entry) {
  Json json{{"file", entry.program.file.string()},
            {"class", entry.program.name},
            {"time_ns", entry.price.time.value},
            {"authored_share", entry.price.authored_share},
            {"timing", Json::parse(to_json(*entry.timing))}};
  json.update(Json::parse(work_json({entry.price.report})));
  return json;
}

Tone tone_of(Standing standing) {
  return standing == Standing::faster   ? Tone::good
         : standing == Standing::slower ? Tone::bad
         : standing == Standing::same   ? Tone::plain
                                        : Tone::warning;
}

std::string ratio_text(const Comparison& comparison) {
  if (!comparison.ratio)
    return "";
  return fmt::format("{:.3f}x [{:.3f}, {:.3f}]", comparison.ratio->estimate, comparison.ratio->low,
                     comparison.ratio->high);
}

void print_head(const BenchProgramOptions& options, const Pricing& pricing) {
  if (!options.common.quiet)
    fmt::print("task     {} ({})\ndevice   virtual {}\nsizes    {}\n", pricing.task().file.string(),
               pricing.task().precision, pricing.task().gpu, pricing.sizes().inputs);
}

Result<int> run(const BenchProgramOptions& options, std::size_t programs) {
  StageJobs jobs;
  KERNEVO_TRY(words,
              find_program_task(jobs, options.words, options.task, options.device, programs));
  seed_task(words.task, fresh_secret());
  words.task.seconds = options.seconds;
  words.task.memory = static_cast<std::uint64_t>(options.memory_gb * 1e9);
  std::vector<Entry> entries;
  if (programs == 1)
    entries = {{"reference", reference_of(words.task), true},
               {"program", {words.programs[0], options.task.class_name}}};
  else
    entries = {{"A", {words.programs[0], options.task.class_name}},
               {"B", {words.programs[1], options.task.class_name}}};
  Pricing pricing(options, jobs, words);
  KERNEVO_TRY(wrong, pricing.price_all(entries));
  if (wrong)
    return report_wrong(options, pricing, *wrong);
  const Comparison comparison = compare_timings(*entries[0].timing, *entries[1].timing);
  if (options.common.json) {
    Json json{{"task", pricing.task().file.string()},
              {"precision", pricing.task().precision},
              {"device", fmt::format("virtual:{}", pricing.task().gpu)},
              {"method", "modelled"},
              {"sizes", pricing.sizes().inputs},
              {"standing", name_of(comparison.standing)},
              {"reason", comparison.reason}};
    if (comparison.ratio)
      json["ratio"] = {{"estimate", comparison.ratio->estimate},
                       {"low", comparison.ratio->low},
                       {"high", comparison.ratio->high}};
    for (const Entry& entry : entries)
      json[entry.title] = entry_json(entry);
    fmt::print("{}\n", dump_json(json, 2));
  } else {
    print_head(options, pricing);
    for (const Entry& entry : entries) {
      fmt::print("{}\n", time_line(entry));
      if (!options.common.quiet && (programs == 2 || !entry.trusted))
        fmt::print("{}", work_text({entry.price.report}, options.profile));
    }
    fmt::print("{}  {}  {}\n",
               paint(programs == 2 ? fmt::format("B is {}", name_of(comparison.standing))
                                   : fmt::format("{} than torch", name_of(comparison.standing)),
                     tone_of(comparison.standing)),
               ratio_text(comparison), comparison.reason);
  }
  return programs == 1 || replaces_incumbent(comparison) ? kYes : kNo;
}

} // namespace

Result<int> bench_program(const BenchProgramOptions& options) {
  return run(options, 1);
}

Result<int> compare_programs(const BenchProgramOptions& options) {
  return run(options, 2);
}

} // namespace kernevo::cli
