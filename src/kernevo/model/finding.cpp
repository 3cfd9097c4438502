#include "kernevo/model/finding.h"

namespace kernevo {

std::string_view name_of(FindingKind kind) {
  switch (kind) {
  case FindingKind::out_of_bounds: return "out_of_bounds";
  case FindingKind::misaligned: return "misaligned";
  case FindingKind::null_pointer: return "null_pointer";
  case FindingKind::read_only_write: return "read_only_write";
  case FindingKind::uninitialized_read: return "uninitialized_read";
  case FindingKind::shared_race: return "shared_race";
  case FindingKind::global_race: return "global_race";
  case FindingKind::stale_read_only_load: return "stale_read_only_load";
  case FindingKind::barrier_divergence: return "barrier_divergence";
  case FindingKind::deadlock: return "deadlock";
  case FindingKind::warp_sync_divergence: return "warp_sync_divergence";
  case FindingKind::instruction_budget: return "instruction_budget";
  case FindingKind::time_limit: return "time_limit";
  case FindingKind::memory_limit: return "memory_limit";
  case FindingKind::stack_overflow: return "stack_overflow";
  case FindingKind::trap: return "trap";
  case FindingKind::assertion: return "assertion";
  case FindingKind::output_flood: return "output_flood";
  case FindingKind::bad_texture: return "bad_texture";
  case FindingKind::launch_limit: return "launch_limit";
  case FindingKind::bad_argument: return "bad_argument";
  case FindingKind::unknown_kernel: return "unknown_kernel";
  case FindingKind::unsupported_instruction: return "unsupported_instruction";
  case FindingKind::invalid_ptx: return "invalid_ptx";
  case FindingKind::crash: return "crash";
  }
  return "unknown";
}

} // namespace kernevo
