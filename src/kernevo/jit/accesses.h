// Memory accesses whose addresses are straight over the lanes and differ by constants are checked
// together, at the first of them: one comparison stands for a whole unrolled loop's loads.
#pragma once

#include "kernevo/jit/plan.h"

namespace kernevo::jit {

// Fills plan.check_of and plan.checks. `starts` tells where control may come in: what is known of
// registers ends there.
void group_accesses(const vgpu::Code& code, const std::vector<bool>& starts, Plan& plan);

} // namespace kernevo::jit
