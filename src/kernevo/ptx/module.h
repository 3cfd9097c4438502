// A PTX module as typed data. Made by parse(); knows nothing of execution.
#pragma once

#include "kernevo/ptx/types.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo::ptx {

enum class Opcode : std::uint8_t {
#define KERNEVO_OPCODE(enumerator, mnemonic) enumerator,
#include "kernevo/ptx/opcodes.def"
#undef KERNEVO_OPCODE
};

enum class Mod : std::uint8_t {
#define KERNEVO_MODIFIER(enumerator, text) enumerator,
#include "kernevo/ptx/modifiers.def"
#undef KERNEVO_MODIFIER
};

std::string_view name_of(Opcode opcode);
std::string_view name_of(Mod modifier);

// Predefined registers. x/y/z components are separate enumerators.
enum class Special : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  clock,
  clock_hi,
  clock64,
  globaltimer,
  globaltimer_lo,
  globaltimer_hi,
  dynamic_smem_size,
  total_smem_size,
  aggr_smem_size,
  envreg, // any other %envregN: reads as zero
  envreg1,
  envreg2, // the driver's workspace of a cooperative launch, high and low word
  clusterid_x,
  clusterid_y,
  clusterid_z,
  nclusterid_x,
  nclusterid_y,
  nclusterid_z,
  cluster_ctaid_x,
  cluster_ctaid_y,
  cluster_ctaid_z,
  cluster_nctaid_x,
  cluster_nctaid_y,
  cluster_nctaid_z,
  cluster_ctarank,
  cluster_nctarank,
  is_explicit_cluster,
  zero64,              // reads as zero, 64 bits
  reserved_smem_begin, // shared memory the system keeps for itself, and lends to CUDA's headers
  reserved_smem_end,
  reserved_smem_second, // where its second part starts
};

using RegisterId = std::uint32_t;

// Operands stand in the order written, with these conventions:
// - [base + offset] keeps the offset in the address operand itself; elements[0] has none. What
//   follows a comma inside the brackets (a sampler, coordinates) are further elements.
// - d|p is one pair operand; a lone d is a plain register. {a, b, c, d}|p has a vector first.
// - a vector register is a vector of its components.
// - call always has {list of results, callee, list of arguments} (the lists may be empty), then the
//   prototype or target table as a symbol for an indirect call.
// - a symbol that names a label, local variable or block-local thing carries its unique name.
struct Operand {
  enum class Kind : std::uint8_t {
    reg,     // %r1, possibly negated (!%p1); `name` is the selector of a video operand: "b0"
    special, // %tid.x
    integer, // immediate; `bits` is the two's complement value, 64 bit
    real32,  // 0fXXXXXXXX; `bits` holds the 32 raw bits
    real64,  // 0dXXXXXXXXXXXXXXXX or a decimal literal; `bits` holds the 64 raw bits
    symbol,  // a variable, parameter, function or label name used as a value: `name` + `offset`
    address, // [base + offset]; base is elements[0] (reg, symbol or integer)
    vector,  // {a, b, ...}
    list,    // (a, b, ...) of a call
    pair,    // d|p of setp, shfl, match: two elements
    sink,    // _
  };
  Kind kind = Kind::sink;
  bool negated = false;
  RegisterId reg = 0;
  Special special = Special::tid_x;
  std::uint64_t bits = 0;
  std::string name;
  std::int64_t offset = 0;
  std::vector<Operand> elements;
};

struct Guard {
  RegisterId reg = 0;
  bool negated = false;
};

// A place in the CUDA source, from .loc. For inlined code this is where the user's own line stands:
// the outermost inlined_at in the main file, with the innermost place kept too.
struct SourceLine {
  std::uint32_t file = 0; // index into Module::files; 0 = unknown
  std::uint32_t line = 0;

  bool operator==(const SourceLine&) const = default;
};

struct Instruction {
  Opcode opcode = Opcode::mov;
  std::vector<Mod> modifiers; // as written, in order
  std::vector<Type> types;    // as written, in order: cvt has {to, from}, mma {d, a, b, c}
  // ld, st, atom, cvta, isspacep, ...; .shared::cta is Space::shared plus Mod::shared_cta
  Space space = Space::generic;
  Space space2 = Space::generic;    // the second one of cp.async (source)
  int vector_width = 1;             // .v2 .v4 .v8
  std::uint16_t matrix_columns = 0; // N of wgmma's .m64nNk16
  std::uint8_t lut = 0;             // unused unless the opcode carries an immediate modifier
  std::optional<Guard> guard;
  std::vector<Operand> operands;
  std::uint32_t line = 0;  // of the PTX text
  SourceLine source;       // the user's line
  std::uint32_t scope = 0; // 0, or nesting block id; labels are function-wide after parsing

  bool has(Mod modifier) const {
    for (Mod m : modifiers)
      if (m == modifier)
        return true;
    return false;
  }
  Type type() const { return types.empty() ? Type::none : types.front(); }
};

struct Register {
  std::string name;
  Type type = Type::b32;
};

// Who else may use a name when modules are linked.
enum class Linkage : std::uint8_t {
  local,    // this module alone
  visible,  // every module, defined once
  weak,     // every module, one of several definitions
  common,   // every module, the largest of several definitions
  external, // defined in another module
};

// A module- or function-level variable, or a parameter.
struct Variable {
  std::string name;
  Linkage linkage = Linkage::local;
  Space space = Space::global;
  Type type = Type::b8;
  int vector_width = 1;
  std::uint32_t alignment = 1;
  std::uint64_t bytes = 0; // 0 for `extern .shared x[]`
  bool is_extern = false;
  bool unsized = false;
  std::vector<std::uint8_t> initial; // may be shorter than `bytes`: the rest is zero
  struct Relocation {
    std::uint64_t at = 0; // byte offset of the 8-byte (or 4-byte) slot
    std::string symbol;
    std::int64_t addend = 0;
    bool generic = false; // written as generic(symbol)
  };
  std::vector<Relocation> relocations;
  // .texref, .samplerref, .surfref: eight bytes that hold a handle.
  enum class Reference : std::uint8_t { none, texture, sampler, surface };
  Reference reference = Reference::none;
  struct Property {
    std::string name;
    std::string value;
  };
  std::vector<Property> properties; // of a reference: filter_mode = linear
  std::uint32_t line = 0;
};

// A prototype label of an indirect call, or of a function declared but not defined here.
struct Prototype {
  std::vector<Variable> parameters;
  std::vector<Variable> returns;
};

struct Function {
  std::string name;
  bool is_entry = false;
  bool is_declaration = false; // no body: vprintf, malloc, __assertfail
  Linkage linkage = Linkage::local;
  std::vector<Variable> parameters;
  std::vector<Variable> returns;
  std::vector<Variable>
      variables; // .local .shared .param .global declared in the body, names made unique
  std::vector<Register> registers; // those that instructions name, not all that are declared
  std::vector<Instruction> instructions;
  // -> index of the instruction that follows; instructions.size() for one before the closing brace
  std::map<std::string, std::uint32_t> labels;
  std::map<std::string, std::vector<std::string>> branch_targets; // .branchtargets tables
  std::map<std::string, Prototype> prototypes;                    // .callprototype labels
  std::optional<std::array<std::uint32_t, 3>> max_threads;        // .maxntid
  std::optional<std::array<std::uint32_t, 3>> required_threads;   // .reqntid
  std::optional<std::uint32_t> min_blocks;                        // .minnctapersm
  std::optional<std::uint32_t> max_registers;                     // .maxnreg
  std::optional<std::array<std::uint32_t, 3>> required_cluster;   // .reqnctapercluster
  std::optional<std::uint32_t> max_cluster;                       // .maxclusterrank
  bool explicit_cluster = false;                                  // .explicitcluster
  std::uint32_t line = 0;
};

struct Module {
  int version_major = 0;
  int version_minor = 0;
  std::string target; // "sm_80"
  std::uint32_t target_line = 0;
  int compute_capability = 0; // 80
  int address_size = 64;
  std::vector<std::string> files;  // [0] = ""; index as in .file
  std::vector<Variable> variables; // module scope
  std::vector<Function> functions;
  std::map<std::string, std::string> aliases; // .alias: another name of a function

  const Function* find_function(std::string_view name) const; // a definition before a declaration
};

} // namespace kernevo::ptx
