#include "kernevo/predict/l1_share.h"

#include <algorithm>
#include <array>

namespace kernevo {
namespace {

constexpr std::uint64_t kKib = 1024;
// Sizes the driver chooses from, up to the GPU's own limit (CUDA programming guide, "Compute
// Capabilities"). Turing has the last two of its list only.
constexpr std::array<std::uint64_t, 10> kCarveouts = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};
constexpr int kTuring = 75;
constexpr std::uint64_t kTuringLeast = 32 * kKib;

} // namespace

Bytes l1_share(const Gpu& gpu, const Occupancy& occupancy, Bytes shared_per_block) {
  const auto blocks = static_cast<std::uint64_t>(std::max(occupancy.blocks_per_multiprocessor, 1));
  const std::uint64_t used =
      blocks * (shared_per_block.value +
                (shared_per_block.value > 0 ? gpu.shared_reserved_per_block.value : 0));
  std::uint64_t set_aside = gpu.shared_per_multiprocessor.value;
  for (const std::uint64_t size : kCarveouts)
    if (size * kKib >= used && size * kKib < set_aside)
      set_aside = size * kKib;
  if (gpu.compute_capability == kTuring)
    set_aside = std::max(set_aside, kTuringLeast);
  const std::uint64_t whole = std::max(gpu.l1_and_shared.value, set_aside);
  return {(whole - set_aside) / blocks};
}

Result<Bytes> l1_share_of_launch(const Gpu& gpu, std::uint64_t threads, Bytes shared_per_block) {
  constexpr std::uint64_t most = 1U << 20U; // more than any block has
  KERNEVO_TRY(occupancy, compute_occupancy(gpu, static_cast<int>(std::min(threads, most)), 0,
                                           shared_per_block));
  return l1_share(gpu, occupancy, shared_per_block);
}

} // namespace kernevo
