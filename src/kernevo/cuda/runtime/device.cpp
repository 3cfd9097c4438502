// The one device: its properties, attributes, limits, and the last error.
#include "kernevo/cuda/core/device.h"

#include "kernevo/cuda/core/contexts.h"
#include "kernevo/cuda/core/session.h"
#include "kernevo/cuda/core/streams.h"

using namespace kernevo::cuda; // NOLINT(google-build-using-namespace)

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  if (count == nullptr)
    return kernevo::cuda::set_error(cudaErrorInvalidValue);
  initialise(); // the driver, too: programs go on with its functions
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  if (device == nullptr)
    return kernevo::cuda::set_error(cudaErrorInvalidValue);
  initialise();
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  if (device != 0)
    return set_error(cudaErrorInvalidDevice);
  need_context();
  return cudaSuccess;
}
cudaError_t cudaInitDevice(int device, unsigned /*device_flags*/, unsigned /*flags*/) {
  return cudaSetDevice(device);
}
cudaError_t cudaSetDeviceFlags(unsigned /*flags*/) {
  return cudaSuccess;
}
cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  *flags = 0;
  return cudaSuccess;
}
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* /*wanted*/) {
  *device = 0;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
  initialise();
  return device_properties(p, device);
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  initialise();
  return device_attribute(value, attribute, device);
}

cudaError_t cudaDeviceSynchronize() {
  return set_error(synchronize_device());
}
cudaError_t cudaDeviceReset() {
  synchronize_device();
  last_error(true);
  return cudaSuccess;
}
cudaError_t cudaGetLastError() {
  return kernevo::cuda::last_error(true);
}
cudaError_t cudaPeekAtLastError() {
  return kernevo::cuda::last_error(false);
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  return set_limit(limit, value);
}
cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  return get_limit(value, limit);
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache /*config*/) {
  return cudaSuccess;
}
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  *config = cudaFuncCachePreferNone;
  return cudaSuccess;
}
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig /*config*/) {
  return cudaSuccess;
}
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  *config = cudaSharedMemBankSizeFourByte;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return device_by_pci_bus_id(device, text);
}
cudaError_t cudaSetValidDevices(int* /*devices*/, int /*count*/) {
  return cudaSuccess;
}
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr /*attribute*/, int /*from*/,
                                      int /*to*/) {
  *value = 0;
  return kernevo::cuda::set_error(cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(std::size_t* width,
                                                 const cudaChannelFormatDesc* /*format*/,
                                                 int /*device*/) {
  *width = std::size_t{1} << 27U;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int /*device*/) {
  return pci_bus_id(text, length);
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int /*device*/, int /*peer*/) {
  *can = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int /*peer*/, unsigned /*flags*/) {
  return kernevo::cuda::set_error(cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceDisablePeerAccess(int /*peer*/) {
  return kernevo::cuda::set_error(cudaErrorInvalidDevice);
}
cudaError_t cudaProfilerStart() {
  return cudaSuccess;
}
cudaError_t cudaProfilerStop() {
  return cudaSuccess;
}

} // extern "C"
