// Handlers made from scalar functions: one loop over the lanes each.
#pragma once

#include "kernevo/vgpu/execute/warp.h"
#include "kernevo/vgpu/program/program.h"

// A lane reads and writes only its own elements, also when source and destination are one register.
#if defined(__clang__)
#define KERNEVO_INDEPENDENT_LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define KERNEVO_INDEPENDENT_LANES _Pragma("GCC ivdep")
#endif

namespace kernevo::vgpu::ops {

template <auto Function> struct LaneOp;

template <class D, class A, D (*Function)(A)> struct LaneOp<Function> {
  static void run(const Op& op, Warp& warp, LaneMask active) {
    D* d = warp.lanes<D>(op.d);
    const A* a = warp.lanes<A>(op.a);
    if (active == kAllLanes) {
      KERNEVO_INDEPENDENT_LANES
      for (int lane = 0; lane < kWarpSize; ++lane)
        d[lane] = Function(a[lane]);
    } else {
      for_each_lane(active, [&](int lane) { d[lane] = Function(a[lane]); });
    }
  }
};

template <class D, class A, class B, D (*Function)(A, B)> struct LaneOp<Function> {
  static void run(const Op& op, Warp& warp, LaneMask active) {
    D* d = warp.lanes<D>(op.d);
    const A* a = warp.lanes<A>(op.a);
    const B* b = warp.lanes<B>(op.b);
    if (active == kAllLanes) {
      KERNEVO_INDEPENDENT_LANES
      for (int lane = 0; lane < kWarpSize; ++lane)
        d[lane] = Function(a[lane], b[lane]);
    } else {
      for_each_lane(active, [&](int lane) { d[lane] = Function(a[lane], b[lane]); });
    }
  }
};

template <class D, class A, class B, class C, D (*Function)(A, B, C)> struct LaneOp<Function> {
  static void run(const Op& op, Warp& warp, LaneMask active) {
    D* d = warp.lanes<D>(op.d);
    const A* a = warp.lanes<A>(op.a);
    const B* b = warp.lanes<B>(op.b);
    const C* c = warp.lanes<C>(op.c);
    if (active == kAllLanes) {
      KERNEVO_INDEPENDENT_LANES
      for (int lane = 0; lane < kWarpSize; ++lane)
        d[lane] = Function(a[lane], b[lane], c[lane]);
    } else {
      for_each_lane(active, [&](int lane) { d[lane] = Function(a[lane], b[lane], c[lane]); });
    }
  }
};

// The handler that applies a scalar function to each lane.
template <auto Function> constexpr Handler lanes_of() {
  return &LaneOp<Function>::run;
}

// Writes the active lanes' bits of a predicate register.
inline void write_predicate(Warp& warp, std::uint32_t offset, LaneMask value, LaneMask active) {
  LaneMask& predicate = warp.predicate(offset);
  predicate = (predicate & ~active) | (value & active);
}

// A mask made of one truth value per lane. Evaluates all lanes: `truth` must have no effect.
template <class F> LaneMask mask_where(F&& truth) {
  LaneMask mask = 0;
  for (int lane = 0; lane < kWarpSize; ++lane)
    mask |= static_cast<LaneMask>(truth(lane)) << lane;
  return mask;
}

} // namespace kernevo::vgpu::ops
