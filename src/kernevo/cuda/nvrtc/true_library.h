// NVIDIA's compiler libraries behind our stand-ins of the same names.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kernevo::cuda {

// Where a library of this name may be, our own left out: what the variable names, the folders of
// LD_LIBRARY_PATH, the Python packages of the running program, installed toolkits.
std::vector<std::filesystem::path> true_library_places(const char* variable,
                                                       const std::vector<std::string>& names);
// Opens the first that opens and stays open; null, and one line that says what is missing.
void* open_true_library(const char* variable, const std::vector<std::string>& names);

} // namespace kernevo::cuda
