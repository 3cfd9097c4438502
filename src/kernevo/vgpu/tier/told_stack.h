// Tells the sanitizers, where there are any, that code goes on on another stack: they keep books by
// stack, and a jump between two is nothing they see. In other builds nothing is left of it.
#pragma once

#include "kernevo/base/instrumented.h"

#include <cstddef>

#ifdef KERNEVO_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef KERNEVO_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace kernevo::vgpu {

// A stack as the sanitizers know it: a thread's, or that of a fiber. Whoever leaves it calls
// leave_for just before the jump; whoever comes back to it, or enters it, calls entered just after.
class ToldStack {
public:
  ToldStack() = default;

  // One that was just made; forget() before its memory is used for something else.
  void make([[maybe_unused]] const std::byte* bottom, [[maybe_unused]] std::size_t bytes) {
#ifdef KERNEVO_ADDRESS_SANITIZER
    bottom_ = bottom;
    bytes_ = bytes;
#endif
#ifdef KERNEVO_THREAD_SANITIZER
    fiber_ = __tsan_create_fiber(0);
#endif
  }
  // Frames that were never left would keep their red zones.
  void forget() {
#ifdef KERNEVO_ADDRESS_SANITIZER
    __asan_unpoison_memory_region(bottom_, bytes_);
#endif
#ifdef KERNEVO_THREAD_SANITIZER
    __tsan_destroy_fiber(fiber_);
#endif
  }

  // The stack this thread is on now. Its bounds are learnt by whoever is entered from it.
  void is_current() {
#ifdef KERNEVO_THREAD_SANITIZER
    fiber_ = __tsan_get_current_fiber();
#endif
  }

  // Inlined, for a return between this and the jump would be counted on the other stack.
  [[gnu::always_inline]] void leave_for([[maybe_unused]] const ToldStack& next) {
#ifdef KERNEVO_ADDRESS_SANITIZER
    __sanitizer_start_switch_fiber(&frames_, next.bottom_, next.bytes_);
#endif
#ifdef KERNEVO_THREAD_SANITIZER
    __tsan_switch_to_fiber(next.fiber_, 0);
#endif
  }
  void entered([[maybe_unused]] ToldStack& from) {
#ifdef KERNEVO_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(frames_, &from.bottom_, &from.bytes_);
    frames_ = nullptr;
#endif
  }

private:
#ifdef KERNEVO_ADDRESS_SANITIZER
  const void* bottom_ = nullptr;
  std::size_t bytes_ = 0;
  void* frames_ = nullptr;
#endif
#ifdef KERNEVO_THREAD_SANITIZER
  void* fiber_ = nullptr;
#endif
};

} // namespace kernevo::vgpu
