// Code for LLVM to improve: registers are stack slots, which sroa turns into values; what varies
// over the lanes is a vector of 32.
#pragma once

#include "kernevo/jit/emit/emitter.h"

#include <array>
#include <vector>

namespace kernevo::jit {

class ThoroughEmitter final : public Emitter {
public:
  using Emitter::Emitter;

private:
  void prepare() override;
  llvm::BasicBlock* entry_block(std::uint32_t instruction) override;
  void emit_exit(std::uint32_t number) override;

  // Registers.
  void make_homes();
  void find_canonical_registers();
  void load_at_entry(const vgpu::CompiledRegister& item);
  void store_at_exit(const vgpu::CompiledRegister& item);
  Value* home(ptx::RegisterId reg, unsigned index = 0) override;
  Value* varying_lane(ptx::RegisterId reg, unsigned lane) override;
  void put_lanes_in_frame(const ptx::Operand& operand, Value* slot) override;
  void write_to_all(ptx::RegisterId reg, Value* value) override;
  bool masks_are_in_frame() const override { return false; }
  bool keeps_values() const override { return true; }
  void shuffle_lanes(const ptx::Instruction& at, ptx::RegisterId result,
                     const std::vector<int>& pick) override;

  // Counts: in stack slots too, published where the code leaves.
  Value* executed() override { return executed_; }
  Value* idle() override { return idle_; }
  void publish_counts() override;

  // thorough_memory.cpp
  void emit_access(const ptx::Instruction& at, std::uint32_t instruction) override;
  void emit_checked_memory(const ptx::Instruction& at, std::uint32_t instruction);
  void transfer(const ptx::Instruction& at, Address& address, Value* hit, unsigned size);
  void load_lanes(const ptx::Instruction& at, Address& address, Value* host, unsigned size);
  void store_lanes(const ptx::Instruction& at, Address& address, Value* host, unsigned size);
  Value* concatenate(Value* a, unsigned have, Value* b, unsigned more);
  Value* addresses_on_stack(Address& address) override;
  Value* turn_right(Value* value, unsigned bits) override;

  std::vector<std::array<llvm::AllocaInst*, 4>> homes_; // by register
  llvm::AllocaInst* executed_ = nullptr;
  llvm::AllocaInst* idle_ = nullptr;
};

} // namespace kernevo::jit
