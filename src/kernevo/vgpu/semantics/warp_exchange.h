// Which lane a shuffle reads, as PTX defines it.
#pragma once

#include <cstdint>

namespace kernevo::vgpu {

enum class ShuffleMode : std::uint8_t { up, down, butterfly, index };

struct ShuffleSource {
  int lane = 0;
  bool in_range = false; // the predicate result; when false, `lane` is the reading lane itself
};

// b: distance, mask or index. c: bits 0-4 clamp, bits 8-12 segment mask.
constexpr ShuffleSource shuffle_source(ShuffleMode mode, int lane, std::uint32_t b,
                                       std::uint32_t c) {
  const int distance = static_cast<int>(b & 0x1FU);
  const int clamp = static_cast<int>(c & 0x1FU);
  const int segment = static_cast<int>((c >> 8U) & 0x1FU);
  const int lowest = lane & segment;
  const int limit = lowest | (clamp & ~segment & 0x1F);
  int source = lane;
  bool in_range = false;
  switch (mode) {
  case ShuffleMode::up:
    source = lane - distance;
    in_range = source >= limit;
    break;
  case ShuffleMode::down:
    source = lane + distance;
    in_range = source <= limit;
    break;
  case ShuffleMode::butterfly:
    source = lane ^ distance;
    in_range = source <= limit;
    break;
  case ShuffleMode::index:
    source = lowest | (distance & ~segment & 0x1F);
    in_range = source <= limit;
    break;
  }
  return {in_range ? source : lane, in_range};
}

} // namespace kernevo::vgpu
