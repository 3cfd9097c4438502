// The one device: its properties, attributes and limits.
#pragma once

#include <cstddef>
#include <cuda_runtime_api.h>

namespace kernevo::cuda {

cudaError_t device_properties(cudaDeviceProp* p, int device);
cudaError_t device_attribute(int* value, cudaDeviceAttr attribute, int device);
// Nothing here runs short of what the limits ration; they are kept for those who ask.
cudaError_t set_limit(cudaLimit limit, std::size_t value);
cudaError_t get_limit(std::size_t* value, cudaLimit limit);
cudaError_t pci_bus_id(char* text, int length);
cudaError_t device_by_pci_bus_id(int* device, const char* text);

} // namespace kernevo::cuda
