#include "kernevo/base/large_pages.h"

#include <cstdint>
#include <sys/mman.h>

namespace kernevo {
namespace {

constexpr std::size_t kWorthIt = std::size_t{4} << 20U;
constexpr std::uintptr_t kPage = 4096;

} // namespace

void prefer_large_pages(std::span<std::byte> memory) {
  if (memory.size() < kWorthIt)
    return;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data()); // NOLINT
  const std::uintptr_t first = (begin + kPage - 1) / kPage * kPage;
  const std::uintptr_t end = (begin + memory.size()) / kPage * kPage;
  // A system that has none goes on with small ones.
  madvise(memory.data() + (first - begin), end - first, MADV_HUGEPAGE);
}

std::vector<std::byte> zeroed_bytes(std::size_t size) {
  std::vector<std::byte> bytes;
  bytes.reserve(size);
  prefer_large_pages({bytes.data(), size});
  bytes.resize(size);
  return bytes;
}

} // namespace kernevo
