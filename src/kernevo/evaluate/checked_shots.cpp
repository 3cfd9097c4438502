#include "kernevo/evaluate/checked_shots.h"

#include "kernevo/base/hash.h"
#include "kernevo/evaluate/check_limits.h"
#include "kernevo/evaluate/output_check.h"
#include "kernevo/evaluate/secret_seeds.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <mutex>
#include <numeric>

namespace kernevo {
namespace {

// Elements of an input that change before a shot: enough to decide whole rows of usual outputs,
// few enough to be written while the device flushes its cache.
constexpr std::int64_t kChanged = 1024;
// Operations the oracle may spend on what one shot wrote, and the elements that follow.
constexpr double kOracleWork = 4e5;
constexpr std::int64_t kLeast = 2;
constexpr std::int64_t kMost = 16;
// Where the oracle is a whole run of the reference: contents that take turns, runs known of each,
// and one shot in so many brings another content.
constexpr std::size_t kContents = 2;
constexpr std::size_t kRunsKnown = 24;
constexpr std::uint64_t kTurns = 8;
constexpr std::size_t kMostKnown = 64; // contents

bool is_output(const BufferSpec& buffer) {
  return buffer.direction != Direction::in;
}

std::int64_t start_of(std::int64_t elements, std::int64_t length, double place) {
  const auto room = static_cast<double>(elements - length + 1);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(place * room), 0, elements - length);
}

} // namespace

Result<CheckedShots> CheckedShots::over(DeviceShots& shots, const Task& task, CaseInputs inputs,
                                        const ExpectationSource& expectation,
                                        std::uint64_t secret) {
  CheckedShots checked(shots, task, expectation, secret);
  double elements = 0;
  for (const BufferSpec& buffer : inputs.problem.buffers)
    elements += is_output(buffer) ? static_cast<double>(buffer.elements()) : 0.0;
  checked.work_of_element_ = estimated_work(task, inputs.problem) / std::max(1.0, elements);
  const Problem problem = inputs.problem;
  const InputSet set = inputs.set;
  checked.contents_.push_back({std::move(inputs), {}});
  if (!checked.is_dear()) {
    checked.contents_.push_back(checked.contents_.front());
    checked.now_ = {0, 1};
    return checked;
  }
  // Decided by the inputs alone, so that what is known of them can be used again.
  std::uint64_t seed = checked.contents_.front().inputs.seed;
  while (checked.contents_.size() < kContents) {
    seed = derived_seed(seed, "content");
    checked.contents_.push_back({make_inputs(problem, set, seed), {}});
  }
  for (Content& content : checked.contents_)
    KERNEVO_CHECK(checked.know(content));
  return checked;
}

Result<void> CheckedShots::know(Content& content) {
  static std::mutex mutex;
  static std::map<std::string, std::vector<Run>> known;
  const Problem& problem = content.inputs.problem;
  const std::uint64_t seed = content.inputs.seed;
  const std::string key = sha256_hex(
      fmt::format("{} {} {} {}", task_.file, task_.reference_kernel, problem.case_id, seed));
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(key); found != known.end()) {
    content.runs = found->second;
    return {};
  }
  const CounterRandom places(derived_seed(seed, "places"));
  for (std::size_t output = 0; output < problem.buffers.size(); ++output)
    for (std::size_t i = 0; is_output(problem.buffers[output]) && i < kRunsKnown; ++i) {
      KERNEVO_TRY(run, expect(content.inputs, output, places.uniform(kRunsKnown * output + i)));
      content.runs.push_back(std::move(run));
    }
  if (known.size() >= kMostKnown)
    known.clear();
  known[key] = content.runs;
  return {};
}

std::int64_t CheckedShots::run_length(const BufferSpec& output) const {
  const auto wanted = static_cast<std::int64_t>(kOracleWork / std::max(1.0, work_of_element_));
  return std::min(output.elements(), std::clamp(wanted, kLeast, kMost));
}

Result<CheckedShots::Run> CheckedShots::expect(const CaseInputs& inputs, std::size_t output,
                                               double place) {
  const BufferSpec& buffer = inputs.problem.buffers[output];
  std::vector<std::int64_t> points(static_cast<std::size_t>(run_length(buffer)));
  Run run{output, start_of(buffer.elements(), run_length(buffer), place), {}};
  std::iota(points.begin(), points.end(), run.first);
  KERNEVO_TRY(expected, expectation_(inputs, output, points));
  run.expected = std::move(expected);
  return run;
}

// A stretch of every input, at the same place of each: rows go with rows.
Result<void> CheckedShots::change_some(Side side, double place) {
  CaseInputs& inputs = contents_[now_.at(static_cast<std::size_t>(side))].inputs;
  const std::uint64_t seed = draw() >> 16U;
  for (std::size_t i = 0; i < inputs.problem.buffers.size(); ++i) {
    const BufferSpec& buffer = inputs.problem.buffers[i];
    if (buffer.direction == Direction::out || buffer.elements() == 0)
      continue;
    const std::int64_t length = std::min(buffer.elements(), kChanged);
    const auto first = static_cast<std::uint64_t>(start_of(buffer.elements(), length, place));
    const std::uint64_t size = size_of(buffer.dtype);
    const std::span<std::byte> part =
        std::span(inputs.initial[i])
            .subspan(first * size, static_cast<std::uint64_t>(length) * size);
    fill_elements(input_recipe(inputs.problem, i, inputs.set, seed), first, part);
    KERNEVO_CHECK(shots_.write(side, i, first * size, part));
  }
  return {};
}

Result<void> CheckedShots::change_all(Side side) {
  std::size_t& now = now_.at(static_cast<std::size_t>(side));
  now = (now + 1) % contents_.size();
  const CaseInputs& inputs = contents_[now].inputs;
  for (std::size_t i = 0; i < inputs.problem.buffers.size(); ++i)
    if (inputs.problem.buffers[i].direction != Direction::out)
      KERNEVO_CHECK(shots_.write(side, i, 0, inputs.initial[i]));
  return {};
}

void CheckedShots::blame(Side side, FaultKind kind, std::string summary) {
  if (!fault_)
    fault_ = Fault{side, {kind, std::move(summary)}};
}

Result<void> CheckedShots::compare(Side side, const Run& run, const Problem& problem) {
  const BufferSpec& buffer = problem.buffers[run.output];
  const std::uint64_t size = size_of(buffer.dtype);
  std::vector<std::byte> bytes(run.expected.size() * size);
  KERNEVO_CHECK(shots_.read(side, run.output, static_cast<std::uint64_t>(run.first) * size, bytes));
  std::vector<std::int64_t> points(run.expected.size());
  std::iota(points.begin(), points.end(), std::int64_t{0});
  BufferSpec part = buffer;
  part.shape = {static_cast<std::int64_t>(points.size())};
  const auto declared = is_dear() ? std::nullopt : problem.tolerance;
  const OutputCheck check = check_output(part, bytes, points, run.expected, declared);
  if (!check.mismatch)
    return {};
  const Mismatch& m = *check.mismatch;
  blame(side, FaultKind::correctness_mismatch,
        fmt::format("wrong while it was timed: {}[{}] is {:.9g}, expected {:.9g} within {:.3g} "
                    "(case {})",
                    buffer.name,
                    fmt::join(coordinates(buffer.shape, run.first + m.index.front()), ", "),
                    m.actual, m.expected, m.tolerance, problem.case_id));
  return fail(ErrorCode::infrastructure, fault_->fault.summary);
}

Result<void> CheckedShots::look(Side side, double place) {
  const Content& content = contents_[now_.at(static_cast<std::size_t>(side))];
  const Problem& problem = content.inputs.problem;
  if (is_dear()) {
    for (int i = 0; i < 2 && !content.runs.empty(); ++i)
      KERNEVO_CHECK(compare(side, content.runs[draw() % content.runs.size()], problem));
    return {};
  }
  for (std::size_t output = 0; output < problem.buffers.size(); ++output) {
    if (!is_output(problem.buffers[output]))
      continue;
    for (const double at : {place, draw_share()}) {
      KERNEVO_TRY(run, expect(content.inputs, output, at));
      KERNEVO_CHECK(compare(side, run, problem));
    }
  }
  return {};
}

Result<Shot> CheckedShots::shoot(Side side) {
  const double place = draw_share();
  if (!is_dear()) {
    KERNEVO_CHECK(change_some(side, place));
  } else if (draw() % kTurns == 0) {
    KERNEVO_CHECK(change_all(side));
  }
  auto shot = shots_.shoot(side);
  if (!shot) {
    if (const auto fault = shots_.fault())
      blame(fault->side, fault_of(fault->finding.kind),
            "while it was timed: " + fault->finding.message);
    return shot;
  }
  KERNEVO_CHECK(look(side, place));
  return shot;
}

Result<void> CheckedShots::finish() {
  KERNEVO_TRY(found, shots_.audit());
  if (found)
    blame(found->side, fault_of(found->finding.kind),
          "while it was timed: " + found->finding.message);
  return {};
}

} // namespace kernevo
