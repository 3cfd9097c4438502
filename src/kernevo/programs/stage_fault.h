// What a job of the stage ended with instead of a result, and what that means for who is judged.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/verdict.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

enum class StageFaultKind {
  syntax,      // the file does not parse
  build,       // a compiler refused what the program gave it
  raised,      // an exception of the program
  died,        // its process ended, however
  timeout,     // it took longer than it may
  memory,      // or more memory
  forbidden,   // it asked the system for what it may not have
  contract,    // no such class, no tensor, another shape
  unordered,   // streams that nobody orders touch the same memory
  host,        // a result that was not made on the GPU
  unsupported, // what the virtual GPU does not have
  task,        // the task's own file is at fault
  machine,     // the environment is
};
std::string_view name_of(StageFaultKind kind);

struct StageFault {
  StageFaultKind kind = StageFaultKind::machine;
  std::string text;
  std::optional<Place> where;
  std::vector<std::string> detail;
};

// Nothing where the program is not to blame: error_of() says who is.
std::optional<FaultKind> charged_with(StageFaultKind kind);
// The rung on which such a fault ends the climb.
Rung rung_of(StageFaultKind kind, Rung while_running);
// Of a fault nobody can charge the program with.
Error error_of(const StageFault& fault);

} // namespace kernevo
