// The machine instructions of a module, as ptxas made them and nvdisasm shows them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernevo::sass {

enum class RegisterFile { general, predicate, uniform, uniform_predicate, convergence, scoreboard };

// Consecutive registers of one file: R4..R7 is {general, 4, 4}. RZ, URZ, PT and UPT hold no state
// and never appear.
struct Registers {
  RegisterFile file = RegisterFile::general;
  int first = 0;
  int count = 1;
  bool operator==(const Registers&) const = default;
};

struct Guard {
  RegisterFile file = RegisterFile::predicate;
  int index = 0; // 7 is the constant true
  bool negated = false;
  bool operator==(const Guard&) const = default;
};

enum class MemorySpace { global, shared, local, constant, generic, texture, surface, tensor };

struct MemoryAccess {
  MemorySpace space = MemorySpace::global;
  int bytes = 4; // for one thread; 0 when the instruction's form does not say (bulk copies)
  bool load = false;
  bool store = false;
  bool atomic = false;
  bool operator==(const MemoryAccess&) const = default;
};

// How the compiler tells the hardware to schedule: bits 105..125 of the 128-bit encoding.
struct ControlCode {
  int stall = 0;                    // cycles before the warp may issue again
  bool yield = false;               // prefer another warp next
  std::optional<int> write_barrier; // scoreboard released when the result is there
  std::optional<int> read_barrier;  // scoreboard released when the sources have been read
  unsigned wait_mask = 0;           // scoreboards to wait for first
  unsigned reuse_mask = 0;          // source operands kept in the reuse cache
  bool operator==(const ControlCode&) const = default;
};

struct SassInstruction {
  std::uint32_t offset = 0; // bytes from the start of the section
  std::optional<Guard> guard;
  std::string opcode;                 // "FFMA"
  std::vector<std::string> modifiers; // {"FTZ"}
  std::vector<std::string> operands;  // as printed, comments removed
  std::vector<Registers> destinations;
  std::vector<Registers> sources; // the guard is not among them
  std::optional<MemoryAccess> memory;
  // A branch target, the place a convergence barrier joins (BSSY), or a called function's offset.
  std::optional<std::uint32_t> target;
  std::vector<std::uint32_t> indirect_targets; // of BRX, where the disassembler found them
  std::string callee;                          // symbol of a call into another section
  std::optional<int> ptx_line;
  ControlCode control;

  bool has(const char* modifier) const;
  // Guarded by "not true": ptxas puts such loads before groups of asynchronous copies. They take an
  // issue slot and touch nothing.
  bool never_executes() const {
    return guard && guard->file == RegisterFile::predicate && guard->index == 7 && guard->negated;
  }
  std::string text() const; // without the guard: "FFMA.FTZ R0, R1, R2, R3"
};

// A place inside a section where a function begins: the kernel itself at 0, functions it calls
// ("$dot$helper") and the compiler's own ("$__internal_0_$__cuda_sm3x_div_rn_noftz_f32_slowpath").
struct SassSymbol {
  std::string name;
  std::uint32_t offset = 0;
};

struct SassFunction {
  std::string name; // of the section, mangled: a kernel, or a function compiled on its own
  bool is_kernel = false;
  std::optional<int> registers;
  std::vector<SassSymbol> symbols;
  std::vector<SassInstruction> instructions;
};

struct SassModule {
  std::string architecture; // "sm_80"
  std::string assembler;    // what made it, for people
  std::vector<SassFunction> functions;

  const SassFunction* find(const std::string& name) const;
};

} // namespace kernevo::sass
