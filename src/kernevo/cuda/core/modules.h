// Modules a program loads at run time, and what is in them. Errors are not remembered for
// cudaGetLastError.
#pragma once

#include "kernevo/cuda/core/session.h"

#include <cstddef>
#include <cstdint>
#include <cuda_runtime_api.h>
#include <optional>
#include <string>
#include <vector>

namespace kernevo::cuda {

// Ends at a zero; files may lack one.
std::optional<std::string> read_image_file(const char* path);

// `most_registers`: of a thread, 0 where nobody says.
cudaError_t load_module(Module** loaded, const void* image, int most_registers = 0);
cudaError_t load_module_file(Module** loaded, const char* path);
// Linked as one.
cudaError_t load_texts(Module** loaded, std::vector<std::string> texts);
cudaError_t unload_module(Module* module);
// The key of a kernel: what it is launched by.
cudaError_t find_function(const void** key, Module* module, const char* name);
cudaError_t find_global(std::uint64_t* address, std::size_t* bytes, Module* module,
                        const char* name);

} // namespace kernevo::cuda
