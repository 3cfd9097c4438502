#include "kernevo/model/verdict.h"

namespace kernevo {

std::string_view name_of(FaultClass value) {
  switch (value) {
  case FaultClass::candidate: return "candidate";
  case FaultClass::infrastructure: return "infrastructure";
  case FaultClass::ambiguous: return "ambiguous";
  }
  return "unknown";
}

std::string_view name_of(FaultKind value) {
  switch (value) {
  case FaultKind::syntax_error: return "syntax_error";
  case FaultKind::semantic_compile_error: return "semantic_compile_error";
  case FaultKind::interface_contract_error: return "interface_contract_error";
  case FaultKind::correctness_mismatch: return "correctness_mismatch";
  case FaultKind::memory_safety_error: return "memory_safety_error";
  case FaultKind::race_or_sync_error: return "race_or_sync_error";
  case FaultKind::uninitialized_memory_error: return "uninitialized_memory_error";
  case FaultKind::candidate_runtime_error: return "candidate_runtime_error";
  case FaultKind::unproven: return "unproven";
  }
  return "unknown";
}

std::string_view name_of(Rung value) {
  switch (value) {
  case Rung::parse: return "parse";
  case Rung::compile: return "compile";
  case Rung::resources: return "resources";
  case Rung::small_shapes: return "small_shapes";
  case Rung::hidden_shapes: return "hidden_shapes";
  case Rung::real_shapes: return "real_shapes";
  }
  return "unknown";
}

} // namespace kernevo
