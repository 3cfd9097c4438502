// Functions that take the thread's own stream where others take the legacy default stream.
#pragma once

#include "kernevo/cuda/core/graph.h"
#include "kernevo/cuda/core/trampoline.h"

namespace kernevo::cuda {

// While one lives, the null stream is the stream of this thread.
class NullStreamIsTheThreads {
public:
  NullStreamIsTheThreads() : before_(null_stream_is_the_threads()) {
    null_stream_is_the_threads() = true;
  }
  ~NullStreamIsTheThreads() { null_stream_is_the_threads() = before_; }
  NullStreamIsTheThreads(const NullStreamIsTheThreads&) = delete;
  NullStreamIsTheThreads& operator=(const NullStreamIsTheThreads&) = delete;

private:
  bool before_;
};

template <auto Function> struct PerThread;
template <class Return, class... Arguments, Return (*Function)(Arguments...)>
struct PerThread<Function> {
  static Return call(Arguments... arguments) {
    const NullStreamIsTheThreads scope;
    return Function(arguments...);
  }
};

} // namespace kernevo::cuda

// Defines the symbol as that variant of the function.
#define KERNEVO_PER_THREAD(symbol, function)                                                       \
  extern "C" {                                                                                     \
  __attribute__((                                                                                  \
      used, visibility("protected"))) constinit decltype(&function) kernevo_through_##symbol =     \
      &kernevo::cuda::PerThread<&function>::call;                                                  \
  }                                                                                                \
  KERNEVO_TRAMPOLINE_THROUGH(symbol, kernevo_through_##symbol)
