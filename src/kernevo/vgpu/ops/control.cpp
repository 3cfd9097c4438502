// Branches, calls, barriers and the ends of things. The interpreter acts on these; here they only
// get their operands.
#include "kernevo/vgpu/program/control.h"
#include "kernevo/vgpu/execute/warp.h"
#include "kernevo/vgpu/program/lowering.h"
#include "kernevo/vgpu/program/order.h"

#include <array>
#include <fmt/format.h>

namespace kernevo::vgpu::ops {
namespace {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

void nothing(const Op& /*op*/, Warp& /*warp*/, LaneMask /*active*/) {}

void trap(const Op& op, Warp& warp, LaneMask active) {
  warp.raise(FindingKind::trap, op, __builtin_ctz(active), "trap instruction executed");
}

Result<std::uint32_t> label(const Lowering& lowering, const Instruction& instruction,
                            const std::string& name) {
  const auto& labels = lowering.function().labels;
  const auto found = labels.find(name);
  if (found == labels.end())
    return tl::unexpected(lowering.unsupported(instruction, fmt::format("no label '{}'", name)));
  return found->second;
}

Result<void> branch(Lowering& lowering, const Instruction& instruction) {
  KERNEVO_TRY(target, label(lowering, instruction, instruction.operands.at(0).name));
  lowering.emit(nothing, OpKind::branch).target = target;
  return {};
}

Result<void> indirect_branch(Lowering& lowering, const Instruction& instruction) {
  const auto& tables = lowering.function().branch_targets;
  const auto table = tables.find(instruction.operands.at(1).name);
  if (table == tables.end())
    return tl::unexpected(lowering.unsupported(instruction, "its .branchtargets table is missing"));
  auto detail = std::make_unique<BranchTable>();
  for (const std::string& name : table->second) {
    KERNEVO_TRY(target, label(lowering, instruction, name));
    detail->targets.push_back(target);
  }
  KERNEVO_TRY(index, lowering.source(instruction, instruction.operands.at(0), Type::u32));
  Op& op = lowering.emit(nothing, OpKind::indirect_branch);
  op.a = index;
  op.detail = lowering.keep(std::move(detail));
  return {};
}

Result<CallDetail::Place> call_place(Lowering& lowering, const Instruction& instruction,
                                     const Operand& operand, std::uint32_t bytes) {
  if (operand.kind == Operand::Kind::symbol) {
    const auto variable = lowering.frame_variable(operand.name);
    if (variable && !variable->kernel_parameter)
      return CallDetail::Place{false, variable->offset + static_cast<std::uint32_t>(operand.offset),
                               variable->bytes};
  }
  Type type = lowering.register_type(operand);
  if (type == Type::none)
    type = bytes == 8 ? Type::u64 : bytes == 2 ? Type::u16 : Type::u32;
  if (type == Type::pred)
    return tl::unexpected(
        lowering.unsupported(instruction, "a predicate cannot be passed to a function"));
  KERNEVO_TRY(slot, lowering.source(instruction, operand, type));
  return CallDetail::Place{true, slot, static_cast<std::uint32_t>(ptx::bytes_of(type))};
}

// call (results), function, (arguments), prototype; each list may be missing.
Result<void> call(Lowering& lowering, const Instruction& instruction) {
  auto detail = std::make_unique<CallDetail>();
  const Operand* results = nullptr;
  const Operand* target = nullptr;
  const Operand* arguments = nullptr;
  for (const Operand& operand : instruction.operands) {
    if (operand.kind == Operand::Kind::list)
      (target == nullptr ? results : arguments) = &operand;
    else if (target == nullptr)
      target = &operand;
  }
  if (target == nullptr)
    return tl::unexpected(lowering.unsupported(instruction, "it names no function"));
  const ptx::Function* callee = nullptr;
  if (target->kind == Operand::Kind::reg) {
    KERNEVO_TRY(pointer, lowering.source(instruction, *target, Type::u64));
    detail->pointer = pointer;
    lowering.code().indirect_calls = true;
  } else {
    const auto index = lowering.function_index(target->name);
    if (!index)
      return tl::unexpected(lowering.unsupported(
          instruction, fmt::format("function '{}' is not in this module", target->name)));
    callee = &lowering.module().functions[*index];
    if (callee->is_declaration) {
      detail->runtime = runtime_function(target->name);
      if (detail->runtime == RuntimeFunction::none)
        return tl::unexpected(lowering.unsupported(
            instruction, fmt::format("function '{}' is declared but not defined", target->name)));
    } else {
      detail->function = *index;
      lowering.code().callees.push_back(*index);
    }
  }
  auto bytes_at = [](const std::vector<ptx::Variable>* list, std::size_t i) {
    return list != nullptr && i < list->size() ? static_cast<std::uint32_t>((*list)[i].bytes) : 4U;
  };
  if (results != nullptr)
    for (std::size_t i = 0; i < results->elements.size(); ++i) {
      KERNEVO_TRY(place, call_place(lowering, instruction, results->elements[i],
                                    bytes_at(callee == nullptr ? nullptr : &callee->returns, i)));
      detail->results.push_back(place);
    }
  if (arguments != nullptr)
    for (std::size_t i = 0; i < arguments->elements.size(); ++i) {
      KERNEVO_TRY(place,
                  call_place(lowering, instruction, arguments->elements[i],
                             bytes_at(callee == nullptr ? nullptr : &callee->parameters, i)));
      detail->arguments.push_back(place);
    }
  if (callee != nullptr && !callee->is_declaration &&
      callee->parameters.size() != detail->arguments.size())
    return tl::unexpected(lowering.unsupported(
        instruction, fmt::format("'{}' takes {} arguments, {} are passed", callee->name,
                                 callee->parameters.size(), detail->arguments.size())));
  Op& op = lowering.emit(nothing, OpKind::call);
  op.detail = lowering.keep(std::move(detail));
  return {};
}

// bar.sync a{, b}; bar.arrive a, b; bar.red.op d, a{, b}, p
Result<void> barrier(Lowering& lowering, const Instruction& instruction) {
  auto detail = std::make_unique<BarrierDetail>();
  const Opcode opcode = instruction.opcode;
  const bool reduces = opcode == Opcode::bar_red || opcode == Opcode::barrier_red;
  const bool named_barrier = opcode == Opcode::barrier_sync || opcode == Opcode::barrier_arrive ||
                             opcode == Opcode::barrier_red;
  detail->aligned = !named_barrier || instruction.has(Mod::aligned);
  if (opcode == Opcode::bar_arrive || opcode == Opcode::barrier_arrive)
    detail->mode = BarrierDetail::Mode::arrive;
  if (reduces)
    detail->mode = instruction.has(Mod::popc)   ? BarrierDetail::Mode::red_popc
                   : instruction.has(Mod::and_) ? BarrierDetail::Mode::red_and
                                                : BarrierDetail::Mode::red_or;
  std::size_t at = 0;
  std::uint32_t result = kNone;
  if (reduces) {
    const bool count = detail->mode == BarrierDetail::Mode::red_popc;
    KERNEVO_TRY(slot, lowering.destination(instruction, instruction.operands.at(at++),
                                           count ? Type::u32 : Type::pred));
    result = slot;
  }
  KERNEVO_TRY(id, lowering.source(instruction, instruction.operands.at(at++), Type::u32));
  detail->id = id;
  const std::size_t operands_left = instruction.operands.size() - at - (reduces ? 1 : 0);
  if (operands_left > 0) {
    KERNEVO_TRY(count, lowering.source(instruction, instruction.operands.at(at++), Type::u32));
    detail->count = count;
  }
  if (reduces) {
    KERNEVO_TRY(predicate, lowering.source(instruction, instruction.operands.at(at), Type::pred));
    detail->predicate = predicate;
  }
  Op& op = lowering.emit(nothing, OpKind::barrier);
  op.d = result;
  op.detail = lowering.keep(std::move(detail));
  return {};
}

template <OpKind Kind> Result<void> plain(Lowering& lowering, const Instruction& /*instruction*/) {
  lowering.emit(nothing, Kind);
  return {};
}

Result<void> trapping(Lowering& lowering, const Instruction& /*instruction*/) {
  lowering.emit(trap, OpKind::trap);
  return {};
}

// More or fewer registers for a warp: nothing here runs short of them.
Result<void> set_registers(Lowering& lowering, const Instruction& instruction) {
  const std::uint64_t count = instruction.operands.at(0).bits;
  if (count % 8 != 0 || count < 24 || count > 256)
    return tl::unexpected(lowering.unsupported(
        instruction,
        fmt::format("{} registers, it must be a multiple of 8 from 24 to 256", count)));
  lowering.emit(nothing);
  return {};
}

constexpr std::array kFamilies = {
    FamilyEntry{Opcode::bra, branch},
    FamilyEntry{Opcode::brx_idx, indirect_branch},
    FamilyEntry{Opcode::call, call},
    FamilyEntry{Opcode::ret, plain<OpKind::ret>},
    FamilyEntry{Opcode::exit_, plain<OpKind::exit>},
    FamilyEntry{Opcode::trap, trapping},
    FamilyEntry{Opcode::brkpt, trapping},
    FamilyEntry{Opcode::nanosleep, plain<OpKind::wait>},
    FamilyEntry{Opcode::pmevent, plain<OpKind::compute>},
    FamilyEntry{Opcode::setmaxnreg, set_registers},
    // Launches run one after the other, so what came before has always ended.
    FamilyEntry{Opcode::griddepcontrol, plain<OpKind::compute>},
    FamilyEntry{Opcode::bar_sync, barrier},
    FamilyEntry{Opcode::bar_arrive, barrier},
    FamilyEntry{Opcode::bar_red, barrier},
    FamilyEntry{Opcode::barrier_sync, barrier},
    FamilyEntry{Opcode::barrier_arrive, barrier},
    FamilyEntry{Opcode::barrier_red, barrier},
};

} // namespace

std::span<const FamilyEntry> control_families() {
  return kFamilies;
}

} // namespace kernevo::vgpu::ops
