// Compiled code as the virtual GPU sees it. The compiler itself is a plug-in (src/kernevo/jit), so
// that programs which never compile do not load LLVM.
//
// A compiled function runs one part of a warp (lanes that stand at the same place, `mask`) from an
// entry to an exit. Between the two the mask never changes: where lanes part, or something happens
// that is the scheduler's business, the code leaves with the number of an exit and the interpreter
// goes on at its pc. Registers that are live there are back in the warp's frame: varying ones by
// the code itself, straight ones as bases in `scalars`, which the caller expands.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/vgpu/analysis/shapes.h"
#include "kernevo/vgpu/execute/warp.h"
#include "kernevo/vgpu/memory/memory_counters.h"
#include "kernevo/vgpu/program/lower.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernevo::vgpu {

struct CompiledContext;

// The allocation a memory instruction hit last: its access may start at the first `room` multiples
// of its size from base.
struct MemoryHit {
  std::uint64_t base = 0;
  std::uint64_t room = 0;
  std::uint8_t* written = nullptr; // of `base`: one flag per byte, or null
};

// Functions of the virtual GPU that compiled code calls.
struct CompiledServices {
  // Points `hit` at the allocation that holds [first, first + span), for accesses of `size` bytes
  // each. Leaves it empty when there is none, or it may not be written.
  void (*find)(CompiledContext* context, MemoryHit* hit, std::uint64_t first, std::uint64_t span,
               std::uint32_t size, std::uint32_t store);
  // Sets the flags of the bytes written by the lanes of `mask`, each `size` bytes at `addresses`.
  void (*mark)(CompiledContext* context, const MemoryHit* hit, const std::uint64_t* addresses,
               std::uint32_t mask, std::uint32_t size);
  // Counts one request of the lanes of `mask`, each `size` bytes at `addresses`.
  void (*count)(CompiledContext* context, const std::uint64_t* addresses, std::uint32_t mask,
                std::uint32_t size, std::uint32_t store);
  // bar.sync of all threads at the op, by all lanes of the warp: returns once they may go on.
  // `executed` and `idle` of the context are up to date, this instruction included.
  void (*barrier)(CompiledContext* context, std::uint32_t pc);
};

// Layout shared with generated code: only add at the end, and bump kCompiledAbi.
struct CompiledContext {
  std::byte* frame = nullptr;
  Warp* warp = nullptr;
  const Op* ops = nullptr;
  std::byte* shared = nullptr;
  std::uint64_t shared_bytes = 0;
  const std::byte* parameters = nullptr;
  MemoryHit* hits = nullptr;
  // Bases of straight registers at entries and exits; of this activation alone, so that code may
  // keep them here in between.
  std::uint64_t* scalars = nullptr;
  const CompiledServices* services = nullptr;
  MemoryCounters* counters = nullptr;
  std::uint64_t executed = 0; // instructions of the warp since its start
  std::uint64_t idle = 0;     // lanes a guard kept from executing, over all instructions
  std::uint32_t mask = 0;     // lanes that run
  std::uint32_t limit = 0;    // leave before a place whose order is this or higher (partial code)
  std::uint32_t look_due = 0; // it left because `executed` reached Warp::deadline
};
inline constexpr std::uint32_t kCompiledAbi = 3;
// Instead of an exit number: a handler raised a fault, the launch is over.
inline constexpr std::uint32_t kCompiledFault = 0xFFFFFFFFU;

// A live register at an entry or exit.
struct CompiledRegister {
  std::uint32_t slot = 0;   // in the frame
  std::uint32_t bytes = 4;  // per lane; 0 = a predicate mask
  std::uint32_t scalar = 0; // straight: index of its first base in `scalars`
  ptx::RegisterId reg = 0;
  analysis::Shape shape;
};

struct CompiledPoint {
  std::uint32_t pc = 0; // op
  std::vector<CompiledRegister> live;
};

struct CompiledFunction {
  using Function = std::uint32_t (*)(CompiledContext*, std::uint32_t entry);
  Function function = nullptr;
  std::vector<CompiledPoint> entries;
  std::vector<CompiledPoint> exits;
  std::vector<std::uint32_t> entry_at; // by op: number of the entry, or kNone
  std::uint32_t hits = 0;              // slots it needs in CompiledContext::hits
  std::uint32_t scalars = 0;
  bool barriers = false;      // it waits at block barriers itself, so it needs a stack of its own
  std::shared_ptr<void> code; // keeps the machine code mapped
};

// Machine code by what it depends on.
struct ObjectKey {
  std::string module; // hash of the module's text
  std::string object; // hash of everything else
  auto operator<=>(const ObjectKey&) const = default;
};

// Keeps machine code for later. Thread-safe.
class ObjectStore {
public:
  ObjectStore() = default;
  ObjectStore(const ObjectStore&) = delete;
  ObjectStore& operator=(const ObjectStore&) = delete;
  virtual ~ObjectStore() = default;
  virtual std::optional<std::string> find(const ObjectKey& key) = 0;
  virtual void save(const ObjectKey& key, std::string_view object) = 0;
};

struct CompileJob {
  std::shared_ptr<const Program> program;
  std::uint32_t function = 0;
  analysis::LaneFacts facts;
  bool full = true;      // code for all 32 lanes; else for any mask
  bool counting = false; // MemoryCounters
  bool optimise = true;  // a long launch: spend more time on better code
  std::set<ptx::RegisterId> demoted;
  std::shared_ptr<ObjectStore> store;           // null: compile always
  const std::atomic<bool>* cancelled = nullptr; // set: nobody waits for the result any more
};

struct PassTime {
  std::string name;
  double seconds = 0;
};

struct CompileReport {
  std::vector<PassTime> passes;
  bool from_cache = false;
  std::size_t machine_code_bytes = 0;
  // In: names of passes to dump ("all" = every one). Out: their text, in order.
  std::set<std::string> dump;
  std::vector<std::pair<std::string, std::string>> dumps;
};

// Made by the plug-in. Thread-safe.
class Compiler {
public:
  Compiler() = default;
  Compiler(const Compiler&) = delete;
  Compiler& operator=(const Compiler&) = delete;
  virtual ~Compiler() = default;
  virtual Result<std::unique_ptr<CompiledFunction>> compile(const CompileJob& job,
                                                            CompileReport* report = nullptr) = 0;
};

} // namespace kernevo::vgpu
