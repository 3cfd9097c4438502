// What a profiled launch did in machine instructions: the counts of its PTX lines, carried over to
// what ptxas made of them.
#pragma once

#include "kernevo/model/launch_counts.h"
#include "kernevo/sass/flow.h"
#include "kernevo/sass/join.h"
#include "kernevo/sass/sass.h"

#include <string_view>

namespace kernevo {

struct MachineWork {
  sass::SassFunction function;
  sass::Flow flow;
  sass::Join join; // of the blocks that were counted
};

// `ptx` is the text that was disassembled and profiled.
MachineWork find_machine_work(sass::SassFunction function, std::string_view ptx,
                              const LaunchCounts& counts);

} // namespace kernevo
