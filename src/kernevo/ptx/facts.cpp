#include "kernevo/ptx/facts.h"

#include "kernevo/ptx/parse.h"

#include <algorithm>
#include <set>

namespace kernevo::ptx {
namespace {

bool is_atomic(Opcode opcode) {
  switch (opcode) {
  case Opcode::atom:
  case Opcode::red:
  case Opcode::red_async:
  case Opcode::cp_reduce_async_bulk:
  case Opcode::cp_reduce_async_bulk_tensor:
  case Opcode::sured_b:
  case Opcode::sured_p: return true;
  default: return false;
  }
}

// Copies and the waiting for them.
bool is_async_copy(Opcode opcode) {
  switch (opcode) {
  case Opcode::cp_async:
  case Opcode::cp_async_commit_group:
  case Opcode::cp_async_wait_group:
  case Opcode::cp_async_wait_all:
  case Opcode::cp_async_mbarrier_arrive:
  case Opcode::cp_async_bulk:
  case Opcode::cp_async_bulk_tensor:
  case Opcode::cp_async_bulk_commit_group:
  case Opcode::cp_async_bulk_wait_group:
  case Opcode::cp_async_bulk_prefetch:
  case Opcode::cp_async_bulk_prefetch_tensor: return true;
  default: return false;
  }
}

bool is_block_barrier(Opcode opcode) {
  switch (opcode) {
  case Opcode::bar_sync:
  case Opcode::bar_arrive:
  case Opcode::bar_red:
  case Opcode::barrier_sync:
  case Opcode::barrier_arrive:
  case Opcode::barrier_red:
  case Opcode::mbarrier_arrive:
  case Opcode::mbarrier_arrive_drop:
  case Opcode::mbarrier_test_wait:
  case Opcode::mbarrier_try_wait: return true;
  default: return false;
  }
}

bool is_cluster(const Instruction& instruction) {
  switch (instruction.opcode) {
  case Opcode::barrier_cluster_arrive:
  case Opcode::barrier_cluster_wait:
  case Opcode::mapa:
  case Opcode::getctarank:
  case Opcode::red_async: return true;
  // A copy names its own block's memory this way, too, unless it goes to several.
  case Opcode::cp_async_bulk:
  case Opcode::cp_async_bulk_tensor: return instruction.has(Mod::multicast_cluster);
  case Opcode::ld:
  case Opcode::st:
  case Opcode::atom:
  case Opcode::red: return instruction.has(Mod::shared_cluster);
  default: return false;
  }
}

bool is_image(Opcode opcode) {
  switch (opcode) {
  case Opcode::tex:
  case Opcode::tld4:
  case Opcode::txq:
  case Opcode::suld_b:
  case Opcode::suq:
  case Opcode::sured_b:
  case Opcode::sured_p:
  case Opcode::sust_b:
  case Opcode::sust_p: return true;
  default: return false;
  }
}

bool may_leave_block(const Instruction& instruction) {
  return (instruction.space != Space::shared && instruction.space != Space::local) ||
         instruction.has(Mod::shared_cluster);
}

bool is_strong_load(const Instruction& instruction) {
  return instruction.opcode == Opcode::ld &&
         (instruction.space == Space::global || instruction.space == Space::generic) &&
         (instruction.has(Mod::volatile_) || instruction.has(Mod::relaxed) ||
          instruction.has(Mod::acquire) || instruction.has(Mod::mmio));
}

bool is_device_fence(const Instruction& instruction) {
  return (instruction.opcode == Opcode::membar || instruction.opcode == Opcode::fence) &&
         (instruction.has(Mod::gl) || instruction.has(Mod::gpu) || instruction.has(Mod::sys));
}

int global_bytes(const Instruction& instruction) {
  switch (instruction.opcode) {
  case Opcode::ld:
  case Opcode::ldu:
  case Opcode::st:
    return instruction.space == Space::global
               ? instruction.vector_width * bytes_of(instruction.type())
               : 0;
  case Opcode::cp_async: {
    constexpr std::size_t size_operand = 2;
    const bool told = instruction.operands.size() > size_operand &&
                      instruction.operands[size_operand].kind == Operand::Kind::integer;
    return told ? static_cast<int>(instruction.operands[size_operand].bits) : 0;
  }
  default: return 0;
  }
}

class Reader {
public:
  explicit Reader(const Module& module) {
    for (const Function& function : module.functions)
      if (!function.is_declaration)
        defined_.insert(function.name);
    for (const auto& [name, meant] : module.aliases)
      defined_.insert(name);
    for (const Function& function : module.functions)
      if (function.is_declaration && !defined_.contains(function.name))
        outside_.insert(function.name);
    note_variables(module.variables);
    for (const Function& function : module.functions)
      read(function);
  }

  const PtxFacts& facts() const { return facts_; }

private:
  void note_variables(const std::vector<Variable>& variables) {
    for (const Variable& variable : variables)
      facts_.shared_memory |= variable.space == Space::shared;
  }

  void read(const Function& function) {
    note_variables(function.variables);
    facts_.cluster |= function.required_cluster || function.explicit_cluster;
    for (std::uint32_t at = 0; at < function.instructions.size(); ++at) {
      const Instruction& instruction = function.instructions[at];
      read(instruction);
      note_branch(function, at);
      for (const Operand& operand : instruction.operands)
        read(operand);
    }
  }

  void read(const Instruction& instruction) {
    const Opcode opcode = instruction.opcode;
    if (is_atomic(opcode)) {
      facts_.atomics = true;
      facts_.atomics_beyond_block |= may_leave_block(instruction);
    }
    facts_.strong_loads |= is_strong_load(instruction);
    facts_.device_fences |= is_device_fence(instruction);
    facts_.block_barriers |= is_block_barrier(opcode);
    facts_.cluster |= is_cluster(instruction);
    // To ask whether an address is shared is not to use it.
    facts_.shared_memory |= opcode != Opcode::isspacep && (instruction.space == Space::shared ||
                                                           instruction.space2 == Space::shared);
    facts_.async_copies |= is_async_copy(opcode);
    facts_.tensor_cores |=
        opcode == Opcode::mma || opcode == Opcode::wmma_mma || opcode == Opcode::wgmma_mma_async;
    facts_.textures |= is_image(opcode);
    facts_.calls |= opcode == Opcode::call;
    facts_.global_access_bytes = std::max(facts_.global_access_bytes, global_bytes(instruction));
  }

  // A branch that goes back in the text.
  void note_branch(const Function& function, std::uint32_t at) {
    const Instruction& instruction = function.instructions[at];
    if (instruction.opcode != Opcode::bra && instruction.opcode != Opcode::brx_idx)
      return;
    const auto goes_back = [&](const std::string& label) {
      const auto target = function.labels.find(label);
      return target != function.labels.end() && target->second <= at;
    };
    for (const Operand& operand : instruction.operands) {
      if (operand.kind != Operand::Kind::symbol)
        continue;
      const auto table = function.branch_targets.find(operand.name);
      facts_.loops |= table == function.branch_targets.end()
                          ? goes_back(operand.name)
                          : std::any_of(table->second.begin(), table->second.end(), goes_back);
    }
  }

  void read(const Operand& operand) {
    if (operand.kind == Operand::Kind::special)
      facts_.grid_barrier |=
          operand.special == Special::envreg1 || operand.special == Special::envreg2;
    if (operand.kind == Operand::Kind::symbol && outside_.contains(operand.name)) {
      const std::string& name = operand.name;
      facts_.prints |= name == "vprintf";
      facts_.asserts |= name == "__assertfail";
      facts_.outside_functions |=
          name != "vprintf" && name != "__assertfail" && name != "malloc" && name != "free";
    }
    for (const Operand& element : operand.elements)
      read(element);
  }

  PtxFacts facts_;
  std::set<std::string, std::less<>> defined_;
  std::set<std::string, std::less<>> outside_; // declared only
};

} // namespace

PtxFacts facts_of(const Module& module) {
  return Reader(module).facts();
}

std::optional<PtxFacts> facts_of(std::string_view text) {
  const Result<Module> module = parse(text);
  return module ? std::optional(facts_of(*module)) : std::nullopt;
}

bool blocks_may_meet(const std::optional<PtxFacts>& facts) {
  return !facts || facts->atomics || facts->strong_loads || facts->device_fences ||
         facts->cluster || facts->grid_barrier || facts->outside_functions;
}

} // namespace kernevo::ptx
