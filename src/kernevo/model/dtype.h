// The element types a task may use, and their exact conversion to and from double.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kernevo {

enum class DType : std::uint8_t { float32, float16, bfloat16, float64, int32, int8, int64 };

std::string_view name_of(DType dtype);
std::optional<DType> parse_dtype(std::string_view name); // also fp16, half, f32, bf16, ...
std::size_t size_of(DType dtype);
bool is_floating(DType dtype);

// Half an ulp at 1.0: the relative error of one correct rounding. 0 for integers.
double unit_roundoff(DType dtype);
// The largest finite value.
double largest_value(DType dtype);

// Element access in raw memory. store_element rounds to nearest even; integers saturate.
double load_element(DType dtype, const std::byte* base, std::int64_t index);
void store_element(DType dtype, std::byte* base, std::int64_t index, double value);

} // namespace kernevo
