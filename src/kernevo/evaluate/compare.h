// A candidate against the incumbent on every shape of their task: are both right, which is faster,
// and in what do they differ?
#pragma once

#include "kernevo/evaluate/bench.h"
#include "kernevo/evaluate/check_progress.h"
#include "kernevo/model/comparison.h"
#include "kernevo/predict/counters.h"
#include "kernevo/timing/shots.h"

#include <optional>
#include <string>
#include <vector>

namespace kernevo {

struct Contender {
  const KernelFile* kernel = nullptr;
  ParameterValues parameters;
};

struct CompareOptions {
  BenchOptions bench;      // its parameters are not used; its patience is that of the check, too
  bool small_only = false; // check results on small shapes only
  CheckObserver observer = {}; // of both checks, one after the other; may be empty
};

struct CounterPair {
  Counter incumbent; // value 0 where only the candidate has it
  Counter candidate;
  // candidate / incumbent; absent when the incumbent's is 0.
  std::optional<double> ratio() const;
  // By a tenth or more, or only one of them has any.
  bool differs() const;
};

struct CaseComparison {
  std::string case_id;
  Comparison comparison;
  std::vector<CounterPair> counters; // of all launches of the case
};

// Why there is nothing to compare.
struct WrongKernel {
  Side side = Side::incumbent;
  FaultKind fault = FaultKind::correctness_mismatch;
  std::string summary;
  std::optional<Verdict> verdict; // of its check, when that is where it failed
};

struct CompareResult {
  std::optional<WrongKernel> wrong; // all below is empty then
  BenchResult incumbent;
  BenchResult candidate;
  bool identical = false; // the same instructions, launched alike
  std::vector<CaseComparison> cases;
  Comparison overall; // by the task's objective
};

// Where the device measures, the two are timed in turns. Result errors are the machine's or the
// input's; a wrong kernel is in the result.
Result<CompareResult> compare_kernels(Device& device, const Task& task, const Contender& incumbent,
                                      const Contender& candidate, const CompareOptions& options);

// Counters of all launches of a case: totals added up, ratios as their mean by instructions.
Counters counters_of(const CaseBench& bench);

// By name, in the order of the incumbent's; then what only the candidate has.
std::vector<CounterPair> pair_counters(const Counters& incumbent, const Counters& candidate);

// What the objective makes of all cases, each with the error its times have. Errors of one model
// are taken to go the same way on every shape. Of modelled times only: a measured one has samples.
Result<Timing> objective_timing(Objective objective, const BenchResult& bench);

} // namespace kernevo
