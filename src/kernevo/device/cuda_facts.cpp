#include "kernevo/device/cuda_facts.h"

#include "kernevo/hardware/gpu_table.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <optional>
#include <tuple>

namespace kernevo {
namespace {

// Same compute capability, else same generation, else the nearest; of those the one with the most
// similar number of multiprocessors.
const Gpu* next_of_kin(const std::vector<Gpu>& gpus, const CudaFacts& facts) {
  const auto distance = [&](const Gpu& gpu) {
    return std::tuple(gpu.compute_capability != facts.compute_capability,
                      gpu.compute_capability / 10 != facts.compute_capability / 10,
                      std::abs(gpu.compute_capability - facts.compute_capability),
                      std::abs(gpu.multiprocessors - facts.multiprocessors));
  };
  const auto found = std::ranges::min_element(
      gpus, [&](const Gpu& a, const Gpu& b) { return distance(a) < distance(b); });
  return found == gpus.end() ? nullptr : &*found;
}

void take(int told, int& ours) {
  if (told > 0)
    ours = told;
}
void take(int told, Bytes& ours) {
  if (told > 0)
    ours = Bytes{static_cast<std::uint64_t>(told)};
}

void take_limits(const CudaFacts& facts, Gpu& gpu) {
  gpu.compute_capability = facts.compute_capability;
  gpu.multiprocessors = facts.multiprocessors;
  gpu.memory = facts.memory;
  take(facts.threads_per_block, gpu.max_threads_per_block);
  take(facts.threads_per_multiprocessor, gpu.max_threads_per_multiprocessor);
  take(facts.blocks_per_multiprocessor, gpu.max_blocks_per_multiprocessor);
  take(facts.registers_per_block, gpu.registers_per_block);
  take(facts.registers_per_multiprocessor, gpu.registers_per_multiprocessor);
  take(facts.shared_per_block, gpu.shared_per_block);
  take(facts.shared_per_block_optin, gpu.shared_per_block_optin);
  take(facts.shared_per_multiprocessor, gpu.shared_per_multiprocessor);
  take(facts.shared_reserved_per_block, gpu.shared_reserved_per_block);
  take(facts.l2_bytes, gpu.l2_cache);
}

// Of the GPU that `gpu` was copied from, before its own figures took their place.
struct Origin {
  int multiprocessors = 0;
  double clock_ghz = 0;
};

void scale_rates(const Origin& origin, Gpu& gpu) {
  const double factor =
      gpu.multiprocessors * gpu.clock_ghz / (origin.multiprocessors * origin.clock_ghz);
  for (std::optional<double>* rate :
       {&gpu.fp32_tflops, &gpu.fp64_tflops, &gpu.fp16_tflops, &gpu.tensor_fp16_tflops,
        &gpu.tensor_tf32_tflops, &gpu.tensor_fp64_tflops, &gpu.tensor_int8_tops})
    if (*rate)
      **rate *= factor;
}

} // namespace

Result<Gpu> gpu_of(const CudaFacts& facts) {
  auto listed = find_gpu(facts.name);
  const bool same = listed && listed->compute_capability == facts.compute_capability;
  if (same) {
    const Origin origin{listed->multiprocessors, listed->clock_ghz};
    Gpu gpu = std::move(*listed);
    take_limits(facts, gpu);
    // A part of a GPU, or a board with some of it switched off.
    if (gpu.multiprocessors != origin.multiprocessors)
      scale_rates(origin, gpu);
    return gpu;
  }
  KERNEVO_TRY(gpus, load_gpus());
  const Gpu* kin = next_of_kin(gpus, facts);
  if (kin == nullptr)
    return fail(ErrorCode::infrastructure, "there is no GPU to compare with in share/gpus");
  Gpu gpu = *kin;
  gpu.name = facts.name;
  gpu.aliases.clear();
  take_limits(facts, gpu);
  if (facts.clock_khz > 0)
    gpu.clock_ghz = facts.clock_khz * 1e-6;
  gpu.sustained_clock_ghz.reset();
  // Two transfers a clock, as every memory of these GPUs has it.
  if (facts.memory_clock_khz > 0 && facts.memory_bus_bits > 0)
    gpu.dram_gbps = 2.0 * facts.memory_clock_khz * 1e3 * facts.memory_bus_bits / 8 * 1e-9;
  scale_rates({kin->multiprocessors, kin->clock_ghz}, gpu);
  gpu.source = fmt::format("attributes of the device; rates scaled from {} by multiprocessors and "
                           "clock",
                           kin->name);
  return gpu;
}

} // namespace kernevo
