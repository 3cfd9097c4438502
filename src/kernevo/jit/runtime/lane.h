// Defines the functions of a list (*.def). Every row becomes `kv_NAME` of one lane, and
// `kv_NAME_x32` of 32 lanes: a plain loop, which clang makes vectors of. The lanes of the result
// may be those of an operand.
#pragma once

#include "kernevo/jit/runtime/lane_types.h"

#include <cstring>

namespace kernevo::jit::runtime {

template <class T> using Out = T*;
template <class T> using In = const T*;

} // namespace kernevo::jit::runtime

// Results are collected apart from the operands: that keeps the loop free of doubts about aliasing,
// and nothing of it is left in the code.
#define KERNEVO_COLLECT(D, count, ...)                                                             \
  D all[count];                                                                                    \
  for (int i = 0; i < (count); ++i)                                                                \
    all[i] = static_cast<D>(__VA_ARGS__);                                                          \
  std::memcpy(d, all, sizeof all)

// Everything inside is inlined: a call would keep the loop from becoming vectors.
#define KERNEVO_ENTRY extern "C" [[gnu::flatten]]

#define KERNEVO_LANE1(name, D, A, ...)                                                             \
  KERNEVO_ENTRY D kv_##name(A a) {                                                                 \
    return static_cast<D>(__VA_ARGS__(a));                                                         \
  }                                                                                                \
  KERNEVO_ENTRY void kv_##name##_x32(Out<D> d, In<A> a) {                                          \
    KERNEVO_COLLECT(D, kLanes, __VA_ARGS__(a[i]));                                                 \
  }
#define KERNEVO_LANE2(name, D, A, B, ...)                                                          \
  KERNEVO_ENTRY D kv_##name(A a, B b) {                                                            \
    return static_cast<D>(__VA_ARGS__(a, b));                                                      \
  }                                                                                                \
  KERNEVO_ENTRY void kv_##name##_x32(Out<D> d, In<A> a, In<B> b) {                                 \
    KERNEVO_COLLECT(D, kLanes, __VA_ARGS__(a[i], b[i]));                                           \
  }
#define KERNEVO_LANE3(name, D, A, B, C, ...)                                                       \
  KERNEVO_ENTRY D kv_##name(A a, B b, C c) {                                                       \
    return static_cast<D>(__VA_ARGS__(a, b, c));                                                   \
  }                                                                                                \
  KERNEVO_ENTRY void kv_##name##_x32(Out<D> d, In<A> a, In<B> b, In<C> c) {                        \
    KERNEVO_COLLECT(D, kLanes, __VA_ARGS__(a[i], b[i], c[i]));                                     \
  }
#define KERNEVO_LANE4(name, D, A, B, C, E, ...)                                                    \
  KERNEVO_ENTRY D kv_##name(A a, B b, C c, E e) {                                                  \
    return static_cast<D>(__VA_ARGS__(a, b, c, e));                                                \
  }                                                                                                \
  KERNEVO_ENTRY void kv_##name##_x32(Out<D> d, In<A> a, In<B> b, In<C> c, In<E> e) {               \
    KERNEVO_COLLECT(D, kLanes, __VA_ARGS__(a[i], b[i], c[i], e[i]));                               \
  }

// Pairs: the function works on 16 bits; 32 registers are 64 of them in a row.
#define KERNEVO_PAIR1(name, T, ...)                                                                \
  KERNEVO_ENTRY T kv_##name(T a) {                                                                 \
    return sem::halves_unary<&__VA_ARGS__>(a);                                                     \
  }                                                                                                \
  KERNEVO_ENTRY void kv_##name##_x32(Out<Halves> d, In<Halves> a) {                                \
    KERNEVO_COLLECT(std::uint16_t, 2 * kLanes, __VA_ARGS__(a[i]));                                 \
  }
#define KERNEVO_PAIR2(name, T, ...)                                                                \
  KERNEVO_ENTRY T kv_##name(T a, T b) {                                                            \
    return sem::halves_binary<&__VA_ARGS__>(a, b);                                                 \
  }                                                                                                \
  KERNEVO_ENTRY void kv_##name##_x32(Out<Halves> d, In<Halves> a, In<Halves> b) {                  \
    KERNEVO_COLLECT(std::uint16_t, 2 * kLanes, __VA_ARGS__(a[i], b[i]));                           \
  }
#define KERNEVO_PAIR3(name, T, ...)                                                                \
  KERNEVO_ENTRY T kv_##name(T a, T b, T c) {                                                       \
    return sem::halves_ternary<&__VA_ARGS__>(a, b, c);                                             \
  }                                                                                                \
  KERNEVO_ENTRY void kv_##name##_x32(Out<Halves> d, In<Halves> a, In<Halves> b, In<Halves> c) {    \
    KERNEVO_COLLECT(std::uint16_t, 2 * kLanes, __VA_ARGS__(a[i], b[i], c[i]));                     \
  }
