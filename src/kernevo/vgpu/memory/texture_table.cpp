#include "kernevo/vgpu/memory/texture_table.h"

#include "kernevo/vgpu/memory/address_windows.h"

#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace kernevo::vgpu {
namespace {

using Layout = ImageDescription::Layout;

// Of CUDA, rounded up: no GPU has more. Their products fit 64 bits.
constexpr std::uint32_t kMostExtent = 1U << 18U;
constexpr std::uint32_t kMostLinear = 1U << 30U;
constexpr std::uint32_t kMostLayers = 1U << 14U;
constexpr std::uint32_t kMostLevels = 32;

std::uint64_t planes_of(const ImageDescription& image, std::uint32_t level) {
  const std::uint64_t depth = image.depth == 0 ? 1 : level_extent(image.depth, level);
  return depth * (image.layers == 0 ? 1 : image.layers);
}

std::uint64_t level_bytes(const ImageDescription& image, std::uint32_t level) {
  const std::uint64_t rows = image.height == 0 ? 1 : level_extent(image.height, level);
  return row_pitch(image, level) * rows * planes_of(image, level);
}

tl::unexpected<Error> bad(std::string message) {
  return fail(ErrorCode::input, std::move(message));
}

Result<void> check_format(const ChannelFormat& format) {
  if (format.channels != 1 && format.channels != 2 && format.channels != 4)
    return bad(fmt::format("a texel has 1, 2 or 4 channels, not {}", format.channels));
  if (format.bits != 8 && format.bits != 16 && format.bits != 32)
    return bad(fmt::format("a channel has 8, 16 or 32 bits, not {}", format.bits));
  if (format.kind == ChannelKind::floating && format.bits == 8)
    return bad("a floating channel has 16 or 32 bits, not 8");
  return {};
}

Result<void> check_extents(const ImageDescription& image) {
  const std::uint32_t most = image.layout == Layout::linear ? kMostLinear : kMostExtent;
  if (image.width == 0 || image.width > most || image.height > kMostExtent ||
      image.depth > kMostExtent)
    return bad(fmt::format("an image of {} x {} x {} texels is not possible", image.width,
                           image.height, image.depth));
  if (image.depth != 0 && (image.height == 0 || image.layers != 0))
    return bad("an image with depth needs a height and cannot be layered");
  if (image.layers > kMostLayers)
    return bad(fmt::format("an image has at most {} layers, not {}", kMostLayers, image.layers));
  if (image.levels == 0 || image.levels > kMostLevels)
    return bad(fmt::format("an image has 1 to {} levels, not {}", kMostLevels, image.levels));
  if (image.cubemap && (image.width != image.height || image.depth != 0 || image.layers % 6 != 0 ||
                        image.layers == 0))
    return bad("a cube map has square faces, and six layers for each cube");
  if (image.layout == Layout::array)
    return {};
  if (image.depth != 0 || image.layers != 0 || image.levels != 1 ||
      (image.height != 0) != (image.layout == Layout::pitch))
    return bad("linear memory holds one dimension, pitched memory two; use an array for more");
  if (image.layout == Layout::pitch &&
      (image.pitch < std::uint64_t{image.width} * image.format.bytes() ||
       image.pitch % image.format.bytes() != 0 || image.pitch > std::uint64_t{1} << 32U))
    return bad(fmt::format("a pitch of {} bytes does not hold rows of {} texels of {} bytes",
                           image.pitch, image.width, image.format.bytes()));
  return {};
}

Result<void> check_image(const ImageDescription& image, const Memory& memory) {
  KERNEVO_CHECK(check_format(image.format));
  KERNEVO_CHECK(check_extents(image));
  if (image.memory % image.format.bytes() != 0)
    return bad(fmt::format("the texels at {:#x} are not aligned to their {} bytes", image.memory,
                           image.format.bytes()));
  const std::uint64_t bytes = image_bytes(image);
  const Allocation* allocation = memory.find(image.memory);
  if (allocation == nullptr || bytes > allocation->end() - image.memory)
    return bad(fmt::format("the image needs {} bytes at {:#x}, which are not allocated", bytes,
                           image.memory));
  return {};
}

Result<void> check_sampler(const SamplerDescription& sampler) {
  if (!std::isfinite(sampler.level_bias) || !(sampler.least_level <= sampler.greatest_level))
    return bad("the levels of a sampler must be an interval of numbers");
  return {};
}

AddressMode address_mode(std::string_view name) {
  return name == "wrap"              ? AddressMode::wrap
         : name == "mirror"          ? AddressMode::mirror
         : name == "clamp_to_border" ? AddressMode::border
                                     : AddressMode::clamp;
}

} // namespace

SamplerDescription declared_sampler(const ptx::Variable& variable) {
  SamplerDescription sampler;
  sampler.normalized = false;
  for (const ptx::Variable::Property& property : variable.properties) {
    if (property.name == "filter_mode")
      sampler.filter = property.value == "linear" ? FilterMode::linear : FilterMode::point;
    else if (property.name == "addr_mode_0")
      sampler.address[0] = address_mode(property.value);
    else if (property.name == "addr_mode_1")
      sampler.address[1] = address_mode(property.value);
    else if (property.name == "addr_mode_2")
      sampler.address[2] = address_mode(property.value);
    else if (property.name == "force_unnormalized_coords")
      sampler.normalized = property.value == "0";
  }
  return sampler;
}

std::uint64_t row_pitch(const ImageDescription& image, std::uint32_t level) {
  if (image.layout == Layout::pitch)
    return image.pitch;
  const std::uint32_t width =
      image.layout == Layout::linear ? image.width : level_extent(image.width, level);
  return std::uint64_t{width} * image.format.bytes();
}

std::uint64_t level_offset(const ImageDescription& image, std::uint32_t level) {
  std::uint64_t offset = 0;
  for (std::uint32_t i = 0; i < level; ++i)
    offset += level_bytes(image, i);
  return offset;
}

std::uint64_t image_bytes(const ImageDescription& image) {
  if (image.layout == Layout::pitch) // the last row needs no gap after it
    return image.pitch * (image.height - 1) + std::uint64_t{image.width} * image.format.bytes();
  return level_offset(image, image.levels);
}

Result<std::uint64_t> TextureTable::add(ImageObject object) {
  const std::lock_guard lock(mutex_);
  objects_.push_back(std::make_unique<ImageObject>(object));
  return kImageWindow + objects_.size();
}

Result<std::uint64_t> TextureTable::add_texture(const TextureDescription& description,
                                                const Memory& memory) {
  KERNEVO_CHECK(check_image(description.image, memory));
  KERNEVO_CHECK(check_sampler(description.sampler));
  ImageObject object{ImageObject::Kind::texture, description.image, description.sampler,
                     description.read};
  if (description.read == ReadMode::normalized_float &&
      description.image.format.kind != ChannelKind::floating && description.image.format.bits == 32)
    return bad("channels of 32-bit integers cannot be read as normalised floats");
  const bool filters = description.sampler.filter == FilterMode::linear ||
                       description.sampler.mip_filter == FilterMode::linear;
  if (filters && !object.reads_floats())
    return bad("only floats can be filtered: read the integers as normalised floats, or use point "
               "filtering");
  return add(object);
}

Result<std::uint64_t> TextureTable::add_surface(const ImageDescription& image,
                                                const Memory& memory) {
  KERNEVO_CHECK(check_image(image, memory));
  return add({ImageObject::Kind::surface, image, {}, ReadMode::element});
}

Result<std::uint64_t> TextureTable::add_sampler(const SamplerDescription& sampler) {
  KERNEVO_CHECK(check_sampler(sampler));
  return add({ImageObject::Kind::sampler, {}, sampler, ReadMode::element});
}

bool TextureTable::remove(std::uint64_t handle) {
  if (find(handle) == nullptr)
    return false;
  const std::lock_guard lock(mutex_);
  objects_[handle - kImageWindow - 1].reset();
  return true;
}

void TextureTable::forget_memory(std::uint64_t first, std::uint64_t last) {
  const std::lock_guard lock(mutex_);
  for (auto& object : objects_)
    if (object && object->kind != ImageObject::Kind::sampler && object->image.memory >= first &&
        object->image.memory < last)
      object.reset();
}

const ImageObject* TextureTable::find(std::uint64_t handle) const {
  const std::shared_lock lock(mutex_);
  const std::uint64_t index = handle - kImageWindow - 1;
  return index < objects_.size() ? objects_[index].get() : nullptr;
}

} // namespace kernevo::vgpu
