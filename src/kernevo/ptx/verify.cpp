#include "kernevo/ptx/verify.h"

#include "kernevo/ptx/names.h"

#include <algorithm>
#include <fmt/format.h>

namespace kernevo::ptx {
namespace {

using Problem = std::optional<OperandProblem>;
using Role = OperandRule::Role;
using Kind = Operand::Kind;

bool is_integer(Type type) {
  return is_signed(type) || (type >= Type::u4 && type <= Type::u64) || type == Type::u16x2 ||
         type == Type::u8x4;
}

bool is_bits(Type type) {
  return type >= Type::b1 && type <= Type::b128;
}

// PTX: same size, and bits agree with anything, signed with unsigned, a float only with itself.
bool agree(Type instruction, Type reg) {
  if (instruction == Type::pred || reg == Type::pred)
    return instruction == reg;
  if (bits_of(instruction) != bits_of(reg))
    return false;
  if (instruction == reg || is_bits(instruction) || is_bits(reg))
    return true;
  if (is_integer(instruction) && is_integer(reg))
    return true;
  // Formats without registers of their own live in those of a plain type.
  switch (instruction) {
  case Type::tf32: return reg == Type::f32;
  case Type::f16:
  case Type::bf16:
  case Type::f16x2:
  case Type::bf16x2:
  case Type::f32x2:
  case Type::e4m3x2:
  case Type::e5m2x2:
  case Type::ue8m0x2: return is_integer(reg);
  default: return false;
  }
}

// ld, st and cvt may use a wider register, as long as no float would change its size.
bool agree_wider(Type instruction, Type reg) {
  if (agree(instruction, reg))
    return true;
  if (instruction == Type::pred || reg == Type::pred || bits_of(reg) <= bits_of(instruction))
    return false;
  return !is_float(reg);
}

class Checker {
public:
  Checker(std::string_view text, const Instruction& instruction,
          const std::vector<Register>& registers)
      : text_(text), instruction_(instruction), registers_(registers) {}

  Problem check(const Form& form) {
    if (!form.operands.empty() && form.operands.front().role == Role::call)
      return std::nullopt; // the parser knows the shape of a call
    if (!count_fits(form))
      return Problem{{wrong_count(form), std::nullopt}};
    for (std::size_t i = 0; i < instruction_.operands.size(); ++i) {
      index_ = i;
      if (Problem problem = check_rule(form.operands[i], instruction_.operands[i]))
        return problem;
    }
    return std::nullopt;
  }

  bool count_fits(const Form& form) const {
    const std::size_t given = instruction_.operands.size();
    return given <= form.operands.size() && given >= least(form);
  }

private:
  static std::size_t least(const Form& form) {
    return static_cast<std::size_t>(
        std::count_if(form.operands.begin(), form.operands.end(),
                      [](const OperandRule& rule) { return !rule.optional; }));
  }

  std::string wrong_count(const Form& form) const {
    const std::size_t fewest = least(form);
    const std::size_t most = form.operands.size();
    const std::string takes =
        fewest == most ? std::to_string(most) : fmt::format("{} to {}", fewest, most);
    return fmt::format("'{}' takes {} operand{}, not {}", text_, takes, most == 1 ? "" : "s",
                       instruction_.operands.size());
  }

  Problem wrong(std::string message) const {
    return Problem{{fmt::format("'{}': {}", text_, message), index_}};
  }

  Type type_of_rule(const OperandRule& rule) const {
    if (rule.slot < 0)
      return rule.type;
    const Type type = instruction_.types[static_cast<std::size_t>(rule.slot)];
    if (!rule.twice)
      return type;
    switch (type) {
    case Type::u16: return Type::u32;
    case Type::s16: return Type::s32;
    case Type::u32: return Type::u64;
    default: return Type::s64;
    }
  }

  Problem check_rule(const OperandRule& rule, const Operand& operand) {
    switch (rule.role) {
    case Role::destination: return destination(rule, operand);
    case Role::source: return source(rule, operand);
    case Role::predicate: return value(operand, Type::pred, false);
    case Role::address: return address(operand);
    case Role::tensor: return tensor(operand);
    case Role::literal:
      return operand.kind == Kind::integer ? std::nullopt
                                           : wrong("this operand must be an integer literal");
    case Role::pointer: return pointer(operand);
    case Role::unpack: return packed(rule, operand, true);
    case Role::pack: return packed(rule, operand, false);
    case Role::texel: return texel(operand);
    case Role::texel_offsets:
      return coordinates(operand, std::vector<Type>(plane_count(), Type::s32));
    case Role::derivatives:
      return coordinates(operand, std::vector<Type>(plane_count(), Type::f32));
    case Role::label:
    case Role::table:
      return operand.kind == Kind::symbol && operand.offset == 0
                 ? std::nullopt
                 : wrong("this operand must be a label");
    case Role::call: break;
    }
    return std::nullopt;
  }

  Problem written(const Operand& operand, Type type, bool wider) const {
    if (operand.kind == Kind::sink)
      return std::nullopt;
    if (operand.kind != Kind::reg || operand.negated)
      return wrong("the destination must be a register");
    return register_fits(operand, type, wider);
  }

  Problem register_fits(const Operand& operand, Type type, bool wider) const {
    const Register& reg = registers_[operand.reg];
    if (wider ? agree_wider(type, reg.type) : agree(type, reg.type))
      return std::nullopt;
    return wrong(fmt::format("register {} is .{}, but .{} is needed", reg.name, name_of(reg.type),
                             name_of(type)));
  }

  int elements_of(const OperandRule& rule) const {
    if (rule.elements != -1)
      return rule.elements;
    return instruction_.vector_width == 1 ? 0 : instruction_.vector_width;
  }

  template <class Check>
  Problem each_element(const OperandRule& rule, const Operand& operand, Check check) {
    const int wanted = elements_of(rule);
    if (operand.kind != Kind::vector) {
      if (wanted == 0)
        return check(operand);
      return wrong(wanted < 0 ? "a vector is needed, in braces"
                              : fmt::format("a vector of {} is needed, in braces", wanted));
    }
    if (wanted == 0 && rule.braced && operand.elements.size() == 1)
      return check(operand.elements.front());
    if (wanted == 0)
      return wrong("a vector cannot stand here");
    if (wanted > 0 && operand.elements.size() != static_cast<std::size_t>(wanted))
      return wrong(
          fmt::format("a vector of {} is needed, not of {}", wanted, operand.elements.size()));
    for (const Operand& element : operand.elements)
      if (Problem problem = check(element))
        return problem;
    return std::nullopt;
  }

  Problem destination(const OperandRule& rule, const Operand& operand) {
    const Type type = type_of_rule(rule);
    if (operand.kind == Kind::pair) {
      if (!rule.pair)
        return wrong("there is only one destination");
      if (Problem problem = each_element(rule, operand.elements[0], [&](const Operand& element) {
            return written(element, type, rule.wider);
          }))
        return problem;
      return written(operand.elements[1], Type::pred, false);
    }
    if (rule.pair && !rule.pair_optional)
      return wrong("two destinations d|p are needed");
    return each_element(rule, operand,
                        [&](const Operand& element) { return written(element, type, rule.wider); });
  }

  Problem source(const OperandRule& rule, const Operand& operand) {
    const Type type = type_of_rule(rule);
    return each_element(rule, operand,
                        [&](const Operand& element) { return value(element, type, rule.wider); });
  }

  Problem value(const Operand& operand, Type type, bool wider) const {
    switch (operand.kind) {
    case Kind::reg:
      if (operand.negated && type != Type::pred)
        return wrong("only a predicate can be negated with '!'");
      return register_fits(operand, type, wider);
    case Kind::special: {
      if (instruction_.opcode != Opcode::mov && instruction_.opcode != Opcode::cvt)
        return wrong("a special register can only be read by mov and cvt");
      const Type special = type_of(operand.special);
      if (agree(type, special) ||
          (bits_of(type) < bits_of(special) && !is_float(type) && type != Type::pred))
        return std::nullopt;
      return wrong(fmt::format("the special register is .{}, but .{} is needed", name_of(special),
                               name_of(type)));
    }
    case Kind::integer:
      if (is_float(type))
        return wrong(fmt::format("an integer literal cannot be .{}", name_of(type)));
      return std::nullopt;
    case Kind::real32:
      if (type == Type::f32 || type == Type::b32 || type == Type::tf32)
        return std::nullopt;
      return wrong(fmt::format("a 0f literal cannot be .{}", name_of(type)));
    case Kind::real64:
      if (type == Type::f64 || type == Type::f32 || type == Type::b64)
        return std::nullopt;
      return wrong(fmt::format("a floating-point literal cannot be .{}", name_of(type)));
    default: return wrong("a register or a literal is needed here");
    }
  }

  Problem address(const Operand& operand) const {
    if (operand.kind != Kind::address)
      return wrong("an address in brackets is needed");
    if (operand.elements.size() > 1)
      return wrong("coordinates cannot stand here");
    return base_of_address(operand);
  }

  // [map, {x, y, ...}]: as many coordinates as the tensor has dimensions.
  Problem tensor(const Operand& operand) const {
    if (operand.kind != Kind::address || operand.elements.size() != 2)
      return wrong("the address of a tensor map and coordinates are needed: [map, {x, ...}]");
    std::size_t wanted = 0;
    for (const Mod modifier : instruction_.modifiers)
      if (modifier >= Mod::d1 && modifier <= Mod::d5)
        wanted = static_cast<std::size_t>(modifier) - static_cast<std::size_t>(Mod::d1) + 1;
    if (instruction_.has(Mod::tile_gather4) || instruction_.has(Mod::tile_scatter4))
      wanted = 5; // a column and four rows
    const auto& coordinates = operand.elements[1].elements;
    if (coordinates.size() != wanted)
      return wrong(fmt::format("{} coordinates are needed, not {}", wanted, coordinates.size()));
    for (const Operand& coordinate : coordinates)
      if (Problem problem = value(coordinate, Type::s32, false))
        return problem;
    return base_of_address(operand);
  }

  Problem base_of_address(const Operand& operand) const {
    const Operand& base = operand.elements.front();
    if (base.kind != Kind::reg)
      return std::nullopt;
    const Register& reg = registers_[base.reg];
    const int bits = bits_of(reg.type);
    if ((bits == 64 || bits == 32) && !is_float(reg.type))
      return std::nullopt;
    return wrong(
        fmt::format("register {} is .{} and cannot hold an address", reg.name, name_of(reg.type)));
  }

  Problem pointer(const Operand& operand) const {
    if (operand.kind == Kind::symbol)
      return std::nullopt;
    if (operand.kind != Kind::reg)
      return wrong("a register with an address is needed");
    const bool wide = bits_of(registers_[operand.reg].type) == 64;
    return value(operand, wide ? Type::u64 : Type::u32, false);
  }

  // What the coordinates of a texture or surface instruction are, by its geometry. Vectors of three
  // are written with a fourth element that does not matter.
  std::vector<Type> coordinate_types() const {
    const Type type = instruction_.types.size() > 1 ? instruction_.types[1] : Type::s32;
    if (instruction_.has(Mod::d1))
      return {type};
    if (instruction_.has(Mod::d2))
      return {type, type};
    if (instruction_.has(Mod::geometry_a1d))
      return {Type::b32, type};
    if (instruction_.has(Mod::geometry_a2d) || instruction_.has(Mod::geometry_acube))
      return {Type::b32, type, type, instruction_.has(Mod::geometry_acube) ? type : Type::b32};
    return {type, type, type, Type::b32};
  }

  std::size_t plane_count() const {
    if (instruction_.has(Mod::d1) || instruction_.has(Mod::geometry_a1d))
      return 1;
    return instruction_.has(Mod::d2) || instruction_.has(Mod::geometry_a2d) ? 2 : 4;
  }

  Problem coordinates(const Operand& operand, const std::vector<Type>& types) const {
    if (operand.kind != Kind::vector && types.size() == 1)
      return value(operand, types.front(), false);
    // Four are right for every geometry, as in PTX 1; the surplus does not matter.
    const std::size_t given = operand.elements.size();
    if (operand.kind != Kind::vector || (given != types.size() && given != 4))
      return wrong(fmt::format("a vector of {} is needed, in braces", types.size()));
    for (std::size_t i = 0; i < types.size(); ++i)
      if (Problem problem = value(operand.elements[i], types[i], false))
        return problem;
    return std::nullopt;
  }

  // [handle, coordinates] or [texture, sampler, coordinates]
  Problem texel(const Operand& operand) const {
    if (operand.kind != Kind::address || operand.offset != 0)
      return wrong("[handle, coordinates] are needed");
    const bool is_texture =
        instruction_.opcode == Opcode::tex || instruction_.opcode == Opcode::tld4;
    const std::size_t parts = operand.elements.size();
    if (parts != 2 && !(is_texture && parts == 3))
      return wrong("[handle, coordinates] are needed");
    for (std::size_t i = 0; i + 1 < parts; ++i) {
      const Operand& handle = operand.elements[i];
      const bool good = (handle.kind == Kind::symbol && handle.offset == 0) ||
                        (handle.kind == Kind::reg && !handle.negated &&
                         agree(Type::u64, registers_[handle.reg].type));
      if (!good)
        return wrong("a handle is a name or a 64-bit register");
    }
    return coordinates(operand.elements.back(), coordinate_types());
  }

  // mov.b64 {lo, hi}, %rd1 and mov.b64 %rd1, {lo, hi}.
  Problem packed(const OperandRule& rule, const Operand& operand, bool is_destination) {
    const Type type = type_of_rule(rule);
    if (operand.kind == Kind::symbol && !is_destination)
      return bits_of(type) >= 32 && !is_float(type)
                 ? std::nullopt
                 : wrong(fmt::format("an address cannot be .{}", name_of(type)));
    if (operand.kind != Kind::vector)
      return is_destination ? written(operand, type, false) : value(operand, type, false);
    if (!is_bits(type))
      return wrong("only .b16, .b32, .b64 and .b128 move vectors");
    const std::size_t count = operand.elements.size();
    if (count != 2 && count != 4)
      return wrong("a vector of 2 or 4 elements is needed");
    const int share = bits_of(type) / static_cast<int>(count);
    const Type element_type = share == 64   ? Type::b64
                              : share == 32 ? Type::b32
                              : share == 16 ? Type::b16
                                            : Type::b8;
    for (const Operand& element : operand.elements) {
      Problem problem = is_destination ? written(element, element_type, false)
                                       : value(element, element_type, false);
      if (problem)
        return problem;
    }
    return std::nullopt;
  }

  std::string_view text_;
  const Instruction& instruction_;
  const std::vector<Register>& registers_;
  std::size_t index_ = 0;
};

bool is_simd_video(Opcode opcode) {
  switch (opcode) {
  case Opcode::vadd2:
  case Opcode::vadd4:
  case Opcode::vsub2:
  case Opcode::vsub4:
  case Opcode::vavrg2:
  case Opcode::vavrg4:
  case Opcode::vabsdiff2:
  case Opcode::vabsdiff4:
  case Opcode::vmin2:
  case Opcode::vmin4:
  case Opcode::vmax2:
  case Opcode::vmax4:
  case Opcode::vset2:
  case Opcode::vset4: return true;
  default: return false;
  }
}

// b0 to b3, h0, h1 on one part; b3210 or h32 name one element of both operands for each of the
// result; a result's mask b20 names its elements, the highest first.
bool good_selector(Opcode opcode, std::string_view selector, bool is_result) {
  const std::string_view digits = selector.substr(1);
  const bool halves = selector.front() == 'h';
  if ((!halves && selector.front() != 'b') || digits.empty())
    return false;
  if (!is_simd_video(opcode))
    return digits.size() == 1 && digits[0] >= '0' && digits[0] <= (halves ? '1' : '3');
  const bool pairs = name_of(opcode).back() == '2';
  const std::size_t elements = pairs ? 2 : 4;
  if (halves != pairs || digits.size() > elements || (!is_result && digits.size() != elements))
    return false;
  const char most = static_cast<char>('0' + (is_result ? elements : 2 * elements) - 1);
  for (std::size_t i = 0; i < digits.size(); ++i)
    if (digits[i] < '0' || digits[i] > most || (is_result && i > 0 && digits[i] >= digits[i - 1]))
      return false;
  return true;
}

Problem verify_selectors(std::string_view text, const Instruction& instruction) {
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    const Operand& operand = instruction.operands[i];
    if (operand.kind != Kind::reg || operand.name.empty())
      continue;
    if (i > 2 || !good_selector(instruction.opcode, operand.name, i == 0))
      return OperandProblem{fmt::format("'{}': '.{}' cannot select here", text, operand.name), i};
    if (i == 0 && instruction.operands.size() < 4)
      return OperandProblem{
          fmt::format("'{}': a partial result needs the operand it goes into", text), i};
  }
  return std::nullopt;
}

// What the table cannot say about literals.
Problem verify_literals(std::string_view text, const Instruction& instruction) {
  if (instruction.opcode == Opcode::cp_async) {
    const std::uint64_t size = instruction.operands[2].bits;
    const bool legal = size == 16 || (instruction.has(Mod::ca) && (size == 4 || size == 8));
    if (!legal)
      return OperandProblem{fmt::format("'{}' cannot copy {} bytes at once", text, size), 2};
  }
  const bool is_barrier =
      instruction.opcode == Opcode::bar_sync || instruction.opcode == Opcode::bar_arrive ||
      instruction.opcode == Opcode::barrier_sync || instruction.opcode == Opcode::barrier_arrive;
  if (is_barrier) {
    const Operand& barrier = instruction.operands[0];
    if (barrier.kind == Kind::integer && barrier.bits > 15)
      return OperandProblem{fmt::format("'{}': there is no barrier {}, only 0 to 15", text,
                                        static_cast<std::int64_t>(barrier.bits)),
                            0};
    if (instruction.operands.size() > 1 && instruction.operands[1].kind == Kind::integer &&
        instruction.operands[1].bits % 32 != 0)
      return OperandProblem{
          fmt::format("'{}': the number of threads must be a multiple of 32", text), 1};
  }
  if (instruction.opcode == Opcode::lop3 && instruction.operands[4].bits > 255)
    return OperandProblem{fmt::format("'{}': the look-up table must be 0 to 255", text), 4};
  return std::nullopt;
}

} // namespace

bool takes_selectors(Opcode opcode) {
  switch (opcode) {
  case Opcode::vadd:
  case Opcode::vsub:
  case Opcode::vabsdiff:
  case Opcode::vmin:
  case Opcode::vmax:
  case Opcode::vshl:
  case Opcode::vshr:
  case Opcode::vmad:
  case Opcode::vset: return true;
  default: return is_simd_video(opcode);
  }
}

std::optional<OperandProblem> verify_operands(const Mnemonic& mnemonic, std::string_view text,
                                              const Instruction& instruction,
                                              const std::vector<Register>& registers) {
  Checker checker(text, instruction, registers);
  Problem first;
  bool first_counted = false;
  for (const Form* form : mnemonic.forms) {
    Problem problem = checker.check(*form);
    if (!problem && takes_selectors(instruction.opcode))
      return verify_selectors(text, instruction);
    if (!problem)
      return verify_literals(text, instruction);
    // A complaint about one operand says more than one about their number.
    const bool counted = checker.count_fits(*form);
    if (!first || (counted && !first_counted)) {
      first = std::move(problem);
      first_counted = counted;
    }
  }
  return first;
}

} // namespace kernevo::ptx
