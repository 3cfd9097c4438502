#include "kernevo/cuda/core/contexts.h"

#include <atomic>
#include <mutex>

namespace kernevo::cuda {
namespace {

struct Primary {
  std::mutex mutex;
  int retained = 0;
  bool used_by_runtime = false;
};
Primary& primary() {
  static auto* const state = new Primary();
  return *state;
}

unsigned long long next_id() {
  static std::atomic<unsigned long long> last = 0;
  return ++last;
}

} // namespace

CUctx_st& primary_context() {
  // Never destroyed: released from static destructors.
  static auto* const context = [] {
    auto* const made = new CUctx_st();
    made->is_primary = true;
    made->version = 3020;
    made->id = next_id();
    return made;
  }();
  return *context;
}

int retain_primary() {
  const std::lock_guard lock(primary().mutex);
  return ++primary().retained;
}

bool release_primary() {
  const std::lock_guard lock(primary().mutex);
  if (primary().retained == 0)
    return false;
  --primary().retained;
  return true;
}

bool primary_is_active() {
  const std::lock_guard lock(primary().mutex);
  return primary().retained != 0 || primary().used_by_runtime;
}

void reset_primary() {
  const std::lock_guard lock(primary().mutex);
  primary().used_by_runtime = false;
  primary_context().flags = 0;
}

CUctx_st* new_context(unsigned flags, unsigned version) {
  auto* const made = new CUctx_st();
  made->flags = flags;
  made->version = version;
  made->id = next_id();
  return made;
}

std::vector<CUctx_st*>& current_contexts() {
  static thread_local std::vector<CUctx_st*> stack;
  return stack;
}

CUctx_st* current_context() {
  auto& stack = current_contexts();
  // Others may have destroyed what is current here.
  while (!stack.empty() && stack.back() != nullptr && !CUctx_st::has(stack.back()))
    stack.pop_back();
  return stack.empty() ? nullptr : stack.back();
}

namespace {

std::atomic<bool>& initialised() {
  static std::atomic<bool> is = false;
  return is;
}

} // namespace

bool is_initialised() {
  return initialised();
}

void initialise() {
  initialised() = true;
}

void need_context() {
  initialise();
  if (current_context() != nullptr)
    return;
  current_contexts().assign(1, &primary_context());
  const std::lock_guard lock(primary().mutex);
  primary().used_by_runtime = true;
}

} // namespace kernevo::cuda
