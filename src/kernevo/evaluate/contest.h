// Two kernels of a task timed in turns on every shape, on a device that measures: the only way in
// which one measured kernel is called faster than another.
#pragma once

#include "kernevo/evaluate/bench.h"
#include "kernevo/evaluate/count_case.h"
#include "kernevo/model/comparison.h"
#include "kernevo/timing/compare_interleaved.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

struct ContestCase {
  std::string case_id;
  double weight = 1;
  Episode episode;
};

struct Contest {
  struct Fault {
    Side side = Side::incumbent;
    CaseFault fault;
  };
  std::optional<Fault> fault; // what follows is empty then
  std::vector<ContestCase> cases;
  Comparison overall;       // by the task's objective
  double confidence = 0.99; // of each shape's verdict
  int least_blocks = 0;     // of each shape
  std::string disturbed;    // why nobody must lean on it; empty when it was quiet
};

// Blocks of shots, at least: to decide, and to say how much faster, where a verdict comes early.
inline constexpr int kBlocksToDecide = 12;
inline constexpr int kBlocksToAnnounce = 40;

// The seed decides inputs and turns; use each once. Subjects are loaded here.
Result<Contest> hold_contest(Device& device, const Task& task, const PreparedKernel& incumbent,
                             const PreparedKernel& candidate, const BenchOptions& options,
                             int least_blocks = kBlocksToDecide);

// What the shapes' comparisons come to: how many times as fast the objective is, with the interval
// that follows from theirs. They hold together, so does it.
Comparison overall_of(Objective objective, const std::vector<ContestCase>& cases);

// The candidate's times on the scale of the incumbent's, whatever the device did since those were
// taken.
std::vector<ShapeTime> times_beside(const std::vector<ShapeTime>& incumbent,
                                    const Contest& contest);

// With every shot. What is read is decided anew from the shots.
std::string to_json(const Contest& contest);
Result<Contest> contest_from_json(std::string_view text, Objective objective);

} // namespace kernevo
