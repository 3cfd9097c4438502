#pragma once

#include "kernevo/base/expression.h"

#include <vector>

namespace kernevo::search {

// The quantities a condition compares: `BM * BN <= 8192 && BM / TM > 1` gives BM * BN and BM / TM.
// Whoever writes a constraint names what matters to the kernel.
std::vector<Expression> comparison_sides(const Expression& condition);

} // namespace kernevo::search
