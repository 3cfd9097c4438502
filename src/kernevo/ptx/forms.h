// The legal forms of every instruction, as data. The rows stand in instruction_table.cpp.
#pragma once

#include "kernevo/ptx/module.h"

#include <bitset>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo::ptx {

// One row as written. The little language of its columns:
//   modifiers  groups apart by spaces, at most one of "a|b|c" each; '?' = may be missing. Any
//   order. types      one set per type of the mnemonic, in order; "int" and the like stand for
//   several spaces     allowed state spaces, '-' = none written; "shared>global" = both, in this
//   order widths     allowed vector widths; "" = scalar only operands   d destination, s source
//   (register, special register or literal), then a type:
//                0 1 .. that of the mnemonic, w twice as wide as type 0, .f32 this one;
//                capital D and S also take wider integer registers (ld, st, cvt)
//              d4.f32: a vector of four; dv0: as wide as the mnemonic says; d*.f32: of any length
//              de0: as dv0, with braces also around a single one
//              d0|pred two destinations; d0|pred? the second may be missing
//              n predicate, a address, k address of a tensor map with coordinates,
//              i integer literal, p pointer-sized
//              source u m  the two sides of mov: also vectors that pack or unpack, and symbols (m)
//              x address of a texel or surface element, o texel offsets, g derivatives
//              l label, t label of a table, c the three or four operands of call
//              '?' at the end = may be missing
struct FormRow {
  Opcode opcode;
  const char* modifiers;
  const char* types;
  const char* spaces;
  const char* widths;
  const char* operands;
  int sm = 0;  // least compute capability
  int ptx = 0; // least PTX version, 78 = 7.8
  // For features that later architectures need not have: those that do, "90a 100f" (see target.h).
  const char* architectures = "";
};

std::span<const FormRow> instruction_rows();

struct OperandRule {
  enum class Role : std::uint8_t {
    destination,
    source,
    predicate,
    address,
    tensor,
    literal,
    pointer,
    unpack,
    pack,
    texel,
    texel_offsets,
    derivatives,
    label,
    table,
    call,
  };
  Role role = Role::source;
  int slot = -1; // type of the mnemonic; -1 = `type`
  bool twice = false;
  bool wider = false;
  bool optional = false;
  bool pair = false;
  bool pair_optional = false;
  int elements = 0;    // 0 = scalar, n = vector of n, -1 = as wide as the mnemonic, -2 = any
  bool braced = false; // a single one may stand in braces
  Type type = Type::none;
};

using TypeSet = std::uint64_t;
using ModSet = std::bitset<256>;

struct ModifierGroup {
  ModSet any_of;
  bool optional = false;
};

// A row made ready for matching.
struct Form {
  std::vector<ModifierGroup> modifiers;
  std::vector<TypeSet> types;
  std::uint32_t spaces = 1;  // bit per Space
  std::uint32_t spaces2 = 1; // of the second space
  std::uint32_t widths = 2;  // bit per width
  std::vector<OperandRule> operands;
  int sm = 0;
  int ptx = 0;
  std::string_view architectures;
};

std::span<const Form> forms_of(Opcode opcode);

inline TypeSet bit(Type type) {
  return TypeSet{1} << static_cast<unsigned>(type);
}

} // namespace kernevo::ptx
