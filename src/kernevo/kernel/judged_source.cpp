#include "kernevo/kernel/judged_source.h"

#include "kernevo/kernel/conditionals.h"

#include <algorithm>
#include <charconv>

namespace kernevo {
namespace {

// __CUDA_ARCH__ of "sm_90a".
std::int64_t arch_macro(std::string_view architecture) {
  int number = 0;
  if (architecture.starts_with("sm_"))
    std::from_chars(architecture.data() + 3, architecture.data() + architecture.size(), number);
  return std::int64_t{10} * number;
}

std::int64_t language_version(const KernelFile& file) {
  const bool newer =
      std::find(file.flags.begin(), file.flags.end(), "--std=c++20") != file.flags.end();
  return newer ? 202002 : 201703;
}

} // namespace

Result<std::string> judged_source(const KernelFile& file, const ParameterValues& parameters,
                                  const std::string& architecture) {
  std::map<std::string, std::int64_t> known = parameters;
  known["__CUDACC__"] = 1;
  known["__CUDA_ARCH__"] = arch_macro(architecture);
  known["__cplusplus"] = language_version(file);
  return resolve_conditionals(file.source, known, file.path, file.first_line);
}

} // namespace kernevo
