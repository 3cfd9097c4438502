// Which element of a matrix each lane's registers hold. One rule covers every mma shape since sm_75
// and, chosen here because PTX leaves them open, the wmma fragments of sm_80: a matrix is cut into
// tiles of 8 rows (8 columns for B) by four registers' worth of k; lane l holds of each tile row
// l / 4 and, l % 4 registers in, one register of consecutive k. Registers count the tiles of A down
// the rows first, those of B along k first, the pairs of C and D down the rows first.
#pragma once

namespace kernevo::vgpu {

struct MatrixShape {
  int m = 0;
  int n = 0;
  int k = 0; // in elements; 32-bit words for b1

  bool operator==(const MatrixShape&) const = default;
};

struct MatrixPosition {
  int row = 0;
  int column = 0;
};

// First of the `per_register` elements (consecutive along k) of A's register.
constexpr MatrixPosition position_in_a(const MatrixShape& shape, int per_register, int lane,
                                       int register_index) {
  const int row_tiles = shape.m / 8;
  return {(register_index % row_tiles) * 8 + lane / 4,
          ((register_index / row_tiles) * 4 + lane % 4) * per_register};
}

// The same for B; the elements are consecutive rows of one column.
constexpr MatrixPosition position_in_b(const MatrixShape& shape, int per_register, int lane,
                                       int register_index) {
  const int k_tiles = shape.k / (4 * per_register);
  return {((register_index % k_tiles) * 4 + lane % 4) * per_register,
          (register_index / k_tiles) * 8 + lane / 4};
}

// First of the two neighbouring elements of a pair of C or D: elements 2p and 2p+1 of a lane.
constexpr MatrixPosition position_in_c(const MatrixShape& shape, int lane, int pair) {
  const int row_tiles = shape.m / 8;
  return {(pair % row_tiles) * 8 + lane / 4, (pair / row_tiles) * 8 + (lane % 4) * 2};
}

constexpr int registers_of_a(const MatrixShape& shape, int per_register) {
  return shape.m * shape.k / (32 * per_register);
}
constexpr int registers_of_b(const MatrixShape& shape, int per_register) {
  return shape.k * shape.n / (32 * per_register);
}
constexpr int elements_of_c(const MatrixShape& shape) {
  return shape.m * shape.n / 32;
}

// mma.m8n8k4 with f16 inputs (sm_70) is four independent products, one for each quad pair: lanes
// 4q..4q+3 and 16+4q..16+4q+3. Positions are inside the product of the lane's own quad pair.
constexpr int quad_pair_of(int lane) {
  return (lane % 16) / 4;
}

constexpr MatrixPosition quad_position_in_a(bool row_major, int lane, int element) {
  const int upper = lane < 16 ? 0 : 4;
  return row_major ? MatrixPosition{lane % 4 + upper, element}
                   : MatrixPosition{element + upper, lane % 4};
}

constexpr MatrixPosition quad_position_in_b(bool row_major, int lane, int element) {
  const int upper = lane < 16 ? 0 : 4;
  return row_major ? MatrixPosition{lane % 4, element + upper}
                   : MatrixPosition{element, lane % 4 + upper};
}

constexpr MatrixPosition quad_position_in_c(bool is_f32, int lane, int element) {
  const int upper = lane < 16 ? 0 : 4;
  if (!is_f32)
    return {lane % 4 + upper, element};
  return {(lane & 1) + (element & 2) + upper, (element & 4) + (lane & 2) + (element & 1)};
}

} // namespace kernevo::vgpu
