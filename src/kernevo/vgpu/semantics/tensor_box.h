// Which bytes of a tensor a box covers: rows along dimension 0, in the order they stand in the
// tile.
#pragma once

#include "kernevo/vgpu/memory/tensor_map.h"

#include <array>
#include <cstdint>
#include <vector>

namespace kernevo::vgpu::semantics {

// The part of a row that lies inside the tensor.
struct RowPart {
  std::uint64_t address = 0;
  std::uint32_t skipped = 0; // bytes of the row before it
  std::uint32_t bytes = 0;   // 0: all of the row lies outside
};

class TensorBox {
public:
  using Coordinates = std::array<std::int32_t, kMaxTensorRank>;

  // The box at these coordinates. In a dimension with an element stride s only every s-th element
  // is visited; dimension 0 has none.
  static TensorBox tile(const TensorFields& fields, const Coordinates& first) {
    TensorBox box(fields);
    box.add_tile(fields.rank - 1, first, first);
    return box;
  }

  // tile::gather4: a column, then four rows of a matrix.
  static TensorBox rows(const TensorFields& fields, const Coordinates& which) {
    TensorBox box(fields);
    for (std::size_t i = 1; i < kMaxTensorRank; ++i)
      box.add({which[0], which[i], 0, 0, 0});
    return box;
  }

  // im2col: pixels one after the other through the pixel box, from the given one, then on to the
  // next picture; each is read at an offset, that of the filter's tap.
  static TensorBox column(const TensorFields& fields, const Coordinates& first,
                          const std::array<std::uint16_t, 3>& offsets) {
    TensorBox box(fields);
    const std::uint32_t last = fields.rank - 1;
    Coordinates at = first;
    for (std::uint32_t pixel = 0; pixel < fields.box[1]; ++pixel) {
      Coordinates tap = at;
      for (std::uint32_t i = 1; i < last; ++i)
        tap[i] = static_cast<std::int32_t>(tap[i] + offsets[i - 1]);
      box.add(tap);
      std::uint32_t i = 1;
      for (; i < last; ++i) {
        at[i] =
            static_cast<std::int32_t>(at[i] + static_cast<std::int32_t>(fields.element_strides[i]));
        const std::int64_t end = std::int64_t{fields.dimensions[i]} + fields.upper_corner[i - 1];
        if (at[i] < end)
          break;
        at[i] = fields.lower_corner[i - 1];
      }
      if (i == last)
        ++at[last];
    }
    return box;
  }

  std::uint32_t row_bytes() const { return fields_.box[0] * element_bytes_; }
  std::uint32_t row_count() const { return static_cast<std::uint32_t>(rows_.size()); }
  RowPart part(std::uint32_t row) const { return rows_[row]; }

private:
  explicit TensorBox(const TensorFields& fields)
      : fields_(fields), element_bytes_(bytes_of(static_cast<TensorType>(fields.type))) {}

  // Nested loops over dimensions `dimension` down to 1.
  void add_tile(std::uint32_t dimension, const Coordinates& first, Coordinates at) {
    if (dimension == 0) {
      add(at);
      return;
    }
    const std::uint32_t step = fields_.element_strides[dimension];
    for (std::uint32_t i = 0; i < fields_.box[dimension]; i += step) {
      at[dimension] = static_cast<std::int32_t>(static_cast<std::uint32_t>(first[dimension]) + i);
      add_tile(dimension - 1, first, at);
    }
  }

  void add(const Coordinates& at) {
    RowPart part;
    std::uint64_t address = fields_.address;
    for (std::uint32_t i = 1; i < fields_.rank; ++i) {
      if (at[i] < 0 || static_cast<std::uint32_t>(at[i]) >= fields_.dimensions[i]) {
        rows_.push_back(part);
        return;
      }
      address += static_cast<std::uint64_t>(at[i]) * fields_.strides[i - 1];
    }
    const std::int64_t begin = at[0] < 0 ? 0 : at[0];
    const std::int64_t limit = std::int64_t{at[0]} + fields_.box[0];
    const std::int64_t end =
        limit < std::int64_t{fields_.dimensions[0]} ? limit : std::int64_t{fields_.dimensions[0]};
    if (begin < end) {
      part.address = address + static_cast<std::uint64_t>(begin) * element_bytes_;
      part.skipped = static_cast<std::uint32_t>(begin - at[0]) * element_bytes_;
      part.bytes = static_cast<std::uint32_t>(end - begin) * element_bytes_;
    }
    rows_.push_back(part);
  }

  TensorFields fields_;
  std::uint32_t element_bytes_;
  std::vector<RowPart> rows_;
};

} // namespace kernevo::vgpu::semantics
