#include "kernevo/device/guarded_memory.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <sys/random.h>
#include <utility>

namespace kernevo {

namespace status = driver::status;

std::vector<std::byte> GuardedMemory::make_pattern() {
  std::vector<std::byte> pattern(kGuard);
  constexpr std::size_t piece = 256; // what getrandom() gives whole
  for (std::size_t at = 0; at < pattern.size(); at += piece)
    if (getrandom(pattern.data() + at, piece, 0) != static_cast<ssize_t>(piece))
      std::fill_n(pattern.begin() + static_cast<std::ptrdiff_t>(at), piece, std::byte{0x5C});
  return pattern;
}

tl::expected<GuardedMemory, driver::Status>
GuardedMemory::allocate(const CudaDriver& driver, const std::vector<std::byte>& pattern,
                        std::uint64_t bytes) {
  GuardedMemory memory;
  if (const auto done = driver.calls().memory_allocate(&memory.base_, bytes + 2 * kGuard);
      done != status::success)
    return tl::unexpected<driver::Status>(done);
  memory.driver_ = &driver;
  memory.pattern_ = &pattern;
  memory.bytes_ = bytes;
  for (const driver::Address guard : {memory.base_, memory.base_ + kGuard + bytes})
    if (const auto done = driver.calls().copy_to_device(guard, pattern.data(), kGuard);
        done != status::success)
      return tl::unexpected<driver::Status>(done);
  return memory;
}

GuardedMemory::GuardedMemory(GuardedMemory&& other) noexcept
    : driver_(std::exchange(other.driver_, nullptr)), pattern_(other.pattern_), base_(other.base_),
      bytes_(other.bytes_) {}

GuardedMemory& GuardedMemory::operator=(GuardedMemory&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(pattern_, other.pattern_);
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

GuardedMemory::~GuardedMemory() {
  if (driver_ != nullptr)
    driver_->calls().memory_free(base_);
}

tl::expected<std::optional<std::string>, driver::Status> GuardedMemory::damage() const {
  std::vector<std::byte> now(kGuard);
  for (const bool behind : {false, true}) {
    const driver::Address guard = behind ? base_ + kGuard + bytes_ : base_;
    if (const auto done = driver_->calls().copy_to_host(now.data(), guard, kGuard);
        done != status::success)
      return tl::unexpected<driver::Status>(done);
    if (std::memcmp(now.data(), pattern_->data(), kGuard) == 0)
      continue;
    if (behind) {
      const auto at = std::ranges::mismatch(now, *pattern_).in1 - now.begin();
      return fmt::format("{} bytes past its end", at);
    }
    const auto [mine, theirs] = std::mismatch(now.rbegin(), now.rend(), pattern_->rbegin());
    return fmt::format("{} bytes before its start", mine - now.rbegin() + 1);
  }
  return std::nullopt;
}

} // namespace kernevo
