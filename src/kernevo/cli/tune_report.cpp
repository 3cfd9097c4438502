#include "kernevo/cli/tune_report.h"

#include "kernevo/cli/kernel_options.h"
#include "kernevo/cli/screen.h"
#include "kernevo/model/json_fields.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

namespace kernevo::cli {

using search::Outcome;
using search::Trial;
using tune::TuningEvent;
using tune::TuningState;
using tune::TuningStop;

namespace {

// Digits in groups of three.
std::string grouped(double count) {
  std::string text = count < 1e15 ? fmt::format("{:.0f}", count) : fmt::format("{:.3g}", count);
  if (count < 1e15)
    for (std::ptrdiff_t at = std::ssize(text) - 3; at > 0; at -= 3)
      text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

const Trial* trial_of(const tune::TuningResult& result, const tune::TunerOptions& tuner,
                      std::optional<search::Configuration> configuration) {
  if (!configuration)
    return nullptr;
  for (const auto* trials : {&result.trials, &tuner.known})
    for (const Trial& trial : *trials)
      if (trial.configuration == *configuration)
        return &trial;
  return nullptr;
}

struct Failures {
  std::size_t count = 0;
  std::string example; // of a reason
  std::string where;   // the configuration it is of
};

std::map<Outcome, Failures> failures_of(const TuneSummary& summary) {
  std::map<Outcome, Failures> failures;
  for (const Trial& trial : summary.result.trials) {
    if (trial.outcome == Outcome::ok)
      continue;
    Failures& group = failures[trial.outcome];
    ++group.count;
    if (group.example.empty() && !trial.reason.empty()) {
      group.example = trial.reason;
      group.where = summary.subject.space.text(trial.configuration);
    }
  }
  return failures;
}

std::string_view meaning_of(Outcome outcome) {
  switch (outcome) {
  case Outcome::ok: return "worked";
  case Outcome::resources: return "need more than the GPU has, or a launch that cannot be";
  case Outcome::compile: return "did not compile";
  case Outcome::run: return "failed while running";
  case Outcome::timeout: return "took too long";
  case Outcome::wrong: return "gave wrong results";
  case Outcome::failed: return "could not be tried";
  }
  return "";
}

std::string interval_text(const Trial& trial) {
  if (trial.shapes.size() != 1)
    return {};
  return fmt::format(", {} to {}", time_text(trial.shapes[0].low.value),
                     time_text(trial.shapes[0].high.value));
}

std::string stop_text(const TuneSummary& summary) {
  switch (summary.result.stop) {
  case TuningStop::evaluations: return "the budget of evaluations is spent";
  case TuningStop::seconds: return "the time is up";
  case TuningStop::exhausted: return "every valid configuration was tried";
  case TuningStop::interrupted: return "stopped";
  }
  return "";
}

std::string none_text(const TuneSummary& summary) {
  return summary.result.trials.empty() ? "stopped before the first was tried"
                                       : "no configuration that works was found";
}

// As a shell takes it.
std::string word(const std::string& text) {
  return text.find(' ') == std::string::npos ? text : "'" + text + "'";
}

std::string use_command(const TuneSummary& summary, const ParameterValues& values) {
  std::string text = fmt::format(
      "kernevo bench {} {}", word(summary.names.task),
      word(summary.names.written.empty() ? summary.names.kernel : summary.names.written));
  if (summary.names.device.device)
    text += " --device " + word(*summary.names.device.device);
  if (!summary.names.device.gpu.empty())
    text += " --gpu " + word(summary.names.device.gpu);
  if (summary.names.written.empty())
    for (const auto& [name, value] : values)
      text += fmt::format(" -p {}={}", name, value);
  return text;
}

std::string_view error_text(const TuneSummary& summary) {
  return summary.subject.device.method == TimingMethod::modelled ? ", within the model's error"
                                                                 : ", within the noise";
}

// Whether the error leaves it open which of the two is faster.
bool within_error(const Trial& best, const Trial& other) {
  if (best.shapes.size() != other.shapes.size() || best.shapes.empty())
    return false; // from a cache file, which does not say
  double logarithm = 0;
  for (std::size_t i = 0; i < best.shapes.size(); ++i)
    logarithm += std::log(other.shapes[i].low.value / best.shapes[i].high.value);
  return logarithm <= 0;
}

void print_shapes(const Trial& best, const Trial* defaults) {
  if (best.shapes.size() < 2)
    return;
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < best.shapes.size(); ++i) {
    const ShapeTime& shape = best.shapes[i];
    const bool both = defaults != nullptr && i < defaults->shapes.size();
    rows.push_back(
        {shape.shape, time_text(shape.time.value),
         fmt::format("{} to {}", time_text(shape.low.value), time_text(shape.high.value)),
         both ? fmt::format("{:.2f}x", defaults->shapes[i].time.value / shape.time.value)
              : std::string()});
  }
  fmt::print("{}", table(rows, 9));
}

void print_tried(const TuneSummary& summary) {
  const auto failures = failures_of(summary);
  std::size_t failed = 0;
  for (const auto& [outcome, group] : failures)
    failed += group.count;
  std::size_t partial = 0;
  for (const Trial& trial : summary.result.trials)
    partial += trial.partial ? 1 : 0;
  std::string text = fmt::format("tried    {} of {} in {}", summary.result.trials.size(),
                                 grouped(static_cast<double>(summary.subject.space.size())),
                                 seconds_text(summary.seconds));
  if (summary.result.from_log > 0)
    text += fmt::format(", {} from the log", summary.result.from_log);
  if (partial > 0)
    text += fmt::format(", {} given up early", partial);
  if (summary.same_code > 0)
    text += fmt::format(", {} had code seen before", summary.same_code);
  fmt::print("{}, {} failed; {}\n", text, failed, stop_text(summary));
  for (const auto& [outcome, group] : failures) {
    fmt::print("         {} {}\n", group.count, meaning_of(outcome));
    if (!group.example.empty())
      fmt::print("           {}: {}\n", group.where, group.example);
  }
}

Json trial_json(const TuneSummary& summary, const Trial& trial) {
  const search::SearchSpace& space = summary.subject.space;
  Json json{{"parameters", space.values(trial.configuration)},
            {"outcome", search::name_of(trial.outcome)}};
  if (trial.time)
    json["time_ns"] = trial.time->value;
  if (!trial.shapes.empty()) {
    json["shapes"] = Json::array();
    for (const ShapeTime& shape : trial.shapes)
      json["shapes"].push_back({{"case", shape.shape},
                                {"time_ns", shape.time.value},
                                {"low_ns", shape.low.value},
                                {"high_ns", shape.high.value}});
  }
  if (!trial.reason.empty())
    json["reason"] = trial.reason;
  return json;
}

} // namespace

TuneProgress::TuneProgress(const CommonOptions& options, const tune::TuningSubject& subject,
                           const tune::TunerOptions& tuner)
    : shown_(!options.json && !options.quiet), terminal_(isatty(STDOUT_FILENO) != 0),
      subject_(subject), tuner_(tuner) {}

void TuneProgress::header(const TuneNames& names, std::size_t logged) const {
  if (!shown_)
    return;
  const search::SearchSpace& space = subject_.space;
  fmt::print("task     {}\nkernel   {}\ndevice   {}; times are {}\n", names.task, names.kernel,
             device_text(subject_.device), name_of(subject_.device.method));
  fmt::print("space    {} parameter{}, {} combinations, {} of them valid\n",
             space.parameters().size(), space.parameters().size() == 1 ? "" : "s",
             grouped(space.combinations()), grouped(static_cast<double>(space.size())));
  fmt::print("search   {}, seed {}, {} chosen ahead, {} in parallel\n", tuner_.search.strategy,
             tuner_.search.seed, std::max<std::size_t>(tuner_.ahead, tuner_.jobs), tuner_.jobs);
  if (!names.log.empty())
    fmt::print("log      {}{}\n", names.log,
               logged == 0 ? std::string() : fmt::format(" ({} known from before)", logged));
  std::fflush(stdout);
}

std::string TuneProgress::line(const TuningState& state) const {
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  std::string text = fmt::format("  {}", state.told);
  if (tuner_.evaluations)
    text += fmt::format("/{}", *tuner_.evaluations);
  if (state.best != nullptr)
    text += fmt::format("  best {}", time_text(state.best->time->value));
  if (state.failed > 0)
    text += fmt::format("  {} failed", state.failed);
  text += "  " + seconds_text(seconds);
  if (tuner_.seconds)
    text += fmt::format(" of {}", seconds_text(*tuner_.seconds));
  if (state.stopping)
    text += "  stopping";
  return text;
}

void TuneProgress::show(TuningEvent event, const TuningState& state) {
  if (!shown_ || (!terminal_ && event != TuningEvent::best))
    return;
  if (event == TuningEvent::best) {
    finish();
    fmt::print("  {:>5}  {:<9}  {}\n", state.told, time_text(state.best->time->value),
               subject_.space.text(state.best->configuration));
  }
  if (terminal_) {
    std::string text = line(state);
    text.resize(std::min(text.size(), terminal_width() - 1));
    fmt::print("\r{:<{}}", text, width_);
    width_ = text.size();
  }
  std::fflush(stdout);
}

void TuneProgress::finish() {
  if (width_ > 0)
    fmt::print("\r{:<{}}\r", "", width_);
  width_ = 0;
  std::fflush(stdout);
}

void print_tune_summary(const TuneSummary& summary, bool quiet) {
  const search::SearchSpace& space = summary.subject.space;
  const auto& best = summary.result.best;
  const Trial* defaults = trial_of(summary.result, summary.tuner, summary.subject.defaults);
  const std::string_view method = name_of(summary.subject.device.method);
  if (quiet) {
    if (best)
      fmt::print("{}  {}  {}\n", space.text(best->configuration), time_text(best->time->value),
                 method);
    else
      fmt::print("{}\n", none_text(summary));
    return;
  }
  if (defaults != nullptr && defaults->time)
    fmt::print("default  {}  {}\n", time_text(defaults->time->value),
               space.text(defaults->configuration));
  else if (defaults != nullptr)
    fmt::print("default  {}  {}\n", meaning_of(defaults->outcome),
               space.text(defaults->configuration));
  if (!best) {
    fmt::print("{}\n", paint("NONE     " + none_text(summary), Tone::bad));
    print_tried(summary);
    return;
  }
  fmt::print("{}  {}{}; checked, right\n",
             paint(fmt::format("best     {}  {}", time_text(best->time->value),
                               space.text(best->configuration)),
                   Tone::strong),
             method, interval_text(*best));
  if (defaults != nullptr && defaults->time)
    fmt::print("         {}\n",
               defaults->configuration == best->configuration
                   ? "the default is the best of those tried"
                   : fmt::format("{:.2f} times as fast as the default{}",
                                 defaults->time->value / best->time->value,
                                 within_error(*best, *defaults) ? error_text(summary) : ""));
  print_shapes(*best, defaults);
  print_tried(summary);
  if (summary.result.stop == TuningStop::interrupted && !summary.names.log.empty())
    fmt::print("resume   the same command goes on from here\n");
  if (!summary.names.written.empty())
    fmt::print("wrote    {}\n", summary.names.written);
  fmt::print("use      {}\n", use_command(summary, space.values(best->configuration)));
}

void print_tune_json(const TuneSummary& summary) {
  const search::SearchSpace& space = summary.subject.space;
  const Trial* defaults = trial_of(summary.result, summary.tuner, summary.subject.defaults);
  const auto& best = summary.result.best;
  Json json{{"task", summary.names.task},
            {"kernel", summary.names.kernel},
            {"device", summary.subject.device.name},
            {"method", name_of(summary.subject.device.method)},
            {"strategy", summary.tuner.search.strategy},
            {"seed", summary.tuner.search.seed},
            {"combinations", space.combinations()},
            {"valid", space.size()},
            {"stop", tune::name_of(summary.result.stop)},
            {"evaluations", summary.result.trials.size()},
            {"from_log", summary.result.from_log},
            {"same_code", summary.same_code},
            {"seconds", summary.seconds},
            {"default", defaults == nullptr ? Json(nullptr) : trial_json(summary, *defaults)},
            {"best", best ? trial_json(summary, *best) : Json(nullptr)},
            {"failures", Json::array()}};
  if (best && defaults != nullptr && defaults->time)
    json["speedup"] = defaults->time->value / best->time->value;
  for (const auto& [outcome, group] : failures_of(summary))
    json["failures"].push_back({{"outcome", search::name_of(outcome)},
                                {"count", group.count},
                                {"example", group.example},
                                {"parameters", group.where}});
  if (!summary.names.log.empty())
    json["log"] = summary.names.log;
  if (!summary.names.written.empty())
    json["written"] = summary.names.written;
  if (best)
    json["use"] = use_command(summary, space.values(best->configuration));
  fmt::print("{}\n", dump_json(json, 2));
}

} // namespace kernevo::cli
