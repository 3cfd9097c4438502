#pragma once

#include "kernevo/rewrite/draft.h"

namespace kernevo::rewrite {

// The threads of a block as an expression that device code may use, the same in every launch.
OrRefusal<std::string> threads_per_block(const Draft& draft, const Function& kernel);

// Whether an attribute of the kernel already says how many registers it may use.
bool has_register_limit(const Function& kernel);

} // namespace kernevo::rewrite
