// vadd vsub vavrg vabsdiff vmin vmax vset on two halves or four bytes, over whole registers: the
// byte selectors and write masks of hand-written PTX are not part of the operand syntax here.
#include "kernevo/vgpu/ops/arithmetic.h"
#include "kernevo/vgpu/ops/emit.h"
#include "kernevo/vgpu/ops/lanes.h"
#include "kernevo/vgpu/semantics/video.h"

#include <array>
#include <utility>

namespace kernevo::vgpu::ops {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Type;
using semantics::VideoOperation;

struct VideoDetail : Detail {
  semantics::VideoMode mode;
};

void video_handler(const Op& op, Warp& warp, LaneMask active) {
  const semantics::VideoMode& mode = static_cast<const VideoDetail*>(op.detail)->mode;
  for_each_lane(active, [&](int lane) {
    warp.lanes<std::uint32_t>(op.d)[lane] = semantics::video(
        mode, warp.lanes<std::uint32_t>(op.a)[lane], warp.lanes<std::uint32_t>(op.b)[lane],
        warp.lanes<std::uint32_t>(op.c)[lane]);
  });
}

struct Meaning {
  VideoOperation operation;
  int elements;
};

Meaning meaning_of(const Instruction& instruction) {
  constexpr std::array<std::pair<Mod, VideoOperation>, 6> comparisons = {{
      {Mod::eq, VideoOperation::eq},
      {Mod::ne, VideoOperation::ne},
      {Mod::lt, VideoOperation::lt},
      {Mod::le, VideoOperation::le},
      {Mod::gt, VideoOperation::gt},
      {Mod::ge, VideoOperation::ge},
  }};
  switch (instruction.opcode) {
  case Opcode::vadd2: return {VideoOperation::add, 2};
  case Opcode::vadd4: return {VideoOperation::add, 4};
  case Opcode::vsub2: return {VideoOperation::sub, 2};
  case Opcode::vsub4: return {VideoOperation::sub, 4};
  case Opcode::vavrg2: return {VideoOperation::average, 2};
  case Opcode::vavrg4: return {VideoOperation::average, 4};
  case Opcode::vabsdiff2: return {VideoOperation::absolute_difference, 2};
  case Opcode::vabsdiff4: return {VideoOperation::absolute_difference, 4};
  case Opcode::vmin2: return {VideoOperation::minimum, 2};
  case Opcode::vmin4: return {VideoOperation::minimum, 4};
  case Opcode::vmax2: return {VideoOperation::maximum, 2};
  case Opcode::vmax4: return {VideoOperation::maximum, 4};
  default: break;
  }
  const int elements = instruction.opcode == Opcode::vset2 ? 2 : 4;
  for (const auto& [modifier, operation] : comparisons)
    if (instruction.has(modifier))
      return {operation, elements};
  return {VideoOperation::eq, elements};
}

} // namespace

Result<void> lower_video(Lowering& lowering, const Instruction& instruction) {
  const bool set = instruction.opcode == Opcode::vset2 || instruction.opcode == Opcode::vset4;
  const std::size_t inputs = set ? 0 : 1; // vset does not name its result's type
  if (instruction.types.size() != inputs + 2)
    return unknown_form(lowering, instruction);
  const Meaning meaning = meaning_of(instruction);
  auto detail = std::make_unique<VideoDetail>();
  detail->mode.operation = meaning.operation;
  detail->mode.elements = meaning.elements;
  detail->mode.signed_result = !set && ptx::is_signed(instruction.types[0]);
  detail->mode.signed_a = ptx::is_signed(instruction.types[inputs]);
  detail->mode.signed_b = ptx::is_signed(instruction.types[inputs + 1]);
  detail->mode.saturate = instruction.has(Mod::sat);
  detail->mode.accumulate = instruction.has(Mod::add);

  KERNEVO_CHECK(need_operands(lowering, instruction, 4));
  KERNEVO_TRY(a, lowering.source(instruction, instruction.operands[1], Type::b32));
  KERNEVO_TRY(b, lowering.source(instruction, instruction.operands[2], Type::b32));
  KERNEVO_TRY(c, lowering.source(instruction, instruction.operands[3], Type::b32));
  KERNEVO_TRY(d, lowering.destination(instruction, instruction.operands[0], Type::b32));
  const Detail* kept = lowering.keep(std::move(detail));
  Op& op = lowering.emit(video_handler);
  op.d = d;
  op.a = a;
  op.b = b;
  op.c = c;
  op.detail = kept;
  return {};
}

} // namespace kernevo::vgpu::ops
