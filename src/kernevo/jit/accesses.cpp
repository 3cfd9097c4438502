#include "kernevo/jit/accesses.h"

#include "kernevo/vgpu/memory/address_windows.h"
#include "kernevo/vgpu/program/immediate.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace kernevo::jit {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;
using ptx::Type;
using vgpu::analysis::Shape;

// Offsets farther apart than this are checked apart: they may belong to different buffers.
constexpr std::int64_t kReach = 4096;
constexpr std::int64_t kSharedReach = std::int64_t{1} << 20;
constexpr std::size_t kMostTerms = 4;
constexpr std::uint32_t kSymbol = 0x80000000U; // marks a term that is a slot of the frame

// A sum of values of unknown origin, each times a factor, and a constant; modulo the width.
struct Linear {
  std::map<std::uint32_t, std::int64_t> terms;
  std::int64_t constant = 0;
};

// What addresses have in common when they differ by a constant only.
using Key = std::tuple<std::map<std::uint32_t, std::int64_t>, Space, unsigned, bool, std::int64_t,
                       std::uint8_t>;

class Grouping {
public:
  Grouping(const vgpu::Code& code, Plan& plan)
      : code_(code), function_(*code.function), plan_(plan) {}

  void run(const std::vector<bool>& starts) {
    plan_.check_of.assign(function_.instructions.size(), kNone);
    for (std::uint32_t i = 0; i < function_.instructions.size(); ++i) {
      if (starts[i]) {
        values_.clear();
        groups_.clear();
      }
      visit(i);
    }
  }

private:
  Linear opaque() { return {{{next_++, 1}}, 0}; }

  const Linear& value_of(ptx::RegisterId reg) {
    const auto [at, fresh] = values_.try_emplace(reg);
    if (fresh)
      at->second = opaque();
    return at->second;
  }

  std::optional<Linear> operand(const Operand& operand, Type type) {
    if (operand.kind == Operand::Kind::reg)
      return value_of(operand.reg);
    if (operand.kind == Operand::Kind::integer) {
      Linear literal;
      literal.constant = static_cast<std::int64_t>(vgpu::immediate_bits(operand, type));
      if (ptx::bits_of(type) == 32)
        literal.constant = static_cast<std::int32_t>(literal.constant);
      return literal;
    }
    return std::nullopt;
  }

  static Linear sum(const Linear& a, const Linear& b, std::int64_t sign) {
    Linear result = a;
    result.constant += sign * b.constant;
    for (const auto& [term, factor] : b.terms)
      if ((result.terms[term] += sign * factor) == 0)
        result.terms.erase(term);
    return result;
  }

  std::optional<Linear> result_of(const Instruction& at, std::uint32_t index) {
    if (at.guard || plan_.treatment[index] != Treatment::inlined)
      return std::nullopt;
    const int bits = ptx::bits_of(at.type());
    if (bits != 32 && bits != 64)
      return std::nullopt;
    switch (at.opcode) {
    case Opcode::mov:
      return at.operands[0].kind == Operand::Kind::reg ? operand(at.operands[1], at.type())
                                                       : std::nullopt;
    case Opcode::cvta:
      if (vgpu::window_base(at.space) == 0)
        return operand(at.operands[1], at.type());
      return std::nullopt;
    case Opcode::add:
    case Opcode::sub: {
      if (ptx::is_float(at.type()))
        return std::nullopt;
      const auto a = operand(at.operands[1], at.type());
      const auto b = operand(at.operands[2], at.type());
      if (!a || !b)
        return std::nullopt;
      Linear result = sum(*a, *b, at.opcode == Opcode::add ? 1 : -1);
      return result.terms.size() <= kMostTerms ? std::optional(result) : std::nullopt;
    }
    default: return std::nullopt;
    }
  }

  void visit(std::uint32_t index) {
    const Instruction& at = function_.instructions[index];
    if (plan_.treatment[index] == Treatment::inlined && !at.guard &&
        (at.opcode == Opcode::ld || at.opcode == Opcode::st) && at.space != Space::param &&
        at.space != Space::generic)
      note_access(at, index);
    const auto result = result_of(at, index);
    for (const ptx::RegisterId reg : plan_.liveness.effects[index].writes)
      values_[reg] = result ? *result : opaque();
  }

  void note_access(const Instruction& at, std::uint32_t index) {
    const Operand& place =
        *std::find_if(at.operands.begin(), at.operands.end(),
                      [](const Operand& o) { return o.kind == Operand::Kind::address; });
    const Operand& base = place.elements.front();
    const Operand& data = at.operands[at.opcode == Opcode::ld ? 0 : 1];
    const auto elements =
        data.kind == Operand::Kind::vector ? static_cast<unsigned>(data.elements.size()) : 1U;
    const unsigned size = elements * static_cast<unsigned>(ptx::bytes_of(at.type()));
    Linear address;
    bool wide = true;
    Shape shape = Shape::uniform();
    if (base.kind == Operand::Kind::reg) {
      if (plan_.home[base.reg] != Home::scalar)
        return;
      shape = plan_.shapes.registers[base.reg];
      wide = ptx::bytes_of(function_.registers[base.reg].type) == 8;
      address = value_of(base.reg);
    } else {
      address.terms[kSymbol | code_.symbol_slots.at({base.name, base.offset, 8})] = 1;
    }
    if (shape.stride % static_cast<std::int64_t>(size) != 0)
      return;
    const std::int64_t offset = address.constant + place.offset;
    const Key key{address.terms, at.space, size, wide, shape.stride, shape.group};
    const auto found = groups_.find(key);
    const std::int64_t reach = at.space == Space::shared ? kSharedReach : kReach;
    if (found != groups_.end()) {
      AccessCheck& check = plan_.checks[found->second];
      const std::int64_t low = std::min(check.low, offset);
      const std::int64_t high = std::max(check.high, offset);
      if (high - low <= reach && (offset - check.low) % static_cast<std::int64_t>(size) == 0) {
        check.low = low;
        check.high = high;
        check.store = check.store || at.opcode == Opcode::st;
        plan_.check_of[index] = found->second;
        return;
      }
    }
    AccessCheck check;
    check.instruction = index;
    check.first = offset;
    check.low = offset;
    check.high = offset;
    check.size = size;
    check.store = at.opcode == Opcode::st;
    plan_.check_of[index] = static_cast<std::uint32_t>(plan_.checks.size());
    groups_[key] = plan_.check_of[index];
    plan_.checks.push_back(check);
  }

  const vgpu::Code& code_;
  const ptx::Function& function_;
  Plan& plan_;
  std::uint32_t next_ = 0;
  std::map<ptx::RegisterId, Linear> values_; // since the last start
  std::map<Key, std::uint32_t> groups_;      // checks, likewise
};

} // namespace

void group_accesses(const vgpu::Code& code, const std::vector<bool>& starts, Plan& plan) {
  Grouping(code, plan).run(starts);
}

} // namespace kernevo::jit
