#include "kernevo/vgpu/analysis/shapes.h"

#include "kernevo/vgpu/analysis/joins.h"
#include "kernevo/vgpu/analysis/shape_algebra.h"
#include "kernevo/vgpu/analysis/transfer.h"

#include <bit>

namespace kernevo::vgpu::analysis {
namespace {

using ptx::Operand;

// Starts by believing everything and takes back what the instructions refute.
class ShapeFinder {
public:
  ShapeFinder(const Code& code, const Flow& flow, const Liveness& liveness, const LaneFacts& facts)
      : code_(code), flow_(flow), liveness_(liveness), transfer_(code, flow, liveness, facts),
        joins_(code, flow, liveness), varying_(code.function->registers.size()),
        waiting_((code.function->instructions.size() + 63) / 64, 0) {
    shapes_.registers.resize(code.function->registers.size());
    shapes_.divergent_branch.assign(flow.blocks.size(), false);
    find_readers();
  }

  Shapes run(const std::set<ptx::RegisterId>& demoted) {
    if (flow_.blocks.empty())
      return std::move(shapes_);
    // Registers start as zero, and some are read like that.
    for (const std::uint32_t reg : liveness_.live_in[0].members())
      lower(reg, Shape::uniform(0));
    for (const ptx::RegisterId reg : demoted)
      lower(reg, Shape::varying());
    for (std::uint32_t i = 0; i < liveness_.effects.size(); ++i)
      wait(i);
    for (bool again = true; again;)
      again = sweep();
    // What only dead code writes.
    for (const Effects& effects : liveness_.effects)
      for (const ptx::RegisterId reg : effects.writes)
        if (shapes_.registers[reg].kind == Shape::Kind::unset)
          shapes_.registers[reg] = Shape::varying();
    return std::move(shapes_);
  }

private:
  void find_readers() {
    first_reader_.assign(shapes_.registers.size() + 1, 0);
    for (const Effects& effects : liveness_.effects)
      for (const ptx::RegisterId reg : effects.reads)
        ++first_reader_[reg + 1];
    for (std::size_t reg = 1; reg < first_reader_.size(); ++reg)
      first_reader_[reg] += first_reader_[reg - 1];
    readers_.resize(first_reader_.back());
    std::vector<std::uint32_t> next(first_reader_.begin(), first_reader_.end() - 1);
    for (std::uint32_t i = 0; i < liveness_.effects.size(); ++i)
      for (const ptx::RegisterId reg : liveness_.effects[i].reads)
        readers_[next[reg]++] = i;
  }

  void wait(std::uint32_t instruction) {
    waiting_[instruction / 64] |= std::uint64_t{1} << (instruction % 64);
  }

  // Looks once, in the order of the text, at all instructions whose sources have changed.
  bool sweep() {
    bool any = false;
    for (std::size_t word = 0; word < waiting_.size(); ++word)
      while (waiting_[word] != 0) {
        const auto bit = static_cast<std::uint32_t>(std::countr_zero(waiting_[word]));
        waiting_[word] &= waiting_[word] - 1;
        look_at(static_cast<std::uint32_t>(word * 64) + bit);
        any = true;
      }
    return any;
  }

  void look_at(std::uint32_t index) {
    const Effects& effects = liveness_.effects[index];
    if (!effects.writes.empty()) {
      const Outcome outcome = transfer_.outcome(index, shapes_.registers);
      const Operand& first = code_.function->instructions[index].operands[0];
      const bool pair = first.kind == Operand::Kind::pair;
      for (const ptx::RegisterId reg : effects.writes)
        if (!pair || (first.elements[0].kind == Operand::Kind::reg && first.elements[0].reg == reg))
          lower(reg, outcome.value);
        else
          lower(reg, outcome.predicate);
    }
    const std::uint32_t block = flow_.block_of[index];
    if (index + 1 == flow_.blocks[block].last && !shapes_.divergent_branch[block] &&
        parts_lanes(index))
      diverge(block);
  }

  bool parts_lanes(std::uint32_t index) const {
    const ptx::Instruction& instruction = code_.function->instructions[index];
    if (!ends_run(instruction.opcode))
      return false;
    if (instruction.guard && shapes_.registers[instruction.guard->reg].is_varying())
      return true;
    if (instruction.opcode != ptx::Opcode::brx_idx)
      return false;
    const Operand& choice = instruction.operands[0];
    if (choice.kind != Operand::Kind::reg)
      return false;
    const Shape& shape = shapes_.registers[choice.reg];
    return shape.kind != Shape::Kind::unset && !shape.is_uniform();
  }

  static bool ends_run(ptx::Opcode opcode) {
    using ptx::Opcode;
    return opcode == Opcode::bra || opcode == Opcode::brx_idx || opcode == Opcode::ret ||
           opcode == Opcode::exit_ || opcode == Opcode::trap || opcode == Opcode::brkpt;
  }

  void diverge(std::uint32_t block) {
    shapes_.divergent_branch[block] = true;
    for (const std::uint32_t reg : joins_.registers_parted_by(block, varying_))
      if (!transfer_.constant(reg))
        lower(reg, Shape::varying());
  }

  void lower(ptx::RegisterId reg, const Shape& shape) {
    Shape& current = shapes_.registers[reg];
    const Shape lowered = meet(current, transfer_.fitted(reg, shape));
    if (lowered == current)
      return;
    current = lowered;
    if (current.is_varying())
      varying_.insert(reg);
    for (std::uint32_t i = first_reader_[reg]; i < first_reader_[reg + 1]; ++i)
      wait(readers_[i]);
  }

  const Code& code_;
  const Flow& flow_;
  const Liveness& liveness_;
  Transfer transfer_;
  Joins joins_;
  Shapes shapes_;
  RegisterSet varying_;
  std::vector<std::uint32_t> first_reader_; // by register, into readers_
  std::vector<std::uint32_t> readers_;
  std::vector<std::uint64_t> waiting_; // a bit per instruction
};

} // namespace

Shapes find_shapes(const Code& code, const Flow& flow, const Liveness& liveness,
                   const LaneFacts& facts, const std::set<ptx::RegisterId>& demoted) {
  return ShapeFinder(code, flow, liveness, facts).run(demoted);
}

Shape shape_of(const Code& code, const Shapes& shapes, const Operand& operand,
               const LaneFacts& facts) {
  switch (operand.kind) {
  case Operand::Kind::reg: {
    const Shape& shape = shapes.registers[operand.reg];
    return shape.kind == Shape::Kind::unset ? Shape::uniform(0) : shape;
  }
  case Operand::Kind::special: return shape_of_special(operand.special, facts);
  case Operand::Kind::integer: return Shape::uniform(alignment_of(operand.bits));
  case Operand::Kind::real32:
  case Operand::Kind::real64:
  case Operand::Kind::symbol: return Shape::uniform();
  case Operand::Kind::address: {
    Shape shape = Shape::varying();
    if (operand.elements.size() == 1)
      shape = shape_of(code, shapes, operand.elements[0], facts);
    shape.alignment =
        common_alignment(shape.alignment, alignment_of(static_cast<std::uint64_t>(operand.offset)));
    return shape;
  }
  default: return Shape::varying();
  }
}

} // namespace kernevo::vgpu::analysis
