// The driver's interface: modules, linking, kernels and their launches.
#include "kernevo/cuda/core/fatbin.h"
#include "kernevo/cuda/core/kernels.h"
#include "kernevo/cuda/core/live.h"
#include "kernevo/cuda/core/modules.h"
#include "kernevo/cuda/core/notice.h"
#include "kernevo/cuda/core/session.h"
#include "kernevo/cuda/driver/driver.h"

#include <algorithm>
#include <cstring>

using kernevo::cuda::driver_result;
using kernevo::cuda::Kernel;
using kernevo::cuda::kernel_attributes;
using kernevo::cuda::key_of;
using kernevo::cuda::launch_kernel;
using kernevo::cuda::Module;
using kernevo::cuda::resident_blocks;
using kernevo::cuda::Session;
using kernevo::cuda::set_kernel_attribute;

struct CUlinkState_st : kernevo::cuda::Live<CUlinkState_st> {
  std::vector<std::string> texts;
  std::string result;
};

namespace {

Module* module_of(CUmodule handle) {
  return reinterpret_cast<Module*>(handle); // NOLINT
}

Module* module_of(CUlibrary handle) {
  return reinterpret_cast<Module*>(handle); // NOLINT
}

// Libraries, other than modules, belong to no context.
template <class Handle> CUresult may_load() {
  return std::is_same_v<Handle, CUlibrary> ? kernevo::cuda::device_of(0) : kernevo::cuda::ready();
}

// The limit among the options of a load; 0: there is none.
int most_registers(unsigned count, const CUjit_option* options, void* const* values) {
  if (options != nullptr && values != nullptr)
    for (unsigned i = 0; i < count; ++i)
      if (options[i] == CU_JIT_MAX_REGISTERS)
        return static_cast<int>(reinterpret_cast<std::uintptr_t>(values[i])); // NOLINT
  return 0;
}

template <class Handle> CUresult load_image(Handle* handle, const void* image, int registers = 0) {
  if (handle == nullptr || image == nullptr)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult no = may_load<Handle>(); no != CUDA_SUCCESS)
    return no;
  Module* loaded = nullptr;
  const cudaError_t error = kernevo::cuda::load_module(&loaded, image, registers);
  if (error == cudaSuccess)
    *handle = reinterpret_cast<Handle>(loaded); // NOLINT
  return driver_result(error);
}

template <class Handle> CUresult load_file(Handle* handle, const char* path) {
  if (handle == nullptr || path == nullptr)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult no = may_load<Handle>(); no != CUDA_SUCCESS)
    return no;
  Module* loaded = nullptr;
  const cudaError_t error = kernevo::cuda::load_module_file(&loaded, path);
  if (error == cudaSuccess)
    *handle = reinterpret_cast<Handle>(loaded); // NOLINT
  return driver_result(error);
}

template <class Handle> CUresult find_function(Handle* function, Module* module, const char* name) {
  KERNEVO_NEED(function);
  const void* key = nullptr;
  const cudaError_t error = kernevo::cuda::find_function(&key, module, name);
  if (error == cudaSuccess)
    *function = reinterpret_cast<Handle>(const_cast<void*>(key)); // NOLINT
  return driver_result(error);
}

CUresult find_global(CUdeviceptr* address, std::size_t* bytes, Module* module, const char* name) {
  std::uint64_t found = 0;
  const cudaError_t error =
      kernevo::cuda::find_global(address != nullptr ? &found : nullptr, bytes, module, name);
  if (error == cudaSuccess && address != nullptr)
    *address = found;
  return driver_result(error);
}

struct Arguments {
  std::vector<void*> pointers;
  CUresult error = CUDA_SUCCESS;
};

// Arguments one by one, or as one buffer in `extra`.
Arguments arguments_of(CUfunction function, void** parameters, void** extra) {
  Arguments arguments;
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
  Kernel* const kernel = session.kernel(key_of(function));
  const auto* program = kernel == nullptr ? nullptr : session.program(*kernel->module);
  if (program == nullptr) {
    arguments.error = CUDA_ERROR_INVALID_HANDLE;
    return arguments;
  }
  const auto info = kernevo::vgpu::find_kernel(*program, kernel->name);
  if (!info) {
    arguments.error = CUDA_ERROR_INVALID_HANDLE;
    return arguments;
  }
  std::byte* buffer = nullptr;
  std::size_t bytes = 0;
  for (void** word = extra; word != nullptr && *word != CU_LAUNCH_PARAM_END; word += 2) {
    if (*word == CU_LAUNCH_PARAM_BUFFER_POINTER)
      buffer = static_cast<std::byte*>(word[1]);
    else if (*word == CU_LAUNCH_PARAM_BUFFER_SIZE)
      bytes = *static_cast<std::size_t*>(word[1]);
  }
  for (std::size_t i = 0; i < info->parameters.size(); ++i) {
    if (parameters != nullptr)
      arguments.pointers.push_back(parameters[i]);
    else if (buffer != nullptr && info->parameters[i].offset + info->parameters[i].size <= bytes)
      arguments.pointers.push_back(buffer + info->parameters[i].offset);
    else
      arguments.error = CUDA_ERROR_INVALID_VALUE;
  }
  return arguments;
}

cudaFuncAttribute runtime_attribute(CUfunction_attribute attribute) {
  return attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
             ? cudaFuncAttributeMaxDynamicSharedMemorySize
             : cudaFuncAttributePreferredSharedMemoryCarveout;
}

// A kernel and what is known of it; nothing when the handle is none.
std::optional<kernevo::vgpu::KernelInfo> info_of(const void* key) {
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
  Kernel* const kernel = session.kernel(key);
  const auto* program = kernel == nullptr || !Module::has(kernel->module)
                            ? nullptr
                            : session.program(*kernel->module);
  if (program == nullptr)
    return std::nullopt;
  auto info = kernevo::vgpu::find_kernel(*program, kernel->name);
  return info ? std::optional(std::move(*info)) : std::nullopt;
}

CUresult count_parameters(const void* key, std::size_t* count) {
  KERNEVO_NEED(count);
  const auto info = info_of(key);
  if (!info)
    return CUDA_ERROR_INVALID_HANDLE;
  *count = info->parameters.size();
  return CUDA_SUCCESS;
}

CUresult parameter(const void* key, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  KERNEVO_NEED(offset);
  const auto info = info_of(key);
  if (!info)
    return CUDA_ERROR_INVALID_HANDLE;
  if (index >= info->parameters.size())
    return CUDA_ERROR_INVALID_VALUE;
  *offset = info->parameters[index].offset;
  if (bytes != nullptr)
    *bytes = info->parameters[index].size;
  return CUDA_SUCCESS;
}

CUresult give_name(const char** name, const void* key) {
  KERNEVO_NEED(name);
  KERNEVO_NEED(key);
  const Kernel* const kernel = Session::get().kernel(key);
  if (kernel == nullptr)
    return CUDA_ERROR_INVALID_HANDLE;
  *name = kernel->name.c_str();
  return CUDA_SUCCESS;
}

template <class Handle> CUresult give_module(Handle* module, const void* key) {
  KERNEVO_NEED(module);
  const Kernel* const kernel = Session::get().kernel(key);
  if (kernel == nullptr)
    return CUDA_ERROR_INVALID_HANDLE;
  *module = reinterpret_cast<Handle>(kernel->module); // NOLINT
  return CUDA_SUCCESS;
}

CUresult count_kernels(unsigned* count, Module* module) {
  KERNEVO_NEED(count);
  if (!Module::has(module) || module->program == nullptr)
    return CUDA_ERROR_INVALID_HANDLE;
  *count = static_cast<unsigned>(kernevo::vgpu::kernels_of(*module->program).size());
  return CUDA_SUCCESS;
}

template <class Handle> CUresult list_kernels(Handle* list, unsigned count, Module* module) {
  KERNEVO_NEED(list);
  if (!Module::has(module) || module->program == nullptr)
    return CUDA_ERROR_INVALID_HANDLE;
  const auto kernels = kernevo::vgpu::kernels_of(*module->program);
  for (unsigned i = 0; i < count && i < kernels.size(); ++i)
    if (const CUresult error = find_function(list + i, module, kernels[i].name.c_str());
        error != CUDA_SUCCESS)
      return error;
  return CUDA_SUCCESS;
}

cudaLaunchConfig_t runtime_config(const CUlaunchConfig& config) {
  cudaLaunchConfig_t made{};
  made.gridDim = dim3(config.gridDimX, config.gridDimY, config.gridDimZ);
  made.blockDim = dim3(config.blockDimX, config.blockDimY, config.blockDimZ);
  made.dynamicSmemBytes = config.sharedMemBytes;
  made.stream = config.hStream;
  // The attributes are laid out alike.
  static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute));
  made.attrs = reinterpret_cast<cudaLaunchAttribute*>(config.attrs); // NOLINT
  made.numAttrs = config.numAttrs;
  return made;
}

} // namespace

extern "C" {

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return load_image(module, image);
}
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count,
                            CUjit_option* options, void** values) {
  return load_image(module, image, most_registers(count, options, values));
}
CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return load_image(module, image);
}
CUresult cuModuleLoad(CUmodule* module, const char* path) {
  return load_file(module, path);
}
CUresult cuModuleUnload(CUmodule module) {
  return driver_result(kernevo::cuda::unload_module(module_of(module)));
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return find_function(function, module_of(module), name);
}
CUresult cuModuleGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUmodule module,
                           const char* name) {
  return find_global(address, bytes, module_of(module), name);
}
CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule module) {
  return count_kernels(count, module_of(module));
}
CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned count, CUmodule module) {
  return list_kernels(functions, count, module_of(module));
}
CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  KERNEVO_NEED(mode);
  *mode = CU_MODULE_LAZY_LOADING;
  return CUDA_SUCCESS;
}

CUresult cuLinkCreate(unsigned /*count*/, CUjit_option* /*options*/, void** /*values*/,
                      CUlinkState* state) {
  KERNEVO_NEED(state);
  KERNEVO_READY();
  *state = new CUlinkState_st();
  return CUDA_SUCCESS;
}
CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, std::size_t bytes,
                       const char* /*name*/, unsigned /*count*/, CUjit_option* /*options*/,
                       void** /*values*/) {
  if (!CUlinkState_st::has(state))
    return CUDA_ERROR_INVALID_HANDLE;
  if (data == nullptr || bytes == 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (type == CU_JIT_INPUT_LIBRARY)
    return CUDA_SUCCESS;
  const std::string copy(static_cast<const char*>(data), bytes);
  auto text = kernevo::cuda::ptx_of_image(
      copy.c_str(), Session::get().machine().gpu().compute_capability, copy.size());
  if (!text) {
    kernevo::cuda::notice(format_error(text.error()));
    return CUDA_ERROR_INVALID_IMAGE;
  }
  state->texts.insert(state->texts.end(), text->begin(), text->end());
  return CUDA_SUCCESS;
}
CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* path, unsigned count,
                       CUjit_option* options, void** values) {
  if (!CUlinkState_st::has(state))
    return CUDA_ERROR_INVALID_HANDLE;
  auto bytes = kernevo::cuda::read_image_file(path);
  if (!bytes)
    return CUDA_ERROR_FILE_NOT_FOUND;
  // The device runtime is part of the virtual GPU.
  if (type == CU_JIT_INPUT_LIBRARY)
    return CUDA_SUCCESS;
  return cuLinkAddData(state, type, bytes->data(), bytes->size(), path, count, options, values);
}
// The result is not machine code but the modules' text, which only this library's loaders read.
CUresult cuLinkComplete(CUlinkState state, void** result, std::size_t* bytes) {
  if (!CUlinkState_st::has(state))
    return CUDA_ERROR_INVALID_HANDLE;
  if (state->texts.empty() || result == nullptr)
    return CUDA_ERROR_INVALID_VALUE;
  state->result = kernevo::cuda::join_modules(state->texts);
  *result = state->result.data();
  if (bytes != nullptr)
    *bytes = state->result.size();
  return CUDA_SUCCESS;
}
CUresult cuLinkDestroy(CUlinkState state) {
  if (!CUlinkState_st::has(state))
    return CUDA_ERROR_INVALID_HANDLE;
  delete state;
  return CUDA_SUCCESS;
}

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* jit,
                           void** jit_values, unsigned jit_count, CUlibraryOption* /*options*/,
                           void** /*values*/, unsigned /*count*/) {
  return load_image(library, code, most_registers(jit_count, jit, jit_values));
}
CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option* /*jit*/,
                               void** /*jit_values*/, unsigned /*jit_count*/,
                               CUlibraryOption* /*options*/, void** /*values*/,
                               unsigned /*count*/) {
  return load_file(library, path);
}
CUresult cuLibraryUnload(CUlibrary library) {
  return driver_result(kernevo::cuda::unload_module(module_of(library)));
}
CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return find_function(kernel, module_of(library), name);
}
CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary library) {
  return count_kernels(count, module_of(library));
}
CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned count, CUlibrary library) {
  return list_kernels(kernels, count, module_of(library));
}
CUresult cuLibraryGetManaged(CUdeviceptr* address, std::size_t* bytes, CUlibrary library,
                             const char* name) {
  return find_global(address, bytes, module_of(library), name);
}
CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  KERNEVO_NEED(module);
  if (!Module::has(module_of(library)))
    return CUDA_ERROR_INVALID_HANDLE;
  *module = reinterpret_cast<CUmodule>(library); // NOLINT
  return CUDA_SUCCESS;
}
CUresult cuLibraryGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUlibrary library,
                            const char* name) {
  return find_global(address, bytes, module_of(library), name);
}
CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  KERNEVO_NEED(function);
  if (Session::get().kernel(kernel) == nullptr)
    return CUDA_ERROR_INVALID_HANDLE;
  *function = reinterpret_cast<CUfunction>(kernel); // NOLINT
  return CUDA_SUCCESS;
}
CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                              CUdevice /*device*/) {
  return driver_result(set_kernel_attribute(kernel, runtime_attribute(attribute), value));
}

CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel,
                              CUdevice device) {
  if (const CUresult no = kernevo::cuda::device_of(device); no != CUDA_SUCCESS)
    return no;
  return cuFuncGetAttribute(value, attribute, reinterpret_cast<CUfunction>(kernel)); // NOLINT
}
CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache /*config*/, CUdevice /*device*/) {
  return Session::get().kernel(kernel) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
  return give_module(library, kernel);
}
CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  return give_name(name, kernel);
}
CUresult cuKernelGetParamInfo(CUkernel kernel, std::size_t index, std::size_t* offset,
                              std::size_t* bytes) {
  return parameter(kernel, index, offset, bytes);
}
CUresult cuKernelGetParamCount(CUkernel kernel, std::size_t* count) {
  return count_parameters(kernel, count);
}
CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  return give_module(module, function);
}
CUresult cuFuncGetName(const char** name, CUfunction function) {
  return give_name(name, function);
}
CUresult cuFuncGetParamInfo(CUfunction function, std::size_t index, std::size_t* offset,
                            std::size_t* bytes) {
  return parameter(function, index, offset, bytes);
}
CUresult cuFuncGetParamCount(CUfunction function, std::size_t* count) {
  return count_parameters(function, count);
}
CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) {
  KERNEVO_NEED(state);
  *state = CU_FUNCTION_LOADING_STATE_LOADED;
  return Session::get().kernel(function) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
CUresult cuFuncLoad(CUfunction function) {
  return Session::get().kernel(function) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig /*config*/) {
  return cuFuncLoad(function);
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  KERNEVO_NEED(value);
  if (attribute < 0 || attribute >= CU_FUNC_ATTRIBUTE_MAX)
    return CUDA_ERROR_INVALID_VALUE;
  const kernevo::cuda::KeepsLastError keeps;
  cudaFuncAttributes all{};
  const bool assembled = attribute == CU_FUNC_ATTRIBUTE_NUM_REGS ||
                         attribute == CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES ||
                         attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
  if (const cudaError_t error = kernel_attributes(&all, key_of(function), assembled);
      error != cudaSuccess)
    return driver_result(error);
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = all.maxThreadsPerBlock; break;
  case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = static_cast<int>(all.sharedSizeBytes); break;
  case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = static_cast<int>(all.constSizeBytes); break;
  case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = static_cast<int>(all.localSizeBytes); break;
  case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = all.numRegs; break;
  case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = all.ptxVersion; break;
  case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = all.binaryVersion; break;
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    *value = all.maxDynamicSharedSizeBytes;
    break;
  default: *value = 0; break;
  }
  return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return driver_result(set_kernel_attribute(key_of(function), runtime_attribute(attribute), value));
}
CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache /*config*/) {
  return cuFuncLoad(function);
}
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* least_grid, int* best, CUfunction function,
                                                   CUoccupancyB2DSize shared_of, std::size_t shared,
                                                   int limit, unsigned /*flags*/) {
  return cuOccupancyMaxPotentialBlockSize(least_grid, best, function, shared_of, shared, limit);
}
CUresult cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, CUfunction function,
                                                 int blocks, int threads) {
  KERNEVO_NEED(bytes);
  return kernevo::cuda::same(cudaOccupancyAvailableDynamicSMemPerBlock, bytes, function, blocks,
                             threads);
}
CUresult cuOccupancyMaxPotentialClusterSize(int* size, CUfunction function,
                                            const CUlaunchConfig* config) {
  KERNEVO_NEED(size);
  KERNEVO_NEED(config);
  const cudaLaunchConfig_t same_config = runtime_config(*config);
  return kernevo::cuda::same(cudaOccupancyMaxPotentialClusterSize, size, function, &same_config);
}
CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction function,
                                      const CUlaunchConfig* config) {
  KERNEVO_NEED(clusters);
  KERNEVO_NEED(config);
  const cudaLaunchConfig_t same_config = runtime_config(*config);
  return kernevo::cuda::same(cudaOccupancyMaxActiveClusters, clusters, function, &same_config);
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                     std::size_t shared) {
  KERNEVO_NEED(blocks);
  KERNEVO_READY();
  const kernevo::cuda::KeepsLastError keeps;
  return driver_result(resident_blocks(blocks, key_of(function), threads, shared));
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function,
                                                              int threads, std::size_t shared,
                                                              unsigned /*flags*/) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared);
}
// The block with the most threads on a multiprocessor; among equals the largest.
CUresult cuOccupancyMaxPotentialBlockSize(int* least_grid, int* best, CUfunction function,
                                          CUoccupancyB2DSize shared_of, std::size_t shared,
                                          int limit) {
  KERNEVO_NEED(least_grid);
  KERNEVO_NEED(best);
  KERNEVO_READY();
  const kernevo::Gpu& gpu = Session::get().machine().gpu();
  const int most =
      limit > 0 ? std::min(limit, gpu.max_threads_per_block) : gpu.max_threads_per_block;
  int most_resident = 0;
  *best = *least_grid = 0;
  for (int threads = (most + 31) / 32 * 32; threads >= 32; threads -= 32) {
    const int block = std::min(threads, most);
    int blocks = 0;
    if (const CUresult error = cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, function, block, shared_of != nullptr ? shared_of(block) : shared);
        error != CUDA_SUCCESS)
      return error;
    if (blocks * block > most_resident) {
      most_resident = blocks * block;
      *best = block;
      *least_grid = blocks * gpu.multiprocessors;
    }
  }
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream stream, void** parameters, void** extra) {
  KERNEVO_READY();
  const kernevo::cuda::KeepsLastError keeps;
  Arguments arguments = arguments_of(function, parameters, extra);
  if (arguments.error != CUDA_SUCCESS)
    return arguments.error;
  return driver_result(launch_kernel(key_of(function),
                                     {dim3(grid_x, grid_y, grid_z), dim3(block_x, block_y, block_z),
                                      shared, stream, dim3(1, 1, 1)},
                                     arguments.pointers.data(), false));
}
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared, CUstream stream,
                                   void** parameters) {
  KERNEVO_READY();
  const kernevo::cuda::KeepsLastError keeps;
  return driver_result(launch_kernel(key_of(function),
                                     {dim3(grid_x, grid_y, grid_z), dim3(block_x, block_y, block_z),
                                      shared, stream, dim3(1, 1, 1)},
                                     parameters, true));
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters,
                          void** extra) {
  KERNEVO_NEED(config);
  KERNEVO_READY();
  const kernevo::cuda::KeepsLastError keeps;
  Arguments arguments = arguments_of(function, parameters, extra);
  if (arguments.error != CUDA_SUCCESS)
    return arguments.error;
  return driver_result(
      launch_kernel(key_of(function), runtime_config(*config), arguments.pointers.data()));
}

} // extern "C"
