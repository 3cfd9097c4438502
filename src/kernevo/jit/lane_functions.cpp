#include "kernevo/jit/lane_functions.h"

#include "kernevo/ptx/names.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <unordered_map>

namespace kernevo::jit {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Type;

struct Row {
  std::string_view name;
  Type result;
  std::array<Type, 4> operands; // Type::none after the last
};

// The lists that the runtime library is made of, read as a table.
constexpr Row kRows[] = {
#define KERNEVO_LANE1(name, d, a, ...) Row{#name, Type::d, {Type::a}},
#define KERNEVO_LANE2(name, d, a, b, ...) Row{#name, Type::d, {Type::a, Type::b}},
#define KERNEVO_LANE3(name, d, a, b, c, ...) Row{#name, Type::d, {Type::a, Type::b, Type::c}},
#define KERNEVO_LANE4(name, d, a, b, c, e, ...)                                                    \
  Row{#name, Type::d, {Type::a, Type::b, Type::c, Type::e}},
#define KERNEVO_PAIR1(name, t, ...) KERNEVO_LANE1(name, t, t)
#define KERNEVO_PAIR2(name, t, ...) KERNEVO_LANE2(name, t, t, t)
#define KERNEVO_PAIR3(name, t, ...) KERNEVO_LANE3(name, t, t, t, t)
#include "kernevo/jit/runtime/convert_float.def"
#include "kernevo/jit/runtime/convert_integer.def"
#include "kernevo/jit/runtime/f32.def"
#include "kernevo/jit/runtime/half.def"
#include "kernevo/jit/runtime/integer.def"
#include "kernevo/jit/runtime/simple.def"
#undef KERNEVO_LANE1
#undef KERNEVO_LANE2
#undef KERNEVO_LANE3
#undef KERNEVO_LANE4
#undef KERNEVO_PAIR1
#undef KERNEVO_PAIR2
#undef KERNEVO_PAIR3
};

const Row* find_row(std::string_view name) {
  static const auto rows = [] {
    std::unordered_map<std::string_view, const Row*> by_name;
    for (const Row& row : kRows)
      by_name.emplace(row.name, &row);
    return by_name;
  }();
  const auto found = rows.find(name);
  return found == rows.end() ? nullptr : found->second;
}

// Modifiers in the order of the names: what says which function it is, then what is done to its
// operands and result.
int rank(Mod modifier) {
  switch (modifier) {
  case Mod::rn:
  case Mod::rz:
  case Mod::rm:
  case Mod::rp:
  case Mod::rna:
  case Mod::rni:
  case Mod::rzi:
  case Mod::rmi:
  case Mod::rpi:
  case Mod::approx:
  case Mod::full:
  case Mod::lo:
  case Mod::hi:
  case Mod::l:
  case Mod::r: return 0;
  default: return 1 + static_cast<int>(modifier);
  }
}

bool is_nearest_or_directed(Mod modifier) {
  return modifier == Mod::rn || modifier == Mod::rz || modifier == Mod::rm || modifier == Mod::rp;
}

bool has_rounding(const std::vector<Mod>& modifiers) {
  return std::any_of(modifiers.begin(), modifiers.end(), is_nearest_or_directed);
}

void drop(std::vector<Mod>& modifiers, Mod modifier) {
  std::erase(modifiers, modifier);
}

// Bits of a number's significand.
int precision(Type type) {
  switch (type) {
  case Type::s8:
  case Type::u8: return 8;
  case Type::s16:
  case Type::u16: return 16;
  case Type::s32:
  case Type::u32: return 32;
  case Type::s64:
  case Type::u64: return 64;
  case Type::bf16: return 8;
  case Type::f16: return 11;
  case Type::f32: return 24;
  case Type::f64: return 53;
  default: return 0;
  }
}

// Whether every number of one floating format is one of the other.
bool widens(Type to, Type from) {
  return precision(to) > precision(from) && !(to == Type::f16 && from == Type::bf16);
}

Mod as_integral(Mod modifier) {
  switch (modifier) {
  case Mod::rz: return Mod::rzi;
  case Mod::rm: return Mod::rmi;
  case Mod::rp: return Mod::rpi;
  default: return Mod::rni;
  }
}

void normalise_to_integer(std::vector<Mod>& modifiers, Type from) {
  drop(modifiers, Mod::sat); // always done
  for (Mod& modifier : modifiers)
    if (is_nearest_or_directed(modifier))
      modifier = as_integral(modifier);
  if (modifiers.empty() || modifiers.front() == Mod::ftz)
    modifiers.insert(modifiers.begin(), Mod::rni);
  const bool directed = modifiers.front() == Mod::rmi || modifiers.front() == Mod::rpi;
  if (from != Type::f32 || !directed)
    drop(modifiers, Mod::ftz); // no subnormal number makes a difference
}

void normalise_from_integer(std::vector<Mod>& modifiers, Type to, Type from) {
  const bool exact = precision(from) <= precision(to);
  if (exact)
    std::erase_if(modifiers, is_nearest_or_directed);
  if (exact || !has_rounding(modifiers))
    modifiers.insert(modifiers.begin(), Mod::rn);
}

void normalise_float_to_float(std::vector<Mod>& modifiers, Type to, Type from) {
  const bool exact = to == from || widens(to, from);
  if (exact)
    std::erase_if(modifiers, is_nearest_or_directed);
  else if (!has_rounding(modifiers))
    modifiers.insert(modifiers.begin(), Mod::rn);
  const bool subnormals = from == Type::f32 || (to == Type::f32 && from != Type::f16);
  if (!subnormals)
    drop(modifiers, Mod::ftz);
}

// Forms that are the same function get the same modifiers.
void normalise_cvt(std::vector<Mod>& modifiers, const Instruction& instruction) {
  if (instruction.types.size() != 2)
    return;
  const Type to = instruction.types[0];
  const Type from = instruction.types[1];
  if (to == Type::ue8m0x2)
    drop(modifiers, Mod::satfinite);
  if (precision(to) == 0 || precision(from) == 0)
    return;
  if (ptx::is_float(to) && ptx::is_float(from))
    normalise_float_to_float(modifiers, to, from);
  else if (ptx::is_float(from))
    normalise_to_integer(modifiers, from);
  else if (ptx::is_float(to))
    normalise_from_integer(modifiers, to, from);
}

std::string name_of_form(const Instruction& instruction) {
  Opcode opcode = instruction.opcode;
  std::vector<Mod> modifiers = instruction.modifiers;
  const bool is_float = ptx::is_float(instruction.type());
  if (opcode == Opcode::mad && is_float)
    opcode = Opcode::fma_;
  const bool arithmetic = opcode == Opcode::add || opcode == Opcode::sub || opcode == Opcode::mul ||
                          opcode == Opcode::fma_;
  if (arithmetic && is_float && !has_rounding(modifiers))
    modifiers.push_back(Mod::rn);
  std::stable_sort(modifiers.begin(), modifiers.end(),
                   [](Mod a, Mod b) { return rank(a) < rank(b); });
  if (opcode == Opcode::cvt)
    normalise_cvt(modifiers, instruction);

  std::string name(ptx::name_of(opcode));
  for (const Mod modifier : modifiers)
    name.append(".").append(ptx::name_of(modifier));
  for (const Type type : instruction.types)
    name.append(".").append(ptx::name_of(type));
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

} // namespace

std::optional<LaneFunction> lane_function(const Instruction& instruction) {
  const Row* row = find_row(name_of_form(instruction));
  if (row == nullptr)
    return std::nullopt;
  LaneFunction function;
  function.name = "kv_" + std::string(row->name);
  function.result = row->result;
  std::copy_if(row->operands.begin(), row->operands.end(), std::back_inserter(function.operands),
               [](Type type) { return type != Type::none; });
  // A form with more operands is another instruction: min of three, lop3 with a predicate.
  if (instruction.operands.size() != function.operands.size() + 1)
    return std::nullopt;
  return function;
}

} // namespace kernevo::jit
