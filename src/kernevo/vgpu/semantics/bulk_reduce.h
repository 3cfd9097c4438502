// One element of a bulk reduction: what is in memory combined with what arrives, as raw bits.
#pragma once

#include "kernevo/base/small_floats.h"
#include "kernevo/vgpu/memory/tensor_map.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace kernevo::vgpu::semantics {

enum class BulkReduction : std::uint8_t { add, min, max, inc, dec, bit_and, bit_or, bit_xor };

namespace bulk {

// Additions in global memory flush float32 subnormals, as red.add.f32 does.
inline float flush(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0F, value) : value;
}

template <class T> T combine_integers(BulkReduction reduction, T old, T value) {
  switch (reduction) {
  case BulkReduction::add: return static_cast<T>(old + value);
  case BulkReduction::min: return std::min(old, value);
  case BulkReduction::max: return std::max(old, value);
  case BulkReduction::inc: return old >= value ? T{0} : static_cast<T>(old + 1);
  case BulkReduction::dec: return old == 0 || old > value ? value : static_cast<T>(old - 1);
  case BulkReduction::bit_and: return old & value;
  case BulkReduction::bit_or: return old | value;
  case BulkReduction::bit_xor: return old ^ value;
  }
  return value;
}

inline double combine_floats(BulkReduction reduction, double old, double value) {
  switch (reduction) {
  case BulkReduction::min: return std::fmin(old, value);
  case BulkReduction::max: return std::fmax(old, value);
  default: return old + value;
  }
}

inline bool is_logic(BulkReduction reduction) {
  return reduction >= BulkReduction::bit_and;
}

} // namespace bulk

// The sum of two floats is exact or correctly rounded in double and then rounded once more:
// harmless for formats of at most 24 bits.
inline std::uint64_t reduce(BulkReduction reduction, TensorType type, std::uint64_t old,
                            std::uint64_t value) {
  using bulk::combine_floats;
  using bulk::combine_integers;
  if (bulk::is_logic(reduction))
    return combine_integers<std::uint64_t>(reduction, old, value);
  switch (type) {
  case TensorType::s32:
    if (reduction == BulkReduction::min || reduction == BulkReduction::max)
      return static_cast<std::uint32_t>(combine_integers<std::int32_t>(
          reduction, static_cast<std::int32_t>(old), static_cast<std::int32_t>(value)));
    [[fallthrough]];
  case TensorType::u32:
    return combine_integers<std::uint32_t>(reduction, static_cast<std::uint32_t>(old),
                                           static_cast<std::uint32_t>(value));
  case TensorType::s64:
    if (reduction == BulkReduction::min || reduction == BulkReduction::max)
      return static_cast<std::uint64_t>(combine_integers<std::int64_t>(
          reduction, static_cast<std::int64_t>(old), static_cast<std::int64_t>(value)));
    [[fallthrough]];
  case TensorType::u64: return combine_integers<std::uint64_t>(reduction, old, value);
  case TensorType::u8:
    return combine_integers<std::uint8_t>(reduction, static_cast<std::uint8_t>(old),
                                          static_cast<std::uint8_t>(value));
  case TensorType::u16:
    return combine_integers<std::uint16_t>(reduction, static_cast<std::uint16_t>(old),
                                           static_cast<std::uint16_t>(value));
  case TensorType::f16:
    return double_to_half(combine_floats(reduction, half_to_float(static_cast<std::uint16_t>(old)),
                                         half_to_float(static_cast<std::uint16_t>(value))));
  case TensorType::bf16:
    return double_to_bfloat(combine_floats(reduction,
                                           bfloat_to_float(static_cast<std::uint16_t>(old)),
                                           bfloat_to_float(static_cast<std::uint16_t>(value))));
  case TensorType::f64: {
    const double result =
        combine_floats(reduction, std::bit_cast<double>(old), std::bit_cast<double>(value));
    return std::bit_cast<std::uint64_t>(result);
  }
  default: {
    const float a = bulk::flush(std::bit_cast<float>(static_cast<std::uint32_t>(old)));
    const float b = bulk::flush(std::bit_cast<float>(static_cast<std::uint32_t>(value)));
    const float result = bulk::flush(static_cast<float>(combine_floats(reduction, a, b)));
    return std::isnan(result) ? 0x7FFFFFFFU : std::bit_cast<std::uint32_t>(result);
  }
  }
}

} // namespace kernevo::vgpu::semantics
