// #if and its kin, decided before any compiler sees them.
#pragma once

#include "kernevo/base/result.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace kernevo {

// The source with its conditional lines and everything they leave out made blank; lines keep their
// numbers. `known` are the macros that exist before the source's own: its parameters and the few
// that mean the same to everybody. Any other name is not defined. Errors are input errors: what
// cannot be decided, and what does not nest.
Result<std::string> resolve_conditionals(std::string_view source,
                                         const std::map<std::string, std::int64_t>& known,
                                         const std::string& file, int first_line = 1);

} // namespace kernevo
