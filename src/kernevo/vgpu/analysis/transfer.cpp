#include "kernevo/vgpu/analysis/transfer.h"

#include "kernevo/ptx/names.h"
#include "kernevo/vgpu/analysis/shape_algebra.h"

#include <algorithm>
#include <bit>

namespace kernevo::vgpu::analysis {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using ptx::Special;
using ptx::Type;

bool is_whole_number(Type type) {
  return (type >= Type::u8 && type <= Type::u64) || (type >= Type::s8 && type <= Type::s64);
}

// Nothing but the sources decides the result, lane by lane.
bool is_pure(Opcode opcode) {
  switch (opcode) {
  case Opcode::abs_:
  case Opcode::add:
  case Opcode::and_:
  case Opcode::bfe:
  case Opcode::bfi:
  case Opcode::bfind:
  case Opcode::bmsk:
  case Opcode::brev:
  case Opcode::clz:
  case Opcode::cnot:
  case Opcode::copysign:
  case Opcode::cos_:
  case Opcode::createpolicy:
  case Opcode::cvt:
  case Opcode::cvt_pack:
  case Opcode::cvta:
  case Opcode::div_:
  case Opcode::dp2a:
  case Opcode::dp4a:
  case Opcode::ex2:
  case Opcode::fma_:
  case Opcode::fns:
  case Opcode::getctarank:
  case Opcode::isspacep:
  case Opcode::lg2:
  case Opcode::lop3:
  case Opcode::mad:
  case Opcode::mad24:
  case Opcode::mapa:
  case Opcode::max_:
  case Opcode::mbarrier_pending_count:
  case Opcode::min_:
  case Opcode::mov:
  case Opcode::mul:
  case Opcode::mul24:
  case Opcode::neg:
  case Opcode::not_:
  case Opcode::or_:
  case Opcode::popc:
  case Opcode::prmt:
  case Opcode::rcp:
  case Opcode::rem_:
  case Opcode::rsqrt:
  case Opcode::sad:
  case Opcode::selp:
  case Opcode::set:
  case Opcode::setp:
  case Opcode::shf:
  case Opcode::shl:
  case Opcode::shr:
  case Opcode::sin_:
  case Opcode::slct:
  case Opcode::sqrt_:
  case Opcode::sub:
  case Opcode::szext:
  case Opcode::tanh_:
  case Opcode::testp:
  case Opcode::vabsdiff2:
  case Opcode::vabsdiff4:
  case Opcode::vadd2:
  case Opcode::vadd4:
  case Opcode::vavrg2:
  case Opcode::vavrg4:
  case Opcode::vmax2:
  case Opcode::vmax4:
  case Opcode::vmin2:
  case Opcode::vmin4:
  case Opcode::vset2:
  case Opcode::vset4:
  case Opcode::vsub2:
  case Opcode::vsub4:
  case Opcode::xor_: return true;
  default: return false;
  }
}

std::uint64_t extended(std::uint64_t value, Type type) {
  const int bits = ptx::bits_of(type);
  return ptx::is_signed(type) ? sign_extend(value, bits) : value & low_mask(bits);
}

// One instruction with the shapes around it.
class Rule {
public:
  Rule(const Instruction& instruction, const Code& code, const LaneFacts& facts,
       const std::vector<Shape>& registers,
       const std::vector<std::optional<std::uint64_t>>& constants)
      : instruction_(instruction), code_(code), facts_(facts), registers_(registers),
        constants_(constants), type_(instruction.type()), bits_(ptx::bits_of(type_)) {}

  // Integer arithmetic that keeps straight lines straight; nothing when it is not such a form.
  std::optional<Shape> integer() const {
    const Opcode opcode = instruction_.opcode;
    if (opcode == Opcode::mov || opcode == Opcode::cvta)
      return move();
    if (opcode == Opcode::selp)
      return select();
    if (opcode == Opcode::cvt)
      return convert();
    if (instruction_.has(Mod::sat) || instruction_.has(Mod::cc))
      return std::nullopt;
    const bool bit_type = type_ == Type::b16 || type_ == Type::b32 || type_ == Type::b64;
    if (!bit_type && !is_whole_number(type_))
      return std::nullopt;
    switch (opcode) {
    case Opcode::add: return of_straight(add(source(1), source(2), bits_), {1, 2});
    case Opcode::sub: return of_straight(add(source(1), negated(source(2)), bits_), {1, 2});
    case Opcode::neg: return of_straight(negated(source(1)), {1});
    case Opcode::mul:
    case Opcode::mad: return multiply_add();
    case Opcode::shl: return shift_left();
    case Opcode::shr: return shift_right();
    case Opcode::bfe: return extract();
    case Opcode::and_: return bits(Bitwise::and_);
    case Opcode::or_: return bits(Bitwise::or_);
    case Opcode::xor_: return bits(Bitwise::xor_);
    case Opcode::div_: return divide();
    case Opcode::rem_: return remainder();
    default: return std::nullopt;
    }
  }

  bool all_uniform() const {
    for (std::size_t i = 1; i < instruction_.operands.size(); ++i)
      if (!is_uniform(instruction_.operands[i]))
        return false;
    return true;
  }

  bool is_uniform(const Operand& operand) const {
    if (operand.kind == Operand::Kind::vector || operand.kind == Operand::Kind::address ||
        operand.kind == Operand::Kind::pair)
      return std::all_of(operand.elements.begin(), operand.elements.end(),
                         [&](const Operand& element) { return is_uniform(element); });
    return shape(operand).is_uniform();
  }

  Shape source(std::size_t index) const { return shape(instruction_.operands[index]); }

  // Value of a source, as the operation's type.
  std::optional<std::uint64_t> constant(std::size_t index, Type type) const {
    const Operand& operand = instruction_.operands[index];
    std::optional<std::uint64_t> value;
    if (operand.kind == Operand::Kind::integer)
      value = operand.bits;
    else if (operand.kind == Operand::Kind::reg)
      value = constants_[operand.reg];
    return value ? std::optional(extended(*value, type)) : std::nullopt;
  }

private:
  Shape shape(const Operand& operand) const {
    switch (operand.kind) {
    case Operand::Kind::reg: {
      const Shape& found = registers_[operand.reg];
      return found.kind == Shape::Kind::unset ? Shape::uniform(0) : found;
    }
    case Operand::Kind::special: return shape_of_special(operand.special, facts_);
    case Operand::Kind::integer: return Shape::uniform(alignment_of(operand.bits));
    case Operand::Kind::vector:
    case Operand::Kind::list:
    case Operand::Kind::pair: return Shape::varying();
    default: return Shape::uniform();
    }
  }

  // `result` was made of sources taken for straight; is it?
  Shape of_straight(Shape result, std::initializer_list<std::size_t> sources) const {
    for (const std::size_t index : sources)
      if (!source(index).is_straight())
        return Shape::varying();
    return result;
  }

  Shape negated(const Shape& shape) const { return scale(shape, ~std::uint64_t{0}, bits_); }

  std::optional<Shape> move() const {
    if (instruction_.operands[0].kind == Operand::Kind::vector ||
        instruction_.operands[1].kind == Operand::Kind::vector)
      return std::nullopt;
    return source(1); // windows of address spaces are aligned to anything
  }

  std::optional<Shape> select() const {
    return source(3).is_uniform() ? meet(source(1), source(2)) : Shape::varying();
  }

  Shape product(int bits) const {
    if (const auto factor = constant(2, type_))
      return of_straight(scale(source(1), *factor, bits), {1});
    if (const auto factor = constant(1, type_))
      return of_straight(scale(source(2), *factor, bits), {2});
    return of_straight(multiply(source(1), source(2)), {1, 2});
  }

  std::optional<Shape> multiply_add() const {
    const bool wide = instruction_.has(Mod::wide);
    if (!wide && !instruction_.has(Mod::lo))
      return std::nullopt;
    const int bits = wide ? bits_ * 2 : bits_;
    const Shape multiplied = product(bits);
    if (instruction_.opcode == Opcode::mul || multiplied.is_varying())
      return multiplied;
    return of_straight(add(multiplied, source(3), bits), {3});
  }

  // Of values that differ only between groups of lanes.
  Shape by_group(std::uint64_t alignment) const {
    const Shape a = source(1);
    const Shape b = source(2);
    if (!a.is_straight() || !b.is_straight() || a.stride != 0 || b.stride != 0)
      return Shape::varying();
    return {Shape::Kind::straight, std::min(a.group, b.group), 0, alignment};
  }

  std::optional<Shape> shift_left() const {
    const auto amount = constant(2, Type::u32);
    if (!amount)
      return by_group(source(1).alignment);
    if (*amount >= static_cast<unsigned>(bits_))
      return Shape::uniform(0);
    return of_straight(scale(source(1), std::uint64_t{1} << *amount, bits_), {1});
  }

  std::optional<Shape> shift_right() const {
    const auto amount = constant(2, Type::u32);
    return amount ? shifted_right(*amount) : by_group(1);
  }

  Shape shifted_right(std::uint64_t amount) const {
    if (!source(1).is_straight())
      return Shape::varying();
    const bool keeps_sign = ptx::is_signed(type_);
    const auto most = static_cast<std::uint64_t>(bits_);
    if (amount >= most && !keeps_sign)
      return Shape::uniform(0);
    amount = std::min(amount, most - 1);
    return move_bits(source(1), bits_, [&](std::uint64_t value) {
      if (!keeps_sign)
        return value >> amount;
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(sign_extend(value, bits_)) >>
                                        amount) &
             low_mask(bits_);
    });
  }

  std::optional<Shape> extract() const {
    const auto from = constant(2, Type::u8);
    const auto length = constant(3, Type::u8);
    if (!from || !length)
      return std::nullopt;
    if (!source(1).is_straight())
      return Shape::varying();
    return move_bits(source(1), bits_, [&](std::uint64_t value) {
      if (*length == 0)
        return std::uint64_t{0};
      const auto top = static_cast<std::uint64_t>(bits_ - 1);
      const std::uint64_t field = *from > top ? 0 : value >> *from;
      if (!ptx::is_signed(type_))
        return field & low_mask(static_cast<int>(std::min<std::uint64_t>(*length, 64)));
      const std::uint64_t sign_at = std::min(*from + *length - 1, top);
      const bool sign = (value >> sign_at & 1) != 0;
      // Above the field's own bits, and above those that the register has, the sign goes on.
      const std::uint64_t held = *from > top ? 0 : std::min(*length, top - *from + 1);
      const std::uint64_t mask = low_mask(static_cast<int>(held));
      return ((field & mask) | (sign ? ~mask : 0)) & low_mask(bits_);
    });
  }

  std::optional<Shape> bits(Bitwise operation) const {
    const Type plain = bits_ == 16 ? Type::u16 : bits_ == 32 ? Type::u32 : Type::u64;
    if (!source(1).is_straight() || !source(2).is_straight())
      return Shape::varying();
    return bitwise(operation, {source(1), constant(1, plain)}, {source(2), constant(2, plain)},
                   bits_);
  }

  std::optional<Shape> divide() const {
    const auto divisor = constant(2, type_);
    if (divisor && std::has_single_bit(*divisor) && !ptx::is_signed(type_))
      return shifted_right(static_cast<std::uint64_t>(std::countr_zero(*divisor)));
    return by_group(1);
  }

  std::optional<Shape> remainder() const {
    const auto divisor = constant(2, type_);
    if (!divisor || !std::has_single_bit(*divisor) || ptx::is_signed(type_))
      return by_group(1);
    if (!source(1).is_straight())
      return Shape::varying();
    const std::uint64_t mask = *divisor - 1;
    return bitwise(Bitwise::and_, {source(1), constant(1, type_)},
                   {Shape::uniform(alignment_of(mask)), mask}, bits_);
  }

  int width_of(const Operand& operand) const {
    if (operand.kind == Operand::Kind::reg)
      return ptx::bits_of(code_.function->registers[operand.reg].type);
    return operand.kind == Operand::Kind::special ? ptx::bits_of(ptx::type_of(operand.special))
                                                  : 64;
  }

  std::optional<Shape> convert() const {
    const Type to = instruction_.types[0];
    const Type from = instruction_.types[1];
    if (!is_whole_number(to) || !is_whole_number(from) || instruction_.has(Mod::sat) ||
        instruction_.operands[0].kind != Operand::Kind::reg)
      return std::nullopt;
    const Shape a = source(1);
    if (!a.is_straight())
      return Shape::varying();
    const int to_bits = ptx::bits_of(to);
    const int from_bits = ptx::bits_of(from);
    const int target = width_of(instruction_.operands[0]);
    const int held = width_of(instruction_.operands[1]);
    if (to_bits <= from_bits && target == to_bits)
      return scale(a, 1, target);
    // Whether a lane wraps in the narrow type is for the compiled code to see.
    if (held == from_bits && to_bits > from_bits && target == to_bits)
      return a;
    return move_bits(a, std::min(held, 64), [&](std::uint64_t value) {
      return extended(extended(value, from), to) & low_mask(target);
    });
  }

  const Instruction& instruction_;
  const Code& code_;
  const LaneFacts& facts_;
  const std::vector<Shape>& registers_;
  const std::vector<std::optional<std::uint64_t>>& constants_;
  Type type_;
  int bits_;
};

Shape uniform_if(bool condition) {
  return condition ? Shape::uniform() : Shape::varying();
}

// shfl.idx from one lane of the whole warp: everyone gets that lane's value.
bool is_broadcast(const Rule& rule, const Instruction& instruction) {
  return instruction.has(Mod::idx) && rule.source(2).is_uniform() &&
         rule.constant(3, Type::u32) == 31U && rule.constant(4, Type::u32) == 0xFFFFFFFFU;
}

Outcome outcome_of_exchange(const Rule& rule, const Instruction& instruction) {
  // Lanes with different member masks are different groups.
  const std::size_t last = instruction.operands.size() - 1;
  switch (instruction.opcode) {
  case Opcode::shfl:
    return {uniform_if(rule.source(1).is_uniform() || is_broadcast(rule, instruction)),
            Shape::varying()};
  case Opcode::vote:
  case Opcode::redux:
  case Opcode::match_all: {
    const Shape shape = uniform_if(rule.source(last).is_uniform());
    return {shape, shape};
  }
  case Opcode::activemask:
  case Opcode::bar_red:
  case Opcode::barrier_red: return {Shape::uniform(), Shape::uniform()};
  default: return {Shape::varying(), Shape::varying()};
  }
}

bool loads_uniform(const Rule& rule, const Instruction& instruction, const ptx::Function& function,
                   bool lanes_own_memory) {
  const Operand& address = instruction.operands[1];
  if (!rule.is_uniform(address))
    return false;
  switch (instruction.space) {
  case Space::global:
  case Space::shared:
  case Space::constant: return true;
  case Space::param:
    if (!function.is_entry)
      return false;
    if (address.elements[0].kind == Operand::Kind::symbol)
      return std::any_of(
          function.parameters.begin(), function.parameters.end(),
          [&](const ptx::Variable& v) { return v.name == address.elements[0].name; });
    return !lanes_own_memory;
  case Space::generic: return !lanes_own_memory;
  default: return false;
  }
}

} // namespace

Shape shape_of_special(Special special, const LaneFacts& facts) {
  switch (special) {
  case Special::tid_x: return facts.tid_x;
  case Special::tid_y: return facts.tid_y;
  case Special::tid_z: return facts.tid_z;
  case Special::laneid: return {Shape::Kind::straight, kWarpSize, 1, 0};
  case Special::lanemask_eq:
  case Special::lanemask_le:
  case Special::lanemask_lt:
  case Special::lanemask_ge:
  case Special::lanemask_gt:
  case Special::clock:
  case Special::clock_hi:
  case Special::clock64:
  case Special::globaltimer:
  case Special::globaltimer_lo:
  case Special::globaltimer_hi: return Shape::varying();
  default: return Shape::uniform();
  }
}

Transfer::Transfer(const Code& code, const Flow& flow, const Liveness& liveness,
                   const LaneFacts& facts)
    : code_(code), liveness_(liveness), facts_(facts), constants_(code.function->registers.size()) {
  const ptx::Function& function = *code.function;
  lanes_own_memory_ =
      !function.is_entry || std::any_of(function.variables.begin(), function.variables.end(),
                                        [](const ptx::Variable& variable) {
                                          return variable.space == Space::local ||
                                                 variable.space == Space::param;
                                        });
  std::vector<std::uint32_t> writers(constants_.size(), 0);
  for (std::size_t i = 0; i < function.instructions.size(); ++i) {
    const Instruction& instruction = function.instructions[i];
    for (const ptx::RegisterId reg : liveness.effects[i].writes)
      ++writers[reg];
    lanes_own_memory_ = lanes_own_memory_ || instruction.opcode == Opcode::alloca_;
    if (instruction.opcode == Opcode::mov && !instruction.guard &&
        instruction.operands[0].kind == Operand::Kind::reg &&
        instruction.operands[1].kind == Operand::Kind::integer)
      constants_[instruction.operands[0].reg] = instruction.operands[1].bits;
  }
  for (std::size_t reg = 0; reg < constants_.size(); ++reg) {
    const bool starts_as_zero =
        !flow.blocks.empty() && liveness.live_in[0].contains(static_cast<std::uint32_t>(reg));
    if (writers[reg] != 1 || starts_as_zero)
      constants_[reg] = std::nullopt;
  }
}

Outcome Transfer::outcome(std::uint32_t index, const std::vector<Shape>& registers) const {
  const Instruction& instruction = code_.function->instructions[index];
  const Effects& effects = liveness_.effects[index];
  if (std::any_of(effects.reads.begin(), effects.reads.end(),
                  [&](ptx::RegisterId reg) { return registers[reg].kind == Shape::Kind::unset; }))
    return {};
  if (instruction.guard && registers[instruction.guard->reg].is_varying())
    return {Shape::varying(), Shape::varying()};
  const Rule rule(instruction, code_, facts_, registers, constants_);
  if (instruction.opcode == Opcode::ld || instruction.opcode == Opcode::ldu)
    return {uniform_if(loads_uniform(rule, instruction, *code_.function, lanes_own_memory_)),
            Shape::varying()};
  if (!is_pure(instruction.opcode))
    return outcome_of_exchange(rule, instruction);
  if (const auto found = rule.integer())
    return {*found, Shape::varying()};
  const Shape shape = uniform_if(rule.all_uniform());
  return {shape, shape};
}

Shape Transfer::fitted(ptx::RegisterId reg, Shape shape) const {
  const Type type = code_.function->registers[reg].type;
  const int bits = ptx::bits_of(type);
  if (!shape.is_straight())
    return shape;
  if (type == Type::pred || ptx::is_float(type) || bits > 64)
    return uniform_if(shape.is_uniform());
  shape.stride =
      static_cast<std::int64_t>(sign_extend(static_cast<std::uint64_t>(shape.stride), bits));
  return shape;
}

} // namespace kernevo::vgpu::analysis
