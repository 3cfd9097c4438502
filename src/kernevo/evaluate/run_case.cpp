#include "kernevo/evaluate/run_case.h"

#include "kernevo/base/large_pages.h"
#include "kernevo/base/random.h"
#include "kernevo/device/arena.h"
#include "kernevo/evaluate/output_check.h"
#include "kernevo/evaluate/sampling.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <future>
#include <numeric>
#include <thread>
#include <utility>

namespace kernevo {
namespace {

// A NaN in every floating format and an unlikely integer: an element left as it was is never right.
constexpr std::byte kPoison{0xFF};
constexpr std::size_t kNeighbours = 64;
constexpr std::size_t kPiece = std::size_t{1} << 18U; // elements compared at a time

bool is_output(const BufferSpec& buffer) {
  return buffer.direction != Direction::in;
}

// Flat indices of the elements whose every byte was written. Parts without data hold no flag.
std::vector<std::int64_t> written_points(const BufferSpec& buffer, const Arena& arena,
                                         std::size_t region) {
  std::vector<std::int64_t> points;
  const std::span<const std::byte> written = arena.region(region);
  const auto size = static_cast<std::int64_t>(size_of(buffer.dtype));
  for (const Region& part : arena.touched(region)) {
    const auto begin = static_cast<std::int64_t>(part.offset) / size;
    const auto end =
        std::min(static_cast<std::int64_t>(part.offset + part.bytes) / size, buffer.elements());
    for (std::int64_t i = begin; i < end; ++i) {
      const auto first = written.begin() + i * size;
      if (std::find(first, first + size, std::byte{0}) == first + size)
        points.push_back(i);
    }
  }
  return points;
}

// The same again and again: nobody can tell more from it, and it need not be made.
void fill_left_over(const BufferSpec& buffer, std::uint64_t seed, std::span<std::byte> region) {
  constexpr std::size_t elements = (std::size_t{1} << 18U) + 97;
  std::size_t filled = std::min(region.size(), elements * size_of(buffer.dtype));
  fill_elements(left_over_recipe(buffer.dtype, seed), 0, region.first(filled));
  for (std::size_t more = 0; filled < region.size(); filled += more) {
    more = std::min(filled, region.size() - filled);
    std::memcpy(region.data() + filled, region.data(), more);
  }
}

std::string describe(const Mismatch& m, const CheckedCase& record) {
  return fmt::format("{}[{}] is {:.9g}, expected {:.9g} within {:.3g} (case {}, {} inputs)",
                     m.buffer, fmt::join(m.index, ", "), m.actual, m.expected, m.tolerance,
                     record.case_id, record.distribution);
}

class Judge {
public:
  Judge(const CaseInputs& inputs, const ExpectationSource& expectation, const CaseOptions& options,
        const LaidOutCase& laid, CaseReport& report)
      : inputs_(inputs), expectation_(expectation), options_(options), laid_(laid),
        report_(report) {}

  // The elements to compare: of all, or of those a sampled run wrote.
  void choose_points(bool only_written) {
    for (std::size_t i = 0; i < inputs_.problem.buffers.size(); ++i) {
      const BufferSpec& buffer = inputs_.problem.buffers[i];
      points_.emplace_back();
      if (!is_output(buffer))
        continue;
      const std::uint64_t seed = options_.points_seed + i;
      Points& points = points_.back();
      if (only_written) {
        points.some = written_points(buffer, laid_.arena, flags(i));
        report_.written += points.some.size();
        points.some = thin_points(std::move(points.some), limit(buffer), seed);
      } else if (buffer.elements() > limit(buffer)) {
        points.some = sample_points(buffer.elements(), limit(buffer), seed);
      }
      points.all = !only_written && points.some.empty();
      points.count = points.all ? static_cast<std::size_t>(buffer.elements()) : points.some.size();
    }
  }

  // A few elements side by side that a sampled run wrote: cheap, as little of the inputs goes into
  // them.
  void choose_neighbours() {
    for (std::size_t i = 0; i < inputs_.problem.buffers.size(); ++i) {
      const BufferSpec& buffer = inputs_.problem.buffers[i];
      points_.emplace_back();
      if (!is_output(buffer))
        continue;
      const auto written = written_points(buffer, laid_.arena, flags(i));
      if (written.empty())
        continue;
      const std::size_t first =
          CounterRandom(options_.points_seed).bits(i) % written.size() / kNeighbours * kNeighbours;
      Points& points = points_.back();
      points.count = std::min(kNeighbours, written.size() - first);
      points.some.assign(written.begin() + static_cast<std::ptrdiff_t>(first),
                         written.begin() + static_cast<std::ptrdiff_t>(first + points.count));
    }
  }

  // False, with a fault in the report, when the sampled blocks left no output to verify.
  bool wrote_something() {
    for (const Points& points : points_)
      if (points.count > 0)
        return true;
    report_.fault = FaultKind::uninitialized_memory_error;
    report_.summary = fmt::format("none of {} sampled blocks writes any output (case {})",
                                  *report_.record.blocks_run, report_.record.case_id);
    return false;
  }

  // True when every element is written; false leaves the fault in the report. Where nobody notes
  // what is written, the comparison finds what is still poison.
  bool all_written() {
    for (std::size_t i = 0; i < inputs_.problem.buffers.size(); ++i) {
      const BufferSpec& buffer = inputs_.problem.buffers[i];
      if (buffer.direction != Direction::out || !laid_.run.tensors[i].written_region)
        continue;
      if (const auto element = first_unwritten(buffer, written(i))) {
        report_.fault = FaultKind::uninitialized_memory_error;
        report_.summary = fmt::format("{}[{}] is never written (case {}, {} inputs)", buffer.name,
                                      fmt::join(coordinates(buffer.shape, *element), ", "),
                                      report_.record.case_id, report_.record.distribution);
        return false;
      }
    }
    return true;
  }

  // A device without instruments lets kernels write where they should only read.
  bool inputs_kept() {
    if (inputs_.on_demand())
      return true;
    for (std::size_t i = 0; i < inputs_.problem.buffers.size(); ++i) {
      const BufferSpec& buffer = inputs_.problem.buffers[i];
      if (is_output(buffer) || std::ranges::equal(laid_.arena.region(i), inputs_.initial[i]))
        continue;
      report_.fault = FaultKind::memory_safety_error;
      report_.summary = fmt::format("writes to the input '{}' (case {}, {} inputs)", buffer.name,
                                    report_.record.case_id, report_.record.distribution);
      return false;
    }
    return true;
  }

  Result<void> compare() {
    for (std::size_t i = 0; i < inputs_.problem.buffers.size(); ++i) {
      const BufferSpec& buffer = inputs_.problem.buffers[i];
      if (!is_output(buffer))
        continue;
      KERNEVO_TRY(check, compare_output(i));
      CheckedCase& record = report_.record;
      record.elements += static_cast<std::uint64_t>(buffer.elements());
      record.elements_checked = record.elements_checked.value_or(0) + check.checked;
      record.worst_error_ratio = std::max(record.worst_error_ratio, check.worst_ratio);
      report_.worst_strict_ratio = std::max(report_.worst_strict_ratio, check.worst_strict_ratio);
      if (check.mismatch && !report_.fault) {
        report_.fault = FaultKind::correctness_mismatch;
        report_.mismatch = check.mismatch;
        report_.summary = describe(*check.mismatch, record);
      }
    }
    return {};
  }

  std::span<const std::byte> written(std::size_t buffer) const {
    return laid_.arena.region(flags(buffer));
  }

private:
  // Flat indices of one output's elements.
  struct Points {
    bool all = false;
    std::vector<std::int64_t> some;
    std::size_t count = 0;

    std::vector<std::int64_t> piece(std::size_t first) const {
      const std::size_t size = std::min(kPiece, count - first);
      std::vector<std::int64_t> part(size);
      if (all)
        std::iota(part.begin(), part.end(), static_cast<std::int64_t>(first));
      else
        std::copy_n(some.begin() + static_cast<std::ptrdiff_t>(first), size, part.begin());
      return part;
    }
  };

  // Piece by piece on all cores: what to expect of a large output takes longer to work out, and
  // more room, than the output itself.
  Result<OutputCheck> compare_output(std::size_t output) {
    const BufferSpec& buffer = inputs_.problem.buffers[output];
    const Points& points = points_[output];
    const auto declared = options_.widen ? inputs_.problem.tolerance : std::nullopt;
    const std::size_t pieces = (points.count + kPiece - 1) / kPiece;
    const std::size_t threads =
        std::clamp<std::size_t>(inputs_.on_demand() ? 1 : std::thread::hardware_concurrency(), 1,
                                std::max<std::size_t>(1, pieces));
    std::vector<Result<OutputCheck>> checks(pieces, OutputCheck{});
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
      for (std::size_t piece = next++; piece < pieces; piece = next++) {
        const std::vector<std::int64_t> part = points.piece(piece * kPiece);
        const auto expected = expectation_(inputs_, output, part);
        if (expected)
          checks[piece] =
              check_output(buffer, laid_.arena.region(output), part, *expected, declared);
        else
          checks[piece] = tl::unexpected<Error>(expected.error());
      }
    };
    std::vector<std::future<void>> others;
    for (std::size_t i = 1; i < threads; ++i)
      others.push_back(std::async(std::launch::async, work));
    work();
    for (std::future<void>& other : others)
      other.get();
    OutputCheck all;
    for (const auto& check : checks) {
      if (!check)
        return tl::unexpected<Error>(check.error());
      all.checked += check->checked;
      all.worst_ratio = std::max(all.worst_ratio, check->worst_ratio);
      all.worst_strict_ratio = std::max(all.worst_strict_ratio, check->worst_strict_ratio);
      if (!all.mismatch)
        all.mismatch = check->mismatch;
    }
    return all;
  }

  std::size_t flags(std::size_t buffer) const { return *laid_.run.tensors[buffer].written_region; }
  std::int64_t limit(const BufferSpec& buffer) const {
    return options_.point_limit > 0 ? options_.point_limit : buffer.elements();
  }

  const CaseInputs& inputs_;
  const ExpectationSource& expectation_;
  const CaseOptions& options_;
  const LaidOutCase& laid_;
  CaseReport& report_;
  std::vector<Points> points_;
};

// After those of the tensors.
std::vector<std::uint64_t> tally_regions_of(const std::vector<std::uint64_t>& blocks) {
  std::vector<std::uint64_t> sizes;
  for (const std::uint64_t count : blocks)
    sizes.push_back(count * sizeof(BlockTally));
  return sizes;
}

void ask_for_tallies(LaidOutCase& laid, std::size_t launches) {
  const std::size_t first = laid.arena.regions().size() - launches;
  for (std::size_t i = 0; i < launches; ++i)
    laid.run.instruments.tally_regions.push_back(first + i);
}

LaunchTallies tallies_of(const LaidOutCase& laid) {
  LaunchTallies tallies;
  for (const std::size_t index : laid.run.instruments.tally_regions) {
    const std::span<const std::byte> region = laid.arena.region(index);
    auto& launch = tallies.emplace_back(region.size() / sizeof(BlockTally));
    std::memcpy(launch.data(), region.data(), region.size());
  }
  return tallies;
}

} // namespace

CaseInputs make_inputs(Problem problem, InputSet set, std::uint64_t seed) {
  CaseInputs inputs{std::move(problem), set, seed, {}, {}};
  for (std::size_t i = 0; i < inputs.problem.buffers.size(); ++i) {
    const BufferSpec& buffer = inputs.problem.buffers[i];
    inputs.initial.emplace_back();
    if (buffer.direction == Direction::out)
      continue;
    inputs.initial.back() = zeroed_bytes(buffer.bytes());
    fill_input(inputs.problem, i, set, seed, inputs.initial.back());
  }
  return inputs;
}

Result<CaseInputs> make_inputs_on_demand(Problem problem, InputSet set, std::uint64_t seed) {
  CaseInputs inputs{std::move(problem), set, seed, {}, {}};
  for (std::size_t i = 0; i < inputs.problem.buffers.size(); ++i) {
    const BufferSpec& buffer = inputs.problem.buffers[i];
    inputs.lazy.emplace_back();
    if (buffer.direction == Direction::out)
      continue;
    inputs.lazy.back() = std::make_shared<LazyMemory>(
        buffer.bytes(), [recipe = input_recipe(inputs.problem, i, set, seed)](
                            std::uint64_t offset, std::span<std::byte> bytes) {
          fill_elements(recipe, offset / size_of(recipe.dtype), bytes);
        });
    if (!inputs.lazy.back()->valid())
      return fail(ErrorCode::infrastructure,
                  fmt::format("no address space for '{}' of {} bytes", buffer.name, buffer.bytes()),
                  std::nullopt, "raise the limit of virtual memory (ulimit -v)");
  }
  return inputs;
}

OracleInputs oracle_inputs(const CaseInputs& inputs) {
  OracleInputs result;
  for (const auto& memory : inputs.lazy)
    result.push_back(memory ? OracleInput(memory->pages()) : OracleInput());
  for (const auto& bytes : inputs.initial)
    result.emplace_back(bytes);
  return result;
}

ExpectationSource catalogue_expectation() {
  return [](const CaseInputs& inputs, std::size_t output, std::span<const std::int64_t> points) {
    return expected_values(inputs.problem, oracle_inputs(inputs), output, points);
  };
}

Result<LaidOutCase> lay_out(const CaseInputs& inputs, bool instrumented,
                            std::optional<std::uint64_t> left_over,
                            const std::vector<std::uint64_t>& more_regions) {
  std::vector<std::uint64_t> sizes;
  for (const BufferSpec& buffer : inputs.problem.buffers)
    sizes.push_back(buffer.bytes());
  for (const BufferSpec& buffer : inputs.problem.buffers)
    if (is_output(buffer) && instrumented)
      sizes.push_back(buffer.bytes());
  sizes.insert(sizes.end(), more_regions.begin(), more_regions.end());
  KERNEVO_TRY(arena, Arena::create(sizes));
  LaidOutCase laid{std::move(arena), {}};
  if (!inputs.on_demand())
    laid.arena.expect_whole_use();
  std::size_t written_region = inputs.problem.buffers.size();
  for (std::size_t i = 0; i < inputs.problem.buffers.size(); ++i) {
    const BufferSpec& buffer = inputs.problem.buffers[i];
    TensorBinding binding{buffer.name, i, buffer.direction == Direction::in,
                          buffer.direction != Direction::out, std::nullopt};
    const std::span<std::byte> region = laid.arena.region(i);
    if (inputs.on_demand()) {
      if (buffer.direction != Direction::out)
        binding.recipe = input_recipe(inputs.problem, i, inputs.set, inputs.seed);
    } else if (buffer.direction == Direction::out && left_over)
      fill_left_over(buffer, *left_over + i, region);
    else if (buffer.direction == Direction::out)
      std::fill(region.begin(), region.end(), kPoison);
    else
      std::memcpy(region.data(), inputs.initial[i].data(), region.size());
    if (is_output(buffer) && instrumented)
      binding.written_region = written_region++;
    laid.run.tensors.push_back(std::move(binding));
  }
  laid.run.instruments.on_demand = inputs.on_demand();
  return laid;
}

Result<CaseReport> run_case(BoundSubject& subject, const CaseInputs& inputs,
                            const ExpectationSource& expectation, const CaseOptions& options) {
  CaseReport report;
  report.record.case_id = inputs.problem.case_id;
  report.record.distribution = name_of(inputs.set);
  report.record.seed = inputs.seed;
  report.record.blocks = subject.blocks();
  // A kernel must not be able to tell that nothing was there before.
  const std::vector<std::uint64_t> blocks =
      options.tally ? subject.launch_blocks() : std::vector<std::uint64_t>();
  KERNEVO_TRY(laid, lay_out(inputs, options.instrumented,
                            options.go_on ? std::optional(options.points_seed + 1) : std::nullopt,
                            tally_regions_of(blocks)));
  ask_for_tallies(laid, blocks.size());
  laid.run.instruction_budget = options.instruction_budget;
  laid.run.seconds = options.seconds;
  laid.run.instruments.sanitize = options.sanitize;
  laid.run.instruments.only_blocks = options.only_blocks;
  laid.run.instruments.order = options.order;
  for (const BufferSpec& buffer : inputs.problem.buffers)
    report.bytes += buffer.bytes();

  laid.run.instruments.keep_state = options.keep_state;
  laid.run.instruments.go_on = options.go_on;
  laid.run.instruments.scramble = options.scramble;
  Judge judge(inputs, expectation, options, laid, report);
  const bool sampled = !options.only_blocks.empty();
  KERNEVO_TRY(outcome, subject.run(laid.run, laid.arena));
  report.warp_instructions = outcome.warp_instructions;
  report.record.blocks_run = outcome.blocks_run;
  report.printed = std::move(outcome.printed);
  report.output_flood = outcome.output_flood;
  report.changed_variables = std::move(outcome.changed_variables);
  if (outcome.fault) {
    if (outcome.fault->kind == FindingKind::unsupported_instruction ||
        outcome.fault->kind == FindingKind::invalid_ptx)
      return fail(ErrorCode::unsupported, outcome.fault->message);
    take_finding(*outcome.fault, report);
    return report;
  }
  report.tallies = tallies_of(laid);
  judge.choose_points(sampled);
  if (sampled ? !judge.wrote_something()
              : !judge.all_written() || (!options.instrumented && !judge.inputs_kept()))
    return report;
  KERNEVO_CHECK(judge.compare());
  return report;
}

Result<ProfiledCase> profile_case(const KernelSubject& subject, const CaseInputs& inputs,
                                  const LaunchPlan& plan,
                                  const std::vector<Instruments::Profile>& profile,
                                  const CaseOptions& options,
                                  const ExpectationSource* expectation) {
  KERNEVO_TRY(laid, lay_out(inputs, subject.instrumented()));
  laid.run.instruction_budget = options.instruction_budget;
  laid.run.seconds = options.seconds;
  laid.run.instruments.profile = profile;
  KERNEVO_TRY(outcome, subject.module().run(subject.request(plan, laid.run), laid.arena));
  if (outcome.fault && (outcome.fault->kind == FindingKind::unsupported_instruction ||
                        outcome.fault->kind == FindingKind::invalid_ptx))
    return fail(ErrorCode::unsupported, outcome.fault->message);
  ProfiledCase profiled{std::move(outcome.counts), std::move(outcome.fault)};
  if (profiled.finding || expectation == nullptr)
    return profiled;
  CaseReport report;
  report.record.case_id = inputs.problem.case_id;
  report.record.distribution = name_of(inputs.set);
  report.record.blocks_run = outcome.blocks_run;
  Judge judge(inputs, *expectation, options, laid, report);
  judge.choose_neighbours();
  profiled.idle = !judge.wrote_something();
  if (profiled.idle)
    return profiled;
  KERNEVO_CHECK(judge.compare());
  if (report.fault)
    profiled.wrong = report.summary;
  return profiled;
}

Result<TalliedCase> tally_case(const KernelSubject& subject, const CaseInputs& inputs,
                               const LaunchPlan& plan, const CaseOptions& options,
                               const ExpectationSource* expectation) {
  std::vector<std::uint64_t> blocks;
  for (const Launch& launch : plan.launches)
    blocks.push_back(launch.blocks());
  KERNEVO_TRY(laid,
              lay_out(inputs, subject.instrumented(), std::nullopt, tally_regions_of(blocks)));
  ask_for_tallies(laid, blocks.size());
  laid.run.instruction_budget = options.instruction_budget;
  laid.run.seconds = options.seconds;
  KERNEVO_TRY(outcome, subject.module().run(subject.request(plan, laid.run), laid.arena));
  TalliedCase tallied;
  tallied.finding = std::move(outcome.fault);
  if (tallied.finding)
    return tallied;
  tallied.tallies = tallies_of(laid);
  CaseReport report;
  report.record.case_id = inputs.problem.case_id;
  report.record.distribution = name_of(inputs.set);
  const ExpectationSource nothing;
  Judge judge(inputs, expectation == nullptr ? nothing : *expectation, options, laid, report);
  judge.choose_points(false);
  if (judge.all_written() && expectation != nullptr)
    KERNEVO_CHECK(judge.compare());
  if (report.fault)
    tallied.wrong = report.summary;
  return tallied;
}

Result<ReferenceRun> run_reference(Subject& subject, const std::string& file,
                                   const CaseInputs& inputs, std::uint64_t instruction_budget,
                                   double seconds) {
  KERNEVO_TRY(bound, subject.bind(inputs.problem));
  KERNEVO_TRY(laid, lay_out(inputs, subject.instrumented()));
  laid.run.instruction_budget = instruction_budget;
  laid.run.seconds = seconds;
  KERNEVO_TRY(outcome, bound->run(laid.run, laid.arena));
  if (outcome.fault && (outcome.fault->kind == FindingKind::instruction_budget ||
                        outcome.fault->kind == FindingKind::time_limit))
    return fail(ErrorCode::input,
                fmt::format("the reference kernel takes too long on case {}, so that nothing can "
                            "be compared with it: {}",
                            inputs.problem.case_id, outcome.fault->message),
                Place{file}, "have more patience (--patience), or give the task smaller shapes");
  if (outcome.fault)
    return fail(ErrorCode::input,
                fmt::format("the reference kernel fails on case {}: {}", inputs.problem.case_id,
                            outcome.fault->message),
                Place{file}, "mend the task's reference_kernel");
  ReferenceRun ran;
  ran.warp_instructions = outcome.warp_instructions;
  for (std::size_t i = 0; i < inputs.problem.buffers.size(); ++i) {
    ran.outputs.emplace_back();
    if (!is_output(inputs.problem.buffers[i]))
      continue;
    const auto region = laid.arena.region(i);
    ran.outputs.back().assign(region.begin(), region.end());
  }
  return ran;
}

void take_finding(const Finding& finding, CaseReport& report) {
  report.finding = finding;
  report.fault = fault_of(finding.kind);
  report.summary = fmt::format("{} (case {}, {} inputs)", finding.message, report.record.case_id,
                               report.record.distribution);
}

InputRecipe left_over_recipe(DType dtype, std::uint64_t seed) {
  InputRecipe recipe{dtype, Distribution::Kind::normal, 0, 1};
  if (!is_floating(dtype))
    recipe = {dtype, Distribution::Kind::integers, -100, 100};
  recipe.seed = seed;
  return recipe;
}

FaultKind fault_of(FindingKind kind) {
  switch (kind) {
  case FindingKind::out_of_bounds:
  case FindingKind::misaligned:
  case FindingKind::bad_texture:
  case FindingKind::null_pointer:
  case FindingKind::read_only_write: return FaultKind::memory_safety_error;
  case FindingKind::uninitialized_read: return FaultKind::uninitialized_memory_error;
  case FindingKind::shared_race:
  case FindingKind::global_race:
  case FindingKind::stale_read_only_load:
  case FindingKind::barrier_divergence:
  case FindingKind::deadlock:
  case FindingKind::warp_sync_divergence: return FaultKind::race_or_sync_error;
  case FindingKind::launch_limit:
  case FindingKind::memory_limit:
  case FindingKind::bad_argument:
  case FindingKind::unknown_kernel: return FaultKind::interface_contract_error;
  case FindingKind::instruction_budget:
  case FindingKind::time_limit:
  case FindingKind::stack_overflow:
  case FindingKind::trap:
  case FindingKind::assertion:
  case FindingKind::output_flood:
  case FindingKind::unsupported_instruction:
  case FindingKind::invalid_ptx:
  case FindingKind::crash: return FaultKind::candidate_runtime_error;
  }
  return FaultKind::candidate_runtime_error;
}

} // namespace kernevo
