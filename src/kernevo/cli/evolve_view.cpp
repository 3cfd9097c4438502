#include "kernevo/cli/evolve_view.h"

#include "kernevo/cli/evolve_summary.h"
#include "kernevo/cli/kernel_options.h"
#include "kernevo/cli/screen.h"
#include "kernevo/model/json_fields.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kernevo::cli {
namespace {

constexpr double kRedraw = 0.2; // seconds between two drawings

std::string outcome_text(const Evaluation& e, const evolve::RunState& state) {
  switch (e.outcome) {
  case StepOutcome::improved:
    return paint(fmt::format("new best, {:.2f} x the reference", state.speedup()), Tone::good);
  case StepOutcome::not_better: return "not better";
  case StepOutcome::duplicate: return fmt::format("same as step {}", e.duplicate_of.value_or(0));
  case StepOutcome::guarded: return paint("guarded: ", Tone::warning) + e.summary;
  case StepOutcome::no_proposal:
    return e.summary.empty() ? "nothing proposed" : "nothing proposed: " + e.summary;
  default: return paint(std::string(name_of(e.outcome)), Tone::bad) + ": " + e.summary;
  }
}

std::string asked_text(const Directive& d) {
  if (d.mode == SearchMode::tune)
    return fmt::format("tune step {}", *d.parent);
  if (d.mode == SearchMode::recombine)
    return fmt::format("join steps {} and {}", *d.parent, *d.mate);
  return fmt::format("{} step {}: {}", name_of(d.mode), d.parent.value_or(0), d.direction);
}

// How the best got faster, one character a best, on a logarithmic scale.
std::string sparkline(const evolve::RunState& state, std::size_t columns) {
  static constexpr std::array<const char*, 8> kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const auto& bests = state.bests;
  if (bests.size() < 2)
    return "";
  const double top = std::log(bests.front().objective.value);
  const double span = std::max(top - std::log(bests.back().objective.value), 1e-9);
  std::string text;
  const std::size_t first = bests.size() > columns ? bests.size() - columns : 0;
  for (std::size_t i = first; i < bests.size(); ++i) {
    const double done = (top - std::log(bests[i].objective.value)) / span;
    text += kBars.at(static_cast<std::size_t>(std::clamp(done * 7.0, 0.0, 7.0)));
  }
  return text;
}

// What is left of the tightest budget, and how long that may take.
std::string budget_text(const evolve::RunProgress& progress) {
  const evolve::RunState& state = *progress.state;
  const RunBudget& budget = state.started.settings.budget;
  std::string text = fmt::format("{} steps", state.told);
  double done = 0;
  const auto add = [&](double spent, double limit, const char* unit) {
    text += fmt::format(", {:.0f} of {:.0f} {}", spent, limit, unit);
    done = std::max(done, limit > 0 ? spent / limit : 1);
  };
  if (budget.evaluations)
    add(static_cast<double>(state.evaluations), static_cast<double>(*budget.evaluations),
        "evaluations");
  else
    text += fmt::format(", {} evaluations", state.evaluations);
  if (budget.rounds)
    add(static_cast<double>(state.told), static_cast<double>(*budget.rounds), "rounds");
  if (budget.seconds)
    done = std::max(done, progress.seconds / *budget.seconds);
  if (budget.tokens)
    add(static_cast<double>(state.tokens), static_cast<double>(*budget.tokens), "tokens");
  text += fmt::format(", {}", seconds_text(progress.seconds));
  if (done > 0.1 && done < 1)
    text += fmt::format(", at most {} left", seconds_text(progress.seconds * (1 - done) / done));
  return text;
}

} // namespace

EvolveView::EvolveView(const CommonOptions& options, const evolve::RunContext& context,
                       std::filesystem::path folder)
    : options_(options), context_(context), folder_(std::move(folder)),
      terminal_(is_terminal() && !options.json && !options.quiet) {}

void EvolveView::begin(const RunStarted& started, const evolve::RunState* resumed) {
  if (options_.json || options_.quiet)
    return;
  fmt::print("task     {} ({} {})\n", started.task_file, context_.task.operation,
             name_of(context_.task.dtype));
  const DeviceIdentity& device = context_.device->identity();
  fmt::print("device   {}; times are {}\n",
             device.method == TimingMethod::modelled
                 ? fmt::format("{} (sm_{})", device.name, device.gpu.compute_capability)
                 : device_text(device),
             name_of(device.method));
  note_mismatch(device, context_.task.target_gpu, options_);
  fmt::print("search   {}, proposers {}, seed {}\n", name_of(started.settings.search),
             fmt::join(started.settings.proposers, ", "), started.settings.seed);
  for (const ModelSettings& model : started.settings.llm.models)
    fmt::print("model    {}{}\n", model.name,
               started.settings.llm.replay.empty()
                   ? fmt::format(" at {}", model.base_url)
                   : fmt::format(", answers recorded in {}", started.settings.llm.replay));
  fmt::print("run      {}{}\n", folder_.string(),
             resumed == nullptr ? std::string()
                                : fmt::format(", resumed at step {} after {} evaluations",
                                              resumed->next_step, resumed->evaluations));
  std::fflush(stdout);
}

void EvolveView::line(const RunEvent& event, const evolve::RunProgress& progress) const {
  const evolve::RunState& state = *progress.state;
  if (const auto* e = std::get_if<Evaluation>(&event)) {
    const std::string time = e->objective ? time_text(e->objective->value) : "-";
    if (e->outcome == StepOutcome::baseline)
      fmt::print("{:>5}  {:>9}  the reference{}\n", e->step, time,
                 e->bottlenecks.empty() ? ""
                                        : fmt::format(", {}", name_of(e->bottlenecks.front().tag)));
    else
      fmt::print("{:>5}  {:>9}  {}\n", e->step, time, outcome_text(*e, state));
  } else if (const auto* d = std::get_if<Directive>(&event); d != nullptr && d->step > 0) {
    fmt::print("{:>5}  {:>9}  {}  [{}] {}\n", d->step, "", asked_text(*d), d->gate,
               cut(d->reason, 110));
  } else if (const auto* a = std::get_if<Attempt>(&event)) {
    fmt::print("{:>5}  {:>9}  {}: {}\n", a->step, "",
               a->diagnosis.fault ? name_of(*a->diagnosis.fault) : "unreadable reply",
               cut(a->diagnosis.summary, 110));
  } else if (const auto* r = std::get_if<Restarted>(&event)) {
    fmt::print("restart  {}\n", r->reason);
  }
}

void EvolveView::clear_live() {
  for (; live_lines_ > 0; --live_lines_)
    fmt::print("\x1b[1A\x1b[2K");
}

void EvolveView::live(const evolve::RunProgress& progress) {
  const evolve::RunState& state = *progress.state;
  const std::size_t width = terminal_width();
  std::vector<std::string> lines;
  if (const evolve::Member* best = state.best()) {
    std::string text =
        fmt::format("best   step {}  {}  {:.2f} x the reference", best->candidate.step,
                    time_text(best->objective.value), state.speedup());
    if (best->roofline)
      text += "  " + roofline_text(*best->roofline, state.started.estimate.has_value());
    text += "  " + sparkline(state, 30);
    lines.push_back(text);
  }
  for (const auto& [step, directive] : state.pending)
    if (step > 0)
      lines.push_back(fmt::format("now    {:>3} {}  ({}: {})", step, asked_text(directive),
                                  directive.gate, directive.reason));
  lines.push_back(budget_text(progress) +
                  (progress.stopping ? ", finishing what is under way" : ", Ctrl-C stops cleanly"));
  clear_live();
  for (const std::string& text : lines)
    fmt::print("{}\n", cut(text, width - 1));
  live_lines_ = lines.size();
  std::fflush(stdout);
}

void EvolveView::show(const RunEvent* event, const evolve::RunProgress& progress) {
  if (options_.quiet)
    return;
  if (options_.json) {
    if (event != nullptr)
      fmt::print("{}\n", dump_json(Json{{"event", kind_of(*event)},
                                        {"body", Json::parse(to_json(*event))}}));
    std::fflush(stdout);
    return;
  }
  if (!terminal_) {
    if (event != nullptr)
      line(*event, progress);
    std::fflush(stdout);
    return;
  }
  const bool told = event != nullptr && std::holds_alternative<Evaluation>(*event);
  if (told) {
    clear_live();
    line(*event, progress);
  }
  if (told || progress.seconds - last_drawn_ >= kRedraw) {
    live(progress);
    last_drawn_ = progress.seconds;
  }
}

void EvolveView::finish(const evolve::RunState& state, store::Journal& journal) {
  if (terminal_)
    clear_live();
  if (options_.json)
    print_run_summary_json(state, folder_);
  else
    print_run_summary(state, journal, folder_, options_.quiet);
}

} // namespace kernevo::cli
