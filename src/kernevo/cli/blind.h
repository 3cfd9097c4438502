// The option of commands whose answer goes to whoever writes the kernel.
#pragma once

#include "kernevo/evaluate/visible.h"

namespace kernevo::cli {

class CommandLine;

void add_blind(CommandLine& command, bool& blind);

inline Audience audience_of(bool blind) {
  return blind ? Audience::proposer : Audience::owner;
}

} // namespace kernevo::cli
