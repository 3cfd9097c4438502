// What a program's file says of the CUDA it was built with, before it is started.
#pragma once

#include "kernevo/base/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kernevo {

struct ProgramFile {
  std::filesystem::path path;
  bool is_elf = false;                // else a script
  bool dynamic = false;               // libraries are looked for when it starts
  bool has_kernels = false;           // nvcc put device code into it
  std::vector<std::string> libraries; // that it needs, as it names them
};

// Looks for the program as a shell does. What is wrong with the file itself shows when it starts.
Result<ProgramFile> find_program_file(const std::string& name);

// Why its kernels cannot reach the CUDA libraries of kernevo; empty when nothing speaks against it.
std::string why_not_served(const ProgramFile& program);

} // namespace kernevo
