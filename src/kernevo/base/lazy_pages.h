// Memory whose pages get their content when they are first needed: a tensor of many gigabytes of
// which a run touches a few megabytes costs a few megabytes. Whoever reads or writes says so first;
// a protected page and a signal would do the same unseen, but a matrix read by columns would need
// more mappings than a process may have.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>

namespace kernevo {

class LazyPages {
public:
  // Writes the content of [offset, offset + bytes.size()); called once per page, from any thread.
  using Fill = std::function<void(std::uint64_t offset, std::span<std::byte> bytes)>;
  static constexpr std::uint64_t kPage = 4096;

  // `storage` stays the caller's. No more than `limit` bytes are filled.
  LazyPages(std::span<std::byte> storage, Fill fill, std::uint64_t limit = ~std::uint64_t{0});

  // Makes [offset, offset + size) ready; false when that would exceed the limit.
  bool need(std::uint64_t offset, std::uint64_t size) {
    for (std::uint64_t page = offset / kPage; page <= (offset + size - 1) / kPage; ++page)
      if (!ready_[page].load(std::memory_order_acquire) && !fill_page(page)) [[unlikely]]
        return false;
    return true;
  }

  std::span<std::byte> storage() const { return storage_; }
  std::uint64_t filled() const { return filled_.load(std::memory_order_relaxed); } // bytes

private:
  bool fill_page(std::uint64_t page);

  std::span<std::byte> storage_;
  Fill fill_;
  std::uint64_t limit_;
  std::atomic<std::uint64_t> filled_ = 0;
  std::unique_ptr<std::atomic<bool>[]> ready_;
  std::array<std::mutex, 16> filling_; // by page
};

// A mapping of its own behind LazyPages.
class LazyMemory {
public:
  LazyMemory(std::uint64_t bytes, LazyPages::Fill fill);
  LazyMemory(const LazyMemory&) = delete;
  LazyMemory& operator=(const LazyMemory&) = delete;
  ~LazyMemory();

  bool valid() const { return memory_ != nullptr; } // false: no address space left
  LazyPages& pages() const { return *pages_; }

private:
  void* memory_ = nullptr;
  std::uint64_t bytes_;
  std::unique_ptr<LazyPages> pages_;
};

} // namespace kernevo
