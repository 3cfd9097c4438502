// The video instructions: on two halves or four bytes side by side, and on one selected part.
#include "kernevo/vgpu/ops/arithmetic.h"
#include "kernevo/vgpu/ops/emit.h"
#include "kernevo/vgpu/ops/lanes.h"
#include "kernevo/vgpu/semantics/video.h"

#include <array>
#include <string>
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

// "b3210" over the elements of both operands, the highest first.
void select(std::array<std::uint8_t, 4>& elements, const ptx::Operand& operand) {
  const std::string& text = operand.name;
  if (operand.kind == ptx::Operand::Kind::reg && !text.empty())
    for (std::size_t i = 0; i + 1 < text.size() && i < elements.size(); ++i)
      elements[i] = static_cast<std::uint8_t>(text[text.size() - 1 - i] - '0');
}

std::uint32_t written_elements(const ptx::Operand& operand) {
  if (operand.kind != ptx::Operand::Kind::reg || operand.name.empty())
    return 0xF;
  std::uint32_t mask = 0;
  for (const char digit : operand.name.substr(1))
    mask |= 1U << (digit - '0');
  return mask;
}

struct ScalarDetail : Detail {
  semantics::ScalarVideoMode mode;
};

void scalar_handler(const Op& op, Warp& warp, LaneMask active) {
  const semantics::ScalarVideoMode& mode = static_cast<const ScalarDetail*>(op.detail)->mode;
  for_each_lane(active, [&](int lane) {
    warp.lanes<std::uint32_t>(op.d)[lane] = semantics::scalar_video(
        mode, warp.lanes<std::uint32_t>(op.a)[lane], warp.lanes<std::uint32_t>(op.b)[lane],
        op.c == kNone ? 0 : warp.lanes<std::uint32_t>(op.c)[lane]);
  });
}

semantics::VideoPart part_of(const ptx::Operand& operand) {
  if (operand.kind != ptx::Operand::Kind::reg || operand.name.size() != 2)
    return {};
  return {operand.name[0] == 'b' ? 8 : 16, operand.name[1] - '0'};
}

semantics::ScalarVideoOperation scalar_operation(const Instruction& instruction) {
  using Operation = semantics::ScalarVideoOperation;
  switch (instruction.opcode) {
  case Opcode::vadd: return Operation::add;
  case Opcode::vsub: return Operation::sub;
  case Opcode::vabsdiff: return Operation::absolute_difference;
  case Opcode::vmin: return Operation::minimum;
  case Opcode::vmax: return Operation::maximum;
  case Opcode::vshl: return Operation::shift_left;
  case Opcode::vshr: return Operation::shift_right;
  case Opcode::vmad: return Operation::multiply_add;
  default: break;
  }
  return instruction.has(Mod::eq)   ? Operation::eq
         : instruction.has(Mod::ne) ? Operation::ne
         : instruction.has(Mod::lt) ? Operation::lt
         : instruction.has(Mod::le) ? Operation::le
         : instruction.has(Mod::gt) ? Operation::gt
                                    : Operation::ge;
}

} // namespace

Result<void> lower_scalar_video(Lowering& lowering, const Instruction& instruction) {
  using semantics::VideoSecond;
  const bool set = instruction.opcode == Opcode::vset;
  const std::size_t inputs = set ? 0 : 1; // vset does not name its result's type
  auto detail = std::make_unique<ScalarDetail>();
  semantics::ScalarVideoMode& mode = detail->mode;
  mode.operation = scalar_operation(instruction);
  mode.signed_result = !set && ptx::is_signed(instruction.types.at(0));
  mode.signed_a = ptx::is_signed(instruction.types.at(inputs));
  mode.signed_b = ptx::is_signed(instruction.types.at(inputs + 1));
  mode.saturate = instruction.has(Mod::sat);
  mode.wrap = instruction.has(Mod::wrap);
  mode.plus_one = instruction.has(Mod::po);
  mode.scale = instruction.has(Mod::shr7) ? 7 : instruction.has(Mod::shr15) ? 15 : 0;
  mode.d = part_of(instruction.operands.at(0));
  mode.a = part_of(instruction.operands.at(1));
  mode.b = part_of(instruction.operands.at(2));
  const bool has_c = instruction.operands.size() > 3;
  if (has_c && instruction.opcode != Opcode::vmad)
    mode.second = instruction.has(Mod::add)    ? VideoSecond::add
                  : instruction.has(Mod::min_) ? VideoSecond::minimum
                  : instruction.has(Mod::max_) ? VideoSecond::maximum
                                               : VideoSecond::merge;
  KERNEVO_TRY(a, lowering.source(instruction, instruction.operands[1], Type::b32));
  KERNEVO_TRY(b, lowering.source(instruction, instruction.operands[2], Type::b32));
  std::uint32_t c = kNone;
  if (has_c) {
    KERNEVO_TRY(slot, lowering.source(instruction, instruction.operands[3], Type::b32));
    c = slot;
  }
  KERNEVO_TRY(d, lowering.destination(instruction, instruction.operands[0], Type::b32));
  const Detail* kept = lowering.keep(std::move(detail));
  Op& op = lowering.emit(scalar_handler);
  op.d = d;
  op.a = a;
  op.b = b;
  op.c = c;
  op.detail = kept;
  return {};
}

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
  if (meaning.elements == 2)
    detail->mode.select_b = {2, 3, 0, 0};

  KERNEVO_CHECK(need_operands(lowering, instruction, 4));
  select(detail->mode.select_a, instruction.operands[1]);
  select(detail->mode.select_b, instruction.operands[2]);
  detail->mode.written = written_elements(instruction.operands[0]);
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
