#include "kernevo/model/dtype.h"

#include "kernevo/base/small_floats.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace kernevo {
namespace {

struct Row {
  DType dtype;
  std::string_view name;
  std::array<std::string_view, 4> aliases;
  std::size_t size;
  bool floating;
  double roundoff;
  double largest;
};

constexpr std::array<Row, 7> kRows = {{
    {DType::float32, "float32", {"fp32", "f32", "float", ""}, 4, true, 0x1p-24, 0x1.fffffep127},
    {DType::float16, "float16", {"fp16", "f16", "half", ""}, 2, true, 0x1p-11, 65504.0},
    {DType::bfloat16, "bfloat16", {"bf16", "", "", ""}, 2, true, 0x1p-8, 0x1.fep127},
    {DType::float64,
     "float64",
     {"fp64", "f64", "double", ""},
     8,
     true,
     0x1p-53,
     std::numeric_limits<double>::max()},
    {DType::int32, "int32", {"i32", "int", "s32", ""}, 4, false, 0.0, 2147483647.0},
    {DType::int8, "int8", {"i8", "s8", "", ""}, 1, false, 0.0, 127.0},
    {DType::int64, "int64", {"i64", "s64", "long", ""}, 8, false, 0.0, 9223372036854775807.0},
}};

const Row& row(DType dtype) {
  return kRows[static_cast<std::size_t>(dtype)];
}

template <class T> T read(const std::byte* base, std::int64_t index) {
  T value;
  std::memcpy(&value, base + index * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <class T> void write(std::byte* base, std::int64_t index, T value) {
  std::memcpy(base + index * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}

template <class T> T saturate(double value) {
  if (std::isnan(value))
    return 0;
  if (value <= static_cast<double>(std::numeric_limits<T>::min()))
    return std::numeric_limits<T>::min();
  if (value >= static_cast<double>(std::numeric_limits<T>::max()))
    return std::numeric_limits<T>::max();
  return static_cast<T>(std::nearbyint(value));
}

} // namespace

std::string_view name_of(DType dtype) {
  return row(dtype).name;
}

std::optional<DType> parse_dtype(std::string_view name) {
  if (name.empty())
    return std::nullopt;
  for (const Row& r : kRows)
    if (r.name == name || std::find(r.aliases.begin(), r.aliases.end(), name) != r.aliases.end())
      return r.dtype;
  return std::nullopt;
}

std::size_t size_of(DType dtype) {
  return row(dtype).size;
}
bool is_floating(DType dtype) {
  return row(dtype).floating;
}
double unit_roundoff(DType dtype) {
  return row(dtype).roundoff;
}
double largest_value(DType dtype) {
  return row(dtype).largest;
}

double load_element(DType dtype, const std::byte* base, std::int64_t index) {
  switch (dtype) {
  case DType::float32: return read<float>(base, index);
  case DType::float16: return half_to_float(read<std::uint16_t>(base, index));
  case DType::bfloat16: return bfloat_to_float(read<std::uint16_t>(base, index));
  case DType::float64: return read<double>(base, index);
  case DType::int32: return read<std::int32_t>(base, index);
  case DType::int8: return read<std::int8_t>(base, index);
  case DType::int64: return static_cast<double>(read<std::int64_t>(base, index));
  }
  return 0;
}

void store_element(DType dtype, std::byte* base, std::int64_t index, double value) {
  switch (dtype) {
  case DType::float32: return write(base, index, static_cast<float>(value));
  case DType::float16: return write(base, index, double_to_half(value));
  case DType::bfloat16: return write(base, index, double_to_bfloat(value));
  case DType::float64: return write(base, index, value);
  case DType::int32: return write(base, index, saturate<std::int32_t>(value));
  case DType::int8: return write(base, index, saturate<std::int8_t>(value));
  case DType::int64: return write(base, index, saturate<std::int64_t>(value));
  }
}

} // namespace kernevo
