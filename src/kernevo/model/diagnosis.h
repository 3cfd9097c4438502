// What is wrong with a candidate, for whoever repairs it.
#pragma once

#include "kernevo/model/verdict.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

struct Diagnosis {
  std::optional<FaultKind> fault; // absent: e.g. a reply that holds no kernel
  Rung rung = Rung::parse;
  bool hidden = false; // seen on a shape that is not shown
  std::string summary; // one line
  std::vector<std::string>
      details; // compiler lines, the first wrong element, the access and thread

  bool operator==(const Diagnosis&) const = default;
};

// All a failed verdict says, secrets included: what of it may be told is decided in
// evaluate/visible.h. Compiler lines come with the source line they are about.
Diagnosis diagnose_fully(const Verdict& verdict, std::string_view source);
// Of a build that failed.
Diagnosis diagnose(const Build& build, std::string_view source);

// The summary and the details, a line each.
std::string to_text(const Diagnosis& diagnosis);

std::string to_json(const Diagnosis& diagnosis);
Result<Diagnosis> diagnosis_from_json(std::string_view text);

} // namespace kernevo
