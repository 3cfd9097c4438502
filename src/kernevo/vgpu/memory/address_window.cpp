#include "kernevo/vgpu/memory/address_window.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <iterator>
#include <sys/mman.h>
#include <utility>

namespace kernevo::vgpu {
namespace {

// Far from where Linux puts programs, libraries, heaps and stacks.
constexpr std::uint64_t kBase = 0x100000000000;
constexpr std::uint64_t kMost = std::uint64_t{16} << 40U;
constexpr std::uint64_t kPage = 4096;

std::atomic<AddressWindow*>& reserved() {
  static std::atomic<AddressWindow*> window = nullptr;
  return window;
}

tl::unexpected<Error> failure(const char* what) {
  return fail(ErrorCode::infrastructure,
              fmt::format("{}: {}", what, std::strerror(errno))); // NOLINT(concurrency-mt-unsafe)
}

std::uint64_t in_pages(std::uint64_t bytes) {
  return bytes == 0 ? kPage : (bytes + kPage - 1) / kPage * kPage;
}

void* pointer_to(std::uint64_t address) {
  return reinterpret_cast<void*>(address); // NOLINT
}

} // namespace

AddressWindow* AddressWindow::get() {
  return reserved().load(std::memory_order_acquire);
}

Result<void> AddressWindow::reserve(std::uint64_t bytes) {
  if (const AddressWindow* const made = get(); made != nullptr)
    return made->bytes_ == in_pages(bytes)
               ? Result<void>{}
               : fail(ErrorCode::input, "another window of addresses is reserved already");
  if (bytes == 0 || bytes > kMost)
    return fail(ErrorCode::input, fmt::format("a window of {} bytes is none", bytes));
  const std::uint64_t whole = in_pages(bytes);
  void* const place =
      mmap(pointer_to(kBase), whole, PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (place != pointer_to(kBase))
    return failure("the window of addresses is not free");
  reserved() = new AddressWindow(kBase, whole); // as long as the process
  return {};
}

Result<std::byte*> AddressWindow::open(std::uint64_t address, std::uint64_t bytes) {
  if (mprotect(pointer_to(address), bytes, PROT_READ | PROT_WRITE) != 0)
    return failure("cannot open device memory");
  taken_[address] = bytes;
  return static_cast<std::byte*>(pointer_to(address));
}

Result<std::byte*> AddressWindow::take(std::uint64_t bytes) {
  if (bytes > bytes_)
    return fail(ErrorCode::input, "the window of addresses is too small");
  std::uint64_t wanted = 0;
  {
    const std::lock_guard lock(mutex_);
    if (next_.empty()) {
      // A closed page behind each.
      std::uint64_t at = base_ + kPage;
      for (const auto& [start, length] : taken_) {
        if (at + in_pages(bytes) + kPage <= start)
          break;
        at = start + length + kPage;
      }
      if (at + in_pages(bytes) + kPage > base_ + bytes_)
        return fail(ErrorCode::input, "the window of addresses is full");
      return open(at, in_pages(bytes));
    }
    wanted = next_.front();
    next_.pop_front();
  }
  return take_at(wanted, bytes);
}

Result<std::byte*> AddressWindow::take_at(std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  exact_ = true;
  if (address % kPage != 0 || address < base_ + kPage || bytes > bytes_ ||
      address - base_ > bytes_ - in_pages(bytes))
    return fail(ErrorCode::input, fmt::format("{:#x} is no place in the window", address));
  const auto after = taken_.lower_bound(address);
  const bool meets_next = after != taken_.end() && after->first < address + in_pages(bytes);
  const bool meets_last =
      after != taken_.begin() && std::prev(after)->first + std::prev(after)->second > address;
  if (meets_next || meets_last)
    return fail(ErrorCode::input, fmt::format("{:#x} is taken", address));
  return open(address, in_pages(bytes));
}

void AddressWindow::give_back(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto found = taken_.find(address);
  if (found == taken_.end())
    return;
  // What it held goes, and whoever comes next finds zeros.
  mmap(pointer_to(address), found->second, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  taken_.erase(found);
}

void AddressWindow::place_next(std::vector<std::uint64_t> addresses) {
  const std::lock_guard lock(mutex_);
  exact_ = true;
  next_.assign(addresses.begin(), addresses.end());
}

bool AddressWindow::serves_others() const {
  const std::lock_guard lock(mutex_);
  return !exact_ || !next_.empty();
}

std::vector<std::uint64_t> AddressWindow::taken() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t> all;
  for (const auto& [address, bytes] : taken_)
    all.push_back(address);
  return all;
}

} // namespace kernevo::vgpu
