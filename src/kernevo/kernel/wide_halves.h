// Half-precision types and functions, by what stands for them where a kernel is widened to float64.
#pragma once

#include <string_view>

namespace kernevo {

// What stands for a type or a function of cuda_fp16.h or cuda_bf16.h; empty for other names.
std::string_view wide_half(std::string_view name);
// Of a type that holds two of them, or of a function of it.
bool is_pair_of_halves(std::string_view name);

// Definitions of the functions that stand for them; those of pairs have operators of their own.
// They use wide_exp and its like.
std::string_view wide_half_helpers();
std::string_view wide_pair_helpers();

} // namespace kernevo
