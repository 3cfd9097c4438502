#include "kernevo/programs/cuda_libraries.h"

#include <fmt/format.h>

namespace kernevo {
namespace fs = std::filesystem;

Result<fs::path> find_cuda_libraries() {
  std::error_code ignored;
  const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const char* place : {"cuda", "../lib/kernevo/cuda"}) {
    const fs::path candidate = (folder / place).lexically_normal();
    if (fs::exists(candidate / "libcuda.so.1", ignored))
      return candidate;
  }
  return fail(ErrorCode::infrastructure,
              fmt::format("the CUDA libraries are not in '{}'", (folder / "cuda").string()),
              std::nullopt,
              "they are built where the toolkit's headers are: 'make setup', then 'make build'");
}

} // namespace kernevo
