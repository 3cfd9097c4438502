// Textures and surfaces as a host program describes them: where the texels are and how they are
// read. The names follow the CUDA runtime.
#pragma once

#include <array>
#include <cstdint>

namespace kernevo::vgpu {

enum class ChannelKind : std::uint8_t { signed_integer, unsigned_integer, floating };

// One texel: 1, 2 or 4 channels of 8, 16 or 32 bits. A floating channel has 16 or 32.
struct ChannelFormat {
  std::uint32_t channels = 1;
  std::uint32_t bits = 32;
  ChannelKind kind = ChannelKind::floating;

  std::uint32_t bytes() const { return channels * bits / 8; }
};

enum class AddressMode : std::uint8_t { wrap, clamp, mirror, border };
enum class FilterMode : std::uint8_t { point, linear };
enum class ReadMode : std::uint8_t { element, normalized_float };

// Texels in device memory. Rows of `width` texels follow each other, then planes (depth), then
// layers or the six faces of a cube (+x -x +y -y +z -z); each further mip level is half as large
// and follows the one before it. Only `pitch` has a gap between rows.
struct ImageDescription {
  enum class Layout : std::uint8_t {
    array,  // cudaArray
    linear, // cudaMalloc: one dimension, read with tex1Dfetch
    pitch,  // cudaMallocPitch: two dimensions
  };
  Layout layout = Layout::array;
  std::uint64_t memory = 0; // device pointer to the first texel
  ChannelFormat format;
  std::uint32_t width = 0;
  std::uint32_t height = 0; // 0 = one dimension
  std::uint32_t depth = 0;  // 0 = at most two
  std::uint32_t layers = 0; // 0 = not layered; of a cube map always six per cube
  bool cubemap = false;
  std::uint32_t levels = 1;
  std::uint64_t pitch = 0; // bytes from row to row, Layout::pitch only
};

struct SamplerDescription {
  std::array<AddressMode, 3> address = {AddressMode::clamp, AddressMode::clamp, AddressMode::clamp};
  FilterMode filter = FilterMode::point;
  FilterMode mip_filter = FilterMode::point;
  bool normalized = false; // coordinates of 0 to 1; wrap and mirror work only with these
  std::array<float, 4> border = {0, 0, 0, 0};
  float level_bias = 0;
  float least_level = 0;
  float greatest_level = 1000;
};

struct TextureDescription {
  ImageDescription image;
  SamplerDescription sampler;
  ReadMode read = ReadMode::element;
};

// Extent of a level in one dimension; never less than 1.
constexpr std::uint32_t level_extent(std::uint32_t extent, std::uint32_t level) {
  const std::uint32_t halved = level < 32 ? extent >> level : 0;
  return halved == 0 ? 1 : halved;
}
// Bytes from row to row of a level.
std::uint64_t row_pitch(const ImageDescription& image, std::uint32_t level);
// Where a level starts, in bytes from the first texel.
std::uint64_t level_offset(const ImageDescription& image, std::uint32_t level);
// Bytes of the whole image.
std::uint64_t image_bytes(const ImageDescription& image);

} // namespace kernevo::vgpu
