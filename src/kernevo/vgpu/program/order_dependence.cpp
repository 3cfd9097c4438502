#include "kernevo/vgpu/program/order_dependence.h"

#include "kernevo/vgpu/program/control.h"
#include "kernevo/vgpu/program/kernels.h"
#include "kernevo/vgpu/program/order.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace kernevo::vgpu {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;

void count_operand(const Operand& operand, std::vector<std::uint32_t>& mentions) {
  if (operand.kind == Operand::Kind::reg && operand.reg < mentions.size())
    ++mentions[operand.reg];
  for (const Operand& element : operand.elements)
    count_operand(element, mentions);
}

std::vector<std::uint32_t> count_mentions(const ptx::Function& function) {
  std::vector<std::uint32_t> mentions(function.registers.size(), 0);
  for (const Instruction& instruction : function.instructions) {
    for (const Operand& operand : instruction.operands)
      count_operand(operand, mentions);
    if (instruction.guard && instruction.guard->reg < mentions.size())
      ++mentions[instruction.guard->reg];
  }
  return mentions;
}

// Compilers name each value once, so a result nobody reads is mentioned once.
bool mentioned_again(const Operand& result, const std::vector<std::uint32_t>& mentions) {
  if (result.kind == Operand::Kind::reg)
    return result.reg >= mentions.size() || mentions[result.reg] > 1;
  return std::any_of(result.elements.begin(), result.elements.end(),
                     [&](const Operand& element) { return mentioned_again(element, mentions); });
}

bool leaves_block(const Instruction& instruction) {
  return instruction.space == Space::global || instruction.space == Space::generic;
}

bool commutes(const Instruction& instruction) {
  if (ptx::is_float(instruction.type()))
    return false;
  for (const Mod mod : {Mod::add, Mod::min_, Mod::max_, Mod::and_, Mod::or_, Mod::xor_})
    if (instruction.has(mod))
      return true;
  return false;
}

bool is_strong_load(const Instruction& instruction) {
  return instruction.opcode == Opcode::ld && leaves_block(instruction) &&
         (instruction.has(Mod::volatile_) || instruction.has(Mod::relaxed) ||
          instruction.has(Mod::acquire) || instruction.has(Mod::mmio));
}

// By op: inside some loop. Loops are contiguous in schedule order, from the target of their
// backward branch to the branch.
std::vector<bool> inside_loops(const Code& code) {
  const std::size_t count = code.ops.size();
  std::vector<std::int32_t> depth(count + 1, 0); // by position: change of depth
  auto edge = [&](std::uint32_t from, std::uint32_t to) {
    if (to < count && code.order[to] <= code.order[from]) {
      ++depth[code.order[to]];
      --depth[code.order[from] + 1];
    }
  };
  for (std::uint32_t pc = 0; pc < count; ++pc) {
    const Op& op = code.ops[pc];
    if (op.kind == OpKind::branch)
      edge(pc, op.target);
    else if (op.kind == OpKind::indirect_branch)
      for (const std::uint32_t target : static_cast<const BranchTable&>(*op.detail).targets)
        edge(pc, target);
  }
  for (std::size_t i = 1; i < depth.size(); ++i)
    depth[i] += depth[i - 1];
  std::vector<bool> inside(count);
  for (std::size_t pc = 0; pc < count; ++pc)
    inside[pc] = depth[code.order[pc]] > 0;
  return inside;
}

} // namespace

void note_order(Code& code) {
  const auto& instructions = code.function->instructions;
  const std::vector<std::uint32_t> mentions = count_mentions(*code.function);
  const std::vector<bool> looped = inside_loops(code);
  for (std::size_t pc = 0; pc < code.ops.size(); ++pc) {
    Op& op = code.ops[pc];
    if (op.kind == OpKind::call) {
      const RuntimeFunction called = static_cast<const CallDetail&>(*op.detail).runtime;
      code.ordered = code.ordered || called == RuntimeFunction::vprintf || is_launch(called);
    }
    if (op.kind != OpKind::memory || op.instruction >= instructions.size())
      continue;
    const Instruction& instruction = instructions[op.instruction];
    // What a called function does may happen in its caller's loop.
    const bool repeated = looped[pc] || !code.function->is_entry;
    code.polls = code.polls || (repeated && is_strong_load(instruction));
    const bool atomic = instruction.opcode == Opcode::atom || instruction.opcode == Opcode::red;
    if (!atomic || !leaves_block(instruction))
      continue;
    const bool read = instruction.opcode == Opcode::atom &&
                      mentioned_again(instruction.operands.front(), mentions);
    // A loop around a compare-and-swap ends with whoever holds the value or the lock; any other
    // may wait for a count.
    code.polls = code.polls || (repeated && read && !instruction.has(Mod::cas));
    if (read || !commutes(instruction)) {
      op.immediate = kOrdered;
      code.ordered = true;
    }
  }
}

OrderDependence order_dependence(const Program& program, std::uint32_t kernel) {
  OrderDependence order;
  for (const std::uint32_t function : reachable_functions(program, kernel)) {
    order.matters = order.matters || program.codes[function].ordered;
    order.polls = order.polls || program.codes[function].polls;
  }
  return order;
}

} // namespace kernevo::vgpu
