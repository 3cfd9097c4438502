// How each register depends on the lane: the same in all, a straight line over them, or anything.
// Uniform and straight values need one number (and a stride), so that addresses stay scalar.
//
// The claim for a register holds for the lanes of a warp that run together. Where lanes that took
// different paths meet again, what those paths wrote varies. The compiled tier still checks the
// claim whenever it takes over from the interpreter, so a claim may be too bold (slow) but never
// leads to a wrong result; a warp that keeps refuting one gets the register demoted.
#pragma once

#include "kernevo/vgpu/analysis/liveness.h"

#include <array>
#include <cstdint>
#include <set>
#include <vector>

namespace kernevo::vgpu::analysis {

struct Shape {
  enum class Kind : std::uint8_t {
    unset,    // nothing writes it
    straight, // base of the lane's group + stride * position in the group
    varying,
  };
  Kind kind = Kind::unset;
  std::uint8_t group = kWarpSize; // lanes that share a base: 32, 16 or 8
  std::int64_t stride = 0;        // modulo the register's width
  // A power of two that divides every base; 1 = nothing is known. 0 is divided by everything.
  std::uint64_t alignment = 1;

  static Shape varying() { return {Kind::varying, kWarpSize, 0, 1}; }
  static Shape uniform(std::uint64_t alignment = 1) {
    return {Kind::straight, kWarpSize, 0, alignment};
  }
  bool is_varying() const { return kind == Kind::varying; }
  bool is_straight() const { return kind == Kind::straight; }
  bool is_uniform() const { return is_straight() && stride == 0 && group == kWarpSize; }
  int groups() const { return kWarpSize / group; }
  bool operator==(const Shape&) const = default;
};

// What the extent of the block says about thread indices.
struct LaneFacts {
  Shape tid_x;
  Shape tid_y;
  Shape tid_z;
  bool operator==(const LaneFacts&) const = default;
};
LaneFacts lane_facts(const std::array<std::uint32_t, 3>& block);

struct Shapes {
  std::vector<Shape> registers;       // by RegisterId
  std::vector<bool> divergent_branch; // by block: its branch may part the lanes
};

// Predicates and floating-point registers are uniform or varying. `demoted` registers are varying.
Shapes find_shapes(const Code& code, const Flow& flow, const Liveness& liveness,
                   const LaneFacts& facts, const std::set<ptx::RegisterId>& demoted = {});

// The shape of a source operand.
Shape shape_of(const Code& code, const Shapes& shapes, const ptx::Operand& operand,
               const LaneFacts& facts);

} // namespace kernevo::vgpu::analysis
