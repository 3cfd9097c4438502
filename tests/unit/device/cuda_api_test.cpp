// Our declarations of the driver's interface, held against NVIDIA's header where that is there.
#include "kernevo/device/cuda_api.h"

#include <gtest/gtest.h>

#if __has_include(<cuda.h>)
#include <cuda.h>

namespace kernevo::driver {
namespace {

static_assert(status::invalid_value == CUDA_ERROR_INVALID_VALUE);
static_assert(status::out_of_memory == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(status::no_device == CUDA_ERROR_NO_DEVICE);
static_assert(status::invalid_device == CUDA_ERROR_INVALID_DEVICE);
static_assert(status::invalid_image == CUDA_ERROR_INVALID_IMAGE);
static_assert(status::no_binary_for_gpu == CUDA_ERROR_NO_BINARY_FOR_GPU);
static_assert(status::ecc_uncorrectable == CUDA_ERROR_ECC_UNCORRECTABLE);
static_assert(status::invalid_ptx == CUDA_ERROR_INVALID_PTX);
static_assert(status::unsupported_ptx_version == CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
static_assert(status::not_found == CUDA_ERROR_NOT_FOUND);
static_assert(status::not_ready == CUDA_ERROR_NOT_READY);
static_assert(status::illegal_address == CUDA_ERROR_ILLEGAL_ADDRESS);
static_assert(status::launch_out_of_resources == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
static_assert(status::launch_timeout == CUDA_ERROR_LAUNCH_TIMEOUT);
static_assert(status::assertion == CUDA_ERROR_ASSERT);
static_assert(status::hardware_stack_error == CUDA_ERROR_HARDWARE_STACK_ERROR);
static_assert(status::illegal_instruction == CUDA_ERROR_ILLEGAL_INSTRUCTION);
static_assert(status::misaligned_address == CUDA_ERROR_MISALIGNED_ADDRESS);
static_assert(status::invalid_address_space == CUDA_ERROR_INVALID_ADDRESS_SPACE);
static_assert(status::invalid_pc == CUDA_ERROR_INVALID_PC);
static_assert(status::launch_failed == CUDA_ERROR_LAUNCH_FAILED);
static_assert(status::cooperative_launch_too_large == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
static_assert(status::not_permitted == CUDA_ERROR_NOT_PERMITTED);
static_assert(status::not_supported == CUDA_ERROR_NOT_SUPPORTED);
static_assert(status::system_not_ready == CUDA_ERROR_SYSTEM_NOT_READY);
static_assert(status::system_driver_mismatch == CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
static_assert(status::unknown == CUDA_ERROR_UNKNOWN);

constexpr bool same(DeviceAttribute ours, CUdevice_attribute theirs) {
  return static_cast<int>(ours) == static_cast<int>(theirs);
}
static_assert(same(DeviceAttribute::max_threads_per_block,
                   CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
static_assert(same(DeviceAttribute::shared_per_block,
                   CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK));
static_assert(same(DeviceAttribute::registers_per_block,
                   CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK));
static_assert(same(DeviceAttribute::clock_khz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE));
static_assert(same(DeviceAttribute::multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
static_assert(same(DeviceAttribute::compute_mode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE));
static_assert(same(DeviceAttribute::memory_clock_khz, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE));
static_assert(same(DeviceAttribute::memory_bus_bits, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH));
static_assert(same(DeviceAttribute::l2_bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
static_assert(same(DeviceAttribute::threads_per_multiprocessor,
                   CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR));
static_assert(same(DeviceAttribute::capability_major,
                   CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
static_assert(same(DeviceAttribute::capability_minor,
                   CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
static_assert(same(DeviceAttribute::shared_per_multiprocessor,
                   CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR));
static_assert(same(DeviceAttribute::registers_per_multiprocessor,
                   CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR));
static_assert(same(DeviceAttribute::cooperative_launch, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH));
static_assert(same(DeviceAttribute::shared_per_block_optin,
                   CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
static_assert(same(DeviceAttribute::blocks_per_multiprocessor,
                   CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR));
static_assert(same(DeviceAttribute::shared_reserved_per_block,
                   CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK));

constexpr bool same(FunctionAttribute ours, CUfunction_attribute theirs) {
  return static_cast<int>(ours) == static_cast<int>(theirs);
}
static_assert(same(FunctionAttribute::registers, CU_FUNC_ATTRIBUTE_NUM_REGS));
static_assert(same(FunctionAttribute::binary_version, CU_FUNC_ATTRIBUTE_BINARY_VERSION));
static_assert(same(FunctionAttribute::max_dynamic_shared,
                   CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES));
static_assert(same(FunctionAttribute::cluster_width, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH));
static_assert(same(FunctionAttribute::cluster_height, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT));
static_assert(same(FunctionAttribute::cluster_depth, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH));
static_assert(same(FunctionAttribute::wide_clusters_allowed,
                   CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED));

static_assert(kErrorLog == CU_JIT_ERROR_LOG_BUFFER);
static_assert(kErrorLogBytes == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
static_assert(kStreamApart == CU_STREAM_NON_BLOCKING);
static_assert(kHostMapped == CU_MEMHOSTALLOC_DEVICEMAP);
static_assert(kWaitForEqual == CU_STREAM_WAIT_VALUE_EQ);
static_assert(sizeof(Address) == sizeof(CUdeviceptr) && sizeof(Uuid) == sizeof(CUuuid));

TEST(CudaApi, AgreesWithTheHeader) {
  SUCCEED() << "held by the compiler";
}

} // namespace
} // namespace kernevo::driver
#else
TEST(CudaApi, AgreesWithTheHeader) {
  GTEST_SKIP() << "the toolkit's cuda.h is not here";
}
#endif
