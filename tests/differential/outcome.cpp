#include "outcome.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fmt/ranges.h>
#include <tuple>
#include <utility>

namespace kernevo::test {
namespace {

std::string describe(const std::optional<Finding>& fault) {
  if (!fault)
    return "no fault";
  return fmt::format("{} at line {}, block {} thread {}: {}", name_of(fault->kind), fault->ptx_line,
                     fmt::join(fault->block, ","), fmt::join(fault->thread, ","), fault->message);
}

std::optional<std::string> memory_difference(const std::string& name,
                                             const std::vector<std::byte>& left,
                                             const std::vector<std::byte>& right) {
  for (std::size_t at = 0; at < left.size(); at += 4) {
    const std::size_t size = std::min<std::size_t>(4, left.size() - at);
    std::uint32_t x = 0;
    std::uint32_t y = 0;
    std::memcpy(&x, left.data() + at, size);
    std::memcpy(&y, right.data() + at, size);
    if (x != y)
      return fmt::format("'{}' at {} (of {}): 0x{:08X} but 0x{:08X}", name, at, left.size(), x, y);
  }
  return std::nullopt;
}

} // namespace

bool Outcome::add(vgpu::LaunchResult result) {
  fault = std::move(result.fault);
  printed += result.printed;
  statistics.blocks_run += result.statistics.blocks_run;
  statistics.warp_instructions += result.statistics.warp_instructions;
  statistics.thread_instructions += result.statistics.thread_instructions;
  statistics.compiled_instructions += result.statistics.compiled_instructions;
  statistics.memory += result.statistics.memory;
  return !fault;
}

void Outcome::take(Buffer& buffer) {
  names.push_back(buffer.name());
  memory.emplace_back(buffer.bytes().begin(), buffer.bytes().end());
}

std::optional<std::string> difference(const Outcome& reference, const Outcome& other) {
  if (describe(reference.fault) != describe(other.fault))
    return fmt::format("fault: {}\n   but: {}", describe(reference.fault), describe(other.fault));
  if (reference.fault)
    return std::nullopt;
  if (reference.printed != other.printed)
    return "printed text: " + reference.printed + " but: " + other.printed;
  for (std::size_t i = 0; i < reference.memory.size(); ++i)
    if (auto found =
            memory_difference(reference.names.at(i), reference.memory.at(i), other.memory.at(i)))
      return found;
  const vgpu::LaunchStatistics& a = reference.statistics;
  const vgpu::LaunchStatistics& b = other.statistics;
  const std::vector<std::tuple<const char*, std::uint64_t, std::uint64_t>> counters = {
      {"blocks", a.blocks_run, b.blocks_run},
      {"warp instructions", a.warp_instructions, b.warp_instructions},
      {"thread instructions", a.thread_instructions, b.thread_instructions},
      {"load requests", a.memory.global_load_requests, b.memory.global_load_requests},
      {"load sectors", a.memory.global_load_sectors, b.memory.global_load_sectors},
      {"store requests", a.memory.global_store_requests, b.memory.global_store_requests},
      {"store sectors", a.memory.global_store_sectors, b.memory.global_store_sectors}};
  for (const auto& [name, x, y] : counters)
    if (x != y)
      return fmt::format("{}: {} but {}", name, x, y);
  return std::nullopt;
}

} // namespace kernevo::test
