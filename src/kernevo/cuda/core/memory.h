// Allocation and copies. A device pointer is a host address, so a copy is a copy; ranges inside
// device allocations are checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda_runtime_api.h>

namespace kernevo::cuda {

inline std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer); // NOLINT
}
inline std::byte* bytes_of(const void* pointer) {
  return static_cast<std::byte*>(const_cast<void*>(pointer)); // NOLINT
}

// `what` names the memory in findings.
cudaError_t allocate(void** pointer, std::size_t bytes, const char* what,
                     cudaMemoryType type = cudaMemoryTypeDevice);
// The width rounded up to where a row may start.
std::size_t pitched(std::size_t width);
cudaError_t allocate_pitched(void** pointer, std::size_t* pitch, std::size_t width,
                             std::size_t height);
// Waits for all work first, as the hardware's drivers do.
cudaError_t release(void* pointer);
cudaError_t release_now(void* pointer);
cudaError_t release_async(void* pointer, cudaStream_t handle);
cudaError_t register_host(void* pointer, std::size_t bytes);
cudaError_t memory_info(std::size_t* available, std::size_t* total);
cudaError_t describe_pointer(cudaPointerAttributes* attributes, const void* pointer);

// At once. The kind says which ends must be memory of the device.
cudaError_t copy_bytes(void* to, const void* from, std::size_t bytes,
                       cudaMemcpyKind kind = cudaMemcpyDefault);
// Elements of 1, 2 or 4 bytes, in memory of the device.
cudaError_t fill_elements(void* to, unsigned value, std::size_t element, std::size_t count);
struct Plane {
  std::byte* data;
  std::size_t pitch;
};
cudaError_t fill_rows(Plane to, unsigned value, std::size_t element, std::size_t width,
                      std::size_t height);
cudaError_t copy_rows(Plane to, Plane from, std::size_t width, std::size_t height,
                      cudaMemcpyKind kind = cudaMemcpyDefault);
cudaError_t copy_box(const cudaMemcpy3DParms& p);
// In the stream's order: a captured stream records it. Those that wait are done when they return.
cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                 cudaStream_t stream, bool waits);
cudaError_t copy_planes(Plane to, Plane from, std::size_t width, std::size_t height,
                        cudaMemcpyKind kind, cudaStream_t stream, bool waits);
cudaError_t copy(const cudaMemcpy3DParms& parameters, cudaStream_t stream, bool waits);
cudaError_t fill(Plane to, unsigned value, std::size_t element, std::size_t width,
                 std::size_t height, cudaStream_t stream);

// The symbol's memory from `offset` on, or null when there are not `bytes` of it.
std::byte* symbol_bytes(const void* host, std::size_t bytes, std::size_t offset);

} // namespace kernevo::cuda
