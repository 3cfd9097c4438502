// The driver's interface: devices, contexts, errors. Its error numbers are the runtime's.
#include "kernevo/cuda/core/device.h"
#include "kernevo/cuda/core/entry_points.h"
#include "kernevo/cuda/core/errors.h"
#include "kernevo/cuda/core/live.h"
#include "kernevo/cuda/core/session.h"
#include "kernevo/cuda/core/streams.h"
#include "kernevo/cuda/driver/driver.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

using namespace kernevo::cuda; // NOLINT(google-build-using-namespace)

struct CUctx_st : Live<CUctx_st> {
  int device = 0;
};

namespace {

CUctx_st& primary() {
  static CUctx_st context;
  return context;
}

// Contexts made current by this thread, innermost last. All share the one device's memory.
std::vector<CUcontext>& current() {
  static thread_local std::vector<CUcontext> stack = {&primary()};
  return stack;
}

} // namespace

extern "C" {

CUresult cuInit(unsigned /*flags*/) {
  return CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult error, const char** text) {
  *text = error_text(static_cast<cudaError_t>(error));
  return CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult error, const char** text) {
  static thread_local std::string name;
  // cudaErrorInvalidValue is CUDA_ERROR_INVALID_VALUE here.
  const std::string runtime_name = error_name(static_cast<cudaError_t>(error));
  name = "CUDA";
  for (const char c : runtime_name.substr(std::min<std::size_t>(4, runtime_name.size()))) {
    if (c >= 'A' && c <= 'Z')
      name += '_';
    name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  *text = name.c_str();
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
  *count = 1;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  *device = ordinal;
  return ordinal == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  cudaDeviceProp properties{};
  const cudaError_t error = device_properties(&properties, device);
  if (error == cudaSuccess && length > 0) {
    std::strncpy(name, properties.name, static_cast<std::size_t>(length));
    name[length - 1] = '\0';
  }
  return driver_result(error);
}
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  cudaDeviceProp properties{};
  const cudaError_t error = device_properties(&properties, device);
  if (error == cudaSuccess)
    std::memcpy(uuid, &properties.uuid, sizeof *uuid);
  return driver_result(error);
}
CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice device) {
  cudaDeviceProp properties{};
  const cudaError_t error = device_properties(&properties, device);
  if (error == cudaSuccess)
    *bytes = properties.totalGlobalMem;
  return driver_result(error);
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return driver_result(device_attribute(value, static_cast<cudaDeviceAttr>(attribute), device));
}
CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  device_attribute(minor, cudaDevAttrComputeCapabilityMinor, device);
  return driver_result(device_attribute(major, cudaDevAttrComputeCapabilityMajor, device));
}
CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice /*device*/) {
  return driver_result(pci_bus_id(text, length));
}
CUresult cuDeviceCanAccessPeer(int* can, CUdevice /*device*/, CUdevice /*peer*/) {
  *can = 0;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  *context = &primary();
  return device == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice /*device*/) {
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxReset(CUdevice /*device*/) {
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxSetFlags(CUdevice /*device*/, unsigned /*flags*/) {
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxGetState(CUdevice /*device*/, unsigned* flags, int* active) {
  *flags = 0;
  *active = 1;
  return CUDA_SUCCESS;
}
CUresult cuCtxCreate_v2(CUcontext* context, unsigned /*flags*/, CUdevice device) {
  if (device != 0)
    return CUDA_ERROR_INVALID_DEVICE;
  if (context == nullptr)
    return CUDA_ERROR_INVALID_VALUE;
  *context = new CUctx_st();
  current().push_back(*context);
  return CUDA_SUCCESS;
}
CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams* /*parameters*/, unsigned flags,
                        CUdevice device) {
  return cuCtxCreate_v2(context, flags, device);
}
CUresult cuCtxDestroy(CUcontext context) {
  if (!CUctx_st::has(context))
    return CUDA_ERROR_INVALID_CONTEXT;
  std::erase(current(), context);
  if (context != &primary())
    delete context;
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  if (context != nullptr && !CUctx_st::has(context))
    return CUDA_ERROR_INVALID_CONTEXT;
  if (!current().empty())
    current().pop_back();
  if (context != nullptr)
    current().push_back(context);
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = current().empty() ? nullptr : current().back();
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext context) {
  if (!CUctx_st::has(context))
    return CUDA_ERROR_INVALID_CONTEXT;
  current().push_back(context);
  return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent(CUcontext* context) {
  if (current().empty())
    return CUDA_ERROR_INVALID_CONTEXT;
  if (context != nullptr)
    *context = current().back();
  current().pop_back();
  return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* device) {
  *device = 0;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetFlags(unsigned* flags) {
  *flags = 0;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetApiVersion(CUcontext /*context*/, unsigned* version) {
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() {
  return driver_result(Session::get().last_error(false));
}
CUresult cuCtxSetLimit(CUlimit limit, std::size_t value) {
  return driver_result(set_limit(static_cast<cudaLimit>(limit), value));
}
CUresult cuCtxGetLimit(std::size_t* value, CUlimit limit) {
  return driver_result(get_limit(value, static_cast<cudaLimit>(limit)));
}
CUresult cuCtxSetCacheConfig(CUfunc_cache /*config*/) {
  return CUDA_SUCCESS;
}
CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return driver_result(stream_priorities(least, greatest));
}
CUresult cuProfilerStart() {
  return CUDA_SUCCESS;
}
CUresult cuProfilerStop() {
  return CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char* symbol, void** function, int /*version*/,
                          cuuint64_t /*flags*/, CUdriverProcAddressQueryResult* status) {
  *function = find_entry_point(symbol);
  if (status != nullptr)
    *status =
        *function != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *function != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

} // extern "C"
