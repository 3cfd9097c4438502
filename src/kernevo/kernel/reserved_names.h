#pragma once

#include <string_view>

namespace kernevo {

// C++ keywords, CUDA's built-in names and the functions of expressions: a parameter becomes a
// macro, and a macro of such a name would change what the code means.
bool is_reserved_name(std::string_view name);

} // namespace kernevo
