// Code that is made quickly: every register stays in memory, where entries, exits and handlers look
// for it, and what varies over the lanes is done by calls. Scalars are IR as in thorough code.
#pragma once

#include "kernevo/jit/emit/emitter.h"

#include <set>
#include <string>
#include <vector>

namespace kernevo::jit {

class LightEmitter final : public Emitter {
public:
  using Emitter::Emitter;

private:
  void prepare() override;
  bool starts_segment(std::uint32_t instruction) const override;
  void emit_inlined(const ptx::Instruction& at, std::uint32_t instruction) override;
  void note_result(std::uint32_t instruction) override;
  llvm::BasicBlock* entry_block(std::uint32_t instruction) override {
    return segment_at(instruction);
  }
  void emit_exit(std::uint32_t number) override;

  // Registers.
  Value* home(ptx::RegisterId reg, unsigned index = 0) override;
  Value* varying_lane(ptx::RegisterId reg, unsigned lane) override;
  void put_lanes_in_frame(const ptx::Operand& operand, Value* slot) override;
  void write_to_all(ptx::RegisterId reg, Value* value) override;
  bool masks_are_in_frame() const override { return true; }
  bool keeps_values() const override { return false; }
  void note_change(ptx::RegisterId reg) override { expanded_.erase(reg); }
  void find_eager_registers();
  void expand_into_frame(ptx::RegisterId reg);
  void splat(Value* place, Value* value);

  // Counts: where the caller looks.
  Value* executed() override;
  Value* idle() override;
  void publish_counts() override {}
  void note_segment() override { expanded_.clear(); }

  // Calls: light_calls.cpp.
  bool is_called(std::uint32_t instruction) const;
  void emit_called(const ptx::Instruction& at, std::uint32_t instruction);
  std::string native_name(const ptx::Instruction& at, std::uint32_t op) const;
  void call_compute_ops(const ptx::Instruction& at, std::uint32_t instruction);
  bool is_line(const ptx::Operand& operand) const;
  void compare_lines(const ptx::Instruction& at, std::uint32_t op);
  bool may_fault(std::uint32_t instruction) const override;
  void set_certain(bool certain) override { certain_ = certain; }
  void finish_call(llvm::CallInst& call, const LaneFunction& function) override;
  bool shuffles_here() const override { return job_.full; }
  void shuffle_lanes(const ptx::Instruction& at, ptx::RegisterId result,
                     const std::vector<int>& pick) override;

  // Memory: light_memory.cpp.
  void emit_access(const ptx::Instruction& at, std::uint32_t instruction) override;
  bool is_plain_transfer(const ptx::Instruction& at, const Address& address, unsigned size,
                         bool global) const;
  void load_light(const ptx::Instruction& at, const Address& address, Value* host);
  void store_light(const ptx::Instruction& at, const Address& address, Value* host);
  bool is_lane_access(const ptx::Instruction& at) const;
  Value* access_lanes(const ptx::Instruction& at, Value* base, Value* room, Value* host);
  void emit_lane_access(const ptx::Instruction& at, std::uint32_t instruction);
  Value* addresses_on_stack(Address& address) override;
  Value* turn_right(Value* value, unsigned bits) override;

  llvm::PHINode* left_ = nullptr;      // the number of the exit that is taken
  std::set<ptx::RegisterId> expanded_; // straight registers whose lanes the frame holds
  bool certain_ = true;                // what is emitted runs whenever the segment does
  std::vector<bool> eager_;            // by register: its lanes are always in the frame
  bool defining_ = false;              // an eager register is being written
  llvm::AllocaInst* addresses_ = nullptr;
};

} // namespace kernevo::jit
