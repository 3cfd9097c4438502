#include "kernevo/jit/plan.h"

#include "kernevo/jit/accesses.h"

#include <algorithm>

namespace kernevo::jit {
namespace {

using ptx::Mod;
using ptx::Opcode;
using vgpu::Code;
using vgpu::OpKind;
using vgpu::analysis::RegisterSet;
using vgpu::analysis::Shape;

// A part of a warp that runs fewer instructions before the next entry is interpreted.
constexpr std::uint32_t kWorthEntering = 6;

bool is_memory(Opcode opcode) {
  return opcode == Opcode::ld || opcode == Opcode::st;
}

class Planner {
public:
  explicit Planner(const vgpu::CompileJob& job)
      : job_(job), code_(job.program->codes[job.function]), function_(*code_.function) {}

  Plan run(PassLog& log) {
    const auto count = static_cast<std::uint32_t>(function_.instructions.size());
    plan_.light = !job_.optimise;
    log.run("flow", [&] { plan_.flow = vgpu::analysis::find_flow(code_); });
    log.run("liveness", [&] { plan_.liveness = vgpu::analysis::find_liveness(code_, plan_.flow); });
    for (std::uint32_t i = 0; i < count; ++i)
      plan_.treatment.push_back(treatment_of(code_, i));
    log.run("shapes", [&] { find_shapes(); });
    log.run("plan", [&] {
      choose_homes();
      number();
    });
    return std::move(plan_);
  }

private:
  // What a handler leaves in the frame is read back lane by lane; only a uniform result may stay a
  // scalar.
  void find_shapes() {
    auto demoted = job_.demoted;
    plan_.shapes =
        vgpu::analysis::find_shapes(code_, plan_.flow, plan_.liveness, job_.facts, demoted);
    const std::size_t before = demoted.size();
    for (std::size_t i = 0; i < plan_.treatment.size(); ++i)
      if (may_be_handled(i))
        for (const auto reg : plan_.liveness.effects[i].writes)
          if (const Shape& shape = plan_.shapes.registers[reg];
              shape.is_straight() && !shape.is_uniform())
            demoted.insert(reg);
    if (demoted.size() != before)
      plan_.shapes =
          vgpu::analysis::find_shapes(code_, plan_.flow, plan_.liveness, job_.facts, demoted);
  }

  bool may_be_handled(std::size_t i) const {
    const Treatment treatment = plan_.treatment[i];
    if (treatment != Treatment::inlined && treatment != Treatment::exchange)
      return true;
    return plan_.light && plan_.liveness.effects[i].writes.size() > 1;
  }

  void choose_homes() {
    plan_.home.assign(function_.registers.size(), Home::unused);
    plan_.scalar_of.assign(function_.registers.size(), kNone);
    std::vector<bool> handled(function_.registers.size(), false);
    for (std::size_t i = 0; i < plan_.treatment.size(); ++i) {
      if (plan_.treatment[i] != Treatment::handler && plan_.treatment[i] != Treatment::warp)
        continue;
      for (const auto reg : plan_.liveness.effects[i].reads)
        handled[reg] = true;
      for (const auto reg : plan_.liveness.effects[i].writes)
        handled[reg] = true;
    }
    for (ptx::RegisterId reg = 0; reg < plan_.home.size(); ++reg) {
      const ptx::Type type = function_.registers[reg].type;
      const Shape& shape = plan_.shapes.registers[reg];
      const bool straight = !shape.is_varying(); // one that nothing writes is zero in all lanes
      if (type == ptx::Type::pred)
        plan_.home[reg] = straight ? Home::flag : Home::mask;
      else if (ptx::bytes_of(type) > 8)
        plan_.home[reg] = Home::frame;
      else if (straight)
        plan_.home[reg] = Home::scalar;
      else
        plan_.home[reg] = handled[reg] || plan_.light ? Home::frame : Home::vector;
      if (plan_.home[reg] == Home::scalar || plan_.home[reg] == Home::flag) {
        plan_.scalar_of[reg] = plan_.scalars;
        plan_.scalars += static_cast<std::uint32_t>(shape.groups());
      }
    }
  }

  vgpu::CompiledPoint point(std::uint32_t instruction, const RegisterSet& live) const {
    vgpu::CompiledPoint point;
    point.pc = code_.first_op[instruction];
    for (const std::uint32_t reg : live.members()) {
      if (plan_.home[reg] == Home::frame || plan_.home[reg] == Home::unused)
        continue;
      vgpu::CompiledRegister item;
      item.slot = code_.register_slots[reg];
      const ptx::Type type = function_.registers[reg].type;
      item.bytes = type == ptx::Type::pred ? 0 : static_cast<std::uint32_t>(ptx::bytes_of(type));
      item.scalar = plan_.scalar_of[reg];
      item.reg = reg;
      item.shape = plan_.shapes.registers[reg];
      if (item.shape.kind == Shape::Kind::unset)
        item.shape = Shape::uniform();
      point.live.push_back(item);
    }
    return point;
  }

  // A warp-level instruction of every lane, in code for every lane: nobody is missing.
  bool has_all_lanes(std::uint32_t instruction) const {
    if (!job_.full || function_.instructions[instruction].guard)
      return false;
    const ptx::Operand* members = member_mask(code_, instruction);
    return members == nullptr || (members->kind == ptx::Operand::Kind::integer &&
                                  static_cast<std::uint32_t>(members->bits) == vgpu::kAllLanes);
  }

  void number() {
    const auto count = static_cast<std::uint32_t>(function_.instructions.size());
    plan_.hit.assign(count, kNone);
    plan_.exit.assign(count + 1, kNone);
    plan_.entry.assign(count + 1, kNone);
    wants_entry_.assign(count + 1, false);
    wants_exit_.assign(count + 1, false);
    for (std::uint32_t block = 0; block < plan_.flow.blocks.size(); ++block)
      if (plan_.flow.blocks[block].first < count)
        mark_block(block);
    for (std::uint32_t i = 0; i < count; ++i)
      mark_instruction(i);
    number_accesses();
    for (std::uint32_t block = 0; block < plan_.flow.blocks.size(); ++block)
      number_points(block);
    // The end of the function.
    plan_.exit[count] = static_cast<std::uint32_t>(plan_.exits.size());
    plan_.exits.push_back(point(count, RegisterSet(function_.registers.size())));
  }

  // Where the interpreter may enter the code of a block, and where the code leaves it.
  void mark_block(std::uint32_t block) {
    const auto& range = plan_.flow.blocks[block];
    if (block == 0 || plan_.flow.loop_header[block])
      wants_entry_[range.first] = true;
    // A warp whose lanes part comes back where they meet, or goes on with a part of them.
    if (plan_.shapes.divergent_branch[block]) {
      for (const std::uint32_t next : range.successors)
        if (const auto& part = plan_.flow.blocks[next]; part.last - part.first >= kWorthEntering)
          wants_entry_[part.first] = true;
      if (const std::uint32_t join = plan_.flow.postdominator[block]; join != kNone)
        wants_entry_[plan_.flow.blocks[join].first] = true;
    }
    if (!job_.full)
      wants_exit_[range.first] = true;
  }

  void mark_instruction(std::uint32_t i) {
    switch (plan_.treatment[i]) {
    case Treatment::warp:
    case Treatment::exchange:
      if (has_all_lanes(i))
        break;
      [[fallthrough]];
    case Treatment::leave:
    case Treatment::barrier:
      wants_exit_[i] = true;
      if (i + 1 < function_.instructions.size())
        wants_entry_[i + 1] = true;
      break;
    case Treatment::branch: {
      const auto& guard = function_.instructions[i].guard;
      if (guard && plan_.home[guard->reg] == Home::mask)
        wants_exit_[i] = true;
      if (goes_back(code_, i)) {
        const std::uint32_t target =
            code_.ops[code_.ops[code_.first_op[i + 1] - 1].target].instruction;
        wants_entry_[target] = true;
        wants_exit_[target] = true;
      }
      break;
    }
    case Treatment::inlined:
      if (widens_straight(code_, plan_, i, job_.facts))
        wants_exit_[i] = true;
      break;
    case Treatment::handler: break;
    }
  }

  // Accesses that one check covers share a hit.
  void number_accesses() {
    const auto count = static_cast<std::uint32_t>(function_.instructions.size());
    auto starts = wants_entry_;
    for (const auto& block : plan_.flow.blocks)
      if (block.first < count)
        starts[block.first] = true;
    group_accesses(code_, starts, plan_);
    for (const AccessCheck& check : plan_.checks)
      wants_exit_[check.instruction] = true;
    for (std::uint32_t i = 0; i < count; ++i)
      if (plan_.treatment[i] == Treatment::inlined && is_memory(function_.instructions[i].opcode)) {
        const std::uint32_t check = plan_.check_of[i];
        plan_.hit[i] = check != kNone && plan_.checks[check].instruction != i
                           ? plan_.hit[plan_.checks[check].instruction]
                           : plan_.hits++;
      }
  }

  // The entries and exits of a block, with what is live there.
  void number_points(std::uint32_t block) {
    const std::uint32_t first = plan_.flow.blocks[block].first;
    const std::uint32_t last = std::min(plan_.flow.blocks[block].last,
                                        static_cast<std::uint32_t>(function_.instructions.size()));
    bool needed = false;
    for (std::uint32_t i = first; i < last; ++i)
      needed = needed || wants_entry_[i] || wants_exit_[i];
    if (!needed)
      return;
    const auto live = vgpu::analysis::live_before(code_, plan_.flow, plan_.liveness, block);
    for (std::uint32_t i = first; i < last; ++i) {
      if (wants_entry_[i]) {
        plan_.entry[i] = static_cast<std::uint32_t>(plan_.entries.size());
        plan_.entries.push_back(point(i, live[i - first]));
      }
      if (wants_exit_[i]) {
        plan_.exit[i] = static_cast<std::uint32_t>(plan_.exits.size());
        plan_.exits.push_back(point(i, live[i - first]));
      }
    }
  }

  const vgpu::CompileJob& job_;
  const Code& code_;
  const ptx::Function& function_;
  Plan plan_;
  std::vector<bool> wants_entry_; // by instruction
  std::vector<bool> wants_exit_;
};

} // namespace

Plan make_plan(const vgpu::CompileJob& job, PassLog& log) {
  return Planner(job).run(log);
}

bool widens_straight(const Code& code, const Plan& plan, std::uint32_t instruction,
                     const vgpu::analysis::LaneFacts& facts) {
  const ptx::Instruction& at = code.function->instructions[instruction];
  const bool widens =
      (at.opcode == Opcode::cvt && ptx::bits_of(at.types[0]) > ptx::bits_of(at.types[1])) ||
      ((at.opcode == Opcode::mul || at.opcode == Opcode::mad) && at.has(Mod::wide));
  if (!widens || at.operands.empty() || at.operands[0].kind != ptx::Operand::Kind::reg)
    return false;
  const Shape& result = plan.shapes.registers[at.operands[0].reg];
  if (!result.is_straight() || result.is_uniform())
    return false;
  for (std::size_t i = 1; i < at.operands.size() && i < 3; ++i)
    if (const Shape shape = shape_of(code, plan.shapes, at.operands[i], facts);
        shape.is_straight() && shape.stride != 0)
      return true;
  return false;
}

} // namespace kernevo::jit
