// kernevo kernelbench run|show RUN: the programs of a whole run, judged and timed.
#include "kernevo/base/suggest.h"
#include "kernevo/base/temporary_folder.h"
#include "kernevo/cli/command.h"
#include "kernevo/cli/command_line.h"
#include "kernevo/cli/kernel_options.h"
#include "kernevo/cli/program_options.h"
#include "kernevo/cli/status_line.h"
#include "kernevo/evaluate/secret_seeds.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/programs/judge_program.h"
#include "kernevo/programs/kernelbench_results.h"
#include "kernevo/programs/price_program.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <memory>

namespace kernevo::cli {
namespace fs = std::filesystem;

namespace {

constexpr const char* kResults = "eval_results.json"; // as KernelBench names it

struct Options {
  CommonOptions common;
  std::string what;
  std::string run;
  std::string baseline;
  ProgramTaskOptions task;
  DeviceChoice device;
  double seconds = 60;
  double memory_gb = 8;
  double patience_minutes = 1;
};

fs::path baseline_file(const Options& options) {
  return options.baseline.empty() ? fs::path(options.run) / "baseline_modelled.json"
                                  : fs::path(options.baseline);
}

const SampleResult* find(const RunResults& results, int problem, int sample) {
  const auto found = results.find(problem);
  if (found == results.end())
    return nullptr;
  const auto one = std::ranges::find(found->second, sample, &SampleResult::sample);
  return one == found->second.end() ? nullptr : &*one;
}

std::string verdict_of(const SampleResult& result) {
  if (result.correct)
    return "correct";
  const auto said = result.metadata.find("verdict");
  if (said != result.metadata.end())
    return said->second;
  return result.compiled ? "wrong" : "does not compile";
}

// One level's problems, by number.
class Level {
public:
  Level(const Options& options, StageJobs& jobs) : options_(options), jobs_(jobs) {}

  Result<void> open() {
    const ProgramTaskOptions& task = options_.task;
    if (task.checkout.empty() || task.level == 0)
      return fail(ErrorCode::usage, "a run needs a checkout of KernelBench and a level",
                  std::nullopt, "for example --kernelbench KernelBench --level 1");
    KERNEVO_TRY(listed, jobs_.list_problems(fs::absolute(task.checkout), task.level));
    if (!listed)
      return tl::unexpected<Error>(error_of(listed.error()));
    for (BenchmarkProblem& one : *listed)
      problems_[one.id] = std::move(one);
    return {};
  }
  const BenchmarkProblem* find(int id) const {
    const auto found = problems_.find(id);
    return found == problems_.end() ? nullptr : &found->second;
  }

private:
  const Options& options_;
  StageJobs& jobs_;
  std::map<int, BenchmarkProblem> problems_;
};

class Run {
public:
  Run(const Options& options, StageJobs& jobs, const Level& level, std::string gpu)
      : options_(options), jobs_(jobs), level_(level), gpu_(std::move(gpu)),
        status_(options.common) {}

  // Each result is kept as soon as it is known, so that a run that is stopped goes on from there.
  Result<void> judge_all(const std::vector<SampleFile>& samples) {
    KERNEVO_TRY(results, read_results(fs::path(options_.run) / kResults));
    KERNEVO_TRY(baselines, read_baselines(baseline_file(options_)));
    results_ = std::move(results);
    baselines_ = std::move(baselines);
    std::size_t done = 0;
    for (const SampleFile& sample : samples) {
      ++done;
      if (cli::find(results_, sample.problem, sample.sample) != nullptr)
        continue;
      const BenchmarkProblem* problem = level_.find(sample.problem);
      if (problem == nullptr)
        return fail(ErrorCode::input,
                    fmt::format("level {} has no problem {}", sample.level, sample.problem),
                    Place{sample.file.string()}, "name another checkout, or move it away");
      title_ = fmt::format("{} of {}, {}", done, samples.size(), problem->name);
      KERNEVO_TRY(result, judge(sample, *problem));
      if (!options_.common.quiet && !options_.common.json) {
        status_.clear();
        fmt::print("{:>4}  {:<48} {}\n", sample.problem, problem->name, verdict_of(result));
        std::fflush(stdout);
      }
      results_[sample.problem].push_back(std::move(result));
      KERNEVO_CHECK(write_results(fs::path(options_.run) / kResults, results_));
    }
    status_.clear();
    return {};
  }

private:
  ProgramTask task_of(const BenchmarkProblem& problem) const {
    ProgramTask task;
    task.file = problem.file;
    task.precision = options_.task.precision;
    task.mode = options_.task.mode;
    task.allow_tf32 = options_.task.allow_tf32;
    task.gpu = gpu_;
    seed_task(task, fresh_secret());
    task.memory = static_cast<std::uint64_t>(options_.memory_gb * 1e9);
    task.seconds = options_.seconds;
    return task;
  }

  Result<SampleResult> judge(const SampleFile& sample, const BenchmarkProblem& problem) {
    ProgramCheckOptions check;
    check.task = task_of(problem);
    check.program = {fs::absolute(sample.file), options_.task.class_name};
    check.patience_minutes = options_.patience_minutes;
    check.price = true;
    check.observe = [&](const std::string& what) {
      status_.show(fmt::format("{}: {}", title_, what), std::nullopt);
    };
    SampleResult result;
    result.sample = sample.sample;
    result.metadata = {{"hardware", fmt::format("virtual {}, modelled", gpu_)},
                       {"device", fmt::format("virtual:{}", gpu_)}};
    auto checked = check_program(jobs_, check);
    if (!checked) {
      // What cannot be judged here is no verdict of the program; the run goes on.
      if (checked.error().code == ErrorCode::infrastructure)
        return tl::unexpected<Error>(checked.error());
      result.metadata["verdict"] = "not judged";
      result.metadata["summary"] = format_error(checked.error());
      return result;
    }
    const Verdict& verdict = checked->verdict;
    result.compiled = verdict.rung != Rung::parse && verdict.rung != Rung::compile;
    result.correct = verdict.correct;
    result.metadata["verdict"] = verdict.fault ? name_of(*verdict.fault) : "correct";
    result.metadata["summary"] = verdict.summary;
    if (verdict.correct)
      KERNEVO_CHECK(time(check.task, *checked, problem, result));
    return result;
  }

  Result<void> time(const ProgramTask& task, const ProgramCheck& checked,
                    const BenchmarkProblem& problem, SampleResult& result) {
    if (!checked.price || !checked.price->unpriced.empty()) {
      result.metadata["untimed"] = checked.price ? checked.price->unpriced : "it was not priced";
      return {};
    }
    const ProgramPrice& own = *checked.price;
    result.runtime_ms = own.time.value / 1e6;
    result.metadata["authored_share"] = fmt::format("{:.3f}", own.authored_share);
    auto& level = baselines_[fmt::format("level{}", options_.task.level)];
    const std::string name = problem.file.filename().string();
    if (level.contains(name))
      return {};
    status_.show(fmt::format("{}: the reference's time", title_), std::nullopt);
    KERNEVO_TRY(scratch, TemporaryFolder::make());
    KERNEVO_TRY(reference, price_program(jobs_, task, reference_of(task),
                                         *checked.task.find(CaseKind::real), scratch.path()));
    if (reference && reference->unpriced.empty()) {
      level[name] = reference->time.value / 1e6;
      return write_baselines(baseline_file(options_), baselines_,
                             fmt::format("virtual {}, modelled", gpu_));
    }
    return {};
  }

  const Options& options_;
  StageJobs& jobs_;
  const Level& level_;
  std::string gpu_;
  StatusLine status_;
  RunResults results_;
  Baselines baselines_;
  std::string title_;
};

// Baselines are known by the names of files, results by numbers, which those names begin with.
std::optional<double> baseline_of(const std::map<std::string, double>& level, int problem) {
  for (const auto& [name, mean] : level)
    if (name.starts_with(fmt::format("{}_", problem)))
      return mean;
  return std::nullopt;
}

constexpr std::array<double, 6> kThresholds = {0, 0.5, 0.8, 1, 1.5, 2};

Result<int> show(const Options& options) {
  const fs::path file = fs::path(options.run) / kResults;
  std::error_code ignored;
  if (!fs::exists(file, ignored))
    return fail(ErrorCode::input, "there are no results", Place{file.string()},
                "kernevo kernelbench run makes them");
  KERNEVO_TRY(results, read_results(file));
  KERNEVO_TRY(baselines, read_baselines(baseline_file(options)));
  std::map<std::string, double> level;
  if (options.task.level != 0)
    level = baselines[fmt::format("level{}", options.task.level)];
  else if (baselines.size() == 1)
    level = baselines.begin()->second;
  std::vector<SpeedUp> all;
  std::map<std::string, std::size_t> verdicts;
  std::vector<std::vector<std::string>> rows = {
      {"problem", "sample", "verdict", "time", "reference", "times as fast"}};
  for (const auto& [problem, samples] : results)
    for (const SampleResult& sample : samples) {
      const auto baseline = baseline_of(level, problem);
      SpeedUp one{sample.correct, std::nullopt};
      if (sample.correct && sample.runtime_ms > 0 && baseline)
        one.ratio = *baseline / sample.runtime_ms;
      ++verdicts[verdict_of(sample)];
      rows.push_back({fmt::format("{}", problem), fmt::format("{}", sample.sample),
                      verdict_of(sample),
                      sample.runtime_ms > 0 ? time_text(sample.runtime_ms * 1e6) : "",
                      baseline ? time_text(*baseline * 1e6) : "",
                      one.ratio ? fmt::format("{:.2f}", *one.ratio) : ""});
      all.push_back(one);
    }
  if (options.common.json) {
    Json json{{"results", all.size()},
              {"verdicts", verdicts},
              {"geometric_mean", geometric_mean(all)},
              {"fast_p", Json::array()}};
    for (const double p : kThresholds)
      json["fast_p"].push_back({{"p", p}, {"share", fast_p(all, p)}});
    fmt::print("{}\n", dump_json(json, 2));
    return kYes;
  }
  if (!options.common.quiet)
    fmt::print("{}", table(rows));
  for (const auto& [verdict, number] : verdicts)
    fmt::print("{:<28} {}\n", verdict, number);
  for (const double p : kThresholds)
    fmt::print("fast_{:<23} {:.3f}\n", p, fast_p(all, p));
  fmt::print("geometric mean of the right  {:.3f}x\n", geometric_mean(all));
  return kYes;
}

Result<int> run(const Options& options) {
  if (options.what == "show")
    return show(options);
  if (options.what != "run")
    return fail(ErrorCode::usage,
                fmt::format("kernelbench does not know '{}'{}", options.what,
                            did_you_mean(options.what, {"run", "show"})),
                std::nullopt, "kernevo kernelbench run RUN --kernelbench DIR --level 1");
  KERNEVO_TRY(samples, find_samples(options.run));
  std::erase_if(samples,
                [&](const SampleFile& sample) { return sample.level != options.task.level; });
  StageJobs jobs;
  Level level(options, jobs);
  KERNEVO_CHECK(level.open());
  if (samples.empty())
    return fail(ErrorCode::input, fmt::format("it has no programs of level {}", options.task.level),
                Place{options.run}, "programs are named level_1_problem_23_sample_0_kernel.py");
  KERNEVO_TRY(gpu, program_gpu(options.device));
  KERNEVO_CHECK(Run(options, jobs, level, gpu).judge_all(samples));
  return show(options);
}

} // namespace

Command add_kernelbench(CommandLine& app) {
  auto options = std::make_shared<Options>();
  CommandLine* command = app.add_subcommand(
      "kernelbench", "A whole run of KernelBench: 'run' judges and times its programs and keeps "
                     "the results as KernelBench does, 'show' tells them");
  command->add_option("WHAT", options->what, "run or show")->required();
  command
      ->add_option("RUN", options->run,
                   "Folder with programs level_L_problem_P_sample_S_kernel.py and their results")
      ->required();
  add_program_task(*command, options->task);
  add_device_options(*command, options->device);
  command->add_option("--baseline", options->baseline,
                      "Times of the reference, as KernelBench keeps them (default: "
                      "baseline_modelled.json in RUN)");
  command->add_option("--seconds", options->seconds, "Limit of one job")
      ->capture_default_str()
      ->in_range(0.1, 86400.0);
  command->add_option("--memory", options->memory_gb, "Memory that one program may use, in GB")
      ->capture_default_str()
      ->in_range(0.1, 4096.0);
  add_patience(*command, options->patience_minutes);
  add_common(*command, options->common);
  return {[options] {
    const auto code = run(*options);
    return code ? *code : report_error(code.error(), options->common);
  }};
}

} // namespace kernevo::cli
