#include "kernevo/model/search_records.h"

#include <fmt/format.h>

namespace kernevo {
namespace {

// Classes that change how many warps fit.
std::string_view register_class(int registers) {
  if (registers <= 32)
    return "r32";
  if (registers <= 64)
    return "r64";
  return registers <= 128 ? "r128" : "r255";
}

} // namespace

std::string KernelFacts::cell() const {
  return fmt::format("{} {}B {} {} {} {}", memory, vector_bytes, tensor ? "tensor" : "fma",
                     register_class(registers), limiter, launches == 1 ? "one" : "several");
}

std::string_view name_of(SearchMode value) {
  switch (value) {
  case SearchMode::baseline: return "baseline";
  case SearchMode::exploit: return "exploit";
  case SearchMode::explore: return "explore";
  case SearchMode::recombine: return "recombine";
  case SearchMode::tune: return "tune";
  }
  return "unknown";
}

std::string_view name_of(StepOutcome value) {
  switch (value) {
  case StepOutcome::baseline: return "baseline";
  case StepOutcome::improved: return "improved";
  case StepOutcome::not_better: return "not_better";
  case StepOutcome::guarded: return "guarded";
  case StepOutcome::duplicate: return "duplicate";
  case StepOutcome::compile_failed: return "compile_failed";
  case StepOutcome::wrong: return "wrong";
  case StepOutcome::failed: return "failed";
  case StepOutcome::quarantined: return "quarantined";
  case StepOutcome::unproven: return "unproven";
  case StepOutcome::no_proposal: return "no_proposal";
  case StepOutcome::infrastructure: return "infrastructure";
  }
  return "unknown";
}

bool is_right(StepOutcome outcome) {
  return outcome == StepOutcome::baseline || outcome == StepOutcome::improved ||
         outcome == StepOutcome::not_better || outcome == StepOutcome::guarded;
}

bool is_lesson(StepOutcome outcome) {
  return outcome == StepOutcome::improved || outcome == StepOutcome::not_better ||
         outcome == StepOutcome::guarded || outcome == StepOutcome::wrong ||
         outcome == StepOutcome::failed || outcome == StepOutcome::quarantined ||
         outcome == StepOutcome::unproven;
}

} // namespace kernevo
