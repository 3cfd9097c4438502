#include "kernevo/toolchain/architectures.h"

#include "kernevo/toolchain/nvrtc.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace kernevo {

namespace {

// Where NVRTC is not there, or not loaded, to be asked. Only the oldest one changes with the
// version in a way that matters; a too new one is refused by nvcc itself.
std::vector<int> architectures_by_version(const std::string& version) {
  int major = 0;
  std::from_chars(version.data(), version.data() + version.size(), major);
  std::vector<int> known = {75, 80, 86, 87, 89, 90};
  if (major <= 12)
    known.insert(known.begin(), {50, 52, 53, 60, 61, 62, 70, 72});
  if (major >= 13)
    known.insert(known.end(), {100, 103, 110, 120, 121});
  return known;
}

} // namespace

std::vector<int> known_architectures(const Toolchain& toolchain) {
  if (!toolchain.nvrtc.empty())
    if (auto known = nvrtc_architectures(toolchain.nvrtc)) {
      std::sort(known->begin(), known->end());
      return *known;
    }
  return architectures_by_version(toolchain.version);
}

std::string architecture_problem(const Toolchain& toolchain, const std::string& architecture) {
  int number = 0;
  const char* begin = architecture.data() + std::min<std::size_t>(3, architecture.size());
  const char* end = architecture.data() + architecture.size();
  const auto [stop, problem] = std::from_chars(begin, end, number);
  const std::string_view suffix(stop, static_cast<std::size_t>(end - stop));
  const bool written = architecture.starts_with("sm_") && problem == std::errc() &&
                       (suffix.empty() || ((suffix == "a" || suffix == "f") && number >= 90));
  const std::vector<int> known = known_architectures(toolchain);
  if (written && std::find(known.begin(), known.end(), number) != known.end())
    return "";
  return fmt::format("CUDA {} cannot compile for '{}'; it knows sm_{}", toolchain.version,
                     architecture, fmt::join(known, ", sm_"));
}

std::string nearest_architecture(const Toolchain& toolchain, int compute_capability) {
  // Not asked of NVRTC: loading it takes a judge longer than a small check.
  const std::vector<int> known = architectures_by_version(toolchain.version);
  const auto at = std::lower_bound(known.begin(), known.end(), compute_capability);
  return fmt::format("sm_{}", at == known.end() ? known.back() : *at);
}

} // namespace kernevo
