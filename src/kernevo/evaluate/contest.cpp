#include "kernevo/evaluate/contest.h"

#include "kernevo/evaluate/measure_case.h"
#include "kernevo/evaluate/objective_time.h"
#include "kernevo/model/json.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/timing/compare_timings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace kernevo {
namespace {

constexpr double kError = 0.01; // of the verdict over all shapes together

PairedPlan paired_plan(const Contest& contest) {
  PairedPlan plan;
  plan.confidence = contest.confidence;
  plan.min_blocks = contest.least_blocks;
  return plan;
}

// The objective's time if each shape were so many times as fast.
double objective_at(Objective objective, const std::vector<ContestCase>& cases,
                    double SpeedRatio::* ratio) {
  std::vector<WeightedTime> times;
  for (const ContestCase& one : cases) {
    const auto& known = one.episode.comparison.ratio;
    const double faster = ratio == nullptr || !known ? 1.0 : *known.*ratio;
    times.push_back({{one.episode.incumbent.median.value / faster}, one.weight});
  }
  return objective_time(objective, times).value;
}

Standing standing_of(const SpeedRatio& ratio, double margin) {
  const double size = std::abs(std::log(ratio.estimate));
  if (ratio.low > 1 && size >= std::log1p(margin))
    return Standing::faster;
  if (ratio.high < 1 && size >= std::log1p(margin))
    return Standing::slower;
  if (std::log(ratio.low) >= -std::log1p(margin) && std::log(ratio.high) <= std::log1p(margin))
    return Standing::same;
  return Standing::ambiguous;
}

std::string disturbance_of(const Episode& episode) {
  return episode.incumbent.quality.grade == TimingGrade::disturbed
             ? episode.incumbent.quality.reason
             : std::string();
}

class Holder {
public:
  Holder(Device& device, const Task& task, const BenchOptions& options, int least_blocks)
      : device_(device), task_(task), options_(options) {
    contest_.least_blocks = least_blocks;
  }

  Result<Contest> hold(const PreparedKernel& incumbent, const PreparedKernel& candidate) {
    KERNEVO_CHECK(check_cache(device_, options_.hot_cache));
    const std::array kernels{&incumbent, &candidate};
    std::array<std::unique_ptr<KernelSubject>, 2> subjects;
    for (const Side side : {Side::incumbent, Side::candidate}) {
      const auto i = static_cast<std::size_t>(side);
      if (const auto& fault = kernels.at(i)->fault) {
        contest_.fault = Contest::Fault{side, {fault->kind, fault->summary}};
        return std::move(contest_);
      }
      KERNEVO_TRY(loaded,
                  load_kernel(device_, *kernels.at(i), {.memory_bytes = options_.memory_bytes}));
      if (loaded.refusal) {
        contest_.fault =
            Contest::Fault{side, {fault_of(loaded.refusal->kind), loaded.refusal->message}};
        return std::move(contest_);
      }
      subjects.at(i) = std::move(loaded.subject);
    }
    const auto shapes = std::ranges::count_if(
        task_.shapes, [&](const ShapeCase& shape) { return wants(options_, shape); });
    if (shapes == 0)
      return fail(ErrorCode::usage, "none of the task's shapes was chosen", Place{task_.file});
    contest_.confidence = 1 - kError / static_cast<double>(shapes);
    const ExpectationSource expectation =
        expectation_for(device_, task_, options_.seconds, options_.patience_minutes);
    for (const ShapeCase& shape : task_.shapes)
      if (wants(options_, shape) && !contest_.fault)
        KERNEVO_CHECK(time(*subjects[0], *subjects[1], shape, expectation));
    if (!contest_.fault)
      contest_.overall = overall_of(task_.objective, contest_.cases);
    return std::move(contest_);
  }

private:
  Result<void> time(const KernelSubject& incumbent, const KernelSubject& candidate,
                    const ShapeCase& shape, const ExpectationSource& expectation) {
    ComparePlan plan;
    plan.paired = paired_plan(contest_);
    KERNEVO_TRY(pair,
                measure_pair(device_, incumbent, candidate, shape, expectation, plan, options_));
    if (pair.incumbent_fault)
      contest_.fault = Contest::Fault{Side::incumbent, *pair.incumbent_fault};
    else if (pair.candidate_fault)
      contest_.fault = Contest::Fault{Side::candidate, *pair.candidate_fault};
    if (contest_.fault) {
      contest_.cases.clear();
      return {};
    }
    if (contest_.disturbed.empty())
      contest_.disturbed = disturbance_of(pair.episode);
    contest_.cases.push_back({shape.id, shape.weight, std::move(pair.episode)});
    return {};
  }

  Device& device_;
  const Task& task_;
  const BenchOptions& options_;
  Contest contest_;
};

} // namespace

Result<Contest> hold_contest(Device& device, const Task& task, const PreparedKernel& incumbent,
                             const PreparedKernel& candidate, const BenchOptions& options,
                             int least_blocks) {
  return Holder(device, task, options, least_blocks).hold(incumbent, candidate);
}

Comparison overall_of(Objective objective, const std::vector<ContestCase>& cases) {
  if (cases.size() == 1)
    return cases.front().episode.comparison;
  Comparison overall;
  for (const ContestCase& one : cases) {
    const Comparison& shape = one.episode.comparison;
    if (!shape.ratio || !shape.method) {
      overall.reason = fmt::format("on {}: {}", one.case_id, shape.reason);
      overall.standing = Standing::not_comparable;
      return overall;
    }
    overall.method = shape.method;
    overall.blocks += shape.blocks;
  }
  const double now = objective_at(objective, cases, nullptr);
  overall.ratio = SpeedRatio{now / objective_at(objective, cases, &SpeedRatio::estimate),
                             now / objective_at(objective, cases, &SpeedRatio::low),
                             now / objective_at(objective, cases, &SpeedRatio::high), 1 - kError};
  overall.standing = standing_of(*overall.ratio, PairedPlan{}.margin);
  overall.reason = fmt::format("by the objective over {} shapes", cases.size());
  const Standing opposite =
      overall.standing == Standing::faster ? Standing::slower : Standing::faster;
  for (const ContestCase& one : cases) {
    if (one.episode.comparison.standing == opposite && overall.standing != Standing::ambiguous)
      overall.reason += fmt::format(", though {} on {}", name_of(opposite), one.case_id);
    if (const std::string why = disturbance_of(one.episode); !why.empty()) {
      overall.standing = Standing::ambiguous;
      overall.reason = fmt::format("on {}: {}", one.case_id, why);
      break;
    }
  }
  return overall;
}

std::vector<ShapeTime> times_beside(const std::vector<ShapeTime>& incumbent,
                                    const Contest& contest) {
  std::vector<ShapeTime> times;
  for (const ShapeTime& had : incumbent) {
    const auto found = std::ranges::find(contest.cases, had.shape, &ContestCase::case_id);
    ShapeTime one = had;
    if (found != contest.cases.end() && found->episode.comparison.ratio) {
      const SpeedRatio& ratio = *found->episode.comparison.ratio;
      one = {had.shape,
             {had.time.value / ratio.estimate},
             {had.time.value / ratio.high},
             {had.time.value / ratio.low}};
    }
    times.push_back(std::move(one));
  }
  return times;
}

std::string to_json(const Contest& contest) {
  Json json{{"fault", nullptr},
            {"cases", Json::array()},
            {"confidence", contest.confidence},
            {"least_blocks", contest.least_blocks},
            {"disturbed", contest.disturbed}};
  if (contest.fault)
    json["fault"] = {{"side", contest.fault->side == Side::incumbent ? "incumbent" : "candidate"},
                     {"kind", name_of(contest.fault->fault.kind)},
                     {"summary", contest.fault->fault.summary},
                     {"out_of_time", contest.fault->fault.out_of_time}};
  for (const ContestCase& one : contest.cases)
    json["cases"].push_back({{"case", one.case_id},
                             {"weight", one.weight},
                             {"incumbent", Json::parse(to_json(one.episode.incumbent))},
                             {"candidate", Json::parse(to_json(one.episode.candidate))}});
  return dump_json(json);
}

Result<Contest> contest_from_json(std::string_view text, Objective objective) {
  return read_json(text, "contest", [&](const Json& json) {
    only_keys(json, {"fault", "cases", "confidence", "least_blocks", "disturbed"});
    Contest contest;
    contest.confidence = amount_at(json, "confidence");
    if (!(contest.confidence > 0 && contest.confidence < 1))
      refuse("a confidence is a fraction");
    contest.least_blocks = json.at("least_blocks");
    value_of(make_paired_plan(paired_plan(contest)));
    contest.disturbed = json.at("disturbed");
    if (const Json& fault = json.at("fault"); !fault.is_null()) {
      only_keys(fault, {"side", "kind", "summary", "out_of_time"});
      contest.fault =
          Contest::Fault{fault.at("side") == "incumbent" ? Side::incumbent : Side::candidate,
                         {enum_at(fault, "kind", FaultKind::unproven), fault.at("summary"),
                          fault.at("out_of_time")}};
    }
    for (const Json& one : list_at(json, "cases")) {
      only_keys(one, {"case", "weight", "incumbent", "candidate"});
      ContestCase c;
      c.case_id = one.at("case");
      c.weight = amount_at(one, "weight");
      c.episode.incumbent = value_of(timing_from_json(dump_json(one.at("incumbent"))));
      c.episode.candidate = value_of(timing_from_json(dump_json(one.at("candidate"))));
      c.episode.comparison =
          compare_timings(c.episode.incumbent, c.episode.candidate, paired_plan(contest));
      if (const std::string why = disturbance_of(c.episode); !why.empty()) {
        c.episode.comparison.standing = Standing::ambiguous;
        c.episode.comparison.reason = why;
      }
      contest.cases.push_back(std::move(c));
    }
    if (contest.cases.empty() != contest.fault.has_value())
      refuse("a contest has either times or a fault");
    if (!contest.fault)
      contest.overall = overall_of(objective, contest.cases);
    return contest;
  });
}

} // namespace kernevo
