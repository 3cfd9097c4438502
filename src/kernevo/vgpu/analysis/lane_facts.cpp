#include "kernevo/vgpu/analysis/shapes.h"

namespace kernevo::vgpu::analysis {
namespace {

// The largest group of lanes whose size divides the number of threads; 0 = none.
int group_dividing(std::uint64_t threads) {
  for (const int group : {32, 16, 8})
    if (threads % static_cast<unsigned>(group) == 0)
      return group;
  return 0;
}

Shape straight(int group, std::int64_t stride, std::uint64_t alignment) {
  return {Shape::Kind::straight, static_cast<std::uint8_t>(group), stride, alignment};
}

} // namespace

// Threads are numbered x first. Dimensions of one thread count for nothing; the first other one
// counts up with the lanes, and each further one changes once in so many threads.
LaneFacts lane_facts(const std::array<std::uint32_t, 3>& block) {
  std::array<Shape, 3> shapes;
  int left = 0;
  for (const std::uint32_t extent : block)
    left += extent > 1 ? 1 : 0;
  std::uint64_t threads = 1; // in the dimensions before this one
  for (std::size_t i = 0; i < block.size(); ++i) {
    const std::uint32_t extent = block[i];
    if (extent <= 1) {
      shapes[i] = Shape::uniform(0);
      continue;
    }
    if (threads == 1) {
      // Nothing wraps round in a block of one dimension.
      const int group = left == 1 ? kWarpSize : group_dividing(extent);
      shapes[i] =
          group == 0 ? Shape::varying() : straight(group, 1, static_cast<std::uint64_t>(group));
    } else {
      const int group = group_dividing(threads);
      shapes[i] = group == 0 ? Shape::varying() : straight(group, 0, 1);
    }
    threads *= extent;
  }
  return {shapes[0], shapes[1], shapes[2]};
}

} // namespace kernevo::vgpu::analysis
