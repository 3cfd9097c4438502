// Where things are: the source tree, and what the build made. Compiled once, so that tests compile
// alike in every checkout.
#pragma once

#include <string>

namespace kernevo {

std::string source_folder();

// "unit/ptx" -> the folder of that name in the source tree's tests.
std::string test_folder(const std::string& name);

// The program kernevo.
std::string program_path();

// The CUDA runtime on the virtual GPU; empty where it is not built.
std::string cudart_path();

// The CUDA driver on the virtual GPU, and NVML beside it; empty where they are not built.
std::string libcuda_path();
std::string libnvml_path();

} // namespace kernevo
