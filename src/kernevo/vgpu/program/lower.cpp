#include "kernevo/vgpu/program/lower.h"

#include "kernevo/base/hash.h"
#include "kernevo/ptx/link.h"
#include "kernevo/ptx/names.h"
#include "kernevo/ptx/parse.h"
#include "kernevo/vgpu/analysis/liveness.h"
#include "kernevo/vgpu/execute/block.h"
#include "kernevo/vgpu/execute/launch.h"
#include "kernevo/vgpu/execute/leftovers.h"
#include "kernevo/vgpu/execute/warp_state.h"
#include "kernevo/vgpu/memory/address_windows.h"
#include "kernevo/vgpu/program/immediate.h"
#include "kernevo/vgpu/program/lowering.h"
#include "kernevo/vgpu/program/order.h"
#include "kernevo/vgpu/program/order_dependence.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <deque>
#include <fmt/format.h>
#include <optional>
#include <tuple>

namespace kernevo::vgpu {
namespace {

using ptx::Operand;
using ptx::Space;
using ptx::Special;
using ptx::Type;

std::uint32_t align_up(std::uint32_t value, std::uint32_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

using FamilyTable = std::array<FamilyLowering, 256>;

const FamilyTable& family_table() {
  static const FamilyTable table = [] {
    FamilyTable made{};
    for (const auto families :
         {ops::integer_families(), ops::bit_families(), ops::arithmetic_families(),
          ops::function_families(), ops::compare_families(), ops::move_families(),
          ops::memory_families(), ops::atomic_families(), ops::async_families(),
          ops::bulk_families(), ops::cluster_families(), ops::warp_families(),
          ops::texture_families(), ops::surface_families(), ops::stack_families(),
          ops::matrix_families(), ops::control_families()})
      for (const FamilyEntry& entry : families)
        made.at(static_cast<std::size_t>(entry.opcode)) = entry.lower;
    return made;
  }();
  return table;
}

// Where the variables of one function stand.
struct FrameLayout {
  std::map<std::string, Lowering::FrameVariable, std::less<>> variables;
  std::uint32_t local_bytes = 0;
};

FrameLayout lay_out_frame(const ptx::Function& function, Code& code) {
  FrameLayout layout;
  auto place = [](std::uint32_t& top, const ptx::Variable& variable) {
    top = align_up(top, std::max<std::uint32_t>(variable.alignment, 1));
    const std::uint32_t at = top;
    top += static_cast<std::uint32_t>(variable.bytes);
    return at;
  };
  auto in_frame = [&](const ptx::Variable& variable) {
    const std::uint32_t at = place(layout.local_bytes, variable);
    const auto bytes = static_cast<std::uint32_t>(variable.bytes);
    layout.variables[variable.name] = {false, variable.space == Space::local, at, bytes};
    return Code::FramePart{at, bytes};
  };
  std::uint32_t buffer = 0;
  for (const ptx::Variable& parameter : function.parameters) {
    if (function.is_entry) {
      const std::uint32_t at = place(buffer, parameter);
      layout.variables[parameter.name] = {true, false, at,
                                          static_cast<std::uint32_t>(parameter.bytes)};
      code.parameters.push_back({at, static_cast<std::uint32_t>(parameter.bytes)});
    } else {
      code.parameters.push_back(in_frame(parameter));
    }
  }
  for (const ptx::Variable& result : function.returns)
    code.returns.push_back(in_frame(result));
  for (const ptx::Variable& variable : function.variables)
    if (variable.space == Space::param || variable.space == Space::local)
      in_frame(variable);
  layout.local_bytes = align_up(layout.local_bytes, 16);
  return layout;
}

void read_clock(const Op& op, Warp& warp, LaneMask active) {
  std::uint64_t& clock = state_of(warp).block->clock;
  clock += 16;
  for_each_lane(active, [&](int lane) {
    if (op.immediate == 8)
      warp.lanes<std::uint64_t>(op.d)[lane] = clock;
    else
      warp.lanes<std::uint32_t>(op.d)[lane] = static_cast<std::uint32_t>(clock >> op.a);
  });
}

// Blocks begin at any time. How long ours take must not show: a kernel would see who executes it.
void read_timer(const Op& op, Warp& warp, LaneMask active) {
  constexpr std::uint64_t kDay = 1'790'000'000'000'000'000;
  constexpr std::uint64_t kLaunch = 1'000'000;
  BlockState& block = *state_of(warp).block;
  block.clock += 16;
  const std::uint64_t now =
      kDay + leftover_word(block.launch->options->order_seed, block.number) % kLaunch + block.clock;
  for_each_lane(active, [&](int lane) {
    if (op.immediate == 8)
      warp.lanes<std::uint64_t>(op.d)[lane] = now;
    else
      warp.lanes<std::uint32_t>(op.d)[lane] = static_cast<std::uint32_t>(now >> op.a);
  });
}

void negate_predicate(const Op& op, Warp& warp, LaneMask active) {
  LaneMask& result = warp.predicate(op.d);
  result = (result & ~active) | (~warp.predicate(op.a) & active);
}

void finish(const Op& /*op*/, Warp& /*warp*/, LaneMask /*active*/) {}

class FunctionLowering final : public Lowering {
public:
  FunctionLowering(Program& program, const std::vector<FrameLayout>& layouts, std::uint32_t index)
      : program_(program), layouts_(layouts), function_(program.module.functions[index]),
        code_(program.codes[index]) {}

  Result<void> run() {
    lay_out_registers();
    std::vector<std::uint32_t> first_op;
    first_op.reserve(function_.instructions.size() + 1);
    for (std::uint32_t i = 0; i < function_.instructions.size(); ++i) {
      const ptx::Instruction& instruction = function_.instructions[i];
      first_op.push_back(static_cast<std::uint32_t>(code_.ops.size()));
      const FamilyLowering lower_family =
          family_table()[static_cast<std::size_t>(instruction.opcode)];
      if (lower_family == nullptr)
        return tl::unexpected(
            unsupported(instruction, "the virtual GPU does not execute this instruction"));
      KERNEVO_CHECK(lower_family(*this, instruction));
      for (Op& op : pending_) {
        op.instruction = i;
        if (instruction.guard) {
          op.guard = registers_[instruction.guard->reg];
          op.guard_negated = instruction.guard->negated;
        }
        code_.ops.push_back(op);
      }
      pending_.clear();
    }
    first_op.push_back(static_cast<std::uint32_t>(code_.ops.size()));
    Op end;
    end.handler = finish;
    end.kind = OpKind::ret;
    end.instruction = function_.instructions.empty()
                          ? 0
                          : static_cast<std::uint32_t>(function_.instructions.size() - 1);
    code_.ops.push_back(end);

    for (Op& op : code_.ops)
      if (op.kind == OpKind::branch)
        op.target = first_op[op.target];
    for (const auto& detail : code_.details)
      if (auto* table = dynamic_cast<BranchTable*>(detail.get()))
        for (std::uint32_t& target : table->targets)
          target = first_op[target];
    code_.order = schedule_order(code_.ops);
    code_.register_slots = registers_;
    code_.first_op = std::move(first_op);
    find_unset_reads();
    code_.frame_bytes = align_up(std::max(top_, 1U), 64);
    return {};
  }

  const ptx::Module& module() const override { return program_.module; }
  const ptx::Function& function() const override { return function_; }
  Code& code() override { return code_; }

  Result<std::uint32_t> source(const ptx::Instruction& instruction, const Operand& operand,
                               Type type) override {
    switch (operand.kind) {
    case Operand::Kind::reg: {
      const Type declared = function_.registers[operand.reg].type;
      if ((declared == Type::pred) != (type == Type::pred) ||
          (type != Type::pred && ptx::bytes_of(declared) != ptx::bytes_of(type)))
        return tl::unexpected(
            unsupported(instruction, fmt::format("register {} is .{}, .{} is needed",
                                                 function_.registers[operand.reg].name,
                                                 ptx::name_of(declared), ptx::name_of(type))));
      if (!operand.negated)
        return registers_[operand.reg];
      if (type != Type::pred)
        return tl::unexpected(unsupported(instruction, "only a predicate can be negated with '!'"));
      const std::uint32_t slot = predicate_slot();
      Op& op = emit(negate_predicate, OpKind::compute);
      op.d = slot;
      op.a = registers_[operand.reg];
      return slot;
    }
    case Operand::Kind::integer:
    case Operand::Kind::real32:
    case Operand::Kind::real64: return constant(instruction, operand, type);
    case Operand::Kind::special: return special(instruction, operand.special, type);
    case Operand::Kind::symbol: return symbol(instruction, operand, type);
    case Operand::Kind::sink: return scratch(type);
    default:
      return tl::unexpected(unsupported(instruction, "this operand cannot be read as one value"));
    }
  }

  Result<std::uint32_t> destination(const ptx::Instruction& instruction, const Operand& operand,
                                    Type type) override {
    if (operand.kind == Operand::Kind::sink)
      return scratch(type);
    if (operand.kind != Operand::Kind::reg || operand.negated)
      return tl::unexpected(unsupported(instruction, "the destination must be a register"));
    return source(instruction, operand, type);
  }

  Type register_type(const Operand& operand) const override {
    return operand.kind == Operand::Kind::reg ? function_.registers[operand.reg].type : Type::none;
  }

  std::uint32_t temporary(std::uint32_t bytes) override {
    const std::uint32_t at = align_up(top_, 64);
    top_ = at + (bytes == 0 ? 4 : bytes * kWarpSize);
    return at;
  }

  Op& emit(Handler handler, OpKind kind) override {
    Op& op = pending_.emplace_back();
    op.handler = handler;
    op.kind = kind;
    return op;
  }

  const Detail* keep(std::unique_ptr<Detail> detail) override {
    return code_.details.emplace_back(std::move(detail)).get();
  }

  std::optional<FrameVariable> frame_variable(std::string_view name) const override {
    const auto& variables = layouts_[code_.index].variables;
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  }

  std::optional<std::uint32_t> function_index(std::string_view name) const override {
    const auto found = program_.function_of.find(name);
    return found == program_.function_of.end() ? std::nullopt : std::optional(found->second);
  }

  Error unsupported(const ptx::Instruction& instruction, std::string message) const override {
    std::string text(ptx::name_of(instruction.opcode));
    for (const ptx::Mod modifier : instruction.modifiers)
      text += fmt::format(".{}", ptx::name_of(modifier));
    for (const Type type : instruction.types)
      text += fmt::format(".{}", ptx::name_of(type));
    return Error{ErrorCode::unsupported, fmt::format("instruction '{}': {}", text, message),
                 Place{program_.file, static_cast<int>(instruction.line), 0}, ""};
  }

private:
  void find_unset_reads() {
    if (carry_slot() != kNone)
      code_.read_unset.push_back({carry_slot(), sizeof(LaneMask)});
    if (function_.instructions.empty())
      return;
    const auto flow = analysis::find_flow(code_);
    const auto liveness = analysis::find_liveness(code_, flow);
    for (const std::uint32_t reg : liveness.live_in.front().members()) {
      const Type type = function_.registers[reg].type;
      const auto lane_bytes = static_cast<std::uint32_t>(ptx::bytes_of(type));
      code_.read_unset.push_back(
          {code_.register_slots[reg], type == Type::pred ? 4 : lane_bytes * kWarpSize});
    }
  }

  void lay_out_registers() {
    // Predicates first: they are one word each and share cache lines.
    registers_.resize(function_.registers.size());
    for (std::size_t i = 0; i < registers_.size(); ++i)
      if (function_.registers[i].type == Type::pred)
        registers_[i] = predicate_slot();
    for (std::size_t i = 0; i < registers_.size(); ++i)
      if (function_.registers[i].type != Type::pred)
        registers_[i] =
            temporary(static_cast<std::uint32_t>(ptx::bytes_of(function_.registers[i].type)));
  }

  std::uint32_t predicate_slot() {
    const std::uint32_t at = align_up(top_, 4);
    top_ = at + 4;
    return at;
  }

  std::uint32_t scratch(Type type) {
    const std::uint32_t bytes =
        type == Type::pred ? 0 : static_cast<std::uint32_t>(ptx::bytes_of(type));
    auto& slot = scratch_[bytes];
    if (!slot)
      slot = bytes == 0 ? predicate_slot() : temporary(bytes);
    return *slot;
  }

  Result<std::uint32_t> constant(const ptx::Instruction& instruction, const Operand& operand,
                                 Type type) {
    const auto size = type == Type::pred ? 0U : static_cast<std::uint32_t>(ptx::bytes_of(type));
    if (size > 8)
      return tl::unexpected(unsupported(instruction, "a 128-bit operand must be a register"));
    const std::uint64_t bits = immediate_bits(operand, type);
    const auto key = std::tuple(size, bits);
    const auto found = constants_.find(key);
    if (found != constants_.end())
      return found->second;
    const std::uint32_t slot = size == 0 ? predicate_slot() : temporary(size);
    code_.constants.push_back({slot, size, bits});
    constants_[key] = slot;
    return slot;
  }

  Result<std::uint32_t> special(const ptx::Instruction& instruction, Special which, Type type) {
    // A predicate's slot is a lane mask, of size 0.
    const auto size = type == Type::pred ? 0U : static_cast<std::uint32_t>(ptx::bytes_of(type));
    if ((type == Type::pred) != (ptx::type_of(which) == Type::pred) ||
        (size != 0 && size != 2 && size != 4 && size != 8))
      return tl::unexpected(unsupported(instruction, "a special register is 32 or 64 bits wide"));
    const bool clock =
        which == Special::clock || which == Special::clock_hi || which == Special::clock64;
    const bool timer = which == Special::globaltimer || which == Special::globaltimer_lo ||
                       which == Special::globaltimer_hi;
    if (clock || timer) {
      if (size == 2)
        return tl::unexpected(unsupported(instruction, "a clock is 32 or 64 bits wide"));
      const std::uint32_t slot = temporary(size);
      Op& op = emit(clock ? read_clock : read_timer, OpKind::compute);
      op.d = slot;
      op.immediate = size;
      op.a = which == Special::clock_hi || which == Special::globaltimer_hi ? 32 : 0;
      return slot;
    }
    const auto key = std::tuple(which, size);
    const auto found = specials_.find(key);
    if (found != specials_.end())
      return found->second;
    const std::uint32_t slot = size == 0 ? predicate_slot() : temporary(size);
    code_.specials.push_back({slot, size, which});
    specials_[key] = slot;
    return slot;
  }

  Result<std::uint32_t> symbol(const ptx::Instruction& instruction, const Operand& operand,
                               Type type) {
    const auto size = static_cast<std::uint32_t>(ptx::bytes_of(type));
    if (size != 4 && size != 8)
      return tl::unexpected(unsupported(instruction, "an address is 32 or 64 bits wide"));
    Code::SymbolSlot wanted;
    wanted.size = size;
    wanted.addend = operand.offset;
    if (const auto variable = frame_variable(operand.name)) {
      if (variable->kernel_parameter) {
        Operand offset;
        offset.kind = Operand::Kind::integer;
        offset.bits = variable->offset + static_cast<std::uint64_t>(operand.offset);
        auto slot = constant(instruction, offset, size == 4 ? Type::u32 : Type::u64);
        if (slot)
          code_.symbol_slots[{operand.name, operand.offset, size}] = *slot;
        return slot;
      }
      wanted.kind = variable->local ? Code::SymbolKind::local : Code::SymbolKind::param;
      wanted.addend += variable->offset;
    } else if (const auto global = program_.variable_of.find(operand.name);
               global != program_.variable_of.end()) {
      wanted.symbol = global->second;
      const ptx::Variable& declared = *program_.variables[wanted.symbol];
      if (declared.is_extern && declared.space != Space::shared)
        return tl::unexpected(unsupported(
            instruction,
            fmt::format("variable '{}' is .extern, and no module defines it", declared.name)));
      if (program_.variables[wanted.symbol]->space == Space::shared)
        note(code_.shared_variables, wanted.symbol);
    } else if (const auto called = function_index(operand.name)) {
      // A kernel's address is for launching it.
      if (!program_.module.functions[*called].is_entry)
        note(code_.callees, *called);
      Operand handle;
      handle.kind = Operand::Kind::integer;
      handle.bits = kFunctionWindow + *called;
      auto slot = constant(instruction, handle, Type::u64);
      if (slot)
        code_.symbol_slots[{operand.name, operand.offset, size}] = *slot;
      return slot;
    } else {
      return tl::unexpected(
          unsupported(instruction, fmt::format("unknown name '{}'", operand.name)));
    }
    const auto key = std::tuple(wanted.kind, wanted.symbol, wanted.addend, size);
    const auto found = symbols_.find(key);
    if (found != symbols_.end()) {
      code_.symbol_slots[{operand.name, operand.offset, size}] = found->second;
      return found->second;
    }
    wanted.offset = temporary(size);
    code_.symbol_slots[{operand.name, operand.offset, size}] = wanted.offset;
    code_.symbols.push_back(wanted);
    symbols_[key] = wanted.offset;
    return wanted.offset;
  }

  static void note(std::vector<std::uint32_t>& list, std::uint32_t value) {
    if (std::find(list.begin(), list.end(), value) == list.end())
      list.push_back(value);
  }

  Program& program_;
  const std::vector<FrameLayout>& layouts_;
  const ptx::Function& function_;
  Code& code_;
  std::vector<std::uint32_t> registers_;
  std::deque<Op> pending_; // families may keep a reference while others are emitted
  std::uint32_t top_ = 0;
  std::map<std::tuple<std::uint32_t, std::uint64_t>, std::uint32_t> constants_;
  std::map<std::tuple<Special, std::uint32_t>, std::uint32_t> specials_;
  std::map<std::tuple<Code::SymbolKind, std::uint32_t, std::int64_t, std::uint32_t>, std::uint32_t>
      symbols_;
  std::map<std::uint32_t, std::optional<std::uint32_t>> scratch_;
};

// The smallest access of an instruction, 0 when it makes none that races are tracked for.
std::uint32_t access_bytes(const ptx::Instruction& instruction) {
  using ptx::Opcode;
  switch (instruction.opcode) {
  case Opcode::ld:
  case Opcode::st:
  case Opcode::ldu:
  case Opcode::atom:
  case Opcode::red:
    return instruction.space == Space::param || instruction.space == Space::local
               ? 0
               : static_cast<std::uint32_t>(ptx::bytes_of(instruction.type()) *
                                            std::max(instruction.vector_width, 1));
  case Opcode::wmma_load:
  case Opcode::wmma_store:
    return static_cast<std::uint32_t>(std::max(ptx::bytes_of(instruction.type()), 1));
  case Opcode::cp_async: return 4;
  case Opcode::cp_async_bulk_tensor:
  case Opcode::cp_reduce_async_bulk_tensor: return 2; // see bulk_memory.cpp for single bytes
  case Opcode::cp_reduce_async_bulk:
    return static_cast<std::uint32_t>(ptx::bytes_of(instruction.type()));
  default: return 0;
  }
}

} // namespace

const ptx::Instruction& Program::instruction_of(std::uint32_t tag, const Code** code) const {
  const auto after =
      std::upper_bound(codes.begin(), codes.end(), tag,
                       [](std::uint32_t value, const Code& c) { return value < c.first_tag; });
  const Code& owner = *std::prev(after);
  if (code != nullptr)
    *code = &owner;
  return owner.function->instructions[tag - owner.first_tag];
}

Result<std::shared_ptr<const Program>> lower(ptx::Module module, const std::string& file,
                                             std::string text_hash) {
  static std::atomic<std::uint64_t> next_id = 0;
  auto program = std::make_shared<Program>();
  program->id = ++next_id;
  program->file = file;
  program->text_hash = std::move(text_hash);
  program->module = std::move(module);

  auto add_variable = [&](const ptx::Variable& variable) {
    if (variable.space != Space::global && variable.space != Space::constant &&
        variable.space != Space::shared)
      return;
    program->variable_of[variable.name] = static_cast<std::uint32_t>(program->variables.size());
    program->variables.push_back(&variable);
  };
  for (const ptx::Variable& variable : program->module.variables)
    add_variable(variable);
  std::vector<FrameLayout> layouts;
  std::uint32_t tag = 0;
  program->codes.resize(program->module.functions.size());
  for (std::uint32_t i = 0; i < program->codes.size(); ++i) {
    const ptx::Function& function = program->module.functions[i];
    Code& code = program->codes[i];
    code.function = &function;
    code.index = i;
    code.first_tag = tag;
    tag += static_cast<std::uint32_t>(function.instructions.size());
    layouts.push_back(lay_out_frame(function, code));
    code.local_bytes = layouts.back().local_bytes;
    for (const ptx::Variable& variable : function.variables)
      add_variable(variable);
    // A definition wins over its forward declaration.
    if (!function.is_declaration || !program->function_of.contains(function.name))
      program->function_of[function.name] = i;
    for (const ptx::Instruction& instruction : function.instructions)
      if (const std::uint32_t bytes = access_bytes(instruction); bytes != 0)
        program->granule = std::min(program->granule, bytes);
  }
  for (const auto& [other, function] : program->module.aliases)
    program->function_of[other] = program->function_of.at(function);
  for (std::uint32_t i = 0; i < program->codes.size(); ++i)
    if (!program->module.functions[i].is_declaration) {
      KERNEVO_CHECK(FunctionLowering(*program, layouts, i).run());
      note_order(program->codes[i]);
    }
  return program;
}

Result<std::shared_ptr<const Program>> load_program(std::string_view ptx, const std::string& file) {
  KERNEVO_TRY(module, ptx::parse(ptx, file));
  return lower(std::move(module), file, sha256_hex(ptx));
}

Result<std::shared_ptr<const Program>> load_program(const std::vector<std::string>& modules,
                                                    const std::string& file) {
  if (modules.size() == 1)
    return load_program(modules.front(), file);
  std::vector<ptx::Module> parsed;
  std::string hashes;
  for (std::size_t i = 0; i < modules.size(); ++i) {
    KERNEVO_TRY(module, ptx::parse(modules[i], fmt::format("{}:{}", file, i)));
    parsed.push_back(std::move(module));
    hashes += sha256_hex(modules[i]);
  }
  KERNEVO_TRY(whole, ptx::link(std::move(parsed)));
  return lower(std::move(whole), file, sha256_hex(hashes));
}

} // namespace kernevo::vgpu
