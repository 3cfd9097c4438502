#pragma once

#include "kernevo/base/result.h"

#include <string>
#include <string_view>

namespace kernevo {

// The canonical spelling of a compiler flag a kernel file may ask for ("-use_fast_math" ->
// "--use_fast_math"). Only flags that change code generation are allowed: none that read or write
// files, add include folders or run programs.
Result<std::string> canonical_flag(std::string_view flag, const Place& place);

} // namespace kernevo
