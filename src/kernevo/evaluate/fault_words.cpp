#include "kernevo/evaluate/fault_words.h"

namespace kernevo {

std::string_view in_words(FaultKind kind) {
  switch (kind) {
  case FaultKind::syntax_error: return "the source does not parse";
  case FaultKind::semantic_compile_error: return "the source does not compile";
  case FaultKind::interface_contract_error: return "the launch does not fit the task or the GPU";
  case FaultKind::correctness_mismatch: return "wrong numbers";
  case FaultKind::memory_safety_error: return "an access to memory it may not touch";
  case FaultKind::race_or_sync_error: return "a data race or a barrier not all threads reach";
  case FaultKind::uninitialized_memory_error:
    return "memory is read before it is written, or an output is never written";
  case FaultKind::candidate_runtime_error: return "the kernel was stopped while it ran";
  case FaultKind::unproven: return "the kernel could not be proven right on a real shape";
  }
  return "a fault";
}

std::string_view in_words(FindingKind kind) {
  switch (kind) {
  case FindingKind::out_of_bounds: return "an access out of bounds";
  case FindingKind::misaligned: return "a misaligned access";
  case FindingKind::null_pointer: return "an access through a null pointer";
  case FindingKind::read_only_write: return "a write to memory that is read-only";
  case FindingKind::uninitialized_read: return "a read of memory nothing was written to";
  case FindingKind::shared_race: return "a data race in shared memory";
  case FindingKind::global_race: return "a data race in global memory";
  case FindingKind::stale_read_only_load:
    return "a load through the read-only cache of memory that the same launch writes";
  case FindingKind::barrier_divergence: return "a barrier that not all threads of the block reach";
  case FindingKind::deadlock: return "a deadlock";
  case FindingKind::warp_sync_divergence:
    return "a warp-wide operation whose mask names a lane that never arrives";
  case FindingKind::instruction_budget: return "far too many instructions, as of an endless loop";
  case FindingKind::time_limit: return "it did not end in time";
  case FindingKind::memory_limit: return "it needs too much memory";
  case FindingKind::stack_overflow: return "a stack overflow";
  case FindingKind::trap: return "a trap";
  case FindingKind::assertion: return "an assertion that does not hold";
  case FindingKind::output_flood: return "far too much printf output";
  case FindingKind::bad_texture: return "a bad texture or surface";
  case FindingKind::launch_limit: return "a launch beyond what the GPU can hold";
  case FindingKind::bad_argument: return "a launch whose arguments do not match the kernel";
  case FindingKind::unknown_kernel: return "a launch of a kernel the file does not define";
  case FindingKind::unsupported_instruction: return "an instruction that is not supported";
  case FindingKind::invalid_ptx: return "invalid PTX";
  case FindingKind::crash: return "a crash";
  }
  return "a fault";
}

} // namespace kernevo
