#include "kernevo/evaluate/count_case.h"

#include "kernevo/evaluate/check_limits.h"
#include "kernevo/evaluate/run_case.h"
#include "kernevo/evaluate/sampling.h"
#include "kernevo/evaluate/secret_seeds.h"
#include "kernevo/predict/choose_blocks.h"
#include "kernevo/predict/choose_by_tally.h"
#include "kernevo/predict/l1_share.h"
#include "kernevo/task/catalogue.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace kernevo {
namespace {

// Counting all blocks is thought of up to so many.
constexpr std::uint64_t kWholePlanBlocks = 20'000;
// What all blocks do is kept for so many.
constexpr std::uint64_t kMostTallied = 8'000'000;
// A sample this far from all blocks is as good as all: less than what makes a tie.
constexpr double kGoodSample = 0.01;
// So many sectors or atomics beside instructions do not matter.
constexpr double kFew = 0.05;
// What tallies do not show (which instructions a block executes, which banks and lines its accesses
// meet) is found by counting more blocks where that costs little: so many warp instructions, in so
// many blocks at most.
constexpr double kCheaplyCounted = 2e6;
constexpr std::uint64_t kCheapBlocks = 512;
// What a sample of blocks that may wait for others is given: this, and so much for each operation.
constexpr double kBriefWait = 8e6;
constexpr double kUsualInstructions = 1;
// More than this is not put up with where all blocks can be counted.
constexpr double kPoorSample = 0.05;
// Of a whole run: inputs twice (theirs and ours), outputs and their maps.
constexpr double kBytesFactor = 3;
// Of what is written then so many elements are compared: 1 % of them wrong, less than what makes a
// tie, is missed 6 times in a thousand.
constexpr std::int64_t kTimedPoints = 512;

std::array<std::uint32_t, 3> grid_of(const Launch& launch) {
  std::array<std::uint32_t, 3> grid = {};
  for (std::size_t axis = 0; axis < 3; ++axis)
    grid.at(axis) =
        static_cast<std::uint32_t>(std::clamp<std::int64_t>(launch.grid.at(axis), 1, 0xFFFFFFFF));
  return grid;
}

using Tallies = LaunchTallies;

class Counter {
public:
  Counter(const DeviceIdentity& device, KernelSubject& subject, const Problem& problem,
          const LaunchPlan& plan, std::uint64_t blocks, const BenchOptions& options,
          const TimedReference& reference)
      : device_(device), subject_(subject), task_(*subject.prepared().task), problem_(problem),
        plan_(plan), blocks_(blocks), options_(options), reference_(reference) {}

  Result<CountedCase> run() {
    KERNEVO_TRY(bound, subject_.bind(problem_));
    separable_ = bound->separable_grid().has_value();
    KERNEVO_CHECK(count_sample());
    if (result_.fault || (all_counted() && (is_compared() || !options_.whole)) ||
        !(options_.whole || idle_))
      return std::move(result_);
    KERNEVO_TRY(tallies, tally_all());
    if (tallies)
      KERNEVO_CHECK(hold_against(*tallies));
    return std::move(result_);
  }

private:
  // Apart from all others, spread over the grid.
  Result<void> count_sample() {
    // All blocks of a cooperative launch would have to be counted while they poll for each other;
    // in the company of others that are not, a few will do.
    if (options_.whole && is_cooperative()) {
      alone_ = false;
      return {};
    }
    return count_apart();
  }

  bool is_cooperative() const {
    return std::ranges::any_of(plan_.launches, [](const Launch& one) { return one.cooperative; });
  }

  Result<void> count_apart() {
    const auto profiles = plain_profiles(blocks_);
    if (result_.fault)
      return {};
    KERNEVO_TRY(inputs, make_inputs_on_demand(problem_, InputSet::nominal, inputs_seed()));
    KERNEVO_TRY(profiled, profile_case(subject_, inputs, plan_, profiles, limits_apart(),
                                       is_compared() ? &catalogue_ : nullptr));
    idle_ = profiled.idle;
    if (!profiled.finding || separable_)
      return take(std::move(profiled));
    // A later launch reads what earlier ones wrote, a block waits for another: it may not survive
    // that most of it is missing.
    if (options_.whole || plan_.blocks() > kWholePlanBlocks) {
      alone_ = false;
      unfinished_ = std::move(profiled);
      return options_.whole ? Result<void>() : take(std::move(*unfinished_));
    }
    KERNEVO_TRY(whole,
                profile_case(subject_, inputs, plan_, plain_profiles(std::nullopt), limits()));
    return take(std::move(whole));
  }

  bool all_are_counted() const {
    return std::ranges::all_of(result_.counts, [](const LaunchCounts& counts) {
      return counts.blocks.size() >=
             std::uint64_t{counts.grid[0]} * counts.grid[1] * counts.grid[2];
    });
  }

  bool all_counted() {
    if (!alone_ || !all_are_counted())
      return false;
    for (LaunchCounts& counts : result_.counts)
      counts.sampling_error = 0;
    result_.held_against_all = true;
    return true;
  }

  // Nothing where that would take too long or too much room, or where nothing is known then.
  Result<std::optional<Tallies>> tally_all() {
    using Nothing = std::optional<Tallies>;
    if (options_.tallies != nullptr)
      if (const auto known = options_.tallies->find(problem_.case_id);
          known != options_.tallies->end())
        return Nothing(known->second);
    double bytes = 0;
    for (const BufferSpec& buffer : problem_.buffers)
      bytes += static_cast<double>(buffer.bytes());
    const double patience = patience_budget(options_.patience_minutes);
    const bool too_long = separable_ && sampled_instructions() > patience;
    if (too_long || plan_.blocks() > kMostTallied ||
        kBytesFactor * bytes > static_cast<double>(options_.memory_bytes)) {
      KERNEVO_CHECK(make_do());
      return Nothing();
    }
    CaseOptions limits = this->limits();
    limits.instruction_budget = static_cast<std::uint64_t>(patience);
    limits.seconds = std::max(options_.seconds, patience_seconds(options_.patience_minutes));
    limits.point_limit = kTimedPoints;
    KERNEVO_TRY(tallied, tally_case(subject_, inputs(), plan_, limits, expectation()));
    if (!tallied.wrong.empty() && expectation() == &reference_.rough) {
      KERNEVO_TRY(again, tally_case(subject_, inputs(), plan_, limits, &reference_.fine));
      tallied = std::move(again);
    }
    if (!tallied.wrong.empty())
      fault(FaultKind::correctness_mismatch, "wrong while it is timed: " + tallied.wrong);
    if (result_.fault)
      return Nothing();
    if (!tallied.finding)
      return std::optional(std::move(tallied.tallies));
    const bool too_slow = tallied.finding->kind == FindingKind::instruction_budget ||
                          tallied.finding->kind == FindingKind::time_limit;
    KERNEVO_CHECK(too_slow ? make_do() : take({{}, std::move(tallied.finding)}));
    return Nothing();
  }

  // The sample is all there is.
  Result<void> make_do() {
    if (alone_)
      return {};
    if (!unfinished_)
      KERNEVO_CHECK(count_apart());
    return unfinished_ ? take(std::move(*unfinished_)) : Result<void>();
  }

  Result<void> hold_against(const Tallies& tallies) {
    const std::uint64_t enough = enough_blocks(tallies);
    const bool few = std::exchange(blocks_, enough) < enough;
    if (alone_ && stands_for(tallies, kGoodSample) && (!few || all_are_counted()))
      return {};
    // Counted apart only where a block does the same then.
    bool apart = alone_ && plan_.launches.size() == 1 && same_apart(tallies);
    for (;;) {
      KERNEVO_CHECK(count_chosen(tallies, apart));
      if (result_.fault || !std::exchange(apart, false) || same_apart(tallies))
        break;
    }
    if (result_.fault || stands_for(tallies, kPoorSample) || plan_.blocks() > kWholePlanBlocks)
      return {};
    // Who does what may be a matter of turns: then all of them together are right.
    KERNEVO_TRY(whole,
                profile_case(subject_, inputs(), plan_, plain_profiles(std::nullopt), limits()));
    KERNEVO_CHECK(take(std::move(whole)));
    if (!result_.fault)
      stands_for(tallies, kPoorSample);
    return {};
  }

  // Those asked for, and as many more as cost little.
  std::uint64_t enough_blocks(const Tallies& tallies) const {
    double instructions = 0;
    double blocks = 0;
    for (const auto& launch : tallies) {
      blocks = std::max(blocks, static_cast<double>(launch.size()));
      for (const BlockTally& tally : launch)
        instructions += static_cast<double>(tally.warp_instructions);
    }
    const double cheap = kCheaplyCounted * blocks / std::max(1.0, instructions);
    // About twice as many are chosen.
    return std::max(blocks_, std::min(kCheapBlocks, static_cast<std::uint64_t>(cheap)) / 2);
  }

  Result<void> count_chosen(const Tallies& tallies, bool apart) {
    auto profiles = plain_profiles(std::nullopt);
    for (std::size_t i = 0; i < profiles.size(); ++i) {
      WeightedBlocks chosen = choose_by_tally(grid_of(plan_.launches[i]), tallies[i], blocks_,
                                              options_.seed, kGoodSample);
      profiles[i].blocks = std::move(chosen.blocks);
      profiles[i].weights = std::move(chosen.weights);
      profiles[i].in_company = !apart;
    }
    CaseOptions limits = this->limits();
    limits.seconds = std::max(options_.seconds, patience_seconds(options_.patience_minutes));
    if (!apart)
      limits.instruction_budget =
          static_cast<std::uint64_t>(patience_budget(options_.patience_minutes));
    KERNEVO_TRY(profiled, profile_case(subject_, inputs(), plan_, profiles, limits));
    return take(std::move(profiled));
  }

  // Did every counted block do what it does among the others?
  bool same_apart(const Tallies& tallies) const {
    for (std::size_t i = 0; i < result_.counts.size(); ++i) {
      Amounts among = {};
      for (const BlockCounts& block : result_.counts[i].blocks) {
        const BlockTally& tally = tallies[i][block.block];
        if (block.warp_instructions != tally.warp_instructions)
          return false;
        among.add(tally, block.weight);
      }
      if (!among.agrees(amounts_of(result_.counts[i])))
        return false;
    }
    return true;
  }

  // What the blocks of a launch asked of memory.
  struct Amounts {
    double sectors = 0;
    double atomics = 0;

    void add(const BlockTally& tally, double weight) {
      sectors += weight * static_cast<double>(tally.sectors);
      atomics += weight * static_cast<double>(tally.atomics);
    }
    // Some copies are counted and not tallied.
    bool agrees(const Amounts& other) const {
      const auto is_least = [](double least, double given) {
        return given >= (1 - kGoodSample) * least;
      };
      return is_least(sectors, other.sectors) && is_least(atomics, other.atomics);
    }
  };

  static Amounts amounts_of(const LaunchCounts& counts) {
    Amounts amounts;
    for (const InstructionCounts& instruction : counts.instructions)
      for (const AccessCounts& access : instruction.accesses) {
        if (access.action == MemoryAction::atomic)
          amounts.atomics += static_cast<double>(access.threads);
        else if (access.space == MemorySpace::global)
          amounts.sectors += static_cast<double>(access.sectors);
      }
    return amounts;
  }

  // Notes how far the counts are from all blocks; true when that is not far.
  bool stands_for(const Tallies& tallies, double most) {
    bool good = true;
    for (std::size_t i = 0; i < result_.counts.size(); ++i) {
      LaunchCounts& counts = result_.counts[i];
      WeightedBlocks chosen;
      double counted = 0;
      double all = 0;
      const double scale =
          static_cast<double>(tallies[i].size()) / std::max(1.0, counts.represented());
      for (const BlockCounts& block : counts.blocks) {
        chosen.blocks.push_back(block.block);
        chosen.weights.push_back(block.weight * scale);
        counted += chosen.weights.back() * static_cast<double>(block.warp_instructions);
      }
      for (const BlockTally& tally : tallies[i])
        all += static_cast<double>(tally.warp_instructions);
      const double error = std::max({sampling_error(tallies[i], chosen),
                                     std::abs(counted - all) / std::max(1.0, all),
                                     shortfall(counts, scale, tallies[i], all),
                                     bank_doubt(counts, chosen.weights, tallies[i].size(), all)});
      counts.sampling_error = error;
      good = good && error <= most;
    }
    result_.held_against_all = true;
    return good;
  }

  // What the counted blocks asked less of memory than all did, as a share of that.
  static double shortfall(const LaunchCounts& counts, double scale,
                          const std::vector<BlockTally>& tallies, double instructions) {
    Amounts all;
    for (const BlockTally& tally : tallies)
      all.add(tally, 1);
    const Amounts counted = amounts_of(counts);
    const auto missing = [&](double given, double whole) {
      return (whole - scale * given) / std::max({whole, kFew * instructions, 1.0});
    };
    return std::max(missing(counted.sectors, all.sectors), missing(counted.atomics, all.atomics));
  }

  // Nobody tallied what all blocks ask of the banks of shared memory: a standard error of it, from
  // how much the counted ones differ in it though they execute alike.
  static double bank_doubt(const LaunchCounts& counts, const std::vector<double>& weights,
                           std::size_t of_all, double instructions) {
    const auto counted = static_cast<double>(counts.blocks.size());
    if (counts.blocks.size() < 2 || counts.blocks.size() >= of_all)
      return 0;
    double wavefronts = 0;
    double executed = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      wavefronts += weights[i] * static_cast<double>(counts.blocks[i].wavefronts);
      executed += weights[i] * static_cast<double>(counts.blocks[i].warp_instructions);
    }
    double squares = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double off = static_cast<double>(counts.blocks[i].wavefronts) -
                         wavefronts / std::max(1.0, executed) *
                             static_cast<double>(counts.blocks[i].warp_instructions);
      squares += weights[i] * off * weights[i] * off;
    }
    const double unseen = 1 - counted / static_cast<double>(of_all);
    return std::sqrt(unseen * counted / (counted - 1) * squares) /
           std::max({wavefronts, kFew * instructions, 1.0});
  }

  // Of all blocks, as the counted ones say.
  double sampled_instructions() const {
    double sum = 0;
    for (const LaunchCounts& counts : result_.counts) {
      double counted = 0;
      for (const BlockCounts& block : counts.blocks)
        counted += static_cast<double>(block.warp_instructions);
      sum += counted / counts.represented() * static_cast<double>(counts.grid[0]) * counts.grid[1] *
             counts.grid[2];
    }
    return sum;
  }

  // What the counting needs to know of each launch; a fault where one does not fit. About so many
  // blocks are counted; all without a number.
  std::vector<Instruments::Profile> plain_profiles(std::optional<std::uint64_t> blocks) {
    const Build& build = subject_.prepared().build;
    std::vector<Instruments::Profile> profiles;
    for (const Launch& launch : plan_.launches) {
      Instruments::Profile profile;
      if (blocks && !launch.cooperative)
        profile.blocks = choose_blocks(grid_of(launch), *blocks, options_.seed);
      const KernelResources* r = build.resources_of(launch.kernel);
      const std::int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
      const Bytes shared{
          (r == nullptr ? 0 : r->static_shared.value_or(Bytes{0}).value) +
          static_cast<std::uint64_t>(std::max<std::int64_t>(0, launch.dynamic_shared))};
      if (threads >= 1 && threads <= device_.gpu.max_threads_per_block) {
        const auto fits = compute_occupancy(device_.gpu, static_cast<int>(threads),
                                            r == nullptr ? 0 : r->registers.value_or(0), shared);
        if (fits)
          profile.l1_bytes = l1_share(device_.gpu, *fits, shared).value;
        else
          fault(
              FaultKind::interface_contract_error,
              fmt::format("{}:{}: {}", launch.place.file, launch.place.line, fits.error().message));
      }
      profiles.push_back(std::move(profile));
    }
    return profiles;
  }

  Result<void> take(ProfiledCase profiled) {
    if (!profiled.wrong.empty()) {
      fault(FaultKind::correctness_mismatch, "wrong while it is timed: " + profiled.wrong);
    } else if (profiled.finding) {
      if (profiled.finding->kind == FindingKind::unsupported_instruction ||
          profiled.finding->kind == FindingKind::invalid_ptx)
        return fail(ErrorCode::unsupported, profiled.finding->message);
      fault(fault_of(profiled.finding->kind),
            fmt::format("{} (case {})", profiled.finding->message, problem_.case_id));
      result_.fault->out_of_time = profiled.finding->kind == FindingKind::time_limit;
    } else {
      result_.counts = std::move(profiled.counts);
    }
    return {};
  }

  void fault(FaultKind kind, std::string summary) {
    result_.fault = CaseFault{kind, std::move(summary)};
  }

  CaseOptions limits() const {
    CaseOptions limits;
    limits.seconds = options_.seconds;
    limits.instruction_budget = runaway_budget(estimated_work(task_, problem_));
    limits.points_seed = SecretSeeds(options_.seed).next();
    limits.widen = task_.oracle == OracleKind::catalogue;
    return limits;
  }

  // A block that waits for others is in vain when they do not run: it need not wait for long.
  CaseOptions limits_apart() const {
    CaseOptions limits = this->limits();
    if (separable_)
      return limits;
    const double share =
        std::min(1.0, 2.0 * static_cast<double>(blocks_) / static_cast<double>(plan_.blocks()));
    const double enough = kBriefWait + kUsualInstructions * share * estimated_work(task_, problem_);
    limits.instruction_budget =
        std::min(limits.instruction_budget, static_cast<std::uint64_t>(enough));
    return limits;
  }

  // Whether what a sample writes can be compared: its inputs are made on demand, which no reference
  // kernel can read.
  bool is_compared() const { return separable_ && task_.oracle == OracleKind::catalogue; }

  // What is written while it is timed must be right.
  const ExpectationSource* expectation() const {
    if (task_.oracle == OracleKind::catalogue)
      return &catalogue_;
    return reference_.rough ? &reference_.rough : nullptr;
  }

  std::uint64_t inputs_seed() const {
    return options_.check_seed ? timed_inputs_seed(*options_.check_seed, problem_.case_id)
                               : options_.seed;
  }

  // Made when a whole run is.
  const CaseInputs& inputs() {
    if (!inputs_)
      inputs_ = make_inputs(problem_, InputSet::nominal, inputs_seed());
    return *inputs_;
  }

  const DeviceIdentity& device_;
  KernelSubject& subject_;
  const Task& task_;
  const Problem& problem_;
  const LaunchPlan& plan_;
  std::uint64_t blocks_;
  const BenchOptions& options_;
  const TimedReference& reference_;
  const ExpectationSource catalogue_ = catalogue_expectation();
  std::optional<CaseInputs> inputs_;
  bool separable_ = false;
  bool alone_ = true;                      // the sample ran to its end without the other blocks
  std::optional<ProfiledCase> unfinished_; // else: as far as it came, where it was tried
  bool idle_ = false; // the blocks of the sample write nothing: others do the work
  CountedCase result_;
};

} // namespace

Result<CountedCase> count_case(const DeviceIdentity& device, KernelSubject& subject,
                               const Problem& problem, const LaunchPlan& plan, std::uint64_t blocks,
                               const BenchOptions& options, const TimedReference& reference) {
  return Counter(device, subject, problem, plan, blocks, options, reference).run();
}

} // namespace kernevo
