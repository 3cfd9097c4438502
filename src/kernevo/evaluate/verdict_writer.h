// How cases become a verdict: the first fault ends the climb; what could not be proven is said only
// when nothing was wrong.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/evaluate/run_case.h"
#include "kernevo/model/task.h"
#include "kernevo/model/verdict.h"

#include <string>

namespace kernevo {

class VerdictWriter {
public:
  // `file`: whom to blame when the subject does not fit a problem.
  VerdictWriter(Verdict& verdict, std::string file) : verdict_(verdict), file_(std::move(file)) {}

  bool failed() const { return verdict_.fault.has_value(); }
  void begin(Rung rung) { verdict_.rung = rung; }
  void fault(FaultKind kind, std::string summary, FaultClass fault_class = FaultClass::candidate);
  void contract_fault(const Error& error);
  void warn(std::string text, bool hidden);
  void take(const CaseReport& report, bool hidden);
  // The first reason stays.
  void leave_unproven(std::string why);
  void leave_unseen(double share) { verdict_.unseen = share; }
  // Nothing more will be run.
  void conclude(const Task& task);

private:
  void take_printed(const CaseReport& report, bool hidden);

  Verdict& verdict_;
  std::string file_;
  std::string unproven_; // why
  double shown_strict_ratio_ = 0;
  double hidden_strict_ratio_ = 0;
};

} // namespace kernevo
