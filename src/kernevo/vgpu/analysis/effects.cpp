#include "kernevo/vgpu/analysis/effects.h"

#include "kernevo/ptx/forms.h"
#include "kernevo/ptx/names.h"

#include <algorithm>
#include <array>

namespace kernevo::vgpu::analysis {
namespace {

using ptx::Operand;
using Role = ptx::OperandRule::Role;

constexpr std::size_t kMostOperands = 12;

// What happens to the operands of an opcode when it has so many of them: a bit each.
struct Uses {
  std::uint32_t reads = ~0U;
  std::uint32_t writes = ~0U;
};

bool is_written(Role role) {
  return role == Role::destination || role == Role::unpack;
}

// Accumulators that stand only once in the text, as a destination.
bool updates_in_place(ptx::Opcode opcode) {
  return opcode == ptx::Opcode::wgmma_mma_async;
}

// Forms that differ only in modifiers and types agree on the roles; where they do not, an operand
// counts as both, which is always safe. So it does if no form fits.
Uses find_uses(ptx::Opcode opcode, std::size_t operands) {
  Uses uses{0, 0};
  bool found = false;
  for (const ptx::Form& form : ptx::forms_of(opcode)) {
    const auto least = static_cast<std::size_t>(
        std::count_if(form.operands.begin(), form.operands.end(),
                      [](const ptx::OperandRule& rule) { return !rule.optional; }));
    if (operands < least || operands > form.operands.size())
      continue;
    found = true;
    for (std::size_t i = 0; i < operands; ++i) {
      const bool written = is_written(form.operands[i].role);
      if (written)
        uses.writes |= 1U << i;
      if (!written || updates_in_place(opcode))
        uses.reads |= 1U << i;
    }
  }
  return found ? uses : Uses{};
}

using UseTable = std::array<std::array<Uses, kMostOperands>, ptx::kOpcodeCount>;

const UseTable& use_table() {
  static const UseTable table = [] {
    UseTable made;
    for (std::size_t opcode = 0; opcode < ptx::kOpcodeCount; ++opcode)
      for (std::size_t operands = 0; operands < kMostOperands; ++operands)
        made[opcode][operands] = find_uses(static_cast<ptx::Opcode>(opcode), operands);
    return made;
  }();
  return table;
}

void add_registers(const Operand& operand, std::vector<ptx::RegisterId>& to) {
  if (operand.kind == Operand::Kind::reg) {
    if (std::find(to.begin(), to.end(), operand.reg) == to.end())
      to.push_back(operand.reg);
    return;
  }
  for (const Operand& element : operand.elements)
    add_registers(element, to);
}

// Results, callee, arguments; the lists may be missing.
void add_call(const ptx::Instruction& instruction, Effects& effects) {
  bool callee_seen = false;
  for (const Operand& operand : instruction.operands) {
    const bool results = operand.kind == Operand::Kind::list && !callee_seen;
    callee_seen = callee_seen || operand.kind != Operand::Kind::list;
    add_registers(operand, results ? effects.writes : effects.reads);
  }
}

} // namespace

Effects effects_of(const ptx::Instruction& instruction) {
  Effects effects;
  effects.partial = instruction.guard.has_value();
  if (instruction.guard)
    effects.reads.push_back(instruction.guard->reg);
  if (instruction.opcode == ptx::Opcode::call) {
    add_call(instruction, effects);
    return effects;
  }
  const std::size_t operands = instruction.operands.size();
  const Uses uses = operands < kMostOperands
                        ? use_table()[static_cast<std::size_t>(instruction.opcode)][operands]
                        : Uses{};
  for (std::size_t i = 0; i < operands; ++i) {
    const Operand& operand = instruction.operands[i];
    const std::uint32_t mask = i < kMostOperands ? 1U << i : ~0U;
    // Nothing writes a register inside an address.
    if ((uses.writes & mask) != 0 && operand.kind != Operand::Kind::address)
      add_registers(operand, effects.writes);
    if ((uses.reads & mask) != 0)
      add_registers(operand, effects.reads);
  }
  return effects;
}

} // namespace kernevo::vgpu::analysis
