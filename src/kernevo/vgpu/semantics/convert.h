// cvt on one lane.
#pragma once

#include "kernevo/vgpu/semantics/formats.h"
#include "kernevo/vgpu/semantics/integer.h"

#include <cstdint>
#include <limits>
#include <type_traits>

namespace kernevo::vgpu::semantics {

template <class D, class S> constexpr D resize(S value) {
  return static_cast<D>(value);
}

template <class D, class S> constexpr D resize_sat(S value) {
  constexpr auto lowest = static_cast<Int128>(std::numeric_limits<D>::min());
  constexpr auto highest = static_cast<Int128>(std::numeric_limits<D>::max());
  const auto wide = static_cast<Int128>(value);
  return static_cast<D>(wide < lowest ? lowest : wide > highest ? highest : wide);
}

// Rounding to an integer: the same four modes, written .rni .rzi .rmi .rpi.
template <Rounding Mode> double integral(double value) {
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
  constexpr double lowest =
      std::is_signed_v<I> ? static_cast<double>(std::numeric_limits<I>::min()) : 0.0;
  constexpr double beyond = // 2^bits or 2^(bits-1)
      2.0 * static_cast<double>(U{1} << (width - (std::is_signed_v<I> ? 2 : 1)));
  if (value != value)
    return nan_is_top_bit ? static_cast<I>(U{1} << (width - 1)) : I{0};
  if (value <= lowest)
    return std::numeric_limits<I>::min();
  if (value >= beyond)
    return std::numeric_limits<I>::max();
  return static_cast<I>(value);
}

// The integer as a double; a 64-bit one that does not fit is rounded to odd, so that rounding it
// again to a smaller format is exact.
template <class I> double integer_to_odd(I value) {
  const auto nearest = static_cast<double>(value);
  if constexpr (sizeof(I) == 8) {
    const int side = sign_of(static_cast<Int128>(value) - static_cast<Int128>(nearest));
    auto bits = std::bit_cast<std::uint64_t>(nearest);
    if (side != 0 && (bits & 1U) == 0)
      bits += (side > 0) == (nearest > 0) ? 1 : std::uint64_t{0} - 1;
    return std::bit_cast<double>(bits);
  }
  return nearest;
}
template <class Format, class I, Rounding Mode> typename Format::Storage integer_to_float(I value) {
  if constexpr (Format::kIsF64 && sizeof(I) == 8) {
    const auto nearest = static_cast<double>(value);
    const int side = sign_of(static_cast<Int128>(value) - static_cast<Int128>(nearest));
    return std::bit_cast<double>(redirect(std::bit_cast<std::uint64_t>(nearest), side, Mode));
  } else {
    return Format::template encode<Mode>(integer_to_odd(value));
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
template <class Format> typename Format::Storage relu_float(typename Format::Storage value) {
  const double wide = Format::decode(value);
  return Format::template encode<Rounding::rn>(wide > 0 || wide != wide ? wide : 0.0);
}
inline float flush_f32(float value) {
  return flush(value);
}

struct NarrowMode {
  Rounding rounding = Rounding::rn;
  bool relu = false;
  bool satfinite = false;
};

inline double relu_if(bool relu, double value) {
  return relu && value <= 0 ? 0.0 : value;
}

// To f16 or bf16 with .relu and .satfinite.
template <class Format, NarrowMode Mode> std::uint16_t narrow_to_half(double value) {
  const auto bits = SixteenBits<Format>::template encode<Mode.rounding>(relu_if(Mode.relu, value));
  if constexpr (Mode.satfinite)
    if ((bits & ~kHalfSign) == Format::kInfinity)
      return static_cast<std::uint16_t>((bits & kHalfSign) | Format::kLargest);
  return bits;
}
template <class Format, NarrowMode Mode> std::uint16_t narrow_f32(float value) {
  return narrow_to_half<Format, Mode>(value);
}
// Two f32 into one register; the first operand goes into the upper half.
template <class Format, NarrowMode Mode> std::uint32_t pack_f32(float high, float low) {
  return static_cast<std::uint32_t>(narrow_to_half<Format, Mode>(high)) << 16 |
         narrow_to_half<Format, Mode>(low);
}

enum class Tf32Rounding : std::uint8_t { rna, rn, rz };

// 10 explicit mantissa bits in the layout of f32; the lower 13 bits are zero.
template <Tf32Rounding Mode, bool Relu, bool Satfinite> std::uint32_t to_tf32(float value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  if (value != value)
    return kCanonicalNan;
  if (Relu && (bits >> 31) != 0)
    return 0;
  constexpr std::uint32_t dropped = 0x1FFFU;
  constexpr std::uint32_t infinity = 0x7F800000U;
  if ((bits & 0x7FFFFFFFU) < infinity) {
    if constexpr (Mode == Tf32Rounding::rna)
      bits += 0x1000U;
    else if constexpr (Mode == Tf32Rounding::rn)
      bits += 0x0FFFU + (bits >> 13 & 1U);
  }
  bits &= ~dropped;
  if (Satfinite && (bits & 0x7FFFFFFFU) >= infinity)
    bits = (bits & 0x80000000U) | (infinity - 1 - dropped);
  return bits;
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
  const double high = relu_if(Relu, Format8::decode(static_cast<std::uint8_t>(pair >> 8)));
  const double low = relu_if(Relu, Format8::decode(static_cast<std::uint8_t>(pair)));
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
             double_to_bfloat(decode_ue8m0(static_cast<std::uint8_t>(pair >> 8))))
             << 16 |
         double_to_bfloat(decode_ue8m0(static_cast<std::uint8_t>(pair)));
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
