// NVRTC, the compiler as a library. Loaded at run time, so that the program starts without CUDA.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/toolchain/headers.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kernevo {

struct NvrtcOutcome {
  enum class Kind {
    compiled,
    rejected,         // the source has errors; see the log
    bad_option,       // a flag or the architecture
    internal_failure, // the compiler itself gave up
  };
  Kind kind = Kind::rejected;
  std::string log;
  std::string ptx;
  std::map<std::string, std::string> lowered_names;
};

struct NvrtcProgram {
  std::string source;
  std::string name;
  std::vector<std::string> options;
  std::vector<std::string> name_expressions;
  std::vector<VirtualHeader> headers;
};

Result<NvrtcOutcome> run_nvrtc(const std::filesystem::path& library, const NvrtcProgram& program);

// The architectures this NVRTC knows, as numbers: 75, 80, ...
Result<std::vector<int>> nvrtc_architectures(const std::filesystem::path& library);

} // namespace kernevo
