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

// Four lanes hold consecutive elements, so a register is eight runs: rows of A, columns of B.
template <class Element>
void gather_a(const MatrixShape& shape, RegisterFile registers, typename Element::Value* a) {
  constexpr int run = 4 * Element::kPerRegister;
  for (int r = 0; r < registers_of_a(shape, Element::kPerRegister); ++r) {
    const MatrixPosition first = position_in_a(shape, Element::kPerRegister, 0, r);
    for (int group = 0; group < 8; ++group) {
      auto* out = a + (first.row + group) * shape.k + first.column;
      for (int i = 0; i < run; ++i)
        out[i] = Element::at(registers[r], group * run + i);
    }
  }
}

template <class Element>
void gather_b(const MatrixShape& shape, RegisterFile registers, typename Element::Value* b) {
  constexpr int run = 4 * Element::kPerRegister;
  for (int r = 0; r < registers_of_b(shape, Element::kPerRegister); ++r) {
    const MatrixPosition first = position_in_b(shape, Element::kPerRegister, 0, r);
    for (int group = 0; group < 8; ++group) {
      auto* out = b + first.row * shape.n + first.column + group;
      for (int i = 0; i < run; ++i)
        out[i * shape.n] = Element::at(registers[r], group * run + i);
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
  for (int i = 0; i < elements_of_c(shape); ++i) {
    const MatrixPosition first = position_in_c(shape, 0, i / 2);
    auto* out = c + first.row * shape.n + first.column + i % 2;
    for (int lane = 0; lane < kLanes; ++lane)
      out[lane / 4 * shape.n + lane % 4 * 2] =
          Accumulator::decode(accumulator_at<Accumulator>(registers, lane, i));
  }
}

template <class Accumulator>
void scatter_d(const MatrixShape& shape, const typename Accumulator::Value* d,
               RegisterFile registers) {
  for (int i = 0; i < elements_of_c(shape); ++i) {
    const MatrixPosition first = position_in_c(shape, 0, i / 2);
    const auto* from = d + first.row * shape.n + first.column + i % 2;
    for (int lane = 0; lane < kLanes; ++lane)
      accumulator_at<Accumulator>(registers, lane, i) =
          Accumulator::encode(from[lane / 4 * shape.n + lane % 4 * 2]);
  }
}

// acc += A * B, a block of two rows by eight columns at a time: m is even, n a multiple of 8.
inline void multiply_sum(const MatrixShape& shape, const double* a, const double* b, double* acc) {
  for (int row = 0; row < shape.m; row += 2)
    for (int block = 0; block < shape.n; block += 8) {
      double* upper = acc + row * shape.n + block;
      double* lower = upper + shape.n;
      double sum[16];
      for (int j = 0; j < 8; ++j) {
        sum[j] = upper[j];
        sum[8 + j] = lower[j];
      }
      for (int k = 0; k < shape.k; ++k) {
        const double high = a[row * shape.k + k];
        const double low = a[(row + 1) * shape.k + k];
        const double* right = b + k * shape.n + block;
        for (int j = 0; j < 8; ++j) {
          sum[j] += high * right[j];
          sum[8 + j] += low * right[j];
        }
      }
      for (int j = 0; j < 8; ++j) {
        upper[j] = sum[j];
        lower[j] = sum[8 + j];
      }
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
