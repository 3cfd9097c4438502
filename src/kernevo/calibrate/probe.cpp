#include "kernevo/calibrate/probe.h"

#include <algorithm>
#include <utility>

namespace kernevo::calibrate {
namespace {

constexpr std::int64_t kWideBlock = 256;
constexpr std::int64_t kBlocksPerMultiprocessor = 4; // of the wide ones
// As the kernels of share/calibration have them.
constexpr double kChainSteps = 512;
constexpr double kThroughputSteps = 8 * 16;
constexpr double kTensorSteps = 16;
constexpr double kChaseSteps = 16;
constexpr std::int64_t kSharedLoads = 16;
constexpr std::int64_t kL2Loads = 8;
constexpr std::int64_t kAtomics = 4;
constexpr std::int64_t kChunk = 16;          // bytes of an access
constexpr std::int64_t kL2Bytes = 4 << 20;   // read again and again
constexpr std::int64_t kDramStep = 64 << 20; // bytes, of the smallest size
constexpr std::int64_t kFarLines = 1 << 16;  // of a chain no cache holds
constexpr std::int64_t kFarStride = 1024;
constexpr std::int64_t kL2Lines = 1 << 12;
constexpr std::int64_t kL1Lines = 1 << 4;
constexpr std::int64_t kLine = 128;

LaunchArgument buffer(const char* name, std::size_t index) {
  return {name, BufferArgument{index}};
}

// Buffers of a plan: the sink stands first.
LaunchPlan plan_of(std::vector<std::int64_t> buffers, std::vector<Launch> launches) {
  LaunchPlan plan;
  plan.scratch.push_back({"sink", DType::float32, 32});
  for (std::size_t i = 0; i < buffers.size(); ++i)
    plan.scratch.push_back({"buffer" + std::to_string(i), DType::int8, buffers[i]});
  plan.launches = std::move(launches);
  return plan;
}

Launch launch(const char* kernel, std::int64_t blocks, std::int64_t threads,
              std::vector<LaunchArgument> arguments) {
  Launch one;
  one.kernel = kernel;
  one.grid = {blocks, 1, 1};
  one.block = {threads, 1, 1};
  one.arguments = std::move(arguments);
  return one;
}

std::int64_t wide_grid(const Gpu& gpu) {
  return gpu.multiprocessors * kBlocksPerMultiprocessor;
}
double wide_threads(const Gpu& gpu) {
  return static_cast<double>(wide_grid(gpu) * kWideBlock);
}

PlanAt arithmetic(const char* kernel) {
  return [kernel](const Gpu& gpu, std::int64_t size) {
    // Values stay finite.
    return plan_of({}, {launch(kernel, wide_grid(gpu), kWideBlock,
                               {buffer("sink", 0), {"n", size}, {"a", 0.999}, {"b", 0.001}})});
  };
}

LaunchPlan chase(const char* kernel, std::int64_t lines, std::int64_t stride, std::int64_t size) {
  return plan_of({lines * stride},
                 {launch("make_chain", 8, kWideBlock,
                         {buffer("memory", 1), {"lines", lines}, {"stride", stride}}),
                  launch(kernel, 1, 1, {buffer("memory", 1), buffer("sink", 0), {"n", size}})});
}

LaunchPlan empty_plan(const Gpu& /*gpu*/, std::int64_t /*size*/) {
  return plan_of({}, {launch("empty_kernel", 1, 32, {})});
}
LaunchPlan chain_plan(const Gpu& gpu, std::int64_t size) {
  return plan_of({}, {launch("fp32_chain", gpu.multiprocessors, 32,
                             {buffer("sink", 0), {"n", size}, {"a", 0.999}, {"b", 0.001}})});
}
LaunchPlan dram_read_plan(const Gpu& gpu, std::int64_t size) {
  return plan_of(
      {size * kDramStep},
      {launch("dram_read", 2 * wide_grid(gpu), kWideBlock,
              {buffer("from", 1), buffer("sink", 0), {"n", size * kDramStep / kChunk}})});
}
LaunchPlan dram_write_plan(const Gpu& gpu, std::int64_t size) {
  return plan_of({size * kDramStep},
                 {launch("dram_write", 2 * wide_grid(gpu), kWideBlock,
                         {buffer("to", 1), {"value", 1.0}, {"n", size * kDramStep / kChunk}})});
}
LaunchPlan dram_copy_plan(const Gpu& gpu, std::int64_t size) {
  const std::int64_t half = size * kDramStep / 2;
  return plan_of({half, half},
                 {launch("dram_copy", 2 * wide_grid(gpu), kWideBlock,
                         {buffer("from", 1), buffer("to", 2), {"n", half / kChunk}})});
}
LaunchPlan l2_read_plan(const Gpu& gpu, std::int64_t size) {
  return plan_of(
      {kL2Bytes},
      {launch("l2_read", 2 * wide_grid(gpu), kWideBlock,
              {buffer("from", 1), buffer("sink", 0), {"n", size}, {"chunks", kL2Bytes / kChunk}})});
}
LaunchPlan shared_read_plan(const Gpu& gpu, std::int64_t size) {
  return plan_of(
      {}, {launch("shared_read", wide_grid(gpu), kWideBlock, {buffer("sink", 0), {"n", size}})});
}
LaunchPlan atomics_plan(const Gpu& gpu, std::int64_t size) {
  return plan_of(
      {wide_grid(gpu) * kWideBlock * 4},
      {launch("atomic_add", wide_grid(gpu), kWideBlock, {buffer("counters", 1), {"n", size}})});
}
LaunchPlan chase_shared_plan(const Gpu& /*gpu*/, std::int64_t size) {
  return plan_of({}, {launch("chase_shared", 1, 32, {buffer("sink", 0), {"n", size}})});
}
LaunchPlan chase_l1_plan(const Gpu& /*gpu*/, std::int64_t size) {
  return chase("chase_l1", kL1Lines, kLine, size);
}
LaunchPlan chase_l2_plan(const Gpu& /*gpu*/, std::int64_t size) {
  return chase("chase_far", kL2Lines, kLine, size);
}
// Between making the chain and following it, other memory passes through L2.
LaunchPlan chase_dram_plan(const Gpu& gpu, std::int64_t size) {
  LaunchPlan plan = chase("chase_far", kFarLines, kFarStride, size);
  const auto bytes = static_cast<std::int64_t>(2 * gpu.l2_cache.value);
  plan.scratch.push_back({"evicts", DType::int8, bytes});
  plan.launches.insert(plan.launches.begin() + 1,
                       launch("dram_read", 2 * wide_grid(gpu), kWideBlock,
                              {buffer("from", 2), buffer("sink", 0), {"n", bytes / kChunk}}));
  return plan;
}

} // namespace

std::vector<Probe> probes_for(const Gpu& gpu) {
  const double threads = wide_threads(gpu);
  const double warps = threads / 32;
  // Behind wgmma and tcgen05 stand rates that mma does not reach.
  constexpr int kAmpere = 80;
  const bool mma_is_all = gpu.compute_capability < 90 || gpu.compute_capability >= 120;
  const int most_of_mma = mma_is_all ? 1000 : 0;
  const bool turing = gpu.compute_capability < kAmpere;
  std::vector<Probe> all = {
      {"launch", 0, 1000, 1, 1, 0, empty_plan},
      {"chain", 0, 1000, 64, 8, kChainSteps, chain_plan},
      {"fp32", 0, 1000, 64, 4, threads * kThroughputSteps * 2, arithmetic("fp32_throughput")},
      {"int32", 0, 1000, 64, 4, threads * kThroughputSteps, arithmetic("int32_throughput")},
      {"fp16", 0, 1000, 64, 4, threads * kThroughputSteps * 4, arithmetic("fp16_throughput")},
      {"fp64", 0, 1000, 16, 1, threads * kThroughputSteps * 2, arithmetic("fp64_throughput")},
      {"special", 0, 1000, 32, 2, threads * kThroughputSteps, arithmetic("special_throughput")},
      {"tensor_fp16", 75, most_of_mma, 64, 2, warps * kTensorSteps * 16 * 8 * (turing ? 8 : 16) * 2,
       arithmetic("tensor_fp16")},
      {"tensor_tf32", kAmpere, most_of_mma, 64, 2, warps * kTensorSteps * 16 * 8 * 8 * 2,
       arithmetic("tensor_tf32")},
      {"tensor_int8", kAmpere, most_of_mma, 64, 2, warps * kTensorSteps * 16 * 8 * 32 * 2,
       arithmetic("tensor_int8")},
      {"tensor_fp64", kAmpere, kAmpere, 64, 2, warps * kTensorSteps * 8 * 8 * 4 * 2,
       arithmetic("tensor_fp64")},
      {"dram_read", 0, 1000, 4, 1, kDramStep, dram_read_plan},
      {"dram_write", 0, 1000, 4, 1, kDramStep, dram_write_plan},
      {"dram_copy", 0, 1000, 4, 1, kDramStep, dram_copy_plan},
      {"l2_read", 0, 1000, 32, 4, 2 * threads * kL2Loads * kChunk, l2_read_plan},
      {"shared_read", 0, 1000, 64, 8, threads * kSharedLoads * kChunk, shared_read_plan},
      {"atomics", 0, 1000, 16, 2, threads * kAtomics, atomics_plan},
      {"chase_shared", 0, 1000, 256, 64, kChaseSteps, chase_shared_plan},
      {"chase_l1", 0, 1000, 256, 64, kChaseSteps, chase_l1_plan},
      {"chase_l2", 0, 1000, kL2Lines / 16, kL2Lines / 16, kChaseSteps, chase_l2_plan},
      {"chase_dram", 0, 1000, 256, 64, kChaseSteps, chase_dram_plan},
  };
  std::erase_if(all, [&](const Probe& probe) {
    return gpu.compute_capability < probe.least_capability ||
           gpu.compute_capability > probe.most_capability;
  });
  return all;
}

} // namespace kernevo::calibrate
