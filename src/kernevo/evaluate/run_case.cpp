#include "kernevo/evaluate/run_case.h"

#include "kernevo/device/arena.h"
#include "kernevo/evaluate/output_check.h"
#include "kernevo/evaluate/sampling.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <future>
#include <numeric>
#include <utility>

namespace kernevo {
namespace {

// A NaN in every floating format and an unlikely integer: an element left as it was is never right.
constexpr std::byte kPoison{0xFF};

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

  // Works out what to expect: of every element, before the run ends, or of those a sampled run
  // wrote.
  Result<void> expect(bool only_written) {
    for (std::size_t i = 0; i < inputs_.problem.buffers.size(); ++i) {
      const BufferSpec& buffer = inputs_.problem.buffers[i];
      points_.emplace_back();
      expected_.emplace_back();
      if (!is_output(buffer))
        continue;
      const std::uint64_t seed = inputs_.seed + i;
      points_.back() = only_written ? thin_points(written_points(buffer, laid_.arena, flags(i)),
                                                  limit(buffer), seed)
                                    : sample_points(buffer.elements(), limit(buffer), seed);
      KERNEVO_TRY(expected, expectation_(inputs_, i, points_.back()));
      expected_.back() = std::move(expected);
    }
    return {};
  }

  // False, with a fault in the report, when the sampled blocks left no output to verify.
  bool wrote_something() {
    for (const auto& points : points_)
      if (!points.empty())
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

  void compare() {
    for (std::size_t i = 0; i < inputs_.problem.buffers.size(); ++i) {
      const BufferSpec& buffer = inputs_.problem.buffers[i];
      if (!is_output(buffer))
        continue;
      const OutputCheck check = check_output(buffer, laid_.arena.region(i), points_[i],
                                             expected_[i], inputs_.problem.tolerance);
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
  }

  std::span<const std::byte> written(std::size_t buffer) const {
    return laid_.arena.region(flags(buffer));
  }

private:
  std::size_t flags(std::size_t buffer) const { return *laid_.run.tensors[buffer].written_region; }
  std::int64_t limit(const BufferSpec& buffer) const {
    return options_.point_limit > 0 ? options_.point_limit : buffer.elements();
  }

  const CaseInputs& inputs_;
  const ExpectationSource& expectation_;
  const CaseOptions& options_;
  const LaidOutCase& laid_;
  CaseReport& report_;
  std::vector<std::vector<std::int64_t>> points_;
  std::vector<std::vector<Expected>> expected_;
};

void take_finding(const Finding& finding, CaseReport& report) {
  report.finding = finding;
  report.fault = fault_of(finding.kind);
  report.summary = fmt::format("{} (case {}, {} inputs)", finding.message, report.record.case_id,
                               report.record.distribution);
}

} // namespace

CaseInputs make_inputs(Problem problem, InputSet set, std::uint64_t seed) {
  CaseInputs inputs{std::move(problem), set, seed, {}, {}};
  for (std::size_t i = 0; i < inputs.problem.buffers.size(); ++i) {
    const BufferSpec& buffer = inputs.problem.buffers[i];
    inputs.initial.emplace_back();
    if (buffer.direction == Direction::out)
      continue;
    inputs.initial.back().resize(buffer.bytes());
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

Result<LaidOutCase> lay_out(const CaseInputs& inputs, bool instrumented) {
  std::vector<std::uint64_t> sizes;
  for (const BufferSpec& buffer : inputs.problem.buffers)
    sizes.push_back(buffer.bytes());
  for (const BufferSpec& buffer : inputs.problem.buffers)
    if (is_output(buffer) && instrumented)
      sizes.push_back(buffer.bytes());
  KERNEVO_TRY(arena, Arena::create(sizes));
  LaidOutCase laid{std::move(arena), {}};
  std::size_t written_region = inputs.problem.buffers.size();
  for (std::size_t i = 0; i < inputs.problem.buffers.size(); ++i) {
    const BufferSpec& buffer = inputs.problem.buffers[i];
    TensorBinding binding{buffer.name, i, buffer.direction == Direction::in,
                          buffer.direction != Direction::out, std::nullopt};
    const std::span<std::byte> region = laid.arena.region(i);
    if (inputs.on_demand()) {
      if (buffer.direction != Direction::out)
        binding.recipe = input_recipe(inputs.problem, i, inputs.set, inputs.seed);
    } else if (buffer.direction == Direction::out)
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
  KERNEVO_TRY(laid, lay_out(inputs, options.instrumented));
  laid.run.instruction_budget = options.instruction_budget;
  laid.run.seconds = options.seconds;
  laid.run.instruments.sanitize = options.sanitize;
  laid.run.instruments.only_blocks = options.only_blocks;
  laid.run.instruments.order = options.order;
  for (const BufferSpec& buffer : inputs.problem.buffers)
    report.bytes += buffer.bytes();

  Judge judge(inputs, expectation, options, laid, report);
  const bool sampled = !options.only_blocks.empty();
  // The device runs the kernel while this process works out what to expect.
  auto expected = std::async(std::launch::async,
                             [&] { return sampled ? Result<void>{} : judge.expect(false); });
  KERNEVO_TRY(outcome, subject.run(laid.run, laid.arena));
  KERNEVO_CHECK(expected.get());
  report.warp_instructions = outcome.warp_instructions;
  report.record.blocks_run = outcome.blocks_run;
  report.printed = std::move(outcome.printed);
  report.output_flood = outcome.output_flood;
  if (outcome.fault) {
    if (outcome.fault->kind == FindingKind::unsupported_instruction ||
        outcome.fault->kind == FindingKind::invalid_ptx)
      return fail(ErrorCode::unsupported, outcome.fault->message);
    take_finding(*outcome.fault, report);
    return report;
  }
  if (sampled) {
    KERNEVO_CHECK(judge.expect(true));
    if (!judge.wrote_something())
      return report;
  } else if (!judge.all_written() || (!options.instrumented && !judge.inputs_kept())) {
    return report;
  }
  judge.compare();
  return report;
}

Result<ProfiledCase> profile_case(const KernelSubject& subject, const CaseInputs& inputs,
                                  const LaunchPlan& plan,
                                  const std::vector<Instruments::Profile>& profile,
                                  const CaseOptions& options) {
  KERNEVO_TRY(laid, lay_out(inputs, subject.instrumented()));
  laid.run.instruction_budget = options.instruction_budget;
  laid.run.seconds = options.seconds;
  laid.run.instruments.profile = profile;
  KERNEVO_TRY(outcome, subject.module().run(subject.request(plan, laid.run), laid.arena));
  if (outcome.fault && (outcome.fault->kind == FindingKind::unsupported_instruction ||
                        outcome.fault->kind == FindingKind::invalid_ptx))
    return fail(ErrorCode::unsupported, outcome.fault->message);
  return ProfiledCase{std::move(outcome.counts), std::move(outcome.fault)};
}

Result<std::vector<std::vector<std::byte>>>
run_reference(Subject& subject, const std::string& file, const CaseInputs& inputs, double seconds) {
  KERNEVO_TRY(bound, subject.bind(inputs.problem));
  KERNEVO_TRY(laid, lay_out(inputs, subject.instrumented()));
  laid.run.seconds = seconds;
  KERNEVO_TRY(outcome, bound->run(laid.run, laid.arena));
  if (outcome.fault)
    return fail(ErrorCode::input,
                fmt::format("the reference kernel fails on case {}: {}", inputs.problem.case_id,
                            outcome.fault->message),
                Place{file}, "mend the task's reference_kernel");
  std::vector<std::vector<std::byte>> outputs;
  for (std::size_t i = 0; i < inputs.problem.buffers.size(); ++i) {
    outputs.emplace_back();
    if (!is_output(inputs.problem.buffers[i]))
      continue;
    const auto region = laid.arena.region(i);
    outputs.back().assign(region.begin(), region.end());
  }
  return outputs;
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
