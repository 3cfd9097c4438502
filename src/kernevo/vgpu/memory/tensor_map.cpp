#include "kernevo/vgpu/memory/tensor_map.h"

#include <cstring>
#include <fmt/format.h>

namespace kernevo::vgpu {
namespace {

constexpr std::byte kMarker{0x4B};
constexpr std::uint32_t kMaxBox = 256;
constexpr std::uint64_t kMaxStride = std::uint64_t{1} << 40U;
constexpr std::uint32_t kUnit = 16; // TMA moves 16 bytes at a time

constexpr std::size_t kAddressAt = 0;
constexpr std::size_t kRankAt = 8;
constexpr std::size_t kTypeAt = 9;
constexpr std::size_t kInterleaveAt = 10;
constexpr std::size_t kSwizzleAt = 11;
constexpr std::size_t kFillAt = 12;
constexpr std::size_t kAtomicityAt = 13;
constexpr std::size_t kMarkerAt = 15;
constexpr std::size_t kDimensionsAt = 16;
constexpr std::size_t kBoxAt = 36;
constexpr std::size_t kElementStridesAt = 56;
constexpr std::size_t kStridesAt = 80;
constexpr std::size_t kLowerAt = 112;
constexpr std::size_t kUpperAt = 118;
constexpr std::size_t kModeAt = 124;

template <class T> T get(const TensorMap& map, std::size_t at) {
  T value;
  std::memcpy(&value, map.bytes.data() + at, sizeof value);
  return value;
}
template <class T> void put(TensorMap& map, std::size_t at, const T& value) {
  std::memcpy(map.bytes.data() + at, &value, sizeof value);
}

tl::unexpected<Error> refuse(std::string message) {
  return fail(ErrorCode::input, "tensor map: " + std::move(message));
}

// What tiles and columns of pixels have in common.
template <class Tensor>
Result<TensorFields> common_fields(const Tensor& tensor, std::uint32_t least_rank) {
  if (tensor.rank < least_rank || tensor.rank > kMaxTensorRank)
    return refuse(fmt::format("the rank must be {} to 5, not {}", least_rank, tensor.rank));
  if (tensor.global_address % kUnit != 0)
    return refuse("the tensor's address must be a multiple of 16");
  if (tensor.fill == TensorFill::nan && !is_float(tensor.type))
    return refuse("only floating-point elements can be filled with NaN");
  TensorFields fields;
  fields.is_set = true;
  fields.address = tensor.global_address;
  fields.rank = tensor.rank;
  fields.type = static_cast<std::uint8_t>(tensor.type);
  fields.swizzle = static_cast<std::uint8_t>(tensor.swizzle);
  fields.fill = static_cast<std::uint8_t>(tensor.fill);
  for (std::uint32_t i = 0; i < tensor.rank; ++i) {
    if (tensor.dimensions[i] == 0 || tensor.dimensions[i] > 0xFFFFFFFFU)
      return refuse(fmt::format("dimension {} must be 1 to 2^32 - 1", i));
    if (tensor.element_strides[i] == 0 || tensor.element_strides[i] > 8)
      return refuse(fmt::format("the element stride of dimension {} must be 1 to 8", i));
    fields.dimensions[i] = static_cast<std::uint32_t>(tensor.dimensions[i]);
    fields.element_strides[i] = tensor.element_strides[i];
    if (i == 0)
      continue;
    if (tensor.strides[i - 1] % kUnit != 0 || tensor.strides[i - 1] >= kMaxStride)
      return refuse(
          fmt::format("the stride of dimension {} must be a multiple of 16 below 2^40 bytes", i));
    fields.strides[i - 1] = tensor.strides[i - 1];
  }
  return fields;
}

Result<void> check_inner(std::uint32_t elements, TensorType type, TensorSwizzle swizzle) {
  const std::uint32_t bytes = elements * bytes_of(type);
  if (bytes % kUnit != 0)
    return refuse(fmt::format("the box is {} bytes wide, which is no multiple of 16", bytes));
  if (swizzle != TensorSwizzle::none && bytes > span_of(swizzle))
    return refuse(fmt::format("the box is {} bytes wide, wider than its swizzle of {}", bytes,
                              span_of(swizzle)));
  return {};
}

} // namespace

std::uint32_t bytes_of(TensorType type) {
  switch (type) {
  case TensorType::u8: return 1;
  case TensorType::u16:
  case TensorType::f16:
  case TensorType::bf16: return 2;
  case TensorType::u64:
  case TensorType::s64:
  case TensorType::f64: return 8;
  default: return 4;
  }
}

bool is_float(TensorType type) {
  return type >= TensorType::f16;
}

std::uint32_t span_of(TensorSwizzle swizzle) {
  switch (swizzle) {
  case TensorSwizzle::none: return 0;
  case TensorSwizzle::bytes32: return 32;
  case TensorSwizzle::bytes64: return 64;
  case TensorSwizzle::bytes128: return 128;
  }
  return 0;
}

Result<TensorType> tensor_type_of_driver(std::uint32_t data_type) {
  constexpr TensorType types[] = {
      TensorType::u8,      TensorType::u16,  TensorType::u32,     TensorType::s32, TensorType::u64,
      TensorType::s64,     TensorType::f16,  TensorType::f32,     TensorType::f64, TensorType::bf16,
      TensorType::f32_ftz, TensorType::tf32, TensorType::tf32_ftz};
  if (data_type >= std::size(types))
    return refuse(fmt::format("there is no data type {}, or it is not supported", data_type));
  return types[data_type];
}

Result<TensorMap> encode_tiled(const TiledTensor& tensor) {
  KERNEVO_TRY(fields, common_fields(tensor, 1));
  if (tensor.interleave != 0)
    return refuse("interleaved layouts are not supported");
  for (std::uint32_t i = 0; i < tensor.rank; ++i) {
    if (tensor.box[i] == 0 || tensor.box[i] > kMaxBox)
      return refuse(
          fmt::format("dimension {} of the box must be 1 to 256, not {}", i, tensor.box[i]));
    fields.box[i] = tensor.box[i];
  }
  KERNEVO_CHECK(check_inner(tensor.box[0], tensor.type, tensor.swizzle));
  return fields.encode();
}

Result<TensorMap> encode_im2col(const Im2colTensor& tensor) {
  KERNEVO_TRY(fields, common_fields(tensor, 3));
  if (tensor.channels_per_pixel == 0 || tensor.channels_per_pixel > kMaxBox)
    return refuse("the channels per pixel must be 1 to 256");
  if (tensor.pixels_per_column == 0 || tensor.pixels_per_column > 1024)
    return refuse("the pixels per column must be 1 to 1024");
  KERNEVO_CHECK(check_inner(tensor.channels_per_pixel, tensor.type, tensor.swizzle));
  fields.mode = TensorMode::im2col;
  fields.box[0] = tensor.channels_per_pixel;
  fields.box[1] = tensor.pixels_per_column;
  // Fewer dimensions leave more bits for each.
  const std::int32_t limit = tensor.rank == 3 ? 1 << 15 : tensor.rank == 4 ? 1 << 7 : 1 << 4;
  for (std::uint32_t i = 0; i + 2 < tensor.rank; ++i) {
    for (const std::int32_t corner : {tensor.lower_corner[i], tensor.upper_corner[i]})
      if (corner < -limit || corner >= limit)
        return refuse(fmt::format("a corner of the pixel box must be {} to {}", -limit, limit - 1));
    fields.lower_corner[i] = static_cast<std::int16_t>(tensor.lower_corner[i]);
    fields.upper_corner[i] = static_cast<std::int16_t>(tensor.upper_corner[i]);
  }
  return fields.encode();
}

TensorFields TensorFields::decode(const TensorMap& map) {
  TensorFields fields;
  fields.address = get<std::uint64_t>(map, kAddressAt);
  fields.rank = get<std::uint8_t>(map, kRankAt) + 1U;
  fields.type = get<std::uint8_t>(map, kTypeAt);
  fields.interleave = get<std::uint8_t>(map, kInterleaveAt);
  fields.swizzle = get<std::uint8_t>(map, kSwizzleAt);
  fields.fill = get<std::uint8_t>(map, kFillAt);
  fields.atomicity = get<std::uint8_t>(map, kAtomicityAt);
  fields.is_set = map.bytes[kMarkerAt] == kMarker;
  fields.mode = get<std::uint8_t>(map, kModeAt) == 0 ? TensorMode::tiled : TensorMode::im2col;
  fields.dimensions = get<decltype(fields.dimensions)>(map, kDimensionsAt);
  fields.box = get<decltype(fields.box)>(map, kBoxAt);
  fields.element_strides = get<decltype(fields.element_strides)>(map, kElementStridesAt);
  fields.strides = get<decltype(fields.strides)>(map, kStridesAt);
  fields.lower_corner = get<decltype(fields.lower_corner)>(map, kLowerAt);
  fields.upper_corner = get<decltype(fields.upper_corner)>(map, kUpperAt);
  return fields;
}

TensorMap TensorFields::encode() const {
  TensorMap map;
  put(map, kAddressAt, address);
  put(map, kRankAt, static_cast<std::uint8_t>(rank - 1));
  put(map, kTypeAt, type);
  put(map, kInterleaveAt, interleave);
  put(map, kSwizzleAt, swizzle);
  put(map, kFillAt, fill);
  put(map, kAtomicityAt, atomicity);
  put(map, kMarkerAt, is_set ? kMarker : std::byte{0});
  put(map, kDimensionsAt, dimensions);
  put(map, kBoxAt, box);
  put(map, kElementStridesAt, element_strides);
  put(map, kStridesAt, strides);
  put(map, kLowerAt, lower_corner);
  put(map, kUpperAt, upper_corner);
  put(map, kModeAt, static_cast<std::uint8_t>(mode));
  return map;
}

} // namespace kernevo::vgpu
