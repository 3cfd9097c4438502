#include "kernevo/calibrate/gpu_file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <iterator>

namespace kernevo::calibrate {
namespace {

constexpr std::array<const char*, 2> kNeeded = {"clock_ghz", "dram_gbps"};

// A text between double quotes.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out + '"';
}

std::uint64_t kib(Bytes bytes) {
  return bytes.value >> 10U;
}

std::string limits(const Gpu& g) {
  const std::array<std::pair<const char*, std::uint64_t>, 18> lines = {{
      {"compute_capability", static_cast<std::uint64_t>(g.compute_capability)},
      {"multiprocessors", static_cast<std::uint64_t>(g.multiprocessors)},
      {"max_threads_per_block", static_cast<std::uint64_t>(g.max_threads_per_block)},
      {"max_threads_per_multiprocessor",
       static_cast<std::uint64_t>(g.max_threads_per_multiprocessor)},
      {"max_blocks_per_multiprocessor",
       static_cast<std::uint64_t>(g.max_blocks_per_multiprocessor)},
      {"registers_per_multiprocessor", static_cast<std::uint64_t>(g.registers_per_multiprocessor)},
      {"registers_per_block", static_cast<std::uint64_t>(g.registers_per_block)},
      {"max_registers_per_thread", static_cast<std::uint64_t>(g.max_registers_per_thread)},
      {"register_allocation_unit", static_cast<std::uint64_t>(g.register_allocation_unit)},
      {"warp_allocation_granularity", static_cast<std::uint64_t>(g.warp_allocation_granularity)},
      {"shared_per_multiprocessor_kib", kib(g.shared_per_multiprocessor)},
      {"shared_per_block_kib", kib(g.shared_per_block)},
      {"shared_per_block_optin_kib", kib(g.shared_per_block_optin)},
      {"shared_reserved_per_block_bytes", g.shared_reserved_per_block.value},
      {"shared_allocation_unit_bytes", g.shared_allocation_unit.value},
      {"memory_gib", std::max<std::uint64_t>(g.memory.value >> 30U, 1)},
      {"l1_and_shared_kib", kib(g.l1_and_shared)},
      {"l2_cache_kib", kib(g.l2_cache)},
  }};
  std::string text;
  for (const auto& [key, value] : lines)
    text += fmt::format("{}: {}\n", key, value);
  return text;
}

} // namespace

Result<std::string> gpu_file(const Gpu& gpu, const std::string& name, const Figures& figures,
                             const Provenance& from) {
  for (const char* needed : kNeeded)
    if (figures.find(needed) == nullptr) {
      const auto missing = std::ranges::find(figures.missing, std::string(needed), &Missing::name);
      return fail(
          ErrorCode::infrastructure,
          fmt::format("{} is not known ({}), and a GPU's file needs it", needed,
                      missing == figures.missing.end() ? "it was not looked for" : missing->why),
          std::nullopt, "calibrate again on a quiet GPU");
    }
  std::string text =
      fmt::format("name: {}\naliases: []\nsource: {}\n\n{}\n", quoted(name),
                  quoted(fmt::format(
                      "calibrated on {} by kernevo {} on {}, {} shots; limits: attributes of the "
                      "device, and what it does not tell {}",
                      from.date, from.program, from.device, from.shots, from.limits)),
                  limits(gpu));
  for (const Figure& figure : figures.known)
    if (figure.of_gpu)
      text += fmt::format("{}: {:.4g} # calibrated on {}, spread {:.1f} %{}{}\n", figure.name,
                          figure.value, from.date, figure.spread * 100,
                          figure.note.empty() ? "" : "; ", figure.note);
  for (const Missing& missing : figures.missing)
    text += fmt::format("# {} was not found: {}\n", missing.name, missing.why);
  return text;
}

std::string file_name_of(const std::string& gpu) {
  std::string name;
  for (const char c : gpu) {
    const auto plain = static_cast<unsigned char>(c);
    if (std::isalnum(plain) != 0)
      name += static_cast<char>(std::tolower(plain));
    else if (!name.empty() && name.back() != '_')
      name += '_';
  }
  while (!name.empty() && name.back() == '_')
    name.pop_back();
  return (name.empty() ? "gpu" : name) + ".yaml";
}

} // namespace kernevo::calibrate
