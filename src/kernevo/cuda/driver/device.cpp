// The driver's interface: initialisation and devices.
#include "kernevo/cuda/core/device.h"
#include "kernevo/cuda/common/faults.h"
#include "kernevo/cuda/core/contexts.h"
#include "kernevo/cuda/core/queue.h"
#include "kernevo/cuda/core/session.h"
#include "kernevo/cuda/driver/driver.h"

#include <cstring>

using namespace kernevo::cuda; // NOLINT(google-build-using-namespace)

namespace {

CUresult usable() {
  return is_initialised() && queues_are_ours() ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

#define KERNEVO_DEVICE(device)                                                                     \
  do {                                                                                             \
    if (const CUresult no = usable(); no != CUDA_SUCCESS)                                          \
      return no;                                                                                   \
    if ((device) != 0)                                                                             \
      return CUDA_ERROR_INVALID_DEVICE;                                                            \
  } while (false)

} // namespace

namespace kernevo::cuda {

CUresult ready() {
  if (const CUresult no = usable(); no != CUDA_SUCCESS)
    return no;
  if (current_context() == nullptr)
    return CUDA_ERROR_INVALID_CONTEXT;
  return driver_result(fault());
}

CUresult device_of(CUdevice device) {
  KERNEVO_DEVICE(device);
  return CUDA_SUCCESS;
}

} // namespace kernevo::cuda

extern "C" {

CUresult cuInit(unsigned flags) {
  if (flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (!queues_are_ours())
    return CUDA_ERROR_NOT_INITIALIZED; // a fork of a process that used the GPU
  if (const int injected = Faults::get().start(); injected != 0)
    return static_cast<CUresult>(injected);
  initialise();
  return CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int* version) {
  KERNEVO_NEED(version);
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
  KERNEVO_NEED(count);
  KERNEVO_DEVICE(0);
  *count = 1;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  KERNEVO_NEED(device);
  KERNEVO_DEVICE(ordinal);
  *device = 0;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  if (name == nullptr || length <= 0)
    return CUDA_ERROR_INVALID_VALUE;
  KERNEVO_DEVICE(device);
  const KeepsLastError keeps;
  cudaDeviceProp properties{};
  if (const cudaError_t error = device_properties(&properties, device); error != cudaSuccess)
    return driver_result(error);
  std::strncpy(name, properties.name, static_cast<std::size_t>(length));
  name[length - 1] = '\0';
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  KERNEVO_NEED(uuid);
  KERNEVO_DEVICE(device);
  cudaDeviceProp properties{};
  const cudaError_t error = device_properties(&properties, device);
  std::memcpy(uuid, &properties.uuid, sizeof *uuid);
  return driver_result(error);
}
CUresult cuDeviceGetLuid(char* /*luid*/, unsigned* /*mask*/, CUdevice /*device*/) {
  return CUDA_ERROR_NOT_SUPPORTED; // Windows alone has them
}
CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice device) {
  KERNEVO_NEED(bytes);
  KERNEVO_DEVICE(device);
  *bytes = Session::get().machine().gpu().memory.value;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  KERNEVO_NEED(value);
  KERNEVO_DEVICE(device);
  if (attribute <= 0 || attribute >= CU_DEVICE_ATTRIBUTE_MAX)
    return CUDA_ERROR_INVALID_VALUE;
  const KeepsLastError keeps;
  return driver_result(device_attribute(value, static_cast<cudaDeviceAttr>(attribute), device));
}
CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  KERNEVO_NEED(major);
  KERNEVO_NEED(minor);
  KERNEVO_DEVICE(device);
  const int capability = Session::get().machine().gpu().compute_capability;
  *major = capability / 10;
  *minor = capability % 10;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice device) {
  KERNEVO_DEVICE(device);
  const KeepsLastError keeps;
  return driver_result(pci_bus_id(text, length));
}
CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* text) {
  KERNEVO_NEED(device);
  KERNEVO_NEED(text);
  KERNEVO_DEVICE(0);
  const KeepsLastError keeps;
  int found = 0;
  const cudaError_t error = device_by_pci_bus_id(&found, text);
  if (error == cudaSuccess)
    *device = found;
  return driver_result(error);
}
CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  KERNEVO_NEED(can);
  KERNEVO_DEVICE(device);
  KERNEVO_DEVICE(peer);
  *can = 0;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute /*attribute*/,
                                 CUdevice /*source*/, CUdevice /*target*/) {
  KERNEVO_NEED(value);
  return CUDA_ERROR_INVALID_DEVICE; // there is no second one
}
CUresult cuDeviceGetExecAffinitySupport(int* supported, CUexecAffinityType /*type*/,
                                        CUdevice device) {
  KERNEVO_NEED(supported);
  KERNEVO_DEVICE(device);
  *supported = 0;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetTexture1DLinearMaxWidth(std::size_t* width, CUarray_format /*format*/,
                                            unsigned /*channels*/, CUdevice device) {
  KERNEVO_NEED(width);
  KERNEVO_DEVICE(device);
  *width = std::size_t{1} << 27U;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetProperties(CUdevprop* to, CUdevice device) {
  KERNEVO_NEED(to);
  KERNEVO_DEVICE(device);
  cudaDeviceProp from{};
  device_properties(&from, device);
  *to = {};
  to->maxThreadsPerBlock = from.maxThreadsPerBlock;
  for (int i = 0; i < 3; ++i) {
    to->maxThreadsDim[i] = from.maxThreadsDim[i];
    to->maxGridSize[i] = from.maxGridSize[i];
  }
  to->sharedMemPerBlock = static_cast<int>(from.sharedMemPerBlock);
  to->totalConstantMemory = static_cast<int>(from.totalConstMem);
  to->SIMDWidth = from.warpSize;
  to->memPitch = static_cast<int>(from.memPitch);
  to->regsPerBlock = from.regsPerBlock;
  to->clockRate = static_cast<int>(Session::get().machine().gpu().clock_ghz * 1e6);
  to->textureAlign = static_cast<int>(from.textureAlignment);
  return CUDA_SUCCESS;
}
CUresult cuProfilerInitialize(const char* /*config*/, const char* /*output*/, int /*mode*/) {
  return CUDA_SUCCESS;
}
CUresult cuProfilerStart() {
  return CUDA_SUCCESS;
}
CUresult cuProfilerStop() {
  return CUDA_SUCCESS;
}

} // extern "C"
