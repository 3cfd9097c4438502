// One kernel, one shape, one set of inputs: fill, run in the worker, compare.
#pragma once

#include "kernevo/base/lazy_pages.h"
#include "kernevo/base/result.h"
#include "kernevo/device/device.h"
#include "kernevo/evaluate/kernel_subject.h"
#include "kernevo/evaluate/whole_tallies.h"
#include "kernevo/model/task.h"
#include "kernevo/model/verdict.h"
#include "kernevo/task/inputs.h"
#include "kernevo/task/oracle.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kernevo {

struct CaseInputs {
  Problem problem;
  InputSet set = InputSet::nominal;
  std::uint64_t seed = 0;
  std::vector<std::vector<std::byte>> initial; // per buffer; empty for pure outputs
  // On demand: instead of `initial`, pages made as the oracle reads them; null for pure outputs.
  std::vector<std::shared_ptr<LazyMemory>> lazy;

  bool on_demand() const { return !lazy.empty(); }
};
CaseInputs make_inputs(Problem problem, InputSet set, std::uint64_t seed);
// For sampled runs of problems of any size: the same values, each made where and when it is read.
Result<CaseInputs> make_inputs_on_demand(Problem problem, InputSet set, std::uint64_t seed);
OracleInputs oracle_inputs(const CaseInputs& inputs);

// Where expected values come from. `points` are ascending flat indices of one output. Several
// threads may ask.
using ExpectationSource = std::function<Result<std::vector<Expected>>(
    const CaseInputs& inputs, std::size_t output, std::span<const std::int64_t> points)>;

// Of an operation of the catalogue.
ExpectationSource catalogue_expectation();

struct CaseOptions {
  bool instrumented = true; // Subject::instrumented(); without it nothing below but the limits
  bool sanitize = true;
  std::uint64_t instruction_budget = 0;
  double seconds = 60;
  std::vector<std::uint64_t> only_blocks; // sampled: verify what these blocks write
  std::int64_t point_limit = 0;           // most elements to compare; 0 = all
  std::uint64_t points_seed = 0;          // which ones; whoever runs the kernel cannot work it out
  RunOrder order;
  bool keep_state = false; // Instruments
  bool go_on = false;
  bool scramble = false;
  bool tally = false; // what each block does
  bool widen = true;  // the task's declared tolerance widens what the oracle says
};

// What one case showed. No fault = it passed.
struct CaseReport {
  CheckedCase record;
  std::optional<FaultKind> fault;
  std::string summary;
  std::optional<Finding> finding;
  std::optional<Mismatch> mismatch;
  double worst_strict_ratio = 0;
  std::uint64_t warp_instructions = 0;
  std::uint64_t bytes = 0;
  std::uint64_t written = 0;                  // elements of the outputs, in a sampled run
  std::vector<std::string> changed_variables; // RunOutcome
  std::string printed;
  bool output_flood = false;
  LaunchTallies tallies; // of a whole run, when wanted
};

// The case's tensors in memory that the judge and the device share, and how the subject may use
// them.
struct LaidOutCase {
  Arena arena;
  SubjectRun run;
};
// Outputs hold poison, or with a seed what an earlier run may have left in them. Regions of the
// given sizes come after those of the tensors.
Result<LaidOutCase> lay_out(const CaseInputs& inputs, bool instrumented,
                            std::optional<std::uint64_t> left_over = std::nullopt,
                            const std::vector<std::uint64_t>& more_regions = {});

// The subject is bound to the inputs' problem.
Result<CaseReport> run_case(BoundSubject& subject, const CaseInputs& inputs,
                            const ExpectationSource& expectation, const CaseOptions& options);

struct ReferenceRun {
  std::vector<std::vector<std::byte>> outputs; // one per buffer, empty for inputs
  std::uint64_t warp_instructions = 0;
};
// Runs a trusted subject; a fault of it is an input error of this file, for it is the task's own
// reference.
Result<ReferenceRun> run_reference(Subject& subject, const std::string& file,
                                   const CaseInputs& inputs, std::uint64_t instruction_budget,
                                   double seconds);

// What the launches of a plan do, counted on some blocks of each.
struct ProfiledCase {
  std::vector<LaunchCounts> counts; // one per launch
  std::optional<Finding> finding;   // the kernel faulted; the counts are of what ran before
  std::string wrong = {};           // what was written; empty when it was right
  bool idle = false;                // nothing was written
};
// What each block of each launch of a plan does, tallied while all of them run.
struct TalliedCase {
  LaunchTallies tallies;
  std::optional<Finding> finding;
  std::string wrong;
};
// With an expectation, some of what the blocks wrote is compared: a kernel that knows when it is
// timed gains nothing by it.
Result<ProfiledCase> profile_case(const KernelSubject& subject, const CaseInputs& inputs,
                                  const LaunchPlan& plan,
                                  const std::vector<Instruments::Profile>& profile,
                                  const CaseOptions& options,
                                  const ExpectationSource* expectation = nullptr);
// The same of a whole run: every element must be written.
Result<TalliedCase> tally_case(const KernelSubject& subject, const CaseInputs& inputs,
                               const LaunchPlan& plan, const CaseOptions& options,
                               const ExpectationSource* expectation);

FaultKind fault_of(FindingKind kind);

// The finding is the report's fault.
void take_finding(const Finding& finding, CaseReport& report);
// Numbers that an earlier launch may have left.
InputRecipe left_over_recipe(DType dtype, std::uint64_t seed);

} // namespace kernevo
