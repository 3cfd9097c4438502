// D = A * B + C on plain row-major arrays, and the way between them and register fragments.
//
// Numbers: products of the small formats are exact; they are summed in double, k ascending,
// starting from C, and the sum is rounded once, to nearest even, to the type of D. Tensor cores
// align the addends and drop low bits in an order NVIDIA does not publish, so the last bits may
// differ from silicon; this result is the closer one to the exact value. f64 is a chain of fused
// multiply-adds. Integers are exact, then wrap or saturate to 32 bits.
#pragma once

#include "kernevo/vgpu/semantics/matrix_elements.h"
#include "kernevo/vgpu/semantics/matrix_layout.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace kernevo::vgpu::matrix {

inline constexpr int kLanes = 32;
inline constexpr int kMaxA = 1024; // 16x64 s4
inline constexpr int kMaxB = 512;
inline constexpr int kMaxC = 256;

// A register of the warp: 32 lanes of a 2-, 4- or 8-byte value.
using RegisterFile = std::byte* const*;

template <class T> T* lanes_of(std::byte* slot) {
  return reinterpret_cast<T*>(slot); // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
}

template <class Element>
void gather_a(const MatrixShape& shape, RegisterFile registers, typename Element::Value* a) {
  constexpr int per = Element::kPerRegister;
  for (int r = 0; r < registers_of_a(shape, per); ++r) {
    const auto* lanes = lanes_of<typename Element::Register>(registers[r]);
    for (int lane = 0; lane < kLanes; ++lane) {
      const MatrixPosition at = position_in_a(shape, per, lane, r);
      for (int i = 0; i < per; ++i)
        a[at.row * shape.k + at.column + i] = Element::decode(lanes[lane], i);
    }
  }
}

template <class Element>
void gather_b(const MatrixShape& shape, RegisterFile registers, typename Element::Value* b) {
  constexpr int per = Element::kPerRegister;
  for (int r = 0; r < registers_of_b(shape, per); ++r) {
    const auto* lanes = lanes_of<typename Element::Register>(registers[r]);
    for (int lane = 0; lane < kLanes; ++lane) {
      const MatrixPosition at = position_in_b(shape, per, lane, r);
      for (int i = 0; i < per; ++i)
        b[(at.row + i) * shape.n + at.column] = Element::decode(lanes[lane], i);
    }
  }
}

// Where element i of a lane's accumulator stands: f16 packs two in a register.
template <class Accumulator>
typename Accumulator::Element& accumulator_at(RegisterFile registers, int lane, int i) {
  using Element = typename Accumulator::Element;
  if constexpr (sizeof(Element) == 2)
    return lanes_of<Element>(registers[i / 2])[2 * lane + i % 2];
  else
    return lanes_of<Element>(registers[i])[lane];
}

template <class Accumulator>
void gather_c(const MatrixShape& shape, RegisterFile registers, typename Accumulator::Value* c) {
  for (int i = 0; i < elements_of_c(shape); ++i)
    for (int lane = 0; lane < kLanes; ++lane) {
      const MatrixPosition at = position_in_c(shape, lane, i / 2);
      c[at.row * shape.n + at.column + i % 2] =
          Accumulator::decode(accumulator_at<Accumulator>(registers, lane, i));
    }
}

template <class Accumulator>
void scatter_d(const MatrixShape& shape, const typename Accumulator::Value* d,
               RegisterFile registers) {
  for (int i = 0; i < elements_of_c(shape); ++i)
    for (int lane = 0; lane < kLanes; ++lane) {
      const MatrixPosition at = position_in_c(shape, lane, i / 2);
      accumulator_at<Accumulator>(registers, lane, i) =
          Accumulator::encode(d[at.row * shape.n + at.column + i % 2]);
    }
}

// acc += A * B. Eight columns at a time: every n is a multiple of 8.
inline void multiply_sum(const MatrixShape& shape, const double* a, const double* b, double* acc) {
  for (int row = 0; row < shape.m; ++row)
    for (int block = 0; block < shape.n; block += 8) {
      double* out = acc + row * shape.n + block;
      double sum[8];
      for (int j = 0; j < 8; ++j)
        sum[j] = out[j];
      for (int k = 0; k < shape.k; ++k) {
        const double left = a[row * shape.k + k];
        const double* right = b + k * shape.n + block;
        for (int j = 0; j < 8; ++j)
          sum[j] += left * right[j];
      }
      for (int j = 0; j < 8; ++j)
        out[j] = sum[j];
    }
}

inline void multiply_fused(const MatrixShape& shape, const double* a, const double* b,
                           double* acc) {
  for (int row = 0; row < shape.m; ++row)
    for (int column = 0; column < shape.n; ++column) {
      double sum = acc[row * shape.n + column];
      for (int k = 0; k < shape.k; ++k)
        sum = std::fma(a[row * shape.k + k], b[k * shape.n + column], sum);
      acc[row * shape.n + column] = sum;
    }
}

// No sum of at most 64 products of bytes leaves 32 bits.
inline void multiply_integers(const MatrixShape& shape, const std::int32_t* a,
                              const std::int32_t* b, std::int64_t* acc) {
  for (int row = 0; row < shape.m; ++row)
    for (int block = 0; block < shape.n; block += 8) {
      std::int32_t sum[8] = {};
      for (int k = 0; k < shape.k; ++k) {
        const std::int32_t left = a[row * shape.k + k];
        const std::int32_t* right = b + k * shape.n + block;
        for (int j = 0; j < 8; ++j)
          sum[j] += left * right[j];
      }
      for (int j = 0; j < 8; ++j)
        acc[row * shape.n + block + j] += sum[j];
    }
}

// Bits: the product of two words is the number of ones of their xor or and.
template <bool kXor>
void multiply_bits(const MatrixShape& shape, const std::int32_t* a, const std::int32_t* b,
                   std::int64_t* acc) {
  for (int row = 0; row < shape.m; ++row)
    for (int column = 0; column < shape.n; ++column)
      for (int k = 0; k < shape.k; ++k) {
        const auto left = static_cast<std::uint32_t>(a[row * shape.k + k]);
        const auto right = static_cast<std::uint32_t>(b[k * shape.n + column]);
        acc[row * shape.n + column] += std::popcount(kXor ? left ^ right : left & right);
      }
}

} // namespace kernevo::vgpu::matrix
