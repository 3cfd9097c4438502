// How many calls may be under way at once, over all clients of a run.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

namespace kernevo::llm {

class CallSlots {
public:
  explicit CallSlots(std::uint32_t count);

  // Held until destroyed. Not held when it was cancelled first.
  class Slot {
  public:
    Slot(CallSlots& slots, const std::function<bool()>& cancelled);
    ~Slot();
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    bool held() const { return held_; }

  private:
    CallSlots& slots_;
    bool held_ = false;
  };

private:
  std::mutex mutex_;
  std::condition_variable freed_;
  std::uint32_t free_;
};

} // namespace kernevo::llm
