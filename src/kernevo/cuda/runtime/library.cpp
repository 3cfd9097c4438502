// Libraries: modules a program loads at run time, and their kernels.
#include "kernevo/cuda/core/kernels.h"
#include "kernevo/cuda/core/modules.h"

using kernevo::cuda::Module;
using kernevo::cuda::Session;

namespace {

Module* module_of(cudaLibrary_t library) {
  return reinterpret_cast<Module*>(library); // NOLINT
}

cudaError_t give(cudaLibrary_t* library, cudaError_t error, Module* loaded) {
  if (error == cudaSuccess)
    *library = reinterpret_cast<cudaLibrary_t>(loaded); // NOLINT
  return error;
}

} // namespace

extern "C" {

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* symbol) {
  *function = reinterpret_cast<cudaFunction_t>(const_cast<void*>(symbol)); // NOLINT
  return Session::get().kernel(symbol) != nullptr
             ? cudaSuccess
             : kernevo::cuda::set_error(cudaErrorInvalidDeviceFunction);
}
cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption* /*jit*/,
                                void** /*jit_values*/, unsigned /*jit_count*/,
                                cudaLibraryOption* /*options*/, void** /*values*/,
                                unsigned /*count*/) {
  Module* loaded = nullptr;
  const cudaError_t error = kernevo::cuda::load_module(&loaded, code);
  return give(library, error, loaded);
}
cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* path,
                                    cudaJitOption* /*jit*/, void** /*jit_values*/,
                                    unsigned /*jit_count*/, cudaLibraryOption* /*options*/,
                                    void** /*values*/, unsigned /*count*/) {
  Module* loaded = nullptr;
  const cudaError_t error = kernevo::cuda::load_module_file(&loaded, path);
  return give(library, error, loaded);
}
cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return kernevo::cuda::unload_module(module_of(library));
}
cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  const void* key = nullptr;
  const cudaError_t error = kernevo::cuda::find_function(&key, module_of(library), name);
  if (error == cudaSuccess)
    *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(key)); // NOLINT
  return error;
}
cudaError_t cudaLibraryGetGlobal(void** pointer, std::size_t* bytes, cudaLibrary_t library,
                                 const char* name) {
  std::uint64_t address = 0;
  const cudaError_t error = kernevo::cuda::find_global(&address, bytes, module_of(library), name);
  *pointer = reinterpret_cast<void*>(address); // NOLINT
  return error;
}
cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute,
                                            int value, int /*device*/) {
  return kernevo::cuda::set_kernel_attribute(kernel, attribute, value);
}

} // extern "C"
