#include "kernevo/llm/judgement.h"

#include "kernevo/llm/retry.h"
#include "kernevo/llm/thinking.h"

#include <algorithm>
#include <ctime>
#include <fmt/format.h>

namespace kernevo::llm {
namespace {

bool has_any(const std::string& text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

FailureKind kind_of_text(const std::string& text, FailureKind otherwise) {
  if (has_any(text,
              {"context length", "context_length", "maximum context", "too many tokens",
               "prompt is too long", "context window", "input is too long", "prompt too long"}))
    return FailureKind::context_overflow;
  if (has_any(text, {"model output limit was reached"}))
    return FailureKind::out_of_length;
  if (has_any(text, {"insufficient_quota", "insufficient credit", "insufficient balance",
                     "credit balance is too low"}))
    return FailureKind::out_of_credit;
  if (has_any(text, {"invalid_api_key", "invalid api key", "incorrect api key"}))
    return FailureKind::wrong_key;
  if (has_any(text, {"model_not_found", "model not found", "no such model", "unknown model",
                     "not a valid model", "invalid model", "model does not exist"}) ||
      (has_any(text, {"model"}) && has_any(text, {"does not exist", "not found"})))
    return FailureKind::wrong_model;
  return otherwise;
}

FailureKind kind_of(int status, const ErrorBody& error) {
  const std::string text = error.lower();
  switch (status) {
  case 401:
  case 403: return FailureKind::wrong_key;
  case 402: return FailureKind::out_of_credit;
  case 404: {
    const FailureKind kind = kind_of_text(text, FailureKind::bad_request);
    return kind == FailureKind::context_overflow ? kind : FailureKind::wrong_model;
  }
  case 413: return FailureKind::context_overflow;
  case 429:
    return kind_of_text(text, FailureKind::rate_limited) == FailureKind::out_of_credit
               ? FailureKind::out_of_credit
               : FailureKind::rate_limited;
  case 408: return FailureKind::timeout;
  case 409:
  case 425: return FailureKind::server_error;
  default: break;
  }
  if (status >= 500)
    return FailureKind::server_error;
  return kind_of_text(text, FailureKind::bad_request);
}

bool is_passing(FailureKind kind) {
  return kind == FailureKind::rate_limited || kind == FailureKind::server_error ||
         kind == FailureKind::timeout || kind == FailureKind::cut ||
         kind == FailureKind::malformed || kind == FailureKind::unreachable;
}

std::string fix_for(FailureKind kind, const Asked& asked) {
  const std::string& variable = asked.model.api_key_env;
  switch (kind) {
  case FailureKind::wrong_key:
    return variable.empty() ? "name the variable that holds a key (api_key_env)"
                            : fmt::format("export {}=... with a key that is valid for {}", variable,
                                          asked.base_url);
  case FailureKind::wrong_model:
    return fmt::format("use a name that {}/models lists", asked.base_url);
  case FailureKind::out_of_credit: return "add credit to the account, then resume the run";
  case FailureKind::rate_limited: return "resume the run later, or lower concurrency";
  case FailureKind::unreachable: return "check the URL and the network, then resume the run";
  case FailureKind::out_of_length: return "raise max_tokens or lower reasoning_effort";
  default: return "";
  }
}

CallFailure failure(FailureKind kind, std::string_view text, const Asked& asked) {
  return {
      kind,
      asked.redactor.one_line(fmt::format("{} at {}: {}", asked.model.name, asked.base_url, text)),
      fix_for(kind, asked)};
}

Judgement judge_error(int status, ErrorBody error, const Exchanged& exchanged, const Asked& asked) {
  Judgement judgement;
  FailureKind kind = kind_of(status, error);
  const auto& headers = exchanged.response.headers;
  std::string text = status == 0 ? "" : fmt::format("{} ", status);
  text += error.message.empty() ? (error.code.empty() ? "no message" : error.code) : error.message;
  if (status >= 300 && status < 400) {
    const auto place = headers.find("location");
    text = fmt::format("{} sends elsewhere{}", status,
                       place == headers.end() ? "" : ", to " + place->second);
  }
  judgement.failure = failure(kind, text, asked);
  if (status >= 300 && status < 400)
    judgement.failure->fix = "write the address it sends to as base_url, if you trust it";
  if (status == 404 && error.lower().find("model") == std::string::npos)
    judgement.failure->fix = "check that the base URL is whole (most end in /v1), and the model";
  judgement.refused = status == 400 || status == 422;
  judgement.retry = is_passing(kind);
  if (const auto wish = headers.find("x-should-retry"); wish != headers.end()) {
    if (wish->second == "true")
      judgement.retry = true;
    else if (wish->second == "false")
      judgement.retry = false;
  }
  judgement.endpoint_down = status >= 500;
  judgement.wait = wanted_wait(exchanged.response, error, std::time(nullptr));
  judgement.error = std::move(error);
  return judgement;
}

Judgement judge_transport(const Exchanged& exchanged, const Asked& asked) {
  Judgement judgement;
  const HttpResponse& response = exchanged.response;
  FailureKind kind = FailureKind::unreachable;
  std::string text = response.message;
  judgement.retry = true;
  // An endpoint that began to answer is up.
  judgement.endpoint_down = exchanged.read.content.empty() && exchanged.read.reasoning.empty() &&
                            exchanged.read.unread.empty();
  switch (response.error) {
  case TransportError::cut: kind = FailureKind::cut; break;
  case TransportError::stalled: kind = FailureKind::timeout; break;
  case TransportError::timeout:
    kind = FailureKind::timeout;
    judgement.retry = false;
    break;
  case TransportError::cancelled:
    kind = FailureKind::cancelled;
    judgement.retry = judgement.endpoint_down = false;
    break;
  case TransportError::not_recorded:
    kind = FailureKind::bad_request;
    judgement.retry = judgement.endpoint_down = false;
    break;
  default: text = fmt::format("no connection: {}", response.message); break;
  }
  judgement.failure = failure(kind, text, asked);
  if (response.error == TransportError::not_recorded) {
    judgement.failure->message = asked.redactor.one_line(text);
    judgement.failure->fix = "replay with the settings and the seed of the recorded run, or add it";
  }
  return judgement;
}

Judgement judge_reply(const Exchanged& exchanged, const Asked& asked) {
  Judgement judgement;
  const ReadReply& read = exchanged.read;
  if (!read.malformed.empty()) {
    std::string text = read.malformed;
    if (!read.unread.empty())
      text += fmt::format(": {}", error_body(read.unread).message.substr(0, 200));
    judgement.failure = failure(FailureKind::malformed, text, asked);
    judgement.retry = true;
    return judgement;
  }
  const std::string text = split_thinking(read.content).text;
  if (text.find_first_not_of(" \t\r\n") != std::string::npos)
    return judgement;
  if (read.finish == "length") {
    judgement.failure =
        failure(FailureKind::out_of_length, "all tokens went into reasoning", asked);
  } else {
    judgement.failure = failure(
        FailureKind::empty_answer,
        fmt::format("the answer is empty (finish: {})", read.finish.empty() ? "none" : read.finish),
        asked);
    judgement.retry = read.finish != "content_filter";
  }
  return judgement;
}

} // namespace

Judgement judge(const Exchanged& exchanged, const Asked& asked) {
  if (exchanged.response.error != TransportError::none &&
      (exchanged.response.status == 0 || exchanged.success() ||
       exchanged.response.error == TransportError::cancelled))
    return judge_transport(exchanged, asked);
  if (!exchanged.success())
    return judge_error(exchanged.response.status, error_body(exchanged.body), exchanged, asked);
  if (const auto& error = exchanged.read.error) {
    Judgement judgement = judge_error(error->status, *error, exchanged, asked);
    // Without a status it is the provider's trouble, unless the text tells.
    if (error->status == 0 && judgement.failure->kind == FailureKind::bad_request) {
      judgement.failure->kind = FailureKind::server_error;
      judgement.retry = true;
    }
    judgement.endpoint_down = judgement.endpoint_down && exchanged.read.content.empty();
    return judgement;
  }
  return judge_reply(exchanged, asked);
}

} // namespace kernevo::llm
