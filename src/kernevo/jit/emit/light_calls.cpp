// What varies over the lanes, in the frame: by functions of the runtime library where all lanes run
// and one fits, and else by the interpreter's own handlers.
#include "kernevo/jit/emit/light_emitter.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace kernevo::jit {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

namespace {

std::string_view comparison(const Instruction& at) {
  using Row = std::pair<Mod, std::string_view>;
  static constexpr std::array rows = {
      Row{Mod::eq, "eq"},   Row{Mod::ne, "ne"},   Row{Mod::lt, "lt"},   Row{Mod::le, "le"},
      Row{Mod::gt, "gt"},   Row{Mod::ge, "ge"},   Row{Mod::lo, "lt"},   Row{Mod::ls, "le"},
      Row{Mod::hi, "gt"},   Row{Mod::hs, "ge"},   Row{Mod::equ, "equ"}, Row{Mod::neu, "neu"},
      Row{Mod::ltu, "ltu"}, Row{Mod::leu, "leu"}, Row{Mod::gtu, "gtu"}, Row{Mod::geu, "geu"},
      Row{Mod::num, "num"}, Row{Mod::nan, "nan"},
  };
  for (const auto& [mod, name] : rows)
    if (at.has(mod))
      return name;
  return "";
}

// .lo and .hs compare as unsigned numbers whatever the type is, and so do types without a sign.
std::string compared_type(const Instruction& at) {
  const Type type = at.type();
  if (type == Type::f16 || type == Type::bf16)
    return "";
  if (type == Type::f32 || type == Type::f64)
    return at.has(Mod::ftz) ? "" : fmt::format("f{}", ptx::bits_of(type));
  const bool natural = !ptx::is_signed(type) || at.has(Mod::lo) || at.has(Mod::ls) ||
                       at.has(Mod::hi) || at.has(Mod::hs);
  return fmt::format("{}{}", natural ? 'u' : 's', ptx::bits_of(type));
}

bool is_number(Mod mod) {
  return mod == Mod::equ || mod == Mod::neu || mod == Mod::ltu || mod == Mod::leu ||
         mod == Mod::gtu || mod == Mod::geu || mod == Mod::num || mod == Mod::nan;
}

} // namespace

// Does a result, or what it is made of, vary over the lanes?
bool LightEmitter::is_called(std::uint32_t instruction) const {
  const Instruction& at = source_.instructions[instruction];
  if (at.opcode == Opcode::ld || at.opcode == Opcode::st)
    return false;
  if (at.opcode == Opcode::setp)
    return !is_uniform(at.operands[1]) || !is_uniform(at.operands[2]);
  const auto& writes = plan_.liveness.effects[instruction].writes;
  return std::any_of(writes.begin(), writes.end(),
                     [&](const ptx::RegisterId reg) { return plan_.home[reg] == Home::frame; });
}

// The library's function for an op; empty when there is none.
std::string LightEmitter::native_name(const Instruction& at, std::uint32_t index) const {
  const std::uint32_t instruction = code_.ops[index].instruction;
  const vgpu::Op& op = code_.ops[index];
  const bool alone = ops_of(instruction) == 1;
  auto reads = [&](const Operand& operand, std::uint32_t slot) {
    return operand.kind == Operand::Kind::reg ? slot == code_.register_slots[operand.reg]
                                              : slot != kNone;
  };
  if (op.kind != vgpu::OpKind::compute || at.operands.size() < 2)
    return "";
  const Operand& to = at.operands[0];
  if (at.opcode == Opcode::mov && to.kind == Operand::Kind::vector) {
    if (to.elements.size() != 2 || !reads(at.operands[1], op.a))
      return "";
    for (std::size_t i = 0; i < 2; ++i)
      if (to.elements[i].kind == Operand::Kind::reg && ops_of(instruction) == 2 &&
          index == code_.first_op[instruction] + i && reads(to.elements[i], op.d))
        return fmt::format("kv_unpack_{}_{}", i == 0 ? "low" : "high", ptx::bits_of(at.type()));
    return "";
  }
  if (!alone || to.kind != Operand::Kind::reg || !reads(to, op.d))
    return "";
  if (at.opcode == Opcode::mov && at.operands[1].kind == Operand::Kind::vector) {
    const auto& parts = at.operands[1].elements;
    return parts.size() == 2 && reads(parts[0], op.a) && reads(parts[1], op.b)
               ? fmt::format("kv_pack_{}", ptx::bits_of(at.type()))
               : "";
  }
  const std::array<std::uint32_t, 3> slots = {op.a, op.b, op.c};
  if (at.operands.size() > 4)
    return "";
  for (std::size_t i = 1; i < at.operands.size(); ++i)
    if (at.operands[i].negated || !reads(at.operands[i], slots[i - 1]))
      return "";
  const int bits = ptx::bits_of(at.type());
  if (at.opcode == Opcode::setp) {
    const std::string type = compared_type(at);
    const bool integer = !ptx::is_float(at.type());
    if (at.operands.size() != 3 || type.empty() ||
        (integer && std::any_of(at.modifiers.begin(), at.modifiers.end(), is_number)))
      return "";
    return fmt::format("kv_setp_{}_{}", comparison(at), type);
  }
  if (at.opcode == Opcode::selp)
    return fmt::format("kv_selp_{}", bits);
  if (at.opcode == Opcode::mov)
    return fmt::format("kv_copy_{}", bits);
  const auto function = lane_function(at);
  if (!function)
    return "";
  // Registers of cvt may be wider than what is converted.
  auto fits = [&](const Operand& operand, Type type) {
    return operand.kind != Operand::Kind::reg ||
           ptx::bytes_of(source_.registers[operand.reg].type) == ptx::bytes_of(type);
  };
  if (!fits(to, function->result))
    return "";
  for (std::size_t i = 0; i < function->operands.size(); ++i)
    if (!fits(at.operands[i + 1], function->operands[i]))
      return "";
  return function->name + "_x32";
}

void LightEmitter::emit_called(const Instruction& at, std::uint32_t instruction) {
  const bool whole = job_.full && (guard_mask_ == nullptr || guard_flag_ != nullptr);
  const std::uint32_t first = code_.first_op[instruction];
  bool native = whole;
  for (std::uint32_t op = first; native && op < code_.first_op[instruction + 1]; ++op)
    native = !native_name(at, op).empty();
  llvm::BasicBlock* done = nullptr;
  if (guard_mask_ != nullptr) {
    done = new_block("done");
    llvm::BasicBlock* some = new_block("some");
    b_.CreateCondBr(b_.CreateICmpEQ(active(), i32(0)), done, some);
    b_.SetInsertPoint(some);
  }
  certain_ = done == nullptr;
  if (native && is_line(at.operands[1]) && at.opcode == Opcode::setp && is_line(at.operands[2]))
    compare_lines(at, first);
  else if (native)
    call_compute_ops(at, instruction);
  else
    call_handlers(instruction);
  certain_ = true;
  if (done != nullptr) {
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
  }
}

// Base and stride are all there is to know of it.
bool LightEmitter::is_line(const Operand& operand) const {
  return operand.kind == Operand::Kind::reg
             ? plan_.home[operand.reg] == Home::scalar && (shape(operand.reg).groups() == 1)
             : shape(operand).is_uniform();
}

void LightEmitter::compare_lines(const Instruction& at, std::uint32_t index) {
  std::string name = native_name(at, index);
  name.insert(std::string_view("kv_setp_").size(), "lines_");
  Operands arguments = {in_frame(code_.ops[index].d)};
  for (std::size_t i = 1; i < 3; ++i) {
    Value* base = scalar(at.operands[i], at.type());
    const auto line = shape(at.operands[i]);
    const bool level = line.kind == vgpu::analysis::Shape::Kind::unset || line.is_uniform();
    arguments.push_back(b_.CreateZExt(base, b_.getInt64Ty()));
    arguments.push_back(i64(level ? 0 : static_cast<std::uint64_t>(line.stride)));
  }
  call_native(name, arguments);
  for (const ptx::RegisterId reg : plan_.liveness.effects[code_.ops[index].instruction].writes)
    reload_from_handler(reg);
}

void LightEmitter::call_compute_ops(const Instruction& at, std::uint32_t instruction) {
  const auto& effects = plan_.liveness.effects[instruction];
  for (const ptx::RegisterId reg : effects.reads)
    if (!at.guard || reg != at.guard->reg)
      store_for_handler(reg);
  for (std::uint32_t i = code_.first_op[instruction]; i < code_.first_op[instruction + 1]; ++i) {
    const vgpu::Op& op = code_.ops[i];
    Operands arguments = {in_frame(op.d)};
    for (const std::uint32_t slot : {op.a, op.b, op.c})
      if (slot != kNone)
        arguments.push_back(in_frame(slot));
    call_native(native_name(at, i), arguments);
  }
  for (const ptx::RegisterId reg : effects.writes)
    reload_from_handler(reg);
}

} // namespace kernevo::jit
