// What tex and tld4 compute for one thread.
#pragma once

#include "kernevo/vgpu/memory/texture_table.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace kernevo::vgpu {

// The sampler's way to the texels.
class TexelReader {
public:
  TexelReader() = default;
  TexelReader(const TexelReader&) = delete;
  TexelReader& operator=(const TexelReader&) = delete;
  virtual ~TexelReader() = default;
  // `size` bytes at a device address inside the image; null when the access was refused.
  virtual const std::byte* read(std::uint64_t address, std::uint32_t size) = 0;
};

struct SampleRequest {
  int dimensions = 2; // 1, 2 or 3; a cube is 3
  bool cube = false;
  bool by_index = false;                  // integer coordinates: a fetch without filter
  std::array<float, 3> at = {0, 0, 0};    // coordinates, or the direction into a cube
  std::array<std::int32_t, 3> index = {}; // when by_index
  std::int32_t layer = 0;
  float level = 0;
  bool has_derivatives = false; // they choose the level
  std::array<float, 3> dx = {0, 0, 0};
  std::array<float, 3> dy = {0, 0, 0};
  std::array<std::int32_t, 3> offset = {}; // in texels
};

// Four channels as the registers get them: floats or integers, by what the texture holds. Channels
// it does not have are 0, 0 and 1.
using TexelBits = std::array<std::uint32_t, 4>;

TexelBits sample(const ImageObject& texture, const SamplerDescription& sampler,
                 const SampleRequest& request, TexelReader& reader);
// One channel of each of the four texels a linear filter would use.
TexelBits gather(const ImageObject& texture, const SamplerDescription& sampler,
                 const SampleRequest& request, std::uint32_t channel, TexelReader& reader);

} // namespace kernevo::vgpu
