// The fragment layouts are spelled out here shape by shape, as the PTX manual gives them, and the
// product is a plain triple loop: nothing is shared with the code under test but the formats.
#include "kernevo/vgpu/semantics/matrix_multiply.h"

#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>

namespace kernevo::vgpu {
namespace {

// Arithmetic on int ends here.
constexpr std::size_t index(int value) {
  return static_cast<std::size_t>(value);
}

using matrix::gather_a;
using matrix::gather_b;

// Registers of one operand: [register][lane] of 8 bytes, used as 4 or 8.
class Registers {
public:
  explicit Registers(std::size_t count) : storage_(count) {
    for (auto& slot : storage_)
      pointers_.push_back(slot.data());
  }
  matrix::RegisterFile file() { return pointers_.data(); }
  template <class T> T* lanes(std::size_t at) { return matrix::lanes_of<T>(pointers_[at]); }

private:
  struct alignas(64) Slot {
    std::array<std::byte, 256> bytes{};
    std::byte* data() { return bytes.data(); }
  };
  std::vector<Slot> storage_;
  std::vector<std::byte*> pointers_;
};

struct Place {
  int row;
  int column;
};
// Element i of a lane, from the manual.
using Layout = std::function<Place(int lane, int i)>;

// Writes `bits`-wide elements of a matrix into registers.
void fill(Registers& registers, int elements, int bits, const Layout& layout,
          const std::function<std::uint32_t(int, int)>& raw) {
  const int per_register = 32 / bits;
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < elements; ++i) {
      const Place at = layout(lane, i);
      registers.lanes<std::uint32_t>(index(i / per_register))[lane] |= raw(at.row, at.column)
                                                                       << (i % per_register * bits);
    }
}

int group(int lane) {
  return lane >> 2;
}
int thread(int lane) {
  return lane % 4;
}

Place c_16x8(int lane, int i) {
  return {i < 2 ? group(lane) : group(lane) + 8, thread(lane) * 2 + (i & 1)};
}

// f16 and bf16, m16n8k16.
Place a_16x16_half(int lane, int i) {
  const bool upper = (i >= 2 && i < 4) || i >= 6;
  return {group(lane) + (upper ? 8 : 0), thread(lane) * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
}
Place b_16x8_half(int lane, int i) {
  return {thread(lane) * 2 + (i & 1) + (i >= 2 ? 8 : 0), group(lane)};
}
// m16n8k8.
Place a_16x8_half(int lane, int i) {
  return {group(lane) + (i >= 2 ? 8 : 0), thread(lane) * 2 + (i & 1)};
}
Place b_8x8_half(int lane, int i) {
  return {thread(lane) * 2 + i, group(lane)};
}

struct HalfCase {
  int k;
  int a_elements;
  int b_elements;
  Layout a;
  Layout b;
};

class HalfProduct : public ::testing::TestWithParam<int> {};

TEST_P(HalfProduct, MatchesATripleLoop) {
  const HalfCase half_case = GetParam() == 16 ? HalfCase{16, 8, 4, a_16x16_half, b_16x8_half}
                                              : HalfCase{8, 4, 2, a_16x8_half, b_8x8_half};
  const MatrixShape shape{16, 8, half_case.k};
  std::mt19937 random(7);
  std::uniform_real_distribution<double> numbers(-2, 2);
  std::vector<std::uint16_t> a(index(16 * shape.k));
  std::vector<std::uint16_t> b(index(shape.k * 8));
  std::vector<float> c(16 * 8);
  for (auto& x : a)
    x = double_to_half(numbers(random));
  for (auto& x : b)
    x = double_to_half(numbers(random));
  for (auto& x : c)
    x = static_cast<float>(numbers(random));
  Registers ra(4);
  Registers rb(2);
  Registers rc(4);
  Registers rd(4);
  fill(ra, half_case.a_elements, 16, half_case.a,
       [&](int r, int k) { return a[index(r * shape.k + k)]; });
  fill(rb, half_case.b_elements, 16, half_case.b,
       [&](int k, int n) { return b[index(k * 8 + n)]; });
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      const Place at = c_16x8(lane, i);
      rc.lanes<float>(index(i))[lane] = c[index(at.row * 8 + at.column)];
    }

  std::array<double, matrix::kMaxA> ma;
  std::array<double, matrix::kMaxB> mb;
  std::array<double, matrix::kMaxC> sum;
  gather_a<matrix::F16>(shape, ra.file(), ma.data());
  gather_b<matrix::F16>(shape, rb.file(), mb.data());
  matrix::gather_c<matrix::AccumulatorF32>(shape, rc.file(), sum.data());
  matrix::multiply_sum(shape, ma.data(), mb.data(), sum.data());
  matrix::scatter_d<matrix::AccumulatorF32>(shape, sum.data(), rd.file());

  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      const Place at = c_16x8(lane, i);
      long double exact = c[index(at.row * 8 + at.column)];
      for (int k = 0; k < shape.k; ++k)
        exact += static_cast<long double>(half_to_float(a[index(at.row * shape.k + k)])) *
                 half_to_float(b[index(k * 8 + at.column)]);
      EXPECT_EQ(rd.lanes<float>(index(i))[lane], static_cast<float>(exact));
    }
}

INSTANTIATE_TEST_SUITE_P(Depths, HalfProduct, ::testing::Values(8, 16));

// s8 m16n8k32 and m16n8k16; s4 m16n8k64: the manual's formulas for integers.
TEST(IntegerProduct, ByteFragmentsOfM16N8K32) {
  const MatrixShape shape{16, 8, 32};
  std::mt19937 random(3);
  std::vector<std::int8_t> a(16 * 32);
  std::vector<std::uint8_t> b(32 * 8);
  for (auto& x : a)
    x = static_cast<std::int8_t>(random());
  for (auto& x : b)
    x = static_cast<std::uint8_t>(random());
  Registers ra(4);
  Registers rb(2);
  Registers rd(4);
  fill(
      ra, 16, 8,
      [](int lane, int i) {
        const bool lower = (i < 4) || (i >= 8 && i < 12);
        return Place{group(lane) + (lower ? 0 : 8), thread(lane) * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
      },
      [&](int r, int k) {
        return static_cast<std::uint32_t>(static_cast<std::uint8_t>(a[index(r * 32 + k)]));
      });
  fill(
      rb, 8, 8,
      [](int lane, int i) {
        return Place{thread(lane) * 4 + (i & 3) + (i >= 4 ? 16 : 0), group(lane)};
      },
      [&](int k, int n) { return b[index(k * 8 + n)]; });
  std::array<std::int32_t, matrix::kMaxA> ma;
  std::array<std::int32_t, matrix::kMaxB> mb;
  std::array<std::int64_t, matrix::kMaxC> sum{};
  gather_a<matrix::Byte<std::int8_t>>(shape, ra.file(), ma.data());
  gather_b<matrix::Byte<std::uint8_t>>(shape, rb.file(), mb.data());
  matrix::multiply_integers(shape, ma.data(), mb.data(), sum.data());
  matrix::scatter_d<matrix::AccumulatorS32>(shape, sum.data(), rd.file());
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      const Place at = c_16x8(lane, i);
      int exact = 0;
      for (int k = 0; k < 32; ++k)
        exact += a[index(at.row * 32 + k)] * b[index(k * 8 + at.column)];
      EXPECT_EQ(rd.lanes<std::int32_t>(index(i))[lane], exact);
    }
}

TEST(MatrixLayout, Tf32M16N8K8) {
  const MatrixShape shape{16, 8, 8};
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      const MatrixPosition at = position_in_a(shape, 1, lane, i);
      EXPECT_EQ(at.row, (i == 0 || i == 2) ? group(lane) : group(lane) + 8);
      EXPECT_EQ(at.column, i < 2 ? thread(lane) : thread(lane) + 4);
    }
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 2; ++i) {
      const MatrixPosition at = position_in_b(shape, 1, lane, i);
      EXPECT_EQ(at.row, i == 0 ? thread(lane) : thread(lane) + 4);
      EXPECT_EQ(at.column, group(lane));
    }
}

TEST(MatrixLayout, F64M16N8K16) {
  const MatrixShape shape{16, 8, 16};
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 8; ++i) {
      const MatrixPosition at = position_in_a(shape, 1, lane, i);
      EXPECT_EQ(at.row, i % 2 == 0 ? group(lane) : group(lane) + 8);
      EXPECT_EQ(at.column, i % 2 == 0 ? i * 2 + thread(lane) : i * 2 - 2 + thread(lane));
    }
}

// Whatever the choice, a fragment must hold every element exactly once.
TEST(MatrixLayout, FragmentsCoverTheMatrix) {
  struct Form {
    MatrixShape shape;
    int per_register;
  };
  const Form forms[] = {{{16, 16, 16}, 2}, {{8, 32, 16}, 2}, {{32, 8, 16}, 2}, {{16, 16, 16}, 4},
                        {{8, 32, 16}, 4},  {{32, 8, 16}, 4}, {{16, 16, 8}, 1}, {{8, 8, 4}, 1},
                        {{8, 8, 32}, 8},   {{16, 8, 64}, 8}, {{16, 8, 32}, 4}, {{8, 8, 16}, 4},
                        {{16, 8, 16}, 1},  {{16, 8, 8}, 2}};
  for (const Form& form : forms) {
    const MatrixShape& shape = form.shape;
    std::vector<int> a(index(shape.m * shape.k));
    std::vector<int> b(index(shape.k * shape.n));
    std::vector<int> c(index(shape.m * shape.n));
    for (int lane = 0; lane < 32; ++lane) {
      for (int r = 0; r < registers_of_a(shape, form.per_register); ++r)
        for (int i = 0; i < form.per_register; ++i) {
          const MatrixPosition at = position_in_a(shape, form.per_register, lane, r);
          ++a.at(index(at.row * shape.k + at.column + i));
        }
      for (int r = 0; r < registers_of_b(shape, form.per_register); ++r)
        for (int i = 0; i < form.per_register; ++i) {
          const MatrixPosition at = position_in_b(shape, form.per_register, lane, r);
          ++b.at(index((at.row + i) * shape.n + at.column));
        }
      for (int i = 0; i < elements_of_c(shape); ++i) {
        const MatrixPosition at = position_in_c(shape, lane, i / 2);
        ++c.at(index(at.row * shape.n + at.column + i % 2));
      }
    }
    EXPECT_EQ(a, std::vector<int>(a.size(), 1));
    EXPECT_EQ(b, std::vector<int>(b.size(), 1));
    EXPECT_EQ(c, std::vector<int>(c.size(), 1));
  }
}

TEST(MatrixLayout, QuadPairsCoverTheirMatrices) {
  for (const bool row : {false, true})
    for (const bool wide : {false, true}) {
      std::array<int, 4 * 32> a{};
      std::array<int, 4 * 32> b{};
      std::array<int, 4 * 64> c{};
      for (int lane = 0; lane < 32; ++lane) {
        const int quad = quad_pair_of(lane);
        for (int i = 0; i < 4; ++i) {
          const MatrixPosition in_a = quad_position_in_a(row, lane, i);
          const MatrixPosition in_b = quad_position_in_b(row, lane, i);
          ++a.at(index(quad * 32 + in_a.row * 4 + in_a.column));
          ++b.at(index(quad * 32 + in_b.row * 8 + in_b.column));
        }
        for (int i = 0; i < 8; ++i) {
          const MatrixPosition at = quad_position_in_c(wide, lane, i);
          ++c.at(index(quad * 64 + at.row * 8 + at.column));
        }
      }
      for (const int count : a)
        EXPECT_EQ(count, 1);
      for (const int count : b)
        EXPECT_EQ(count, 1);
      for (const int count : c)
        EXPECT_EQ(count, 1);
    }
}

TEST(MatrixElements, EightBitFloats) {
  EXPECT_EQ(matrix::decode_e4m3(0x38), 1.0);
  EXPECT_EQ(matrix::decode_e4m3(0x7E), 448.0); // the largest
  EXPECT_EQ(matrix::decode_e4m3(0x01), 0x1p-9);
  EXPECT_EQ(matrix::decode_e4m3(0x08), 0x1p-6); // the smallest normal
  EXPECT_EQ(matrix::decode_e4m3(0xC0), -2.0);
  EXPECT_TRUE(std::isnan(matrix::decode_e4m3(0x7F)));
  EXPECT_TRUE(std::isnan(matrix::decode_e4m3(0xFF)));
  EXPECT_EQ(matrix::decode_e5m2(0x3C), 1.0);
  EXPECT_EQ(matrix::decode_e5m2(0x7B), 57344.0);
  EXPECT_EQ(matrix::decode_e5m2(0x7C), std::numeric_limits<double>::infinity());
  EXPECT_EQ(matrix::decode_e5m2(0x01), 0x1p-16);
}

TEST(MatrixElements, Tf32IgnoresTheLow13Bits) {
  EXPECT_EQ(matrix::decode_tf32(0x3F801FFFU), 1.0);
  EXPECT_EQ(matrix::decode_tf32(0x3F802000U), 1.0 + 0x1p-10);
}

TEST(MatrixElements, IntegersAreExtended) {
  const std::uint32_t words[] = {0xF0000008U, 0x00807F00U};
  std::byte lanes[8];
  std::memcpy(lanes, words, sizeof lanes);
  EXPECT_EQ(matrix::Nibble<true>::at(lanes, 0), -8);
  EXPECT_EQ(matrix::Nibble<true>::at(lanes, 7), -1);
  EXPECT_EQ(matrix::Nibble<false>::at(lanes, 0), 8);
  EXPECT_EQ(matrix::Nibble<false>::at(lanes, 7), 15);
  EXPECT_EQ(matrix::Byte<std::int8_t>::at(lanes, 6), -128);
  EXPECT_EQ(matrix::Byte<std::uint8_t>::at(lanes, 6), 128);
}

TEST(MatrixElements, EveryHalfWidensExactly) {
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const double wide = matrix::widen_half(half);
    if ((bits & 0x7C00U) == 0x7C00U && (bits & 0x3FFU) != 0)
      EXPECT_TRUE(std::isnan(wide)) << bits;
    else
      EXPECT_EQ(std::bit_cast<std::uint64_t>(wide),
                std::bit_cast<std::uint64_t>(static_cast<double>(half_to_float(half))))
          << bits;
  }
}

TEST(MatrixElements, AccumulatorsRoundSaturateAndWrap) {
  EXPECT_EQ(matrix::AccumulatorF16::encode(2049), 0x6800); // ties to even: 2048
  EXPECT_EQ(matrix::AccumulatorF16::encode(70000), 0x7C00);
  EXPECT_EQ(matrix::AccumulatorS32::encode(std::int64_t{1} << 31U),
            std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(matrix::AccumulatorS32Saturated::encode(std::int64_t{1} << 31U),
            std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(matrix::AccumulatorS32Saturated::encode(-(std::int64_t{1} << 40U)),
            std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(std::bit_cast<std::uint32_t>(
                matrix::AccumulatorF32::encode(std::numeric_limits<double>::quiet_NaN())),
            0x7FFFFFFFU);
}

TEST(BitProduct, XorAndAndCountOnes) {
  const MatrixShape shape{8, 8, 4};
  std::array<std::int32_t, 32> a{};
  std::array<std::int32_t, 32> b{};
  a[0] = -1;   // row 0, first word
  b[3] = 0xF0; // first word of column 3
  std::array<std::int64_t, 64> by_xor{};
  std::array<std::int64_t, 64> by_and{};
  matrix::multiply_bits<true>(shape, a.data(), b.data(), by_xor.data());
  matrix::multiply_bits<false>(shape, a.data(), b.data(), by_and.data());
  EXPECT_EQ(by_xor[3], 28);
  EXPECT_EQ(by_xor[0], 32);
  EXPECT_EQ(by_xor[8 + 3], 4);
  EXPECT_EQ(by_and[3], 4);
  EXPECT_EQ(by_and[0], 0);
}

} // namespace
} // namespace kernevo::vgpu
