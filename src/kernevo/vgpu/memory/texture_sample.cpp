// Addressing and filtering as the CUDA programming guide describes them ("Texture Fetching"):
// weights are fixed-point numbers with 8 fractional bits.
#include "kernevo/vgpu/memory/texture_sample.h"

#include "kernevo/base/small_floats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace kernevo::vgpu {
namespace {

constexpr std::int64_t kOutside = -1;
// Farther out than any texel, and safe to convert to an integer.
constexpr float kFarAway = 1e9F;
constexpr float kWeightSteps = 256;

float tame(float coordinate) {
  return std::isnan(coordinate) ? 0 : std::clamp(coordinate, -kFarAway, kFarAway);
}

float fixed_point(float weight) {
  return std::floor(weight * kWeightSteps + 0.5F) / kWeightSteps;
}

// The texel an index stands for, or kOutside.
std::int64_t place(std::int64_t index, std::int64_t extent, AddressMode mode) {
  switch (mode) {
  case AddressMode::wrap: return (index % extent + extent) % extent;
  case AddressMode::mirror: {
    const std::int64_t period = 2 * extent;
    const std::int64_t inside = (index % period + period) % period;
    return inside < extent ? inside : period - 1 - inside;
  }
  case AddressMode::border: return index >= 0 && index < extent ? index : kOutside;
  default: return std::clamp<std::int64_t>(index, 0, extent - 1);
  }
}

struct Texel {
  std::array<float, 4> values = {0, 0, 0, 1}; // when the texture reads floats
  TexelBits bits = {0, 0, 0, 1};              // else
};

class Sampler {
public:
  Sampler(const ImageObject& texture, const SamplerDescription& sampler,
          const SampleRequest& request, TexelReader& reader)
      : image_(texture.image), sampler_(sampler), request_(request), reader_(reader),
        floats_(texture.reads_floats()), at_(request.at) {
    if (request.cube)
      enter_cube();
    const std::int64_t layers = image_.layers == 0 ? 1
                                : image_.cubemap   ? image_.layers / 6
                                                   : image_.layers;
    layer_ = std::clamp<std::int64_t>(request.layer, 0, layers - 1);
    if (request.cube)
      layer_ = std::clamp<std::int64_t>(layer_ * 6 + face_, 0,
                                        std::max<std::int64_t>(image_.layers, 1) - 1);
  }

  TexelBits sample() {
    if (request_.by_index)
      return bits_of(fetch_by_index());
    const float level = chosen_level();
    const auto most = static_cast<float>(image_.levels - 1);
    if (sampler_.mip_filter == FilterMode::point || image_.levels == 1)
      return bits_of(
          filtered(static_cast<std::uint32_t>(std::clamp(std::floor(level + 0.5F), 0.0F, most))));
    const float below = std::floor(level);
    const float weight = fixed_point(level - below);
    Texel result = filtered(static_cast<std::uint32_t>(below));
    if (weight > 0 && below < most) {
      const Texel next = filtered(static_cast<std::uint32_t>(below) + 1);
      for (std::size_t c = 0; c < 4; ++c)
        result.values[c] = (1 - weight) * result.values[c] + weight * next.values[c];
    }
    return bits_of(result);
  }

  TexelBits gather(std::uint32_t channel) {
    const Footprint x = footprint(0, 0);
    const Footprint y = footprint(1, 0);
    constexpr std::array<std::array<int, 2>, 4> corners = {{{0, 1}, {1, 1}, {1, 0}, {0, 0}}};
    TexelBits result{};
    for (std::size_t i = 0; i < corners.size(); ++i)
      result[i] = bits_of(texel(0, {x.first + corners[i][0], y.first + corners[i][1], 0}))[channel];
    return result;
  }

private:
  // Direction -> face and coordinates of 0 to 1 on it.
  void enter_cube() {
    const float x = tame(at_[0]);
    const float y = tame(at_[1]);
    const float z = tame(at_[2]);
    const float ax = std::abs(x);
    const float ay = std::abs(y);
    const float az = std::abs(z);
    float s = 0;
    float t = 0;
    if (ax >= ay && ax >= az) {
      face_ = x >= 0 ? 0 : 1;
      s = x >= 0 ? -z : z;
      t = -y;
      major_ = ax;
    } else if (ay >= az) {
      face_ = y >= 0 ? 2 : 3;
      s = x;
      t = y >= 0 ? z : -z;
      major_ = ay;
    } else {
      face_ = z >= 0 ? 4 : 5;
      s = z >= 0 ? x : -x;
      t = -y;
      major_ = az;
    }
    if (major_ == 0)
      major_ = 1;
    at_ = {(s / major_ + 1) / 2, (t / major_ + 1) / 2, 0};
  }

  int dimensions() const { return request_.cube ? 2 : request_.dimensions; }
  bool normalized() const { return sampler_.normalized || request_.cube; }

  std::int64_t extent(std::size_t dimension, std::uint32_t level) const {
    const std::array<std::uint32_t, 3> extents = {image_.width, image_.height, image_.depth};
    if (image_.layout == ImageDescription::Layout::linear)
      return dimension == 0 ? image_.width : 1;
    return extents[dimension] == 0 ? 1 : level_extent(extents[dimension], level);
  }

  AddressMode mode(std::size_t dimension) const {
    const AddressMode wanted = sampler_.address[dimension];
    if (request_.cube)
      return AddressMode::clamp;
    const bool repeats = wanted == AddressMode::wrap || wanted == AddressMode::mirror;
    return repeats && !sampler_.normalized ? AddressMode::clamp : wanted;
  }

  float chosen_level() const {
    float level = request_.level;
    if (request_.has_derivatives) {
      const float longest = std::max(length(request_.dx), length(request_.dy));
      level = longest > 0 ? std::log2(longest) : 0;
    }
    level = std::isnan(level) ? 0 : level + sampler_.level_bias;
    level = std::clamp(level, sampler_.least_level, sampler_.greatest_level);
    return std::clamp(level, 0.0F, static_cast<float>(image_.levels - 1));
  }

  // Of a derivative, in texels of the largest level.
  float length(const std::array<float, 3>& derivative) const {
    float sum = 0;
    for (std::size_t d = 0; d < static_cast<std::size_t>(request_.dimensions); ++d) {
      const float scale = request_.cube  ? static_cast<float>(image_.width) / (2 * major_)
                          : normalized() ? static_cast<float>(extent(d, 0))
                                         : 1.0F;
      sum += derivative[d] * scale * derivative[d] * scale;
    }
    return std::sqrt(sum);
  }

  float in_texels(std::size_t dimension, std::uint32_t level) const {
    const float coordinate = tame(at_[dimension]);
    // Unnormalised coordinates count texels of the largest level.
    if (normalized())
      return tame(coordinate * static_cast<float>(extent(dimension, level)));
    return std::ldexp(coordinate, -static_cast<int>(level));
  }

  struct Footprint {
    std::int64_t first = 0;
    float weight = 0; // of the texel after it
  };

  Footprint footprint(std::size_t dimension, std::uint32_t level) const {
    const float centre = in_texels(dimension, level) - 0.5F;
    const float below = std::floor(centre);
    return {static_cast<std::int64_t>(below) + request_.offset[dimension],
            fixed_point(centre - below)};
  }

  Texel filtered(std::uint32_t level) {
    const auto count = static_cast<std::size_t>(dimensions());
    if (sampler_.filter == FilterMode::point || !floats_) {
      std::array<std::int64_t, 3> index{};
      for (std::size_t d = 0; d < count; ++d)
        index[d] = static_cast<std::int64_t>(std::floor(in_texels(d, level))) + request_.offset[d];
      return texel(level, index);
    }
    std::array<Footprint, 3> prints{};
    for (std::size_t d = 0; d < count; ++d)
      prints[d] = footprint(d, level);
    Texel sum;
    sum.values = {};
    for (unsigned corner = 0; corner < 1U << count; ++corner) {
      float weight = 1;
      std::array<std::int64_t, 3> index{};
      for (std::size_t d = 0; d < count; ++d) {
        const bool after = (corner >> d & 1U) != 0;
        index[d] = prints[d].first + (after ? 1 : 0);
        weight *= after ? prints[d].weight : 1 - prints[d].weight;
      }
      if (weight == 0)
        continue;
      const Texel part = texel(level, index);
      for (std::size_t c = 0; c < 4; ++c)
        sum.values[c] += weight * part.values[c];
    }
    return sum;
  }

  Texel fetch_by_index() {
    const auto level = static_cast<std::uint32_t>(
        std::clamp(tame(request_.level), 0.0F, static_cast<float>(image_.levels - 1)));
    std::array<std::int64_t, 3> index{};
    for (std::size_t d = 0; d < static_cast<std::size_t>(request_.dimensions); ++d)
      index[d] = std::int64_t{request_.index[d]} + request_.offset[d];
    if (image_.layout == ImageDescription::Layout::linear &&
        (index[0] < 0 || index[0] >= image_.width)) {
      Texel zero; // tex1Dfetch outside linear memory
      zero.values = {};
      zero.bits = {};
      return zero;
    }
    return texel(level, index);
  }

  Texel texel(std::uint32_t level, std::array<std::int64_t, 3> index) {
    for (std::size_t d = 0; d < 3; ++d) {
      index[d] = d < static_cast<std::size_t>(dimensions())
                     ? place(index[d], extent(d, level), mode(d))
                     : 0;
      if (index[d] == kOutside)
        return border();
    }
    const std::uint32_t size = image_.format.bytes();
    const std::uint64_t pitch = row_pitch(image_, level);
    const auto row = static_cast<std::uint64_t>(
        ((layer_ * extent(2, level)) + index[2]) * extent(1, level) + index[1]);
    const std::uint64_t address = image_.memory + level_offset(image_, level) + row * pitch +
                                  static_cast<std::uint64_t>(index[0]) * size;
    const std::byte* bytes = reader_.read(address, size);
    return bytes == nullptr ? Texel{} : decode(bytes);
  }

  Texel border() const {
    Texel texel;
    for (std::size_t c = 0; c < 4; ++c) {
      texel.values[c] = sampler_.border[c];
      texel.bits[c] =
          static_cast<std::uint32_t>(static_cast<std::int64_t>(tame(sampler_.border[c])));
    }
    return texel;
  }

  Texel decode(const std::byte* bytes) const {
    Texel texel;
    const ChannelFormat& format = image_.format;
    for (std::uint32_t c = 0; c < format.channels; ++c) {
      std::uint32_t raw = 0;
      std::memcpy(&raw, bytes + c * (format.bits / 8), format.bits / 8);
      const std::uint32_t unused = 32 - format.bits;
      const bool is_signed = format.kind == ChannelKind::signed_integer;
      const auto extended = static_cast<std::int32_t>(raw << unused) >> unused;
      texel.bits[c] = is_signed ? static_cast<std::uint32_t>(extended) : raw;
      if (format.kind == ChannelKind::floating) {
        texel.values[c] = format.bits == 16 ? half_to_float(static_cast<std::uint16_t>(raw))
                                            : std::bit_cast<float>(raw);
      } else if (floats_) {
        const auto most = static_cast<float>((1U << (format.bits - (is_signed ? 1 : 0))) - 1);
        texel.values[c] = is_signed ? std::max(static_cast<float>(extended) / most, -1.0F)
                                    : static_cast<float>(raw) / most;
      }
    }
    return texel;
  }

  TexelBits bits_of(const Texel& texel) const {
    if (!floats_)
      return texel.bits;
    TexelBits bits{};
    for (std::size_t c = 0; c < 4; ++c)
      bits[c] = std::bit_cast<std::uint32_t>(texel.values[c]);
    return bits;
  }

  const ImageDescription& image_;
  const SamplerDescription& sampler_;
  const SampleRequest& request_;
  TexelReader& reader_;
  bool floats_;
  std::array<float, 3> at_;
  float major_ = 1;
  std::int64_t face_ = 0;
  std::int64_t layer_ = 0;
};

} // namespace

TexelBits sample(const ImageObject& texture, const SamplerDescription& sampler,
                 const SampleRequest& request, TexelReader& reader) {
  return Sampler(texture, sampler, request, reader).sample();
}

TexelBits gather(const ImageObject& texture, const SamplerDescription& sampler,
                 const SampleRequest& request, std::uint32_t channel, TexelReader& reader) {
  return Sampler(texture, sampler, request, reader).gather(channel);
}

} // namespace kernevo::vgpu
