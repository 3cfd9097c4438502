// The rewrites themselves, one file each; rewrite.cpp has them as a table.
#pragma once

#include "kernevo/rewrite/draft.h"

namespace kernevo::rewrite {

// Of one kernel of the file.
Outcome block_shape(Draft& draft, const Function& kernel);
Outcome coarsen(Draft& draft, const Function& kernel);
Outcome grid_stride(Draft& draft, const Function& kernel);
Outcome vectorise(Draft& draft, const Function& kernel);
Outcome swap_thread_roles(Draft& draft, const Function& kernel);
Outcome tile_shared(Draft& draft, const Function& kernel);
Outcome launch_bounds(Draft& draft, const Function& kernel);
Outcome register_cap(Draft& draft, const Function& kernel);

// Of the whole file.
Outcome restrict_pointers(Draft& draft);
Outcome read_only(Draft& draft);
Outcome unroll(Draft& draft);
Outcome independent_accumulators(Draft& draft);
Outcome fast_math(Draft& draft);
Outcome cheaper_arithmetic(Draft& draft);

} // namespace kernevo::rewrite
