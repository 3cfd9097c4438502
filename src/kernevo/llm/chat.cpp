#include "kernevo/llm/chat.h"

namespace kernevo::llm {

std::string_view name_of(Role role) {
  switch (role) {
  case Role::system: return "system";
  case Role::user: return "user";
  case Role::assistant: return "assistant";
  }
  return "user";
}

std::string_view name_of(FailureKind kind) {
  switch (kind) {
  case FailureKind::wrong_key: return "wrong_key";
  case FailureKind::wrong_model: return "wrong_model";
  case FailureKind::bad_request: return "bad_request";
  case FailureKind::context_overflow: return "context_overflow";
  case FailureKind::out_of_credit: return "out_of_credit";
  case FailureKind::rate_limited: return "rate_limited";
  case FailureKind::unreachable: return "unreachable";
  case FailureKind::server_error: return "server_error";
  case FailureKind::timeout: return "timeout";
  case FailureKind::cut: return "cut";
  case FailureKind::malformed: return "malformed";
  case FailureKind::empty_answer: return "empty_answer";
  case FailureKind::out_of_length: return "out_of_length";
  case FailureKind::cancelled: return "cancelled";
  }
  return "malformed";
}

bool stops_the_run(FailureKind kind) {
  switch (kind) {
  case FailureKind::wrong_key:
  case FailureKind::wrong_model:
  case FailureKind::out_of_credit:
  case FailureKind::rate_limited:
  case FailureKind::unreachable: return true;
  default: return false;
  }
}

} // namespace kernevo::llm
