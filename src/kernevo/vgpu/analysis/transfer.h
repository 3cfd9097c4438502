// The shape that an instruction gives to what it writes.
#pragma once

#include "kernevo/vgpu/analysis/liveness.h"
#include "kernevo/vgpu/analysis/shapes.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace kernevo::vgpu::analysis {

struct Outcome {
  Shape value;     // of every register written
  Shape predicate; // of the second one of d|p
};

class Transfer {
public:
  Transfer(const Code& code, const Flow& flow, const Liveness& liveness, const LaneFacts& facts);

  // From the shapes of registers found so far; unset while one that is read is still unset.
  Outcome outcome(std::uint32_t instruction, const std::vector<Shape>& registers) const;

  // The only value a register ever has.
  std::optional<std::uint64_t> constant(ptx::RegisterId reg) const { return constants_[reg]; }

  // A shape as the register can have it: only integers are more than uniform.
  Shape fitted(ptx::RegisterId reg, Shape shape) const;

private:
  const Code& code_;
  const Liveness& liveness_;
  const LaneFacts& facts_;
  std::vector<std::optional<std::uint64_t>> constants_;
  bool lanes_own_memory_ = false; // a generic or .param address may mean something in every lane
};

Shape shape_of_special(ptx::Special special, const LaneFacts& facts);

} // namespace kernevo::vgpu::analysis
