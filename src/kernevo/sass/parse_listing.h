#pragma once

#include "kernevo/base/result.h"
#include "kernevo/sass/sass.h"

#include <string_view>

namespace kernevo::sass {

// What `nvdisasm -c -gp -hex` prints for a cubin that `ptxas -lineinfo` made.
Result<SassModule> parse_listing(std::string_view listing);

} // namespace kernevo::sass
