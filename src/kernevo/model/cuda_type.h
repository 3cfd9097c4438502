// What an element type is called in CUDA C++.
#pragma once

#include "kernevo/model/dtype.h"

#include <string_view>

namespace kernevo {

std::string_view cuda_type(DType dtype);
// The header that declares it; empty for a type the language has.
std::string_view cuda_header(DType dtype);

} // namespace kernevo
