#include "kernevo/ptx/register_parts.h"

#include <fmt/format.h>
#include <utility>

namespace kernevo::ptx {
namespace {

Operand register_operand(RegisterId reg) {
  Operand made;
  made.kind = Operand::Kind::reg;
  made.reg = reg;
  return made;
}

Operand number(std::uint64_t value) {
  Operand made;
  made.kind = Operand::Kind::integer;
  made.bits = value;
  return made;
}

Operand address_of(const MovedRegister& moved, int part) {
  Operand base;
  base.kind = Operand::Kind::symbol;
  base.name = moved.variable;
  Operand made;
  made.kind = Operand::Kind::address;
  made.offset = part * bytes_of(moved.parts.memory);
  made.elements.push_back(std::move(base));
  return made;
}

Instruction like(const Instruction& place, Opcode opcode, Type type) {
  Instruction made;
  made.opcode = opcode;
  made.types = {type};
  made.guard = place.guard;
  made.line = place.line;
  made.source = place.source;
  return made;
}

RegisterId fresh(std::vector<Register>& registers, Type type) {
  registers.push_back({fmt::format("#{}", registers.size()), type});
  return static_cast<RegisterId>(registers.size() - 1);
}

} // namespace

Type bits_type(int bits) {
  switch (bits) {
  case 8: return Type::b8;
  case 16: return Type::b16;
  case 32: return Type::b32;
  case 64: return Type::b64;
  default: return Type::none;
  }
}

RegisterParts parts_of(Type type, int width) {
  if (type == Type::pred)
    return {Type::b32, true, width};
  return {bits_type(bits_of(type)), false, width};
}

void take_memory(Variable& parameter) {
  const RegisterParts parts = parts_of(parameter.type, parameter.vector_width);
  const auto part_bytes = static_cast<std::uint32_t>(bytes_of(parts.memory));
  parameter.type = parts.predicate ? Type::b32 : parameter.type;
  parameter.alignment = part_bytes;
  parameter.bytes = part_bytes * static_cast<std::uint64_t>(parts.count);
}

void load_parts(std::vector<Instruction>& into, std::vector<Register>& registers,
                const MovedRegister& moved, const Instruction& place) {
  for (int i = 0; i < moved.parts.count; ++i) {
    const RegisterId to = moved.reg + static_cast<RegisterId>(i);
    const RegisterId word = moved.parts.predicate ? fresh(registers, Type::b32) : to;
    Instruction load = like(place, Opcode::ld, moved.parts.memory);
    load.space = Space::param;
    load.operands = {register_operand(word), address_of(moved, i)};
    into.push_back(std::move(load));
    if (!moved.parts.predicate)
      continue;
    Instruction test = like(place, Opcode::setp, Type::b32);
    test.modifiers = {Mod::ne};
    test.operands = {register_operand(to), register_operand(word), number(0)};
    into.push_back(std::move(test));
  }
}

void store_parts(std::vector<Instruction>& into, std::vector<Register>& registers,
                 const MovedRegister& moved, const Instruction& place) {
  for (int i = 0; i < moved.parts.count; ++i) {
    const RegisterId from = moved.reg + static_cast<RegisterId>(i);
    RegisterId word = from;
    if (moved.parts.predicate) {
      word = fresh(registers, Type::b32);
      Instruction choice = like(place, Opcode::selp, Type::b32);
      choice.operands = {register_operand(word), number(1), number(0), register_operand(from)};
      into.push_back(std::move(choice));
    }
    Instruction store = like(place, Opcode::st, moved.parts.memory);
    store.space = Space::param;
    store.operands = {address_of(moved, i), register_operand(word)};
    into.push_back(std::move(store));
  }
}

} // namespace kernevo::ptx
