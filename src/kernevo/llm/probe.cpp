#include "kernevo/base/suggest.h"
#include "kernevo/llm/client_parts.h"
#include "kernevo/llm/model_list.h"
#include "kernevo/llm/recording.h"
#include "kernevo/llm/retry.h"

#include <fmt/format.h>

namespace kernevo::llm {
namespace {

constexpr std::uint32_t kTries = 2;

CallResult fine(CallResult result, const std::string& model) {
  result.failure.reset();
  result.reply = ChatReply{"", "", "", model};
  return result;
}

} // namespace

CallResult ChatClient::Parts::probe(const Cancelled& cancelled) {
  CallResult result;
  result.dollars = 0;
  if (!settings.replay.empty())
    return fine(std::move(result), model.name);
  const std::string path = "/models";
  ExchangeParts how = exchange_parts(path);
  how.plain = true;
  Exchanged exchanged;
  Judgement judgement;
  for (std::uint32_t i = 0; i < kTries; ++i) {
    if (i > 0 && !sleep_for(backoff_seconds(kProbeId, 0) * shared.wait_scale, cancelled))
      break;
    exchanged = run_exchange(how, request(path, "GET", std::string(kProbeId)), cancelled);
    result.seconds += exchanged.seconds;
    ++result.tries;
    const bool answered = exchanged.success() && exchanged.response.error == TransportError::none;
    judgement = answered ? Judgement{} : judge(exchanged, asked());
    if (!judgement.failure || !judgement.retry)
      break;
  }
  const int status = exchanged.response.status;
  const bool not_served = status == 404 || status == 405 || status == 501;
  if (judgement.failure && !not_served) {
    result.failure = judgement.failure;
    if (result.failure->kind == FailureKind::unreachable)
      result.failure->fix = fmt::format("check that {} is right and reachable from here", base_url);
    return result;
  }
  if (const auto names = not_served ? std::nullopt : parse_model_list(exchanged.body)) {
    if (lists_model(*names, model.name))
      return fine(std::move(result), model.name);
    result.failure = {FailureKind::wrong_model,
                      redactor.one_line(fmt::format("{} serves no model '{}'{}", base_url,
                                                    model.name, did_you_mean(model.name, *names))),
                      fmt::format("use a name that {}/models lists", base_url)};
    return result;
  }
  ChatRequest chat;
  chat.messages = {{Role::user, "Hi"}};
  chat.max_tokens = chat.most_tokens = 1;
  chat.id = kProbeId;
  CallResult asked_once = complete(chat, {kTries, false}, cancelled);
  asked_once.tries += result.tries;
  asked_once.seconds += result.seconds;
  if (asked_once.failure && (asked_once.failure->kind == FailureKind::out_of_length ||
                             asked_once.failure->kind == FailureKind::empty_answer))
    return fine(std::move(asked_once), model.name);
  return asked_once;
}

} // namespace kernevo::llm
