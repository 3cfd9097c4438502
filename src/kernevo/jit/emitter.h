// The emitter's own view: one function being written, instruction by instruction.
#pragma once

#include "kernevo/jit/emit.h"
#include "kernevo/jit/lane_functions.h"

#include <array>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kernevo::jit {

using llvm::Value;

inline constexpr unsigned kLanes = vgpu::kWarpSize;

// Where the lanes of a memory instruction point.
struct Address {
  bool straight = false;
  bool narrow = false;       // 32 bits wide
  unsigned group = kLanes;   // straight: lanes with one base
  std::int64_t stride = 0;   // bytes from lane to lane
  std::vector<Value*> bases; // i64, of the first lane of each group
  Value* lanes = nullptr;    // <32 x i64>, always there on demand through Emitter::address_lanes

  // Bytes from the first to the last of a group.
  std::uint64_t span(unsigned size) const {
    const std::uint64_t distance =
        stride < 0 ? static_cast<std::uint64_t>(-stride) : static_cast<std::uint64_t>(stride);
    return straight ? distance * (group - 1) + size : size;
  }
};

inline bool is_real(ptx::Type type) {
  return type == ptx::Type::f32 || type == ptx::Type::f64;
}

// Where an ld or st goes.
const ptx::Operand& address_operand(const ptx::Instruction& at);

class Emitter {
public:
  Emitter(llvm::LLVMContext& context, const vgpu::CompileJob& job, const Plan& plan);
  std::unique_ptr<llvm::Module> run();

private:
  using Builder = llvm::IRBuilder<>;
  using Operands = std::vector<Value*>;

  // emitter.cpp: blocks, entries, exits.
  void begin_function();
  void load_context();
  void emit_entries();
  void emit_exit(std::uint32_t number);
  void begin_segment(std::uint32_t instruction);
  void emit_instruction(std::uint32_t instruction);
  void expand_eager(std::uint32_t instruction);
  void emit_branch(std::uint32_t instruction);
  void emit_barrier(std::uint32_t instruction);
  void emit_leave(std::uint32_t instruction);
  void require_lanes(std::uint32_t instruction);
  void leave_unless(Value* condition, std::uint32_t instruction);
  void respect_limit(std::uint32_t instruction);
  llvm::BasicBlock* way_to_target(std::uint32_t instruction);
  void count_instruction(std::uint32_t instruction);
  void flush_count();
  void publish_counts();
  Value* executed();
  Value* idle();
  std::uint32_t target_of(std::uint32_t instruction) const;
  llvm::BasicBlock* exit_block(std::uint32_t instruction);
  llvm::BasicBlock* segment_at(std::uint32_t instruction);
  llvm::BasicBlock* new_block(const char* name);
  std::uint32_t ops_of(std::uint32_t instruction) const;

  // registers.cpp: registers and operands.
  void make_homes();
  Value* home(ptx::RegisterId reg, unsigned index = 0);
  llvm::Type* element(ptx::Type type) const;
  llvm::VectorType* lanes_of(llvm::Type* type) const;
  const vgpu::analysis::Shape& shape(ptx::RegisterId reg) const {
    return plan_.shapes.registers[reg];
  }
  vgpu::analysis::Shape shape(const ptx::Operand& operand) const;
  bool is_uniform(const ptx::Operand& operand) const;
  Value* constant(const ptx::Operand& operand, ptx::Type type);
  // The value in the first lane of group `index`, for groups of `group` lanes.
  Value* first_lane(const ptx::Operand& operand, ptx::Type type, unsigned group, unsigned index);
  Value* scalar(const ptx::Operand& operand, ptx::Type type) {
    return first_lane(operand, type, kLanes, 0);
  }
  Value* vector(const ptx::Operand& operand, ptx::Type type);
  Value* expand(const std::vector<Value*>& bases, std::int64_t stride, unsigned group);
  Value* read_slot(std::uint32_t slot, llvm::Type* type, unsigned lane);
  Value* frame_lanes(std::uint32_t slot, llvm::Type* type);
  Value* as(Value* value, llvm::Type* element);
  // Predicates: a uniform one as i1, any as a mask of lanes.
  Value* flag(const ptx::Operand& operand);
  Value* mask(const ptx::Operand& operand);
  Value* mask_of_flag(Value* flag);
  Value* lanes_of_mask(Value* mask);
  Value* mask_of_lanes(Value* lanes);
  bool is_flag(const ptx::Operand& operand) const;
  void write_scalar(ptx::RegisterId reg, unsigned index, Value* value);
  void write_vector(ptx::RegisterId reg, Value* value);
  void write_predicate(const ptx::Operand& operand, Value* value); // i1 or mask as it comes
  // Calls make(operands) once on vectors or on the first lane of each group, as the result's shape
  // wants, and writes the result.
  template <class Make>
  void compute(ptx::RegisterId result, const std::vector<const ptx::Operand*>& from,
               const std::vector<ptx::Type>& types, Make&& make);
  void store_for_handler(ptx::RegisterId reg);
  void reload_from_handler(ptx::RegisterId reg);
  void load_at_entry(const vgpu::CompiledRegister& item);
  void store_at_exit(const vgpu::CompiledRegister& item);
  std::uint32_t slot_of(const ptx::Operand& operand, ptx::Type type) const;
  void find_canonical_registers();
  Value* canonical(Value* value);
  Value* canonical_read(Value* value, ptx::RegisterId reg);
  Value* canonical_write(Value* value, ptx::RegisterId reg);

  // light.cpp and light_memory.cpp: what varies over the lanes, by calls.
  bool is_called(std::uint32_t instruction) const;
  void emit_called(const ptx::Instruction& at, std::uint32_t instruction);
  std::string native_name(const ptx::Instruction& at, std::uint32_t op) const;
  void call_native(const std::string& name, const Operands& arguments);
  void call_compute_ops(const ptx::Instruction& at, std::uint32_t instruction);
  bool is_line(const ptx::Operand& operand) const;
  void compare_lines(const ptx::Instruction& at, std::uint32_t op);
  void find_eager_registers();
  Value* in_frame(std::uint32_t slot);
  void expand_into_frame(ptx::RegisterId reg);
  void splat(Value* place, Value* value);
  void write_lanes(ptx::RegisterId reg, Value* value); // one value to every lane that runs
  void emit_light_memory(const ptx::Instruction& at, std::uint32_t instruction);
  bool is_plain_transfer(const ptx::Instruction& at, const Address& address, unsigned size,
                         bool global) const;
  void load_light(const ptx::Instruction& at, const Address& address, Value* host);
  void store_light(const ptx::Instruction& at, const Address& address, Value* host);
  bool is_lane_access(const ptx::Instruction& at) const;
  Value* access_lanes(const ptx::Instruction& at, Value* base, Value* room, Value* host);
  void emit_lane_access(const ptx::Instruction& at, std::uint32_t instruction);
  void emit_light_shuffle(const ptx::Instruction& at, const std::vector<int>& pick);

  // arithmetic.cpp and conversions.cpp
  void emit_arithmetic(const ptx::Instruction& at, std::uint32_t instruction);
  void emit_setp(const ptx::Instruction& at);
  void emit_selp(const ptx::Instruction& at);
  void emit_cvt(const ptx::Instruction& at, std::uint32_t instruction);
  void emit_mov(const ptx::Instruction& at);
  void emit_cvta(const ptx::Instruction& at);
  void emit_predicate_logic(const ptx::Instruction& at);
  void emit_lane_function(const ptx::Instruction& at, const LaneFunction& function);
  void check_widening(const ptx::Instruction& at, std::uint32_t instruction);
  Value* operand_as_declared(const ptx::Operand& operand, ptx::Type type, unsigned group,
                             unsigned index);
  Value* compare(const ptx::Instruction& at, Value* a, Value* b);
  Value* arithmetic(const ptx::Instruction& at, const Operands& operands);
  Value* extremum(bool maximum, Value* a, Value* b);
  Value* flush(Value* value);
  Value* shift(const ptx::Instruction& at, Value* a, Value* amount);

  // memory.cpp and transfer.cpp
  void emit_memory(const ptx::Instruction& at, std::uint32_t instruction);
  void emit_checked_memory(const ptx::Instruction& at, std::uint32_t instruction);
  void emit_check(const AccessCheck& check, const Address& address, Value* hit);
  void call_mark(Value* hit, Address& address, unsigned size);
  void call_find(Value* hit, const Address& address, std::uint64_t span, unsigned size, bool store);
  void emit_parameter_load(const ptx::Instruction& at);
  Address address_of(const ptx::Operand& operand, unsigned size);
  Value* lowest_lane(const Address& address, Value* base);
  Value* hit_of(std::uint32_t instruction);
  Value* is_inside(Address& address, Value* hit, std::uint64_t span, unsigned size);
  void transfer(const ptx::Instruction& at, Address& address, Value* hit, unsigned size);
  Value* address_lanes(Address& address);
  Value* fits(Address& address, Value* base, Value* room, unsigned size);
  void load_lanes(const ptx::Instruction& at, Address& address, Value* host, unsigned size);
  void store_lanes(const ptx::Instruction& at, Address& address, Value* host, unsigned size);
  void write_loaded(const ptx::Instruction& at, std::size_t element, Value* value);
  Value* stored_value(const ptx::Instruction& at, std::size_t element, bool wanted_vector);
  void mark_stored(Value* hit, Address& address, unsigned size);
  bool counts_simply(const Address& address) const;
  void count_access(const ptx::Instruction& at, Address& address, unsigned size);
  Value* shared_room(std::uint64_t span, unsigned size);
  std::vector<const ptx::Operand*> data_operands(const ptx::Instruction& at) const;
  Value* addresses_on_stack(Address& address);
  Value* expanded_addresses(const Address& address);
  Value* concatenate(Value* a, unsigned have, Value* b, unsigned more);
  Value* service(std::size_t offset);

  // handlers.cpp
  void emit_handler(std::uint32_t instruction);
  void call_handlers(std::uint32_t instruction);
  void emit_exchange(const ptx::Instruction& at, std::uint32_t instruction);
  void emit_shuffle(const ptx::Instruction& at);
  llvm::AllocaInst* stack(llvm::Type* type, const char* name);
  llvm::BasicBlock* fault_block();

  Value* field(std::size_t offset, llvm::Type* type, const char* name);
  llvm::Constant* i32(std::uint32_t value) { return b_.getInt32(value); }
  llvm::Constant* i64(std::uint64_t value) { return b_.getInt64(value); }
  Value* active(); // lanes for which the current instruction acts
  const vgpu::Op& first_op(std::uint32_t instruction) const {
    return code_.ops[code_.first_op[instruction]];
  }

  const vgpu::CompileJob& job_;
  const Plan& plan_;
  const vgpu::Code& code_;
  const ptx::Function& source_;
  llvm::LLVMContext& context_;
  std::unique_ptr<llvm::Module> module_;
  llvm::Function* function_ = nullptr;
  Builder b_;
  Builder prologue_; // values that hold for the whole activation
  llvm::BasicBlock* prologue_block_ = nullptr;

  Value* context_pointer_ = nullptr;
  Value* frame_ = nullptr;
  Value* warp_ = nullptr;
  Value* ops_ = nullptr;
  Value* shared_ = nullptr;
  Value* shared_bytes_ = nullptr;
  Value* parameters_ = nullptr;
  Value* hits_ = nullptr;
  Value* scalars_ = nullptr;
  Value* services_ = nullptr;
  Value* counters_ = nullptr;
  Value* mask_ = nullptr;
  Value* limit_ = nullptr;
  llvm::AllocaInst* executed_ = nullptr;
  llvm::AllocaInst* idle_ = nullptr;

  std::vector<std::array<llvm::AllocaInst*, 4>> homes_; // by register
  std::vector<bool> canonical_later_;                   // by register
  std::map<std::uint32_t, llvm::BasicBlock*> segments_; // by instruction
  std::map<std::uint32_t, llvm::BasicBlock*> exits_;    // by exit number
  std::map<std::pair<std::uint32_t, unsigned>, Value*> slot_values_;
  std::map<std::pair<std::uint64_t, unsigned>, Value*> shared_rooms_;
  Value* guard_mask_ = nullptr; // of the instruction being written; null = none
  Value* guard_flag_ = nullptr;
  llvm::BasicBlock* fault_ = nullptr;
  llvm::PHINode* left_ = nullptr;      // light code: the number of the exit that is taken
  Value* width_ = nullptr;             // lanes that run
  std::set<ptx::RegisterId> expanded_; // light code: straight registers whose lanes the frame holds
  bool certain_ = true;                // light code: what is emitted runs whenever the segment does
  std::vector<bool> eager_;            // light code, by register: its lanes are always in the frame
  bool defining_ = false;              // light code: an eager register is being written
  llvm::AllocaInst* addresses_ = nullptr;
  std::uint64_t pending_ = 0; // ops emitted since executed_ was updated
  bool raw_nan_ = false;      // operands are read by arithmetic, to which all NaN are alike
  bool raw_result_ = false;   // the result may be any NaN
  bool reachable_ = true;
};

template <class Make>
void Emitter::compute(ptx::RegisterId result, const std::vector<const ptx::Operand*>& from,
                      const std::vector<ptx::Type>& types, Make&& make) {
  const auto& wanted = shape(result);
  if (plan_.home[result] == Home::scalar) {
    const unsigned group = wanted.group;
    for (unsigned index = 0; index < kLanes / group; ++index) {
      Operands values;
      for (std::size_t i = 0; i < from.size(); ++i)
        values.push_back(first_lane(*from[i], types[i], group, index));
      write_scalar(result, index, make(values));
    }
    return;
  }
  Operands values;
  for (std::size_t i = 0; i < from.size(); ++i)
    values.push_back(vector(*from[i], types[i]));
  write_vector(result, make(values));
}

} // namespace kernevo::jit
