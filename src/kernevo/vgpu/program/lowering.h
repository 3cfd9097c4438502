// Typed PTX -> executable ops. This file is what the instruction families (vgpu/ops) see of it.
#pragma once

#include "kernevo/vgpu/program/program.h"

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace kernevo::vgpu {

class Lowering {
public:
  virtual ~Lowering() = default;

  virtual const ptx::Module& module() const = 0;
  virtual const ptx::Function& function() const = 0;

  // Frame offset of an operand read as `type`: the register's slot (its size must equal the
  // type's), a slot with the immediate converted to `type`, or a special register's slot. A
  // predicate operand gives the offset of its lane mask; a negated one gets a mask of its own kept
  // up to date by an op emitted before this instruction.
  virtual Result<std::uint32_t> source(const ptx::Instruction& instruction,
                                       const ptx::Operand& operand, ptx::Type type) = 0;
  // The same for a register that is written. The sink '_' gives a scratch slot.
  virtual Result<std::uint32_t> destination(const ptx::Instruction& instruction,
                                            const ptx::Operand& operand, ptx::Type type) = 0;
  // Declared type of a register operand; Type::none for anything else. For ld, st, cvt and others
  // whose register may be wider than the instruction's type.
  virtual ptx::Type register_type(const ptx::Operand& operand) const = 0;
  // A fresh slot of 32 lanes x `bytes`.
  virtual std::uint32_t temporary(std::uint32_t bytes) = 0;

  // Appends an op for this instruction; guard and places are filled in by the driver.
  virtual Op& emit(Handler handler, OpKind kind = OpKind::compute) = 0;
  // The carry flags of add.cc and its kin: a lane mask per function, made on first use.
  std::uint32_t carry_flags() {
    if (carry_owner_ != &function()) {
      carry_owner_ = &function();
      carry_flags_ = temporary(sizeof(LaneMask));
    }
    return carry_flags_;
  }

  std::uint32_t carry_slot() const { return carry_flags_; } // kNone: not used

  // Keeps a detail record alive as long as the code.
  virtual const Detail* keep(std::unique_ptr<Detail> detail) = 0;

  // A variable that lives in the frame (.local, .param of the body or of a .func) or, for a kernel,
  // in the parameter buffer.
  struct FrameVariable {
    bool kernel_parameter = false;
    bool local = false;
    std::uint32_t offset = 0;
    std::uint32_t bytes = 0;
  };
  virtual std::optional<FrameVariable> frame_variable(std::string_view name) const = 0;
  virtual std::optional<std::uint32_t> function_index(std::string_view name) const = 0;
  virtual Code& code() = 0;

  // "file:line: instruction 'text': message" for something this tier cannot do.
  virtual Error unsupported(const ptx::Instruction& instruction, std::string message) const = 0;

private:
  const ptx::Function* carry_owner_ = nullptr;
  std::uint32_t carry_flags_ = kNone;
};

using FamilyLowering = Result<void> (*)(Lowering& lowering, const ptx::Instruction& instruction);

struct FamilyEntry {
  ptx::Opcode opcode;
  FamilyLowering lower;
};

// The meaning of every instruction: one list per file of vgpu/ops.
namespace ops {
std::span<const FamilyEntry>
integer_families(); // integer only: rem, sad, carry chains, dp4a, mad24, ...
std::span<const FamilyEntry> bit_families(); // and, or, shl, shf, lop3, prmt, bfe, bfi, popc, ...
std::span<const FamilyEntry>
arithmetic_families(); // add, sub, mul, mad, fma, div, min, max, abs, neg: dispatch on the type
std::span<const FamilyEntry>
function_families(); // rcp, sqrt, rsqrt, ex2, lg2, sin, cos, tanh, copysign
std::span<const FamilyEntry> compare_families(); // setp, set, selp, slct, testp
std::span<const FamilyEntry> move_families();    // mov, cvt, cvta, isspacep
std::span<const FamilyEntry> memory_families();  // ld, st, prefetch, fences
std::span<const FamilyEntry> atomic_families();  // atom, red
std::span<const FamilyEntry> async_families();   // cp.async, mbarrier
std::span<const FamilyEntry> bulk_families();    // cp.async.bulk, tensor copies, tensormap
std::span<const FamilyEntry> cluster_families(); // barrier.cluster, mapa, getctarank
std::span<const FamilyEntry> warp_families(); // shfl, vote, match, redux, activemask, bar.warp.sync
std::span<const FamilyEntry> texture_families(); // tex, tld4, txq, suq, istypep
std::span<const FamilyEntry> surface_families(); // suld, sust, sured
std::span<const FamilyEntry> stack_families();   // alloca, stacksave, stackrestore
std::span<const FamilyEntry> matrix_families();  // mma, wmma, ldmatrix, movmatrix
std::span<const FamilyEntry>
control_families(); // bra, call, ret, exit, bar, barrier, trap, nanosleep
} // namespace ops

} // namespace kernevo::vgpu
