#include "kernevo/programs/stage_fault.h"

namespace kernevo {

std::string_view name_of(StageFaultKind kind) {
  switch (kind) {
  case StageFaultKind::syntax: return "syntax";
  case StageFaultKind::build: return "build";
  case StageFaultKind::raised: return "raised";
  case StageFaultKind::died: return "died";
  case StageFaultKind::timeout: return "timeout";
  case StageFaultKind::memory: return "memory";
  case StageFaultKind::forbidden: return "forbidden";
  case StageFaultKind::contract: return "contract";
  case StageFaultKind::unordered: return "unordered";
  case StageFaultKind::host: return "host";
  case StageFaultKind::unsupported: return "unsupported";
  case StageFaultKind::task: return "task";
  case StageFaultKind::machine: return "machine";
  }
  return "machine";
}

std::optional<FaultKind> charged_with(StageFaultKind kind) {
  switch (kind) {
  case StageFaultKind::syntax: return FaultKind::syntax_error;
  case StageFaultKind::build: return FaultKind::semantic_compile_error;
  case StageFaultKind::raised:
  case StageFaultKind::died:
  case StageFaultKind::timeout:
  case StageFaultKind::memory:
  case StageFaultKind::forbidden: return FaultKind::candidate_runtime_error;
  case StageFaultKind::contract:
  case StageFaultKind::host: return FaultKind::interface_contract_error;
  case StageFaultKind::unordered: return FaultKind::race_or_sync_error;
  case StageFaultKind::unsupported:
  case StageFaultKind::task:
  case StageFaultKind::machine: return std::nullopt;
  }
  return std::nullopt;
}

Rung rung_of(StageFaultKind kind, Rung while_running) {
  if (kind == StageFaultKind::syntax)
    return Rung::parse;
  return kind == StageFaultKind::build ? Rung::compile : while_running;
}

Error error_of(const StageFault& fault) {
  switch (fault.kind) {
  case StageFaultKind::task: return {ErrorCode::input, fault.text, fault.where, ""};
  case StageFaultKind::unsupported: return {ErrorCode::unsupported, fault.text, fault.where, ""};
  default: return {ErrorCode::infrastructure, fault.text, fault.where, ""};
  }
}

} // namespace kernevo
