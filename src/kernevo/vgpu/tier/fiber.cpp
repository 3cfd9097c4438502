#include "kernevo/vgpu/tier/fiber.h"

#include "kernevo/vgpu/tier/told_stack.h"

#include <boost/context/detail/fcontext.hpp>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace kernevo::vgpu {
namespace {

// Compiled code may use 192 KiB (the compiler refuses more), the rest is for handlers it calls;
// their frames are wider where every variable stands between red zones.
constexpr std::size_t kStackBytes = std::size_t{kInstrumented ? 1280 : 320} << 10U;

} // namespace

namespace context = boost::context::detail;

struct Fiber::State {
  std::byte* stack = nullptr;
  std::size_t bytes = 0;
  context::fcontext_t inside = nullptr;
  context::fcontext_t outside = nullptr;
  ToldStack inner;
  ToldStack outer; // where `outside` is
  Body body = nullptr;
  void* argument = nullptr;
  bool returned = true;

  // Somebody jumped here: who runs it, or a fiber that hands over.
  void arrived(context::transfer_t from) {
    auto* const by = static_cast<State*>(from.data);
    if (by != this) {
      by->inside = from.fctx;
      outside = by->outside;
      outer = by->outer;
      inner.entered(by->inner);
    } else {
      outside = from.fctx;
      inner.entered(outer);
    }
  }

  // Takes one body after the other, so that a fiber is set up only once.
  static void loop(context::transfer_t from) {
    auto& self = *static_cast<State*>(from.data);
    self.outside = from.fctx;
    self.inner.entered(self.outer);
    for (;;) {
      self.body(self.argument);
      self.returned = true;
      self.inner.leave_for(self.outer);
      self.arrived(context::jump_fcontext(self.outside, &self));
    }
  }
};

namespace {

// Stacks of fibers that are gone, for those to come: a launch of a few blocks would spend more time
// mapping stacks than running on them.
class SpareStacks {
public:
  static SpareStacks& instance() {
    static auto* stacks = new SpareStacks; // NOLINT: outlives every thread
    return *stacks;
  }

  std::byte* take() {
    const std::lock_guard lock(mutex_);
    if (stacks_.empty())
      return nullptr;
    std::byte* const stack = stacks_.back();
    stacks_.pop_back();
    return stack;
  }
  // False when there are enough.
  bool keep(std::byte* stack) {
    const std::lock_guard lock(mutex_);
    if (stacks_.size() >= kMost)
      return false;
    stacks_.push_back(stack);
    return true;
  }

private:
  static constexpr std::size_t kMost = 256;
  std::mutex mutex_;
  std::vector<std::byte*> stacks_;
};

} // namespace

Fiber::Fiber() : state_(std::make_unique<State>()) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  state_->bytes = kStackBytes + page;
  state_->stack = SpareStacks::instance().take();
  if (state_->stack == nullptr) {
    void* memory = mmap(nullptr, state_->bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED)
      throw std::bad_alloc();
    state_->stack = static_cast<std::byte*>(memory);
    mprotect(memory, page, PROT_NONE); // an overflow must fault, not run on
  }
  state_->inner.make(state_->stack, state_->bytes);
  state_->inside = context::make_fcontext(state_->stack + state_->bytes, kStackBytes, &State::loop);
}

Fiber::~Fiber() {
  state_->inner.forget();
  if (!SpareStacks::instance().keep(state_->stack))
    munmap(state_->stack, state_->bytes);
}

bool Fiber::run(Body body, void* argument) {
  state_->body = body;
  state_->argument = argument;
  state_->returned = false;
  return resume();
}

bool Fiber::resume() {
  ToldStack here;
  here.is_current();
  state_->outer = here;
  here.leave_for(state_->inner);
  const context::transfer_t back = context::jump_fcontext(state_->inside, state_.get());
  auto* const by = static_cast<State*>(back.data);
  here.entered(by->inner);
  by->inside = back.fctx;
  return state_->returned;
}

void Fiber::pause() {
  state_->inner.leave_for(state_->outer);
  state_->arrived(context::jump_fcontext(state_->outside, state_.get()));
}

void Fiber::hand_over(Fiber& next) {
  state_->inner.leave_for(next.state_->inner);
  state_->arrived(context::jump_fcontext(next.state_->inside, state_.get()));
}

} // namespace kernevo::vgpu
