// The binary interface of the CUDA driver, as far as a device needs it: documented types, values
// and names that every driver since CUDA 11 keeps. Our own declarations, so that no header of
// NVIDIA's is needed to build; tests/unit/device holds them against cuda.h where that is there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace kernevo::driver {

using Status = int; // CUresult
using DeviceHandle = int;
using Address = unsigned long long; // CUdeviceptr
using Context = struct ContextOfDriver*;
using Module = struct ModuleOfDriver*;
using Function = struct FunctionOfDriver*;
using Stream = struct StreamOfDriver*;
using Event = struct EventOfDriver*;
using Uuid = std::array<unsigned char, 16>;

namespace status {
constexpr Status success = 0;
constexpr Status invalid_value = 1;
constexpr Status out_of_memory = 2;
constexpr Status invalid_configuration = 9; // of libraries that count errors as the runtime does
constexpr Status no_device = 100;
constexpr Status invalid_device = 101;
constexpr Status invalid_image = 200;
constexpr Status no_binary_for_gpu = 209;
constexpr Status ecc_uncorrectable = 214;
constexpr Status invalid_ptx = 218;
constexpr Status unsupported_ptx_version = 222;
constexpr Status not_found = 500;
constexpr Status not_ready = 600;
constexpr Status illegal_address = 700;
constexpr Status launch_out_of_resources = 701;
constexpr Status launch_timeout = 702;
constexpr Status assertion = 710;
constexpr Status hardware_stack_error = 714;
constexpr Status illegal_instruction = 715;
constexpr Status misaligned_address = 716;
constexpr Status invalid_address_space = 717;
constexpr Status invalid_pc = 718;
constexpr Status launch_failed = 719;
constexpr Status cooperative_launch_too_large = 720;
constexpr Status not_permitted = 800;
constexpr Status not_supported = 801;
constexpr Status system_not_ready = 802;
constexpr Status system_driver_mismatch = 803;
constexpr Status unknown = 999;
} // namespace status

enum class DeviceAttribute : int {
  max_threads_per_block = 1,
  shared_per_block = 8,
  registers_per_block = 12,
  clock_khz = 13,
  multiprocessors = 16,
  compute_mode = 20,
  memory_clock_khz = 36,
  memory_bus_bits = 37,
  l2_bytes = 38,
  threads_per_multiprocessor = 39,
  capability_major = 75,
  capability_minor = 76,
  shared_per_multiprocessor = 81,
  registers_per_multiprocessor = 82,
  cooperative_launch = 95,
  shared_per_block_optin = 97,
  blocks_per_multiprocessor = 106,
  shared_reserved_per_block = 111,
};

enum class FunctionAttribute : int {
  registers = 4,
  binary_version = 6,
  max_dynamic_shared = 8,
  cluster_width = 11,
  cluster_height = 12,
  cluster_depth = 13,
  wide_clusters_allowed = 14,
};

// Options of cuModuleLoadDataEx.
constexpr int kErrorLog = 5;
constexpr int kErrorLogBytes = 6;

constexpr unsigned kStreamApart = 1;  // CU_STREAM_NON_BLOCKING
constexpr unsigned kHostMapped = 2;   // CU_MEMHOSTALLOC_DEVICEMAP
constexpr unsigned kWaitForEqual = 1; // CU_STREAM_WAIT_VALUE_EQ

// X(member, exported name, signature) of what no driver lacks.
#define KERNEVO_DRIVER_FUNCTIONS(X)                                                                \
  X(init, "cuInit", Status(unsigned))                                                              \
  X(driver_version, "cuDriverGetVersion", Status(int*))                                            \
  X(error_name, "cuGetErrorName", Status(Status, const char**))                                    \
  X(error_text, "cuGetErrorString", Status(Status, const char**))                                  \
  X(device_count, "cuDeviceGetCount", Status(int*))                                                \
  X(device_get, "cuDeviceGet", Status(DeviceHandle*, int))                                         \
  X(device_name, "cuDeviceGetName", Status(char*, int, DeviceHandle))                              \
  X(device_bus, "cuDeviceGetPCIBusId", Status(char*, int, DeviceHandle))                           \
  X(device_memory, "cuDeviceTotalMem_v2", Status(std::size_t*, DeviceHandle))                      \
  X(device_attribute, "cuDeviceGetAttribute", Status(int*, DeviceAttribute, DeviceHandle))         \
  X(context_retain, "cuDevicePrimaryCtxRetain", Status(Context*, DeviceHandle))                    \
  X(context_set, "cuCtxSetCurrent", Status(Context))                                               \
  X(context_synchronize, "cuCtxSynchronize", Status())                                             \
  X(module_load, "cuModuleLoadDataEx", Status(Module*, const void*, unsigned, int*, void**))       \
  X(module_function, "cuModuleGetFunction", Status(Function*, Module, const char*))                \
  X(function_attribute, "cuFuncGetAttribute", Status(int*, FunctionAttribute, Function))           \
  X(function_set, "cuFuncSetAttribute", Status(Function, FunctionAttribute, int))                  \
  X(memory_info, "cuMemGetInfo_v2", Status(std::size_t*, std::size_t*))                            \
  X(memory_allocate, "cuMemAlloc_v2", Status(Address*, std::size_t))                               \
  X(memory_free, "cuMemFree_v2", Status(Address))                                                  \
  X(copy_to_device, "cuMemcpyHtoD_v2", Status(Address, const void*, std::size_t))                  \
  X(copy_to_host, "cuMemcpyDtoH_v2", Status(void*, Address, std::size_t))                          \
  X(copy_within, "cuMemcpyDtoDAsync_v2", Status(Address, Address, std::size_t, Stream))            \
  X(fill, "cuMemsetD8Async", Status(Address, unsigned char, std::size_t, Stream))                  \
  X(stream_create, "cuStreamCreate", Status(Stream*, unsigned))                                    \
  X(event_create, "cuEventCreate", Status(Event*, unsigned))                                       \
  X(event_record, "cuEventRecord", Status(Event, Stream))                                          \
  X(event_query, "cuEventQuery", Status(Event))                                                    \
  X(event_elapsed, "cuEventElapsedTime", Status(float*, Event, Event))                             \
  X(launch, "cuLaunchKernel",                                                                      \
    Status(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, \
           void**, void**))                                                                        \
  X(launch_together, "cuLaunchCooperativeKernel",                                                  \
    Status(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, \
           void**))

// The same of what some lack; null there.
#define KERNEVO_DRIVER_EXTRAS(X)                                                                   \
  X(device_uuid, "cuDeviceGetUuid", Status(Uuid*, DeviceHandle))                                   \
  X(device_uuid_of_part, "cuDeviceGetUuid_v2", Status(Uuid*, DeviceHandle))                        \
  X(forget_persisting_lines, "cuCtxResetPersistingL2Cache", Status())                              \
  X(host_allocate, "cuMemHostAlloc", Status(void**, std::size_t, unsigned))                        \
  X(host_address, "cuMemHostGetDevicePointer_v2", Status(Address*, void*, unsigned))               \
  X(wait_for_value, "cuStreamWaitValue32_v2", Status(Stream, Address, std::uint32_t, unsigned))    \
  X(stand_in, "kernevoStandIn", int(char*, int))

// Signature -> pointer to a function of that kind.
template <class F> using Pointer = F*;

struct Functions {
#define KERNEVO_MEMBER(member, name, ...) Pointer<__VA_ARGS__> member = nullptr;
  KERNEVO_DRIVER_FUNCTIONS(KERNEVO_MEMBER)
  KERNEVO_DRIVER_EXTRAS(KERNEVO_MEMBER)
#undef KERNEVO_MEMBER
};

} // namespace kernevo::driver
