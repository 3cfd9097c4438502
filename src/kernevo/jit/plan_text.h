// A plan for people: what `kernevo jit --dump plan` prints.
#pragma once

#include "kernevo/jit/plan.h"

#include <string>

namespace kernevo::jit {

std::string plan_text(const vgpu::CompileJob& job, const Plan& plan);

} // namespace kernevo::jit
