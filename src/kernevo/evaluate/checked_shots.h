// Shots whose outputs are looked at. A kernel that is timed on what it has seen before, or that
// computes less when it thinks it is timed, is found out here: before every shot some of the inputs
// change, at places and to values that a secret decides, and after it some of the outputs are
// compared, at places that go with the changes and at others.
#pragma once

#include "kernevo/base/random.h"
#include "kernevo/evaluate/count_case.h"
#include "kernevo/evaluate/run_case.h"

#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace kernevo {

class CheckedShots final : public ShotSource {
public:
  struct Fault {
    Side side = Side::incumbent;
    CaseFault fault;
  };
  // The device's shots were made of these inputs, on both sides. What else is referred to must
  // outlive it.
  static Result<CheckedShots> over(DeviceShots& shots, const Task& task, CaseInputs inputs,
                                   const ExpectationSource& expectation, std::uint64_t secret);

  Result<Shot> shoot(Side side) override;
  // After the last shot: what the device sees on its own memory.
  Result<void> finish();
  // Why shoot() failed, or what finish() found, when a kernel is to blame.
  const std::optional<Fault>& fault() const { return fault_; }

private:
  // Elements of an output side by side, with what they must be.
  struct Run {
    std::size_t output = 0;
    std::int64_t first = 0;
    std::vector<Expected> expected;
  };
  // One kind of content of all inputs. Where answers are dear, they are worked out beforehand.
  struct Content {
    CaseInputs inputs;
    std::vector<Run> runs;
  };

  CheckedShots(DeviceShots& shots, const Task& task, const ExpectationSource& expectation,
               std::uint64_t secret)
      : shots_(shots), task_(task), expectation_(expectation), random_(secret) {}

  std::uint64_t draw() { return random_.bits(drawn_++); }
  double draw_share() { return static_cast<double>(draw() >> 11U) * 0x1p-53; }
  Result<void> know(Content& content);
  Result<Run> expect(const CaseInputs& inputs, std::size_t output, double place);
  Result<void> change_some(Side side, double place);
  Result<void> change_all(Side side);
  Result<void> look(Side side, double place);
  Result<void> compare(Side side, const Run& run, const Problem& problem);
  void blame(Side side, FaultKind kind, std::string summary);
  // Elements of one output that are looked at together.
  std::int64_t run_length(const BufferSpec& output) const;
  bool is_dear() const { return task_.oracle == OracleKind::reference_kernel; }

  DeviceShots& shots_;
  const Task& task_;
  const ExpectationSource& expectation_;
  CounterRandom random_;
  std::uint64_t drawn_ = 0;
  double work_of_element_ = 1;
  std::vector<Content> contents_;       // dear: those that take turns; else one for each side
  std::array<std::size_t, 2> now_ = {}; // content of each side
  std::optional<Fault> fault_;
};

} // namespace kernevo
