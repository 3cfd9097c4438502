#include "kernevo/ptx/target.h"

#include "kernevo/hardware/gpu_table.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

namespace kernevo::ptx {
namespace {

// Architectures with the same family-specific features; their numbers' leading digits are not
// enough, sm_110 was first called sm_101.
int family_of(int sm) {
  if (sm == 101 || sm == 110)
    return 110;
  return sm / 10 * 10;
}

std::optional<Target> parse_architecture(std::string_view text) {
  Target target;
  if (!text.empty() && (text.back() == 'a' || text.back() == 'f')) {
    target.suffix = text.back();
    text.remove_suffix(1);
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), target.sm);
  if (error != std::errc{} || end != text.data() + text.size() || text.size() > 3 || target.sm < 10)
    return std::nullopt;
  return target;
}

std::vector<Target> parse_list(std::string_view architectures) {
  std::vector<Target> list;
  while (!architectures.empty()) {
    const std::size_t end = std::min(architectures.find(' '), architectures.size());
    if (const auto one = parse_architecture(architectures.substr(0, end)))
      list.push_back(*one);
    architectures.remove_prefix(std::min(end + 1, architectures.size()));
  }
  return list;
}

// Can a GPU of this compute capability run code for the target?
bool runs_on(const Target& target, int capability) {
  switch (target.suffix) {
  case 'a': return capability == target.sm;
  case 'f': return family_of(capability) == family_of(target.sm) && capability >= target.sm;
  default: return capability >= target.sm;
  }
}

// " (H100, H200)": the known GPUs that can, oldest architecture first; empty when there is none.
std::string gpus_text(const std::vector<Target>& targets) {
  constexpr std::size_t most = 6;
  std::vector<const Gpu*> gpus;
  for (const Gpu& gpu : known_gpus())
    if (std::any_of(targets.begin(), targets.end(),
                    [&](const Target& one) { return runs_on(one, gpu.compute_capability); }))
      gpus.push_back(&gpu);
  if (gpus.empty())
    return "";
  std::stable_sort(gpus.begin(), gpus.end(), [](const Gpu* a, const Gpu* b) {
    return a->compute_capability < b->compute_capability;
  });
  std::vector<std::string> names;
  for (const Gpu* gpu : gpus)
    names.push_back(names.size() < most ? gpu->name : "...");
  names.resize(std::min(names.size(), most + 1));
  return fmt::format(" ({})", fmt::join(names, ", "));
}

} // namespace

std::optional<Target> parse_target(std::string_view name) {
  constexpr std::string_view prefix = "sm_";
  return name.starts_with(prefix) ? parse_architecture(name.substr(prefix.size())) : std::nullopt;
}

std::string name_of(const Target& target) {
  std::string name = fmt::format("sm_{}", target.sm);
  if (target.suffix != 0)
    name += target.suffix;
  return name;
}

int first_ptx_of(const Target& target) {
  if (target.suffix == 'f')
    return target.sm == 110 ? 90 : 88;
  switch (target.sm) {
  case 86: return 71;
  case 87: return 74;
  case 88: return 90;
  case 89: return 78;
  case 90: return target.suffix == 'a' ? 80 : 78;
  case 100:
  case 101: return 86;
  case 103:
  case 121: return 88;
  case 110: return 90;
  case 120: return 87;
  default: return target.sm == 80 ? 70 : 0;
  }
}

bool has_any(const Target& target, std::string_view architectures) {
  if (target.suffix == 0)
    return false;
  for (const Target& wanted : parse_list(architectures)) {
    if (wanted.suffix == 'f'
            ? family_of(target.sm) == family_of(wanted.sm) && target.sm >= wanted.sm
            : target.sm == wanted.sm && target.suffix == wanted.suffix)
      return true;
  }
  return false;
}

std::string needed_text(std::string_view architectures, int sm) {
  if (architectures.empty()) {
    Target least;
    least.sm = sm;
    return fmt::format("sm_{} or newer{}", sm, gpus_text({least}));
  }
  const std::vector<Target> list = parse_list(architectures);
  std::string text;
  for (std::size_t i = 0; i < list.size(); ++i)
    text += (i == 0 ? "" : i + 1 == list.size() ? " or " : ", ") + name_of(list[i]);
  return text + gpus_text(list);
}

std::optional<std::string> why_not_on(const Target& target, const Gpu& gpu) {
  // CUDA 13 compiles for nothing older than sm_75, so a V100's kernels come as that. Turing adds
  // matrix shapes only, and what a V100 lacks there is the timing model's business.
  constexpr int volta = 70;
  constexpr int oldest_compiled = 75;
  const int capability = gpu.compute_capability == volta ? oldest_compiled : gpu.compute_capability;
  if (runs_on(target, capability))
    return std::nullopt;
  std::string where;
  switch (target.suffix) {
  case 'a': where = fmt::format("architecture-specific code runs only on sm_{}", target.sm); break;
  case 'f':
    where = fmt::format("family-specific code runs only on the family of sm_{}", target.sm);
    break;
  default: where = fmt::format("it needs sm_{} or newer", target.sm); break;
  }
  return fmt::format("the module is for .target {}, the {} is sm_{}; {}{}", name_of(target),
                     gpu.name, gpu.compute_capability, where, gpus_text({target}));
}

} // namespace kernevo::ptx
