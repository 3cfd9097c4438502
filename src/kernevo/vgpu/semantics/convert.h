// cvt on one lane.
#pragma once

#include "kernevo/vgpu/semantics/formats.h"
#include "kernevo/vgpu/semantics/integer.h"

#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace kernevo::vgpu::semantics {

template <class D, class S> constexpr D resize(S value) {
  return static_cast<D>(value);
}

template <class D, class S> constexpr D resize_sat(S value) {
  constexpr D lowest = std::numeric_limits<D>::min();
  constexpr D highest = std::numeric_limits<D>::max();
  const D kept = std::cmp_greater(value, highest) ? highest : static_cast<D>(value);
  return std::cmp_less(value, lowest) ? lowest : kept;
}

// Rounding to an integer: the same four modes, written .rni .rzi .rmi .rpi.
template <Rounding Mode, class T> T integral(T value) {
  if constexpr (Mode == Rounding::rn)
    return std::nearbyint(value);
  else if constexpr (Mode == Rounding::rz)
    return std::trunc(value);
  else if constexpr (Mode == Rounding::rm)
    return std::floor(value);
  else
    return std::ceil(value);
}

// Out of range gives the nearest integer of the type; NaN gives 0, or the lone top bit where f64 or
// a 64-bit integer is involved.
template <class Format, class I, Rounding Mode>
I float_to_integer(typename Format::Storage source) {
  using U = std::make_unsigned_t<I>;
  constexpr int width = 8 * sizeof(I);
  constexpr bool nan_is_top_bit = Format::kIsF64 || width == 64;
  const double value = integral<Mode>(Format::decode(source));
  const bool is_nan = value != value;
  constexpr I of_nan = nan_is_top_bit ? static_cast<I>(U{1} << (width - 1)) : I{0};
  constexpr double lowest =
      std::is_signed_v<I> ? static_cast<double>(std::numeric_limits<I>::min()) : 0.0;
  constexpr double beyond = // 2^bits or 2^(bits-1)
      2.0 * static_cast<double>(U{1} << (width - (std::is_signed_v<I> ? 2 : 1)));
  if constexpr (width <= 32) {
    const double bounded = value > lowest ? (value < beyond ? value : beyond - 1) : lowest;
    constexpr double aligner = 0x1.8p52; // adding it leaves the integer in the low bits
    const auto bits = std::bit_cast<std::uint64_t>(bounded + aligner);
    return is_nan ? of_nan : static_cast<I>(bits);
  } else {
    const bool fits = value > lowest && value < beyond;
    const I nearest =
        value < beyond ? std::numeric_limits<I>::min() : std::numeric_limits<I>::max();
    const I inside = static_cast<I>(fits ? value : 0.0);
    return is_nan ? of_nan : fits ? inside : nearest;
  }
}

// The integer as a double. One of 64 bits is the sum of its halves; where that does not fit, it is
// rounded to odd before it is rounded again to a smaller format.
template <class Format, class I, Rounding Mode> typename Format::Storage integer_to_float(I value) {
  if constexpr (sizeof(I) == 8) {
    using Upper = std::conditional_t<std::is_signed_v<I>, std::int32_t, std::uint32_t>;
    const double high = static_cast<double>(static_cast<Upper>(value >> 32)) * 0x1p32;
    const auto low = static_cast<double>(static_cast<std::uint32_t>(value));
    if constexpr (Format::kIsF64) {
      const ExactSum<double> exact = two_sum(high, low);
      return std::bit_cast<double>(
          redirect(std::bit_cast<std::uint64_t>(exact.sum), sign_of(exact.error), Mode));
    } else {
      return Format::template encode<Mode>(sum_to_odd(high, low));
    }
  } else {
    return Format::template encode<Mode>(static_cast<double>(value));
  }
}

template <class D, class S, Rounding Mode>
typename D::Storage float_to_float(typename S::Storage value) {
  return D::template encode<Mode>(S::decode(value));
}
template <class Format, Rounding Mode>
typename Format::Storage float_to_integral(typename Format::Storage value) {
  return Format::template encode<Rounding::rn>(integral<Mode>(Format::decode(value)));
}
template <class Format> typename Format::Storage saturate_float(typename Format::Storage value) {
  return Format::template encode<Rounding::rn>(saturate(Format::decode(value)));
}
inline float flush_f32(float value) {
  return flush(value);
}

struct NarrowMode {
  Rounding rounding = Rounding::rn;
  bool relu = false;
  bool satfinite = false;
};

inline float relu_if(bool relu, float value) {
  return relu && value <= 0 ? 0.0F : value;
}

// To f16 or bf16 with .relu and .satfinite.
template <class Format, NarrowMode Mode> std::uint16_t narrow_f32(float value) {
  const auto bits = SixteenBits<Format>::template encode<Mode.rounding>(relu_if(Mode.relu, value));
  const auto finite = static_cast<std::uint16_t>((bits & kHalfSign) | Format::kLargest);
  return Mode.satfinite && (bits & ~kHalfSign) == Format::kInfinity ? finite : bits;
}
// Two f32 into one register; the first operand goes into the upper half.
template <class Format, NarrowMode Mode> std::uint32_t pack_f32(float high, float low) {
  return static_cast<std::uint32_t>(narrow_f32<Format, Mode>(high)) << 16 |
         narrow_f32<Format, Mode>(low);
}

enum class Tf32Rounding : std::uint8_t { rna, rn, rz };

// 10 explicit mantissa bits in the layout of f32; the lower 13 bits are zero.
template <Tf32Rounding Mode, bool Relu, bool Satfinite> std::uint32_t to_tf32(float value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  bits = Relu && (bits >> 31) != 0 ? 0 : bits;
  constexpr std::uint32_t dropped = 0x1FFFU;
  constexpr std::uint32_t infinity = 0x7F800000U;
  const std::uint32_t half = Mode == Tf32Rounding::rna  ? 0x1000U
                             : Mode == Tf32Rounding::rn ? 0x0FFFU + (bits >> 13 & 1U)
                                                        : 0U;
  bits += (bits & 0x7FFFFFFFU) < infinity ? half : 0U;
  bits &= ~dropped;
  if (Satfinite && (bits & 0x7FFFFFFFU) >= infinity)
    bits = (bits & 0x80000000U) | (infinity - 1 - dropped);
  return value != value ? kCanonicalNan : bits;
}

template <class Format8, bool Relu> std::uint16_t pack_f32_to_fp8(float high, float low) {
  return static_cast<std::uint16_t>(Format8::encode(relu_if(Relu, high)) << 8 |
                                    Format8::encode(relu_if(Relu, low)));
}
template <class Format8, class Format16, bool Relu>
std::uint16_t halves_to_fp8(std::uint32_t pair) {
  return pack_f32_to_fp8<Format8, Relu>(Format16::widen(static_cast<std::uint16_t>(pair >> 16)),
                                        Format16::widen(static_cast<std::uint16_t>(pair)));
}
template <class Format8, class Format16, bool Relu>
std::uint32_t fp8_to_halves(std::uint16_t pair) {
  const float high = relu_if(Relu, Format8::decode(static_cast<std::uint8_t>(pair >> 8)));
  const float low = relu_if(Relu, Format8::decode(static_cast<std::uint8_t>(pair)));
  return static_cast<std::uint32_t>(Format16::narrow(high)) << 16 | Format16::narrow(low);
}

template <Rounding Mode> std::uint16_t pack_f32_to_ue8m0(float high, float low) {
  return static_cast<std::uint16_t>(encode_ue8m0(high, Mode) << 8 | encode_ue8m0(low, Mode));
}
template <Rounding Mode> std::uint16_t bfloats_to_ue8m0(std::uint32_t pair) {
  return pack_f32_to_ue8m0<Mode>(bfloat_to_float(static_cast<std::uint16_t>(pair >> 16)),
                                 bfloat_to_float(static_cast<std::uint16_t>(pair)));
}
inline std::uint32_t ue8m0_to_bfloats(std::uint16_t pair) {
  return static_cast<std::uint32_t>(
             float_to_bfloat(decode_ue8m0(static_cast<std::uint8_t>(pair >> 8))))
             << 16 |
         float_to_bfloat(decode_ue8m0(static_cast<std::uint8_t>(pair)));
}

// cvt.pack.sat: a and b saturated to Bits bits side by side, a above b, below what c holds.
template <unsigned Bits, bool Signed>
std::uint32_t pack_sat(std::int32_t a, std::int32_t b, std::uint32_t c) {
  constexpr std::int32_t lowest = Signed ? -(1 << (Bits - 1)) : 0;
  constexpr std::int32_t highest = Signed ? (1 << (Bits - 1)) - 1 : (1 << Bits) - 1;
  constexpr std::uint32_t ones = (1U << Bits) - 1;
  const auto fit = [](std::int32_t x) {
    return static_cast<std::uint32_t>(x < lowest ? lowest : x > highest ? highest : x) & ones;
  };
  const std::uint32_t pair = fit(a) << Bits | fit(b);
  if constexpr (2 * Bits == 32)
    return pair;
  else
    return c << (2 * Bits) | pair;
}
template <bool Signed> std::uint32_t pack_sat_16(std::int32_t a, std::int32_t b) {
  return pack_sat<16, Signed>(a, b, 0);
}

} // namespace kernevo::vgpu::semantics
