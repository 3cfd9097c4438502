// The textures, surfaces and samplers of a machine, by handle.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/ptx/module.h"
#include "kernevo/vgpu/memory/memory.h"
#include "kernevo/vgpu/memory/texture.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

namespace kernevo::vgpu {

struct ImageObject {
  enum class Kind : std::uint8_t { texture, surface, sampler };
  Kind kind = Kind::texture;
  ImageDescription image;
  SamplerDescription sampler;
  ReadMode read = ReadMode::element;

  // What a sampled texel is made of: floats, or integers as they stand in memory.
  bool reads_floats() const {
    return image.format.kind == ChannelKind::floating || read == ReadMode::normalized_float;
  }
};

// What a .samplerref variable says of itself.
SamplerDescription declared_sampler(const ptx::Variable& variable);

class TextureTable {
public:
  Result<std::uint64_t> add_texture(const TextureDescription& description, const Memory& memory);
  Result<std::uint64_t> add_surface(const ImageDescription& image, const Memory& memory);
  Result<std::uint64_t> add_sampler(const SamplerDescription& sampler);
  bool remove(std::uint64_t handle);
  // The objects whose texels lie in this memory are gone with it.
  void forget_memory(std::uint64_t first, std::uint64_t last);

  const ImageObject* find(std::uint64_t handle) const;

private:
  Result<std::uint64_t> add(ImageObject object);

  mutable std::shared_mutex mutex_;
  std::vector<std::unique_ptr<ImageObject>> objects_; // a handle is never used again
};

} // namespace kernevo::vgpu
