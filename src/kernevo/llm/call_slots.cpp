#include "kernevo/llm/call_slots.h"

#include <algorithm>
#include <chrono>

namespace kernevo::llm {

CallSlots::CallSlots(std::uint32_t count) : free_(std::max(count, 1U)) {}

CallSlots::Slot::Slot(CallSlots& slots, const std::function<bool()>& cancelled) : slots_(slots) {
  std::unique_lock lock(slots_.mutex_);
  while (slots_.free_ == 0) {
    // Asked without the lock: what the caller does there is unknown.
    lock.unlock();
    if (cancelled && cancelled())
      return;
    lock.lock();
    slots_.freed_.wait_for(lock, std::chrono::milliseconds(100), [&] { return slots_.free_ > 0; });
  }
  --slots_.free_;
  held_ = true;
}

CallSlots::Slot::~Slot() {
  if (!held_)
    return;
  {
    const std::lock_guard lock(slots_.mutex_);
    ++slots_.free_;
  }
  slots_.freed_.notify_one();
}

} // namespace kernevo::llm
