// Tensor maps: what a tensor in global memory looks like and which box of it one bulk copy moves.
// CUDA keeps the 128 bytes opaque and fills them with cuTensorMapEncodeTiled or, inside a kernel,
// with tensormap.replace; this is the virtual GPU's own layout of them:
//
//   0  u64 address of the tensor        16  u32 size of each dimension [5]
//   8  u8  rank - 1                     36  u32 size of each dimension of the box [5]
//   9  u8  TensorType                   56  u32 element stride of each dimension [5]
//  10  u8  interleave, 0 = none         80  u64 byte stride of dimensions 1 to 4 [4]
//  11  u8  TensorSwizzle               112  s16 im2col: lower corner [3], upper corner [3]
//  12  u8  TensorFill                  124  u8  TensorMode
//  13  u8  swizzle atomicity, 0 = 16 bytes
//  15  u8  0x4B: some field was set; all other bytes are zero
//
// Dimension 0 is the innermost; its elements are contiguous.
#pragma once

#include "kernevo/base/result.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace kernevo::vgpu {

inline constexpr std::size_t kTensorMapBytes = 128;
inline constexpr std::uint32_t kMaxTensorRank = 5;

// Numbered as tensormap.replace numbers them.
enum class TensorType : std::uint8_t {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f32_ftz, // subnormals are loaded as zero
  f64,
  bf16,
  tf32,
  tf32_ftz,
};
enum class TensorSwizzle : std::uint8_t { none, bytes32, bytes64, bytes128 };
enum class TensorFill : std::uint8_t { zero, nan }; // of what lies outside the tensor
enum class TensorMode : std::uint8_t { tiled, im2col };

std::uint32_t bytes_of(TensorType type);
bool is_float(TensorType type);
// Bytes a swizzle pattern is wide; 0 for none.
std::uint32_t span_of(TensorSwizzle swizzle);
// CUtensorMapDataType numbers the types in another order.
Result<TensorType> tensor_type_of_driver(std::uint32_t data_type);

struct alignas(64) TensorMap {
  std::array<std::byte, kTensorMapBytes> bytes{};
};

// The parameters of cuTensorMapEncodeTiled, without the L2 promotion.
struct TiledTensor {
  TensorType type = TensorType::f32;
  std::uint32_t rank = 1;
  std::uint64_t global_address = 0;
  std::array<std::uint64_t, kMaxTensorRank> dimensions{};
  std::array<std::uint64_t, kMaxTensorRank - 1> strides{}; // bytes, of dimension 1 and up
  std::array<std::uint32_t, kMaxTensorRank> box{};
  std::array<std::uint32_t, kMaxTensorRank> element_strides = {1, 1, 1, 1, 1};
  std::uint32_t interleave = 0; // only 0, none, is supported
  TensorSwizzle swizzle = TensorSwizzle::none;
  TensorFill fill = TensorFill::zero;
};
// Refuses what the driver would refuse.
Result<TensorMap> encode_tiled(const TiledTensor& tensor);

// The parameters of cuTensorMapEncodeIm2col: dimension 0 is the channels, the last one the batch,
// those between are the picture.
struct Im2colTensor {
  TensorType type = TensorType::f16;
  std::uint32_t rank = 4;
  std::uint64_t global_address = 0;
  std::array<std::uint64_t, kMaxTensorRank> dimensions{};
  std::array<std::uint64_t, kMaxTensorRank - 1> strides{};
  std::array<std::int32_t, 3> lower_corner{}; // of the pixels visited, from the first of each
  std::array<std::int32_t, 3> upper_corner{}; // dimension and from the last
  std::uint32_t channels_per_pixel = 0;
  std::uint32_t pixels_per_column = 0;
  std::array<std::uint32_t, kMaxTensorRank> element_strides = {1, 1, 1, 1, 1};
  TensorSwizzle swizzle = TensorSwizzle::none;
  TensorFill fill = TensorFill::zero;
};
Result<TensorMap> encode_im2col(const Im2colTensor& tensor);

// The fields as the copies use them; nothing is checked.
struct TensorFields {
  std::uint64_t address = 0;
  std::uint32_t rank = 1;
  std::uint8_t type = 0; // TensorType, when it is one
  std::uint8_t interleave = 0;
  std::uint8_t swizzle = 0;
  std::uint8_t fill = 0;
  std::uint8_t atomicity = 0;
  bool is_set = false;
  TensorMode mode = TensorMode::tiled;
  std::array<std::uint32_t, kMaxTensorRank> dimensions{};
  std::array<std::uint32_t, kMaxTensorRank> box{};
  std::array<std::uint32_t, kMaxTensorRank> element_strides{};
  std::array<std::uint64_t, kMaxTensorRank - 1> strides{};
  std::array<std::int16_t, 3> lower_corner{};
  std::array<std::int16_t, 3> upper_corner{};

  static TensorFields decode(const TensorMap& map);
  TensorMap encode() const;
};

} // namespace kernevo::vgpu
