// Which tier runs a launch. The interpreter starts at once; code is compiled beside it when the
// launch is long enough to pay for that, and taken over by whoever looks next.
//
// Compiled code is shared by all launches of the process and lives as long as its program.
#pragma once

#include "kernevo/vgpu/execute/machine.h"
#include "kernevo/vgpu/tier/compiled.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kernevo::vgpu {

// Where this process keeps machine code from now on; null = nowhere, which is also the start.
void set_object_store(std::shared_ptr<ObjectStore> store);

struct TierUnit;

// One launch's view. Its own functions may be called from every core.
class TierHandle {
public:
  struct Launch {
    std::shared_ptr<const Program> program;
    std::uint32_t kernel = 0;
    analysis::LaneFacts facts;
    Tier tier = Tier::automatic;
    bool counting = false;
    std::uint64_t blocks = 1;       // that will run
    const void* launcher = nullptr; // the thread that launches; set by the constructor
  };

  // Tier::compiled compiles everything the kernel can reach before it returns.
  explicit TierHandle(Launch launch);
  ~TierHandle();
  TierHandle(const TierHandle&) = delete;
  TierHandle& operator=(const TierHandle&) = delete;

  // Code for all 32 lanes, or for any of them; null as long as there is none.
  const CompiledFunction* full(std::uint32_t function) const {
    return slots_[function].full.load(std::memory_order_acquire);
  }
  const CompiledFunction* partial(std::uint32_t function) const {
    return slots_[function].partial.load(std::memory_order_acquire);
  }

  // `instructions` more of a function were interpreted, by all lanes of a warp or by some. Starts a
  // compilation once that pays. Cheap, but not for every instruction.
  void interpreted(std::uint32_t function, bool full, std::uint64_t instructions);
  // The same for instructions of compiled code: better code may pay.
  void compiled(std::uint64_t instructions);
  void block_done() { done_.fetch_add(1, std::memory_order_relaxed); }
  // What the code claims about a register's shape did not hold at an entry.
  void refuted(std::uint32_t function, bool full, ptx::RegisterId reg);

  // Why something was not compiled; empty when everything asked for was, or still may be.
  std::string problem() const;

private:
  struct Slot {
    std::atomic<const CompiledFunction*> full = nullptr;
    std::atomic<const CompiledFunction*> partial = nullptr;
    std::atomic<std::uint64_t> interpreted_full = 0;
    std::atomic<std::uint64_t> interpreted_partial = 0;
    std::atomic<bool> asked_full = false;
    std::atomic<bool> asked_partial = false;
    // What earlier launches of the same kind interpreted: many small ones are a long one.
    std::uint64_t before_full = 0;
    std::uint64_t before_partial = 0;
  };

  void ask(std::uint32_t function, bool full, std::uint64_t to_come, bool wait);
  // Instructions to come after so many: as many again, or what the blocks left will take if they
  // are like the others.
  std::uint64_t expected(std::uint64_t so_far) const;

  Launch launch_;
  std::unique_ptr<Slot[]> slots_; // by function
  std::atomic<std::uint64_t> done_ = 0;
  std::atomic<std::uint64_t> compiled_ = 0;
  std::uint64_t compiled_before_ = 0; // by earlier launches
  std::atomic<bool> improved_ = false;
};

} // namespace kernevo::vgpu
