#include "kernevo/timing/compare_interleaved.h"

#include "kernevo/base/random.h"
#include "kernevo/timing/summarise.h"

#include <array>
#include <cmath>
#include <fmt/format.h>

namespace kernevo {
namespace {

struct Block {
  std::array<std::vector<Nanoseconds>, 2> shots; // by side
  bool disturbed = false;
};

Result<Block> take_block(ShotSource& source, bool candidate_first) {
  const Side outer = candidate_first ? Side::candidate : Side::incumbent;
  const Side inner = candidate_first ? Side::incumbent : Side::candidate;
  Block block;
  for (const Side side : {outer, inner, inner, outer}) {
    KERNEVO_TRY(shot, take_shot(source, side));
    block.disturbed = block.disturbed || shot.disturbed;
    block.shots[static_cast<std::size_t>(side)].push_back(shot.time);
  }
  return block;
}

Result<void> check(const ComparePlan& plan, const Receipt& receipt) {
  KERNEVO_CHECK(make_paired_plan(plan.paired));
  KERNEVO_CHECK(make_warm_up_plan(plan.warm_up));
  if (!(plan.confidence > 0 && plan.confidence < 1))
    return fail(ErrorCode::usage,
                fmt::format("comparison plan: confidence {} is not in (0, 1)", plan.confidence));
  if (receipt.episode.empty())
    return fail(ErrorCode::usage, "comparison plan: the receipt names no episode");
  return {};
}

} // namespace

double block_difference(Nanoseconds incumbent_1, Nanoseconds incumbent_2, Nanoseconds candidate_1,
                        Nanoseconds candidate_2) {
  return 0.5 * (std::log(incumbent_1.value / candidate_1.value) +
                std::log(incumbent_2.value / candidate_2.value));
}

Result<Episode> compare_interleaved(ShotSource& source, Clock& clock, const ComparePlan& plan,
                                    const Receipt& receipt) {
  KERNEVO_CHECK(check(plan, receipt));
  constexpr std::array kSides{Side::incumbent, Side::candidate};
  SamplingFacts facts;
  KERNEVO_TRY(warm, warm_up(source, clock, kSides, plan.warm_up));
  facts.warm_up = warm;

  const CounterRandom coins(receipt.seed);
  PairedTest test(plan.paired);
  std::array<std::vector<Nanoseconds>, 2> samples;
  std::string ended_by = fmt::format("the limit of {} blocks", plan.paired.max_blocks);
  const Nanoseconds start = clock.now();
  for (std::uint64_t thrown = 0; !test.standing(); ++thrown) {
    // Asked before a block, so a block is never cut and a device that hangs costs one block.
    if (clock.now() - start >= plan.time_limit) {
      ended_by = fmt::format("the limit of {:.3g} s", plan.time_limit.value * 1e-9);
      break;
    }
    KERNEVO_TRY(block, take_block(source, (coins.bits(thrown) & 1U) != 0));
    if (block.disturbed) {
      // The whole block goes, both sides alike, and a new coin is thrown.
      if (++facts.discarded > plan.max_discarded) {
        ended_by = fmt::format("{} disturbed blocks", facts.discarded);
        break;
      }
      continue;
    }
    for (const std::size_t side : {0U, 1U})
      samples[side].insert(samples[side].end(), block.shots[side].begin(), block.shots[side].end());
    test.add(block_difference(block.shots[0][0], block.shots[0][1], block.shots[1][0],
                              block.shots[1][1]));
  }
  if (samples[0].empty())
    return fail(ErrorCode::infrastructure,
                fmt::format("no undisturbed block was taken before {}", ended_by), std::nullopt,
                "allow more time, or lower the device's clocks or its load");

  Episode episode;
  KERNEVO_TRY(comparison, make_comparison(conclude(test, plan.paired, ended_by)));
  if (!receipt.stand_in.empty())
    comparison.method = TimingMethod::stand_in;
  episode.comparison = std::move(comparison);
  const bool decided = episode.comparison.standing != Standing::ambiguous;
  facts.precise = decided;
  facts.stopped_by = decided ? "the comparison's verdict" : ended_by;
  KERNEVO_TRY(incumbent, summarise(std::move(samples[0]), facts, plan.confidence, receipt));
  KERNEVO_TRY(candidate, summarise(std::move(samples[1]), facts, plan.confidence, receipt));
  episode.incumbent = std::move(incumbent);
  episode.candidate = std::move(candidate);
  return episode;
}

} // namespace kernevo
