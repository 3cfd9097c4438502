#include "kernevo/device/arena.h"

#include "kernevo/base/large_pages.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <random>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace kernevo {
namespace {

// Untouched pages of a memory file cost nothing, so the gaps can be wide.
constexpr std::uint64_t kGap = std::uint64_t{16} << 20U;
constexpr std::uint64_t kPage = 4096;
// The first gap is wider by chance: how far an arena lies from what was mapped before it would tell
// how large it is, and so what a run is for.
constexpr std::uint64_t kMostGaps = 32;

} // namespace

Result<void> Arena::map(std::uint64_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                      descriptor_.get(), 0);
  if (memory == MAP_FAILED)
    return fail(ErrorCode::infrastructure, fmt::format("cannot map {} bytes of shared memory: {}",
                                                       bytes, std::strerror(errno)));
  base_ = static_cast<std::byte*>(memory);
  mapped_ = bytes;
  return {};
}

Result<Arena> Arena::create(const std::vector<std::uint64_t>& sizes) {
  Arena arena;
  arena.descriptor_ = FileDescriptor(memfd_create("kernevo-arena", MFD_CLOEXEC));
  if (!arena.descriptor_.valid())
    return fail(ErrorCode::infrastructure,
                fmt::format("cannot make shared memory: {}", std::strerror(errno)));
  std::uint64_t end = kGap * (1 + std::random_device()() % kMostGaps);
  for (const std::uint64_t size : sizes) {
    arena.regions_.push_back({end, size});
    end += (size + kPage - 1) / kPage * kPage + kGap;
  }
  if (ftruncate(arena.descriptor_.get(), static_cast<off_t>(end)) != 0)
    return fail(ErrorCode::infrastructure,
                fmt::format("cannot size shared memory: {}", std::strerror(errno)));
  KERNEVO_CHECK(arena.map(end));
  return arena;
}

Result<Arena> Arena::attach(FileDescriptor descriptor, std::vector<Region> regions) {
  Arena arena;
  arena.descriptor_ = std::move(descriptor);
  arena.regions_ = std::move(regions);
  struct stat info{};
  if (fstat(arena.descriptor_.get(), &info) != 0)
    return fail(ErrorCode::infrastructure, "the run's memory did not arrive with the request");
  const auto size = static_cast<std::uint64_t>(info.st_size);
  for (const Region& region : arena.regions_)
    if (region.offset > size || region.bytes > size - region.offset)
      return fail(ErrorCode::infrastructure, "a region lies outside the run's memory");
  KERNEVO_CHECK(arena.map(size));
  return arena;
}

Arena::Arena(Arena&& other) noexcept
    : descriptor_(std::move(other.descriptor_)), regions_(std::move(other.regions_)),
      base_(std::exchange(other.base_, nullptr)), mapped_(std::exchange(other.mapped_, 0)) {}

Arena& Arena::operator=(Arena&& other) noexcept {
  if (this != &other) {
    if (base_ != nullptr)
      munmap(base_, mapped_);
    descriptor_ = std::move(other.descriptor_);
    regions_ = std::move(other.regions_);
    base_ = std::exchange(other.base_, nullptr);
    mapped_ = std::exchange(other.mapped_, 0);
  }
  return *this;
}

Arena::~Arena() {
  if (base_ != nullptr)
    munmap(base_, mapped_);
}

void Arena::expect_whole_use() const {
  for (std::size_t i = 0; i < regions_.size(); ++i)
    prefer_large_pages(region(i));
}

std::vector<Region> Arena::touched(std::size_t index) const {
  const std::uint64_t start = regions_[index].offset;
  const std::uint64_t end = start + regions_[index].bytes;
  std::vector<Region> parts;
  for (std::uint64_t at = start; at < end;) {
    const off_t data = lseek(descriptor_.get(), static_cast<off_t>(at), SEEK_DATA);
    if (data < 0 || static_cast<std::uint64_t>(data) >= end)
      break;
    const off_t hole = lseek(descriptor_.get(), data, SEEK_HOLE);
    const std::uint64_t first = std::max(start, static_cast<std::uint64_t>(data));
    at = hole < 0 ? end : std::min(end, static_cast<std::uint64_t>(hole));
    parts.push_back({first - start, at - first});
  }
  return parts;
}

std::span<std::byte> Arena::region(std::size_t index) const {
  return {base_ + regions_[index].offset, regions_[index].bytes};
}

} // namespace kernevo
