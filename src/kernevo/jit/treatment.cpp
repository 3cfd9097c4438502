// Which instructions become code of their own, and which are left to the interpreter.
#include "kernevo/jit/lane_functions.h"
#include "kernevo/jit/plan.h"
#include "kernevo/vgpu/program/control.h"

#include <algorithm>

namespace kernevo::jit {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using ptx::Type;
using vgpu::Code;
using vgpu::OpKind;

bool is_word(Type type) {
  switch (type) {
  case Type::b16:
  case Type::b32:
  case Type::b64:
  case Type::u16:
  case Type::u32:
  case Type::u64:
  case Type::s16:
  case Type::s32:
  case Type::s64: return true;
  default: return false;
  }
}

bool has_any(const Instruction& at, std::initializer_list<Mod> modifiers) {
  return std::any_of(modifiers.begin(), modifiers.end(), [&](Mod mod) { return at.has(mod); });
}

bool plain_operands(const Instruction& at) {
  return std::all_of(at.operands.begin(), at.operands.end(), [](const Operand& operand) {
    switch (operand.kind) {
    case Operand::Kind::reg:
    case Operand::Kind::special:
    case Operand::Kind::integer:
    case Operand::Kind::real32:
    case Operand::Kind::real64: return true;
    default: return false;
    }
  });
}

// Rounded to nearest, without saturation.
bool is_common_float(const Instruction& at) {
  return (at.type() == Type::f32 || at.type() == Type::f64) && at.types.size() == 1 &&
         !has_any(at, {Mod::rz, Mod::rm, Mod::rp, Mod::sat});
}

} // namespace

bool is_inlined_arithmetic(const Instruction& at) {
  if (at.types.size() != 1 || !plain_operands(at))
    return false;
  const Type type = at.type();
  const bool word = is_word(type);
  switch (at.opcode) {
  case Opcode::add:
  case Opcode::sub: return (word && !has_any(at, {Mod::cc, Mod::sat})) || is_common_float(at);
  case Opcode::mul: return (word && !at.has(Mod::hi)) || is_common_float(at);
  case Opcode::mad:
    return (word && !has_any(at, {Mod::hi, Mod::cc, Mod::sat})) || is_common_float(at);
  case Opcode::fma_: return is_common_float(at);
  case Opcode::neg:
  case Opcode::abs_: return word || is_common_float(at);
  case Opcode::min_:
  case Opcode::max_:
    return (word && !at.has(Mod::relu)) ||
           (is_common_float(at) && !has_any(at, {Mod::nan, Mod::xorsign, Mod::abs_}) &&
            at.operands.size() == 3);
  case Opcode::and_:
  case Opcode::or_:
  case Opcode::xor_:
  case Opcode::not_: return word || type == Type::pred;
  case Opcode::shl:
  case Opcode::shr: return word;
  default: return false;
  }
}

namespace {

bool is_integer(Type type) {
  return is_word(type) || type == Type::u8 || type == Type::s8 || type == Type::b8;
}

} // namespace

bool is_inlined_conversion(const Instruction& at) {
  if (at.opcode != Opcode::cvt || at.types.size() != 2 || !plain_operands(at) || at.has(Mod::sat))
    return false;
  const Type to = at.types[0];
  const Type from = at.types[1];
  if (is_integer(to) && is_integer(from))
    return true;
  if (to == Type::f32 && (from == Type::s32 || from == Type::u32 || from == Type::s64))
    return at.has(Mod::rn);
  return false;
}

namespace {

bool is_compare(const Instruction& at) {
  if (at.opcode != Opcode::setp || at.types.size() != 1)
    return false;
  return is_word(at.type()) || at.type() == Type::f32 || at.type() == Type::f64 ||
         at.type() == Type::f16 || at.type() == Type::bf16;
}

bool is_inlined_move(const Code& code, const Instruction& at) {
  if (at.opcode == Opcode::selp)
    return plain_operands(at) &&
           (is_word(at.type()) || at.type() == Type::f32 || at.type() == Type::f64);
  if (at.opcode == Opcode::cvta)
    return at.type() == Type::u64 && at.operands.size() == 2 &&
           at.operands[1].kind == Operand::Kind::reg && !at.has(Mod::shared_cluster) &&
           (at.space == Space::global || at.space == Space::shared || at.space == Space::constant ||
            at.space == Space::local);
  if (at.opcode != Opcode::mov || at.operands.size() != 2)
    return false;
  const Operand& to = at.operands[0];
  const Operand& from = at.operands[1];
  const auto is_part = [&](const Operand& operand) {
    return operand.kind == Operand::Kind::reg &&
           code.function->registers[operand.reg].type != Type::pred;
  };
  if (to.kind == Operand::Kind::vector)
    return from.kind == Operand::Kind::reg && ptx::bits_of(at.type()) <= 64 &&
           std::all_of(to.elements.begin(), to.elements.end(), [&](const Operand& part) {
             return is_part(part) || part.kind == Operand::Kind::sink;
           });
  if (from.kind == Operand::Kind::vector)
    return to.kind == Operand::Kind::reg && ptx::bits_of(at.type()) <= 64 &&
           std::all_of(from.elements.begin(), from.elements.end(), is_part);
  if (to.kind != Operand::Kind::reg)
    return false;
  if (from.kind == Operand::Kind::symbol)
    return code.symbol_slots.contains(
        {from.name, from.offset, static_cast<std::uint32_t>(ptx::bytes_of(at.type()))});
  return plain_operands(at) && (at.type() == Type::pred || ptx::bits_of(at.type()) <= 64);
}

bool is_kernel_parameter(const Code& code, const Instruction& at) {
  const Operand& base = at.operands.back().elements.front();
  return at.opcode == Opcode::ld && code.function->is_entry && base.kind == Operand::Kind::symbol &&
         std::any_of(code.function->parameters.begin(), code.function->parameters.end(),
                     [&](const ptx::Variable& parameter) { return parameter.name == base.name; });
}

bool is_inlined_memory(const Code& code, const Instruction& at) {
  if (at.opcode != Opcode::ld && at.opcode != Opcode::st)
    return false;
  if (has_any(at, {Mod::volatile_, Mod::relaxed, Mod::acquire, Mod::release, Mod::mmio,
                   Mod::shared_cluster, Mod::async, Mod::param_func, Mod::l2_cache_hint}) ||
      ptx::bits_of(at.type()) > 64 || ptx::bits_of(at.type()) < 8)
    return false;
  const auto address = std::find_if(at.operands.begin(), at.operands.end(), [](const Operand& o) {
    return o.kind == Operand::Kind::address;
  });
  if (address == at.operands.end() || address->elements.size() != 1)
    return false;
  const Operand& base = address->elements.front();
  if (at.space == Space::param)
    return at.opcode == Opcode::ld && at.operands.size() == 2 && is_kernel_parameter(code, at);
  if (at.space != Space::global && at.space != Space::shared && at.space != Space::constant &&
      at.space != Space::generic)
    return false;
  if (base.kind == Operand::Kind::symbol) {
    if (!code.symbol_slots.contains({base.name, base.offset, 8}))
      return false;
  } else if (base.kind != Operand::Kind::reg) {
    return false;
  }
  for (const Operand& operand : at.operands) {
    if (operand.kind == Operand::Kind::vector) {
      for (const Operand& element : operand.elements)
        if (element.kind != Operand::Kind::reg)
          return false;
    } else if (operand.kind != Operand::Kind::reg && operand.kind != Operand::Kind::address &&
               operand.kind != Operand::Kind::integer && operand.kind != Operand::Kind::real32 &&
               operand.kind != Operand::Kind::real64) {
      return false;
    }
  }
  return at.operands.size() == 2;
}

// Lanes that all run together shuffle by a pattern known now.
bool is_constant_shuffle(const Instruction& at) {
  return at.opcode == Opcode::shfl && at.has(Mod::sync) && at.operands.size() == 5 &&
         at.operands[1].kind == Operand::Kind::reg &&
         at.operands[2].kind == Operand::Kind::integer &&
         at.operands[3].kind == Operand::Kind::integer &&
         at.operands[4].kind == Operand::Kind::integer &&
         at.operands[0].kind != Operand::Kind::sink;
}

bool is_inlined_exchange(const Instruction& at) {
  if (at.guard)
    return false;
  if (at.opcode == Opcode::bar_warp_sync || is_constant_shuffle(at))
    return true;
  return at.opcode == Opcode::vote && has_any(at, {Mod::ballot, Mod::any, Mod::all}) &&
         at.operands.size() == 3 && at.operands[0].kind == Operand::Kind::reg &&
         at.operands[1].kind == Operand::Kind::reg;
}

bool reads_clock(const Instruction& at) {
  return std::any_of(at.operands.begin(), at.operands.end(), [](const Operand& operand) {
    if (operand.kind != Operand::Kind::special)
      return false;
    switch (operand.special) {
    case ptx::Special::clock:
    case ptx::Special::clock_hi:
    case ptx::Special::clock64:
    case ptx::Special::globaltimer:
    case ptx::Special::globaltimer_lo:
    case ptx::Special::globaltimer_hi: return true;
    default: return false;
    }
  });
}

} // namespace

const Operand* member_mask(const Code& code, std::uint32_t instruction) {
  const Instruction& at = code.function->instructions[instruction];
  const auto first = code.ops.begin() + code.first_op[instruction];
  const auto last = code.ops.begin() + code.first_op[instruction + 1];
  const bool named = std::any_of(first, last, [](const vgpu::Op& op) {
    return op.kind == OpKind::warp_sync && op.member_mask != kNone;
  });
  if (!named || at.operands.empty())
    return nullptr;
  return at.opcode == Opcode::bar_warp_sync ? &at.operands.front() : &at.operands.back();
}

bool may_stand_at(Treatment treatment) {
  return treatment == Treatment::warp || treatment == Treatment::exchange ||
         treatment == Treatment::leave || treatment == Treatment::barrier;
}

bool goes_back(const Code& code, std::uint32_t instruction) {
  const std::uint32_t end = code.first_op[instruction + 1];
  if (end == code.first_op[instruction])
    return false;
  const vgpu::Op& op = code.ops[end - 1];
  return op.kind == OpKind::branch && op.target < end;
}

Treatment treatment_of(const Code& code, std::uint32_t instruction) {
  const Instruction& at = code.function->instructions[instruction];
  const auto first = code.ops.begin() + code.first_op[instruction];
  const auto last = code.ops.begin() + code.first_op[instruction + 1];
  bool waits_for_lanes = false;
  for (auto op = first; op != last; ++op)
    switch (op->kind) {
    case OpKind::compute:
    case OpKind::memory: break;
    case OpKind::warp_sync: waits_for_lanes = true; break;
    case OpKind::branch: return Treatment::branch;
    case OpKind::barrier: {
      const auto& detail = static_cast<const vgpu::BarrierDetail&>(*op->detail);
      const bool plain = detail.mode == vgpu::BarrierDetail::Mode::sync &&
                         detail.count == vgpu::kNone && !at.guard && at.operands.size() == 1 &&
                         at.operands[0].kind == Operand::Kind::integer;
      return plain ? Treatment::barrier : Treatment::leave;
    }
    default: return Treatment::leave;
    }
  if (first == last)
    return Treatment::inlined; // nothing to do: a fence on this machine, a hint
  if (waits_for_lanes) {
    if (const Operand* members = member_mask(code, instruction);
        members != nullptr && members->kind != Operand::Kind::integer &&
        members->kind != Operand::Kind::reg)
      return Treatment::leave;
    return is_inlined_exchange(at) ? Treatment::exchange : Treatment::warp;
  }
  if (reads_clock(at))
    return Treatment::handler;
  if (is_inlined_arithmetic(at) || is_inlined_conversion(at) || is_compare(at) ||
      is_inlined_move(code, at) || is_inlined_memory(code, at))
    return Treatment::inlined;
  return lane_function(at) && plain_operands(at) ? Treatment::inlined : Treatment::handler;
}

} // namespace kernevo::jit
