#include "kernevo/llm/client.h"

#include "kernevo/base/suggest.h"
#include "kernevo/llm/client_parts.h"
#include "kernevo/llm/cost.h"
#include "kernevo/llm/key.h"
#include "kernevo/llm/model_list.h"
#include "kernevo/llm/request_body.h"
#include "kernevo/llm/retry.h"
#include "kernevo/llm/thinking.h"
#include "kernevo/llm/trace.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <limits>

namespace kernevo::llm {
namespace {

constexpr int kMostLessons = 10; // parameters one call may learn about
const std::string kChatPath = "/chat/completions";

// One call through all its tries.
class Call {
public:
  Call(ChatClient::Parts& parts, const ChatRequest& chat, const ChatClient::Parts::Manner& manner,
       const Cancelled& cancelled);

  CallResult run();

private:
  enum class Next { again, over };

  Next once();
  Next after(const Exchanged& exchanged, const Judgement& judgement, const Quirks& sent,
             Circuit::Pass pass);
  bool learn(const Judgement& judgement, const Quirks& sent);
  bool raise_limit(const Judgement& judgement);
  bool wait(double seconds);
  std::uint64_t room() const;
  Next give_up();
  Next over(CallFailure failure);
  void accept(const ReadReply& read);

  ChatClient::Parts& parts_;
  const ChatRequest& chat_;
  const ChatClient::Parts::Manner& manner_;
  const Cancelled& cancelled_;
  CallResult result_;
  std::uint64_t limit_;
  bool raised_ = false;
  int lessons_ = 0;
  std::uint32_t failures_ = 0; // that count
  std::uint32_t limited_ = 0;  // refusals because of a rate limit
  double limited_seconds_ = 0; // that we waited for it, as if unscaled
  double busy_seconds_ = 0;    // in exchanges
  std::uint64_t prompt_tokens_;
  std::optional<CallFailure> last_;
};

Call::Call(ChatClient::Parts& parts, const ChatRequest& chat,
           const ChatClient::Parts::Manner& manner, const Cancelled& cancelled)
    : parts_(parts), chat_(chat), manner_(manner), cancelled_(cancelled),
      limit_(chat.max_tokens != 0 ? chat.max_tokens : parts.model.max_tokens),
      prompt_tokens_(estimate_prompt(chat.messages)) {
  result_.dollars = 0;
}

CallResult Call::run() {
  const auto start = std::chrono::steady_clock::now();
  const CallSlots::Slot slot(*parts_.shared.slots, cancelled_);
  if (!slot.held())
    over({FailureKind::cancelled, "cancelled", ""});
  else
    while (once() == Next::again) {
    }
  result_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return std::move(result_);
}

Call::Next Call::over(CallFailure failure) {
  result_.failure = std::move(failure);
  return Next::over;
}

Call::Next Call::once() {
  if (cancelled_ && cancelled_())
    return over({FailureKind::cancelled, "cancelled", ""});
  const double left = parts_.settings.total_seconds - busy_seconds_;
  if (left <= 0)
    return over({FailureKind::timeout,
                 fmt::format("{} at {}: no answer within {:g} s", parts_.model.name,
                             parts_.base_url, parts_.settings.total_seconds),
                 "raise --llm-timeout"});
  if (last_ && room() < limit_)
    return over(*last_);
  Circuit unused{CircuitPolicy{}};
  Circuit& circuit = manner_.patient ? *parts_.shared.circuit : unused;
  auto ticket = circuit.enter(cancelled_);
  if (ticket.pass() == Circuit::Pass::cancelled)
    return over({FailureKind::cancelled, "cancelled", ""});
  if (ticket.pass() == Circuit::Pass::given_up)
    return give_up();

  const Quirks quirks = known_quirks(parts_.base_url, parts_.model.name);
  if (quirks.most_tokens)
    limit_ = std::min(limit_, *quirks.most_tokens);
  HttpRequest request = parts_.request(kChatPath, "POST", chat_.id);
  request.body = request_body(parts_.model, chat_.messages, limit_, quirks);
  request.total_seconds = left;
  const Exchanged exchanged = run_exchange(parts_.exchange_parts(kChatPath), request, cancelled_);
  ++result_.tries;
  busy_seconds_ += exchanged.seconds;
  if (exchanged.success()) {
    const Spent spent = spent_by(exchanged.read, chat_.messages, parts_.model);
    if (!spent.usage.estimated && spent.usage.prompt > 0)
      prompt_tokens_ = spent.usage.prompt;
    add_spent(spent, result_);
  }
  const Judgement judgement = judge(exchanged, parts_.asked());

  const bool outage = judgement.wait.value_or(0) > kLongestHint;
  if (judgement.failure && (judgement.endpoint_down || outage))
    ticket.failed(outage);
  else if (!judgement.failure || judgement.failure->kind != FailureKind::cancelled)
    ticket.succeeded();
  return after(exchanged, judgement, quirks, ticket.pass());
}

Call::Next Call::after(const Exchanged& exchanged, const Judgement& judgement, const Quirks& sent,
                       Circuit::Pass pass) {
  if (!judgement.failure) {
    accept(exchanged.read);
    return Next::over;
  }
  last_ = judgement.failure;
  if (learn(judgement, sent) || raise_limit(judgement))
    return Next::again;
  if (!judgement.retry)
    return over(*judgement.failure);
  const bool outage = judgement.wait.value_or(0) > kLongestHint;
  if (manner_.patient && judgement.failure->kind == FailureKind::rate_limited) {
    if (outage) // the circuit waits
      return Next::again;
    const double pause = judgement.wait.value_or(backoff_seconds(chat_.id, limited_++));
    limited_seconds_ += std::max(pause, 0.1);
    if (limited_seconds_ > parts_.settings.patience_seconds)
      return over(*judgement.failure);
    return wait(pause) ? Next::again : over({FailureKind::cancelled, "cancelled", ""});
  }
  if (pass == Circuit::Pass::probe && judgement.endpoint_down)
    return Next::again; // an outage costs time, not tries
  if (++failures_ >= manner_.max_tries)
    return over(*judgement.failure);
  if (manner_.patient && outage)
    return Next::again;
  const double pause =
      outage ? kLongestHint : judgement.wait.value_or(backoff_seconds(chat_.id, failures_ - 1));
  return wait(pause) ? Next::again : over({FailureKind::cancelled, "cancelled", ""});
}

bool Call::learn(const Judgement& judgement, const Quirks& sent) {
  const FailureKind kind = judgement.failure->kind;
  if (!judgement.refused || kind == FailureKind::context_overflow ||
      kind == FailureKind::wrong_model || lessons_ >= kMostLessons)
    return false;
  const auto learnt = learn_from(judgement.error, sent, parts_.model, limit_);
  if (!learnt)
    return false;
  // Both names of the limit refused in turn: there is no third.
  lessons_ += learnt->completion_limit != sent.completion_limit ? kMostLessons / 2 : 1;
  remember_quirks(parts_.base_url, parts_.model.name, *learnt);
  return true;
}

bool Call::raise_limit(const Judgement& judgement) {
  if (judgement.failure->kind != FailureKind::out_of_length || raised_)
    return false;
  const std::uint64_t most = chat_.most_tokens != 0 ? chat_.most_tokens : 2 * limit_;
  std::uint64_t larger = std::min(2 * limit_, most);
  const Quirks quirks = known_quirks(parts_.base_url, parts_.model.name);
  larger = std::min({larger, quirks.most_tokens.value_or(larger), room()});
  if (larger <= limit_)
    return false;
  limit_ = larger;
  raised_ = true;
  return true;
}

// How many tokens the reply to one more try may have.
std::uint64_t Call::room() const {
  if (!chat_.allowance)
    return std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t gone = result_.usage.total() + prompt_tokens_;
  return gone < *chat_.allowance ? *chat_.allowance - gone : 0;
}

bool Call::wait(double seconds) {
  return sleep_for(seconds * parts_.shared.wait_scale, cancelled_);
}

Call::Next Call::give_up() {
  const bool limited = last_ && last_->kind == FailureKind::rate_limited;
  CallFailure failure;
  failure.kind = limited ? FailureKind::rate_limited : FailureKind::unreachable;
  failure.message =
      fmt::format("{} did not serve for {:g} s{}", parts_.base_url,
                  parts_.settings.patience_seconds, last_ ? "; last: " + last_->message : "");
  failure.message = parts_.redactor.one_line(failure.message);
  failure.fix = "check the URL and the network, then resume the run";
  return over(std::move(failure));
}

void Call::accept(const ReadReply& read) {
  Thought thought = split_thinking(read.content);
  const Redactor& redactor = parts_.redactor;
  ChatReply reply;
  reply.text = redactor.without_key(thought.text);
  reply.reasoning = redactor.without_key(read.reasoning + thought.reasoning);
  reply.finish = redactor.one_line(read.finish);
  reply.model = redactor.one_line(read.model);
  result_.reply = std::move(reply);
}

} // namespace

HttpRequest ChatClient::Parts::request(const std::string& path, const std::string& method,
                                       const std::string& id) const {
  HttpRequest request;
  request.method = method;
  request.url = base_url + path;
  request.id = id;
  if (method == "POST")
    request.headers.emplace_back("Content-Type", "application/json");
  if (!key.empty())
    request.headers.emplace_back("Authorization", "Bearer " + key);
  request.total_seconds = settings.total_seconds;
  return request;
}

ExchangeParts ChatClient::Parts::exchange_parts(const std::string& path) const {
  return {*shared.transport, shared.tracer.get(), redactor, base_url, path, settings.idle_seconds};
}

CallResult ChatClient::Parts::complete(const ChatRequest& chat, const Manner& manner,
                                       const Cancelled& cancelled) {
  CallResult result = Call(*this, chat, manner, cancelled).run();
  if (result.failure && result.failure->kind == FailureKind::wrong_model && settings.replay.empty())
    if (const auto names = list_models(cancelled))
      result.failure->message += redactor.one_line(did_you_mean(model.name, *names));
  return result;
}

std::optional<std::vector<std::string>> ChatClient::Parts::list_models(const Cancelled& cancelled) {
  ExchangeParts how = exchange_parts("/models");
  how.plain = true;
  const Exchanged exchanged = run_exchange(how, request("/models", "GET", "models"), cancelled);
  if (!exchanged.success() || exchanged.response.error != TransportError::none)
    return std::nullopt;
  return parse_model_list(exchanged.body);
}

ChatClient::ChatClient(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
ChatClient::~ChatClient() = default;

Result<std::unique_ptr<ChatClient>>
ChatClient::create(const ModelSettings& model, const LlmSettings& settings, ClientParts shared) {
  auto parts = std::make_unique<Parts>();
  parts->model = model;
  parts->settings = settings;
  if (model.name.empty())
    return fail(ErrorCode::usage, "a model has no name");
  parts->base_url = model.base_url;
  if (settings.replay.empty()) {
    KERNEVO_TRY(key, key_of(model));
    KERNEVO_TRY(base_url, base_url_of(model));
    parts->key = key;
    parts->base_url = base_url;
  }
  parts->redactor = Redactor(parts->key);
  if (!shared.circuit) {
    CircuitPolicy policy;
    policy.patience_seconds = settings.patience_seconds;
    policy.pause_scale = shared.wait_scale;
    shared.circuit = std::make_shared<Circuit>(policy);
  }
  if (!shared.slots)
    shared.slots = std::make_shared<CallSlots>(settings.concurrency);
  parts->shared = std::move(shared);
  return std::unique_ptr<ChatClient>(new ChatClient(std::move(parts)));
}

CallResult ChatClient::complete(const ChatRequest& request, const Cancelled& cancelled) {
  return parts_->complete(request, {parts_->shared.max_tries, true}, cancelled);
}

CallResult ChatClient::probe(const Cancelled& cancelled) {
  return parts_->probe(cancelled);
}

const ModelSettings& ChatClient::model() const {
  return parts_->model;
}

std::uint64_t ChatClient::differing() const {
  return parts_->shared.transport->differing();
}

std::optional<Error> ChatClient::trace_problem() const {
  return parts_->shared.tracer ? parts_->shared.tracer->problem() : std::nullopt;
}

} // namespace kernevo::llm
