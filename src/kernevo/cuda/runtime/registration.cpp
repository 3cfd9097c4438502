// What nvcc's generated code calls before main(): device code, kernels and variables of a
// translation unit. The names are the toolchain's contract.
#include "kernevo/cuda/core/session.h"

using kernevo::cuda::Module;
using kernevo::cuda::Session;

namespace {

struct Managed {
  Module* module;
  void** host;
};

Module* module_of(void** handle) {
  return reinterpret_cast<Module*>(handle); // NOLINT
}

// A managed variable is one memory for both sides: the host reaches it through a pointer that must
// be set before main() touches it.
void place_managed(void** host) {
  Session& session = Session::get();
  if (auto* symbol = session.symbol(host))
    *host = reinterpret_cast<void*>(session.address(*symbol)); // NOLINT
}

// The translation units of a program that were compiled for linking (nvcc -rdc=true): one module.
Module* linked_module() {
  static Module* const module = Session::get().add_module(nullptr);
  return module;
}

std::vector<Managed>& managed() {
  static std::vector<Managed> all;
  return all;
}

} // namespace

extern "C" {

void** __cudaRegisterFatBinary(void* image) {
  return reinterpret_cast<void**>(Session::get().add_module(image)); // NOLINT
}

void __cudaRegisterFatBinaryEnd(void** handle) {
  for (const Managed& variable : managed())
    if (variable.module == module_of(handle))
      place_managed(variable.host);
}

// Called by the functions that the stand-in for nvcc makes at the device link, one for each unit;
// `last` with the last of them.
void __kernevoRegisterLinkedBinary(const void* image, void (*register_names)(void**), int last) {
  Module* const module = linked_module();
  module->images.push_back(image);
  auto** const handle = reinterpret_cast<void**>(module); // NOLINT
  register_names(handle);
  if (last != 0)
    __cudaRegisterFatBinaryEnd(handle);
}

void __cudaUnregisterFatBinary(void** /*handle*/) {}

char __cudaInitModule(void** handle) {
  __cudaRegisterFatBinaryEnd(handle);
  return 1;
}

void __cudaRegisterFunction(void** handle, const char* host, char* /*device*/, const char* name,
                            int /*thread_limit*/, uint3* /*tid*/, uint3* /*bid*/, dim3* /*block*/,
                            dim3* /*grid*/, int* /*warp*/) {
  Session::get().add_kernel(module_of(handle), host, name);
}

void __cudaRegisterVar(void** handle, char* host, char* /*device*/, const char* name, int /*ext*/,
                       std::size_t bytes, int /*constant*/, int /*global*/) {
  Session::get().add_symbol(module_of(handle), host, name, bytes);
}

void __cudaRegisterManagedVar(void** handle, void** host, char* /*device*/, const char* name,
                              int /*ext*/, std::size_t bytes, int /*constant*/, int /*global*/) {
  Session::get().add_symbol(module_of(handle), host, name, bytes);
  managed().push_back({module_of(handle), host});
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(host)); // NOLINT
  return cudaSuccess;
}

} // extern "C"
