// A stack of its own for code that must wait in the middle: compiled code at a barrier.
#pragma once

#include <cstddef>
#include <memory>

namespace kernevo::vgpu {

class Fiber {
public:
  using Body = void (*)(void*);

  Fiber();
  ~Fiber(); // whatever it still ran is forgotten, not unwound
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs body(argument) until it returns or pauses. True when it has returned.
  bool run(Body body, void* argument);
  // Goes on after a pause.
  bool resume();
  // From inside: back to whoever ran or resumed it.
  void pause();
  // From inside: pauses, and goes on with another that has paused. It returns to whom this one
  // would have returned to, so that resume() may come back from a fiber it did not resume.
  void hand_over(Fiber& next);

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace kernevo::vgpu
