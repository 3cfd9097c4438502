#include "kernevo/cli/check_program.h"

#include "kernevo/base/one_line.h"
#include "kernevo/cli/status_line.h"
#include "kernevo/evaluate/secret_seeds.h"
#include "kernevo/model/json.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/programs/judge_program.h"

#include <fmt/format.h>

namespace kernevo::cli {
namespace {

void print_cases(const Verdict& verdict) {
  std::vector<std::vector<std::string>> rows;
  std::string previous;
  for (const CheckedCase& one : verdict.cases) {
    const bool failing = verdict.failing_case && &one == &verdict.cases.back();
    rows.push_back(
        {one.case_id == previous ? "" : one.case_id, one.distribution,
         failing ? "FAILED" : fmt::format("error {:.3f} of tolerance", one.worst_error_ratio)});
    previous = one.case_id;
  }
  fmt::print("{}", table(rows));
}

void print_fault(const Verdict& verdict, std::uint64_t seed) {
  if (verdict.fault == FaultKind::unproven) {
    fmt::print("{}  {}\n", paint("UNPROVEN", Tone::warning), verdict.summary);
    return;
  }
  fmt::print("{}  {}{} at {}\n  {}\n", paint("WRONG", Tone::bad), name_of(*verdict.fault),
             verdict.finding ? fmt::format(" ({})", name_of(verdict.finding->kind)) : "",
             name_of(verdict.rung), verdict.summary);
  for (const Diagnostic& line : verdict.diagnostics)
    if (line.severity == Diagnostic::Severity::note)
      fmt::print("  {}\n", line.message);
  if (verdict.failing_case)
    fmt::print("  repeat with --seed {}\n", seed);
}

void print_result(const CheckProgramOptions& options, const ProgramWords& words,
                  const ProgramCheck& check) {
  const Verdict& verdict = check.verdict;
  if (!options.common.quiet) {
    fmt::print("task     {} ({}, {})\nprogram  {} ({})\ndevice   virtual {}\n", words.title,
               words.task.precision, check.task.mode.empty() ? "mode unknown" : check.task.mode,
               options.words.back().empty() ? options.words.front() : options.words.back(),
               name_of(check.language), words.task.gpu);
    if (check.launches + check.operators > 0)
      fmt::print("asks     {} launches of kernels and {} operators of torch in one call\n",
                 check.launches, check.operators);
    if (!verdict.cases.empty()) {
      fmt::print("cases\n");
      print_cases(verdict);
    }
    if (!verdict.printed.empty())
      fmt::print("printed\n  {}\n", one_line(verdict.printed, 1000));
    for (const std::string& warning : verdict.warnings)
      fmt::print("{} {}\n", paint("warning:", Tone::warning), warning);
    for (const std::string& note : check.notes)
      fmt::print("note: {}\n", note);
  }
  if (verdict.correct)
    fmt::print("{}  {} ({:.2f} s)\n", paint("CORRECT", Tone::good), verdict.summary,
               check.wall_seconds);
  else
    print_fault(verdict, words.task.secret);
}

void print_json(const CheckProgramOptions& options, const ProgramWords& words,
                const ProgramCheck& check) {
  Json json{{"task", words.task.file.string()},
            {"program", words.programs.front().string()},
            {"language", name_of(check.language)},
            {"precision", words.task.precision},
            {"mode", check.task.mode},
            {"device", fmt::format("virtual:{}", words.task.gpu)},
            {"seed", words.task.secret},
            {"launches", check.launches},
            {"operators", check.operators},
            {"notes", check.notes},
            {"wall_seconds", check.wall_seconds}};
  json["verdict"] = Json::parse(to_json(check.verdict));
  fmt::print("{}\n", dump_json(json, options.common.quiet ? -1 : 2));
}

} // namespace

Result<int> check_program(const CheckProgramOptions& options) {
  StageJobs jobs;
  KERNEVO_TRY(words, find_program_task(jobs, options.words, options.task, options.device, 1));
  seed_task(words.task, options.seed != 0 ? options.seed : fresh_secret());
  words.task.seconds = options.seconds;
  words.task.memory = static_cast<std::uint64_t>(options.memory_gb * 1e9);
  StatusLine status(options.common);
  ProgramCheckOptions check;
  check.task = words.task;
  check.program = {words.programs.front(), options.task.class_name};
  check.patience_minutes = options.patience_minutes;
  check.small_only = options.small_only;
  check.require_kernels = options.require_kernels;
  check.observe = [&](const std::string& what) { status.show(what, std::nullopt); };
  auto result = kernevo::check_program(jobs, check);
  status.clear();
  if (!result)
    return tl::unexpected<Error>(std::move(result).error());
  if (options.common.json)
    print_json(options, words, *result);
  else
    print_result(options, words, *result);
  return result->verdict.correct ? kYes : kNo;
}

} // namespace kernevo::cli
