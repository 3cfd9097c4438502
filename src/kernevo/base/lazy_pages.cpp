#include "kernevo/base/lazy_pages.h"

#include <algorithm>
#include <sys/mman.h>
#include <utility>

namespace kernevo {

LazyPages::LazyPages(std::span<std::byte> storage, Fill fill, std::uint64_t limit)
    : storage_(storage), fill_(std::move(fill)), limit_(limit),
      ready_(std::make_unique<std::atomic<bool>[]>((storage.size() + kPage - 1) / kPage)) {}

bool LazyPages::fill_page(std::uint64_t page) {
  const std::lock_guard lock(filling_.at(page % filling_.size()));
  if (ready_[page].load(std::memory_order_relaxed))
    return true;
  const std::uint64_t offset = page * kPage;
  const std::uint64_t bytes = std::min<std::uint64_t>(kPage, storage_.size() - offset);
  if (filled_.fetch_add(bytes, std::memory_order_relaxed) + bytes > limit_) {
    filled_.fetch_sub(bytes, std::memory_order_relaxed);
    return false;
  }
  fill_(offset, storage_.subspan(offset, bytes));
  ready_[page].store(true, std::memory_order_release);
  return true;
}

LazyMemory::LazyMemory(std::uint64_t bytes, LazyPages::Fill fill) : bytes_(bytes) {
  void* memory = mmap(nullptr, std::max<std::uint64_t>(bytes, 1), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) // NOLINT(performance-no-int-to-ptr)
    return;
  // A huge page would make a touched byte cost two megabytes.
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  memory_ = memory;
  pages_ = std::make_unique<LazyPages>(std::span(static_cast<std::byte*>(memory), bytes),
                                       std::move(fill));
}

LazyMemory::~LazyMemory() {
  if (memory_ != nullptr)
    munmap(memory_, std::max<std::uint64_t>(bytes_, 1));
}

} // namespace kernevo
