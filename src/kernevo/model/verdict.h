// The judgement of one kernel: right or not, and if not, a diagnosis good enough to repair it from.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/build.h"
#include "kernevo/model/finding.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernevo {

enum class FaultClass { candidate, infrastructure, ambiguous };

enum class FaultKind {
  syntax_error,
  semantic_compile_error,
  interface_contract_error,   // launch, arguments or resources do not fit the task or the GPU
  correctness_mismatch,       // ran cleanly, wrong numbers
  memory_safety_error,        // out of bounds, misaligned, modified input
  race_or_sync_error,         // data race, divergent barrier, deadlock
  uninitialized_memory_error, // read before written, or an output never written
  candidate_runtime_error,    // trap, assert, runaway, stack overflow, crash
  unproven, // nothing wrong was seen, but a real shape could be neither run whole nor bounded
};

enum class Rung { parse, compile, resources, small_shapes, hidden_shapes, real_shapes };

// The first wrong element, or the worst one.
struct Mismatch {
  std::string buffer;
  std::vector<std::int64_t> index;
  double expected = 0;
  double actual = 0;
  double tolerance = 0;
};

// One run of the kernel on one shape with one set of inputs.
struct CheckedCase {
  std::string case_id;
  std::string distribution;
  // Absent where whoever reads it may not know: of the inputs, the blocks run (fewer than all when
  // sampled) and the elements compared with the oracle, point by point.
  std::optional<std::uint64_t> seed;
  bool hidden = false;
  std::uint64_t blocks = 0; // of all launches
  std::optional<std::uint64_t> blocks_run;
  std::uint64_t elements = 0; // of all outputs
  std::optional<std::uint64_t> elements_checked;
  double worst_error_ratio = 0; // |error| / tolerance, largest over the elements
};

struct Verdict {
  bool correct = false;
  Rung rung = Rung::parse; // the rung that failed, or the last one climbed
  std::optional<FaultClass> fault_class;
  std::optional<FaultKind> fault;
  std::string summary; // one sentence for people
  std::vector<Diagnostic> diagnostics;
  std::optional<Finding> finding; // what the virtual GPU saw
  std::optional<Mismatch> mismatch;
  std::optional<CheckedCase> failing_case;
  std::vector<CheckedCase> cases;
  // Of the work on a real shape: more than this share left out or wrong would have been seen with
  // 99 % probability. 0: all of it was run.
  double unseen = 0;
  // What ran which shapes, and with what instruments; empty where one device ran all.
  std::string judged_by;
  std::string printed; // what the kernel's printf wrote in the first case that printed
  std::vector<std::string> warnings;        // trivial task, lower precision, infeasible target, ...
  std::vector<std::string> hidden_warnings; // those that depend on hidden cases
};

std::string_view name_of(FaultClass value);
std::string_view name_of(FaultKind value);
std::string_view name_of(Rung value);

} // namespace kernevo
