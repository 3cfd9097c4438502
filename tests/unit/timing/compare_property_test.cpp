// What must hold for any two kernels and any noise.
#include "kernevo/base/random.h"
#include "kernevo/model/json.h"
#include "kernevo/timing/compare_interleaved.h"
#include "kernevo/timing/compare_timings.h"
#include "simulated_shots.h"

#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace kernevo {
namespace {

void holds(const std::string& name, const auto& property) {
  EXPECT_TRUE(rc::check(name, property));
}

// Each side has a series of its own, so that swapping the sides swaps everything; the noise is a
// mixture with a heavy tail.
class TwoSeries final : public ShotSource, public Clock {
public:
  TwoSeries(std::uint64_t seed, double ratio, double noise, double scale, bool swapped)
      : random_(seed), ratio_(ratio), noise_(noise), scale_(scale), swapped_(swapped) {}

  Result<Shot> shoot(Side side) override {
    const bool second = (side == Side::candidate) != swapped_;
    const std::uint64_t index = 2 * count_[second ? 1 : 0]++ + (second ? 1 : 0);
    const double spike = random_.uniform(3 * index) < 0.05 ? 10 : 1;
    const double time =
        (second ? 1e5 / ratio_ : 1e5) * std::exp(noise_ * spike * random_.normal(3 * index + 1));
    now_ += 1e5; // does not depend on the times, for limits must not depend on the scale
    return Shot{{time * scale_}, false};
  }
  Nanoseconds now() override { return {now_}; }

private:
  CounterRandom random_;
  double ratio_;
  double noise_;
  double scale_;
  bool swapped_;
  std::array<std::uint64_t, 2> count_{};
  double now_ = 0;
};

struct Problem {
  std::uint64_t seed = 0;
  double ratio = 1;
  double noise = 0.01;
};

Problem any_problem() {
  return {*rc::gen::inRange<std::uint64_t>(0, 1U << 30),
          std::exp(0.001 * *rc::gen::inRange(-100, 101)), 0.001 * *rc::gen::inRange(0, 100)};
}

Comparison compared(const Problem& problem, double scale = 1, bool swapped = false) {
  TwoSeries device(problem.seed, problem.ratio, problem.noise, scale, swapped);
  Receipt receipt;
  receipt.device = "simulated";
  receipt.seed = problem.seed + 1;
  receipt.episode = "e";
  ComparePlan plan;
  plan.paired.max_blocks = 64;
  const auto episode = compare_interleaved(device, device, plan, receipt);
  RC_ASSERT(episode.has_value());
  return episode->comparison;
}

Standing mirrored(Standing standing) {
  return standing == Standing::faster   ? Standing::slower
         : standing == Standing::slower ? Standing::faster
                                        : standing;
}

TEST(CompareProperty, SwappingTheKernelsSwapsTheVerdict) {
  holds("swap", [] {
    const Problem problem = any_problem();
    const Comparison one = compared(problem);
    const Comparison other = compared(problem, 1, true);
    RC_TAG(std::string(name_of(one.standing)));
    RC_ASSERT(other.standing == mirrored(one.standing));
    RC_ASSERT(other.blocks == one.blocks);
    RC_ASSERT(std::abs(other.ratio->low * one.ratio->high - 1) < 1e-12);
    RC_ASSERT(std::abs(other.ratio->estimate * one.ratio->estimate - 1) < 1e-12);
  });
}

TEST(CompareProperty, ScalingBothLeavesTheVerdict) {
  holds("scale", [] {
    const Problem problem = any_problem();
    const double scale = std::exp(*rc::gen::inRange(-5, 10));
    const Comparison one = compared(problem);
    const Comparison other = compared(problem, scale);
    RC_ASSERT(other.standing == one.standing);
    RC_ASSERT(std::abs(other.ratio->estimate / one.ratio->estimate - 1) < 1e-12);
  });
}

TEST(CompareProperty, TheSeedDecidesEverything) {
  holds("determinism", [] {
    const Problem problem = any_problem();
    RC_ASSERT(to_json(compared(problem)) == to_json(compared(problem)));
  });
}

TEST(CompareProperty, EveryComparisonIsAValidRecord) {
  holds("valid", [] {
    const Comparison comparison = compared(any_problem());
    const auto read = comparison_from_json(to_json(comparison));
    RC_ASSERT(read.has_value());
    RC_ASSERT(replaces_incumbent(comparison) == (comparison.standing == Standing::faster));
  });
}

TEST(CompareProperty, IntervalsNarrowWithConfidenceAndHoldTheirEstimate) {
  holds("intervals", [] {
    const auto count = *rc::gen::inRange<std::size_t>(12, 60);
    const auto whole = *rc::gen::container<std::vector<int>>(count, rc::gen::inRange(-1000, 1000));
    const std::vector<double> differences(whole.begin(), whole.end());
    const auto wide = signed_rank_interval(differences, 0.0005);
    const auto narrow = signed_rank_interval(differences, 0.05);
    RC_ASSERT(wide && narrow);
    RC_ASSERT(wide->low <= narrow->low && narrow->high <= wide->high);
    RC_ASSERT(narrow->low <= narrow->estimate && narrow->estimate <= narrow->high);
    RC_ASSERT(wide->estimate == narrow->estimate);
  });
}

TEST(CompareProperty, ModelledVerdictsMirrorAndNeedTheError) {
  holds("modelled", [] {
    const auto timing = [](double time, double error) {
      Timing made;
      made.method = TimingMethod::modelled;
      made.terms = {{"all", {time}}};
      made.median = {time};
      made.interval = {{time / (1 + error)}, {time * (1 + error)}, 0.9};
      made.receipt.device = "virtual:A100";
      return made;
    };
    const double error_a = 0.01 * *rc::gen::inRange(0, 60);
    const double error_b = 0.01 * *rc::gen::inRange(0, 60);
    const double ratio = std::exp(0.01 * *rc::gen::inRange(-100, 101));
    const Comparison one = compare_timings(timing(1000, error_a), timing(1000 / ratio, error_b));
    const Comparison other = compare_timings(timing(1000 / ratio, error_b), timing(1000, error_a));
    RC_ASSERT(other.standing == mirrored(one.standing));
    const double distance = std::abs(std::log(ratio));
    const double error = std::log1p(std::max(error_a, error_b));
    if (std::abs(distance - error) > 1e-9)
      RC_ASSERT((one.standing == Standing::ambiguous) == (distance > 0 && distance < error));
    RC_ASSERT((one.standing == Standing::same) == (distance == 0));
  });
}

} // namespace
} // namespace kernevo
