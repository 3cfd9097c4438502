// Plain arithmetic and logic.
#include "kernevo/jit/runtime/lane.h"
#include "kernevo/vgpu/semantics/bits.h"
#include "kernevo/vgpu/semantics/float.h"
#include "kernevo/vgpu/semantics/integer.h"

namespace kernevo::jit::runtime {

namespace sem = vgpu::semantics;

template <class T> constexpr T bits_and(T a, T b) {
  return a & b;
}
template <class T> constexpr T bits_or(T a, T b) {
  return a | b;
}
template <class T> constexpr T bits_xor(T a, T b) {
  return a ^ b;
}
template <class T> constexpr T bits_not(T a) {
  return static_cast<T>(~a);
}
template <class D, class A> constexpr D resize(A a) {
  return static_cast<D>(a);
}

#include "kernevo/jit/runtime/simple.def"

} // namespace kernevo::jit::runtime
