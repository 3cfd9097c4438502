#include "kernevo/report/run_scalars.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace kernevo::report {
namespace {

// A run has no generations; what others average over one is averaged over so many candidates.
constexpr std::size_t kWindow = 10;

// '/' makes groups in TensorBoard, and other signs are not shown alike everywhere.
std::string tag_part(const std::string& name) {
  std::string out;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-' || c == '.';
    out += plain ? c : '_';
  }
  return out.empty() ? "unnamed" : out;
}

struct Metric {
  const char* name;
  double (*of)(double ns, double reference_ns);
};

double speedup(double ns, double reference_ns) {
  return reference_ns / ns;
}
double microseconds(double ns, double) {
  return ns / 1e3;
}

// Fitness is what is maximised: the speed-up.
constexpr std::array<Metric, 3> kMetrics = {
    {{"speedup", speedup}, {"fitness", speedup}, {"runtime_us", microseconds}}};

bool rejected_by_check(StepOutcome outcome) {
  return outcome == StepOutcome::compile_failed || outcome == StepOutcome::wrong ||
         outcome == StepOutcome::failed || outcome == StepOutcome::quarantined ||
         outcome == StepOutcome::unproven;
}

} // namespace

std::vector<Scalar> RunScalars::take(const RunEvent& event, const evolve::RunState& state) {
  out_.clear();
  if (const auto* candidate = std::get_if<Candidate>(&event)) {
    proposed_[candidate->step] = true;
    if (candidate->step > 0)
      ++created_;
  } else if (const auto* evaluation = std::get_if<Evaluation>(&event)) {
    told(*evaluation, state);
  } else if (const auto* call = std::get_if<ModelCall>(&event)) {
    tokens(*call, state);
  }
  return std::move(out_);
}

void RunScalars::told(const Evaluation& e, const evolve::RunState& state) {
  // Trouble of the machine says nothing about a program; tuning makes no new one.
  const bool is_program = proposed_.erase(e.step) > 0 && e.outcome != StepOutcome::infrastructure;
  if (is_program)
    program(e, state);
  engine(e, state);
  if (e.outcome == StepOutcome::baseline || e.outcome == StepOutcome::improved)
    best(e, state);
}

void RunScalars::program(const Evaluation& e, const evolve::RunState& state) {
  // A candidate that was known before is right without having been timed.
  const bool valid = is_right(e.outcome) || e.outcome == StepOutcome::duplicate;
  ++(valid ? valid_ : invalid_);
  if (rejected_by_check(e.outcome))
    ++rejected_validation_;
  else if (e.outcome != StepOutcome::improved && e.outcome != StepOutcome::baseline &&
           state.find(e.step) == nullptr)
    ++rejected_strategy_;
  else
    ++added_;
  put("program_metrics/is_valid", valid ? 1 : 0);
  put("program_metrics/programs_valid_count", static_cast<double>(valid_));
  put("program_metrics/programs_invalid_count", static_cast<double>(invalid_));
  put("program_metrics/programs_total_count", static_cast<double>(valid_ + invalid_));
  if (!e.objective || !state.baseline)
    return;
  latest_ns_.push_back(e.objective->value);
  if (latest_ns_.size() > kWindow)
    latest_ns_.pop_front();
  for (const Metric& metric : kMetrics) {
    put(fmt::format("program_metrics/valid_program_{}", metric.name),
        metric.of(e.objective->value, state.baseline->value));
    double sum = 0;
    double squares = 0;
    for (const double ns : latest_ns_) {
      const double value = metric.of(ns, state.baseline->value);
      sum += value;
      squares += value * value;
    }
    const auto count = static_cast<double>(latest_ns_.size());
    const double mean = sum / count;
    put(fmt::format("program_metrics/valid_iter_{}_mean", metric.name), mean);
    put(fmt::format("program_metrics/valid_iter_{}_std", metric.name),
        std::sqrt(std::max(0.0, squares / count - mean * mean)));
  }
  if (e.roofline)
    put("program_metrics/valid_program_roofline", *e.roofline);
}

void RunScalars::engine(const Evaluation&, const evolve::RunState& state) {
  const auto count = [&](const char* name, std::uint64_t value) {
    put(fmt::format("evolution_engine/{}", name), static_cast<double>(value));
  };
  count("total_generations", state.told);
  count("programs_processed", valid_ + invalid_);
  count("mutations_created", created_);
  count("added", added_);
  count("rejected_validation", rejected_validation_);
  count("rejected_strategy", rejected_strategy_);
  count("total_programs", state.members.size());
  count("evaluations", state.evaluations);
  std::map<std::uint32_t, std::uint64_t> sizes;
  for (const auto& [key, step] : state.elites)
    ++sizes[key.first];
  for (const auto& [island, size] : sizes)
    count(fmt::format("size_{}", island).c_str(), size);
}

void RunScalars::best(const Evaluation& e, const evolve::RunState& state) {
  if (!e.objective || !state.baseline)
    return;
  for (const Metric& metric : kMetrics)
    put(fmt::format("program_metrics/valid_frontier_{}", metric.name),
        metric.of(e.objective->value, state.baseline->value));
  if (e.roofline)
    put("program_metrics/valid_frontier_roofline", *e.roofline);
  // Zero where a bottleneck was not found: it is gone then.
  for (int i = 0; i < kBottleneckTags; ++i) {
    const auto tag = static_cast<BottleneckTag>(i);
    double severity = 0;
    for (const BottleneckFinding& finding : e.bottlenecks)
      if (finding.tag == tag)
        severity = finding.severity;
    put(fmt::format("bottlenecks/{}", name_of(tag)), severity);
  }
}

// Of every call, by model as kernel-evo has it, and by stage.
void RunScalars::tokens(const ModelCall& call, const evolve::RunState& state) {
  const auto put_usage = [&](const std::string& group, const TokenUsage& usage,
                             const std::string& prefix) {
    put(group + prefix + "context_tokens", static_cast<double>(usage.prompt));
    put(group + prefix + "generated_tokens", static_cast<double>(usage.completion));
    put(group + prefix + "reasoning_tokens", static_cast<double>(usage.reasoning));
    put(group + prefix + "total_tokens", static_cast<double>(usage.total()));
  };
  const std::string model = tag_part(call.model);
  put_usage("llm/tokens/default/" + model + "/", call.usage, "");
  put_usage("llm/tokens/default/" + model + "/", state.by_model.at(call.model).usage,
            "cumulative_");
  put_usage(fmt::format("llm/tokens/{}/{}/", tag_part(call.stage), model), call.usage, "");
  if (call.dollars)
    put("llm/dollars", *call.dollars);
  if (state.dollars)
    put("llm/cumulative_dollars", *state.dollars);
}

} // namespace kernevo::report
