#include "kernevo/timing/paired_test.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <fmt/format.h>

namespace kernevo {
namespace {

// 400,000 shots; whoever needs more has no noise but a broken device.
constexpr int kMostBlocks = 100'000;

// Verdict of an interval on the log scale, if it has one.
std::optional<Standing> standing_of(const CentreInterval& interval, double margin) {
  const double edge = std::log1p(margin);
  if (interval.low > -edge && interval.high < edge)
    return Standing::same;
  // As ratios, for that is what the record holds: a log of 1e-17 is the ratio 1.
  if (std::exp(interval.low) > 1 && interval.estimate >= edge)
    return Standing::faster;
  if (std::exp(interval.high) < 1 && interval.estimate <= -edge)
    return Standing::slower;
  return std::nullopt;
}

double percent(double log_ratio) {
  return 100 * std::expm1(log_ratio);
}

std::string reason_of(Standing standing, const CentreInterval& interval, const PairedPlan& plan,
                      int blocks, const std::string& ended_by) {
  const std::string seen =
      fmt::format("{:+.2f} % speed, {:.4g} % interval [{:+.2f}, {:+.2f}] after {} paired blocks",
                  percent(interval.estimate), 100 * plan.confidence, percent(interval.low),
                  percent(interval.high), blocks);
  const double margin = 100 * plan.margin;
  switch (standing) {
  case Standing::same: return fmt::format("{}: within the margin of {:.3g} %", seen, margin);
  case Standing::ambiguous:
    return fmt::format("{}: neither a difference nor one below {:.3g} % was shown before {}", seen,
                       margin, ended_by);
  default: return seen;
  }
}

} // namespace

Result<PairedPlan> make_paired_plan(PairedPlan parts) {
  const auto wrong = [](const std::string& what) {
    return fail(ErrorCode::usage, "comparison plan: " + what);
  };
  if (parts.min_blocks < 2 || parts.max_blocks < parts.min_blocks || parts.max_blocks > kMostBlocks)
    return wrong(fmt::format("from {} to {} blocks; it takes 2 <= min <= max <= {}",
                             parts.min_blocks, parts.max_blocks, kMostBlocks));
  if (!(parts.growth >= 1.05 && parts.growth <= 100))
    return wrong(fmt::format("growth {} between looks; it must be 1.05 to 100", parts.growth));
  if (!(parts.confidence > 0.5 && parts.confidence < 1))
    return wrong(fmt::format("confidence {}; it must be in (0.5, 1)", parts.confidence));
  if (!(parts.margin >= 0 && parts.margin < 1))
    return wrong(fmt::format("margin {}; it is a fraction in [0, 1)", parts.margin));
  const double share = 0.5 * (1 - parts.confidence) / static_cast<double>(looks_of(parts).size());
  if (signed_rank_bound(static_cast<std::size_t>(parts.max_blocks), share) == 0)
    return wrong(fmt::format("{} blocks can never show anything with confidence {}; allow more "
                             "blocks or less confidence",
                             parts.max_blocks, parts.confidence));
  return parts;
}

std::vector<int> looks_of(const PairedPlan& plan) {
  std::vector<int> looks;
  for (double blocks = plan.min_blocks; blocks < plan.max_blocks; blocks *= plan.growth)
    if (const int look = static_cast<int>(blocks); looks.empty() || look > looks.back())
      looks.push_back(look);
  looks.push_back(plan.max_blocks);
  return looks;
}

PairedTest::PairedTest(const PairedPlan& plan) : plan_(plan), looks_(looks_of(plan)) {}

void PairedTest::add(double difference) {
  assert(!standing_ && std::isfinite(difference));
  differences_.push_back(difference);
  if (blocks() < looks_[next_look_])
    return;
  look((1 - plan_.confidence) / static_cast<double>(looks_.size()));
  ++next_look_;
  if (next_look_ == looks_.size() && !standing_)
    standing_ = Standing::ambiguous;
}

void PairedTest::finish() {
  if (standing_)
    return;
  const auto left = static_cast<double>(looks_.size() - next_look_);
  look((1 - plan_.confidence) * left / static_cast<double>(looks_.size()));
  if (!standing_)
    standing_ = Standing::ambiguous;
}

void PairedTest::look(double error) {
  interval_ = signed_rank_interval(differences_, 0.5 * error);
  if (interval_)
    standing_ = standing_of(*interval_, plan_.margin);
}

Comparison conclude(PairedTest& test, const PairedPlan& plan, const std::string& ended_by) {
  test.finish();
  Comparison comparison;
  comparison.standing = *test.standing();
  comparison.method = TimingMethod::measured;
  comparison.blocks = static_cast<std::uint64_t>(test.blocks());
  if (!test.interval()) {
    comparison.reason = fmt::format("{} paired blocks before {} are too few to say anything",
                                    test.blocks(), ended_by);
    return comparison;
  }
  const CentreInterval& seen = *test.interval();
  comparison.ratio =
      SpeedRatio{std::exp(seen.estimate), std::exp(seen.low), std::exp(seen.high), plan.confidence};
  comparison.reason = reason_of(comparison.standing, seen, plan, test.blocks(), ended_by);
  return comparison;
}

} // namespace kernevo
