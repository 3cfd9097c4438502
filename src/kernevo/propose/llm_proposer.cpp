#include "kernevo/propose/llm_proposer.h"

#include "kernevo/llm/cost.h"
#include "kernevo/model/json_fields.h"

#include <cmath>
#include <fmt/format.h>

namespace kernevo::propose {
namespace {

constexpr std::size_t kLongKernel = 2500; // bytes: from here on edits are shorter than the file
constexpr int kEditsGivenUp = 2;          // failures after which a model is asked for whole files
constexpr std::size_t kPlanKept = 2000;   // bytes
constexpr std::uint32_t kCutReplies = 3;  // tries of a call whose stream breaks off
constexpr std::uint64_t kRole = 4;        // tokens that name the speaker of a message
constexpr double kSameTime = 0.02;        // a change that moved less teaches nothing

struct Remembered {
  std::string text;
  std::string complaint;
  ModelCall call;
};

// Gives back what a call held, whatever becomes of it.
class Reservation {
public:
  Reservation(Desk& desk, Step step, std::string call)
      : desk_(desk), step_(step), call_(std::move(call)) {}
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  ~Reservation() { desk_.release(step_, call_); }

private:
  Desk& desk_;
  Step step_;
  std::string call_;
};

std::string to_text(const Remembered& reply) {
  return dump_json(Json{{"text", reply.text},
                        {"complaint", reply.complaint},
                        {"call", Json::parse(to_json(reply.call))}});
}

Result<Remembered> remembered_of(const std::string& text) {
  return read_json(text, "remembered reply", [](const Json& json) {
    auto call = model_call_from_json(json.at("call").dump());
    if (!call)
      throw nlohmann::json::other_error::create(602, call.error().message, &json);
    return Remembered{json.at("text"), json.at("complaint"), std::move(*call)};
  });
}

std::uint64_t prompt_tokens(const llm::Messages& messages) {
  return llm::estimate_prompt(messages) + kRole * messages.size();
}

Diagnosis unreadable(std::string why) {
  return {std::nullopt, Rung::parse, false, std::move(why), {}};
}

// Calls of this request that were made before the program was stopped and brought no reply: those
// that ended are known, of the others only the prompt is. `answered`: the last one did bring it.
Result<std::uint32_t> book_earlier_tries(Desk& desk, const std::string& key, bool answered) {
  std::uint32_t tries = 0;
  for (;; ++tries) {
    KERNEVO_TRY(started, desk.memo().recall(fmt::format("{}/started/{}", key, tries + 1)));
    if (!started)
      return tries;
    KERNEVO_TRY(ended, desk.memo().recall(fmt::format("{}/ended/{}", key, tries + 1)));
    if (answered && !ended)
      continue;
    KERNEVO_TRY(call, model_call_from_json(ended ? *ended : *started));
    desk.account(call);
  }
}

// Whether the model, not the line to it, is to blame.
bool is_the_models_fault(llm::FailureKind kind) {
  return kind == llm::FailureKind::empty_answer || kind == llm::FailureKind::out_of_length ||
         kind == llm::FailureKind::malformed;
}

} // namespace

Result<LlmProposer::Answer> LlmProposer::ask(const ProposalRequest& request,
                                             const std::string& stage, std::uint32_t ordinal,
                                             const llm::Messages& messages) {
  const std::string call = fmt::format("{}.{}", stage, ordinal);
  const std::string key = fmt::format("llm/{}.{}", request.directive.step, call);
  KERNEVO_TRY(known, request.desk->memo().recall(key));
  if (!known)
    return ask_anew(request, stage, call, key, messages);
  KERNEVO_TRY(reply, remembered_of(*known));
  KERNEVO_CHECK(book_earlier_tries(*request.desk, key, true));
  request.desk->account(reply.call);
  return Answer{reply.text, reply.complaint, reply.call.finish == "length"};
}

Result<LlmProposer::Answer> LlmProposer::ask_anew(const ProposalRequest& request,
                                                  const std::string& stage, const std::string& call,
                                                  const std::string& key,
                                                  const llm::Messages& messages) {
  KERNEVO_TRY(earlier, book_earlier_tries(*request.desk, key, false));
  for (std::uint32_t tries = earlier;; ++tries) {
    bool cut = false;
    auto answer = try_once(request, stage, call, key, tries, messages, cut);
    // Each try has a reservation of its own, so that broken streams cannot go past a cap.
    if (answer || !cut || tries + 1 - earlier >= kCutReplies)
      return answer;
  }
}

Result<LlmProposer::Answer> LlmProposer::try_once(const ProposalRequest& request,
                                                  const std::string& stage, const std::string& call,
                                                  const std::string& key, std::uint32_t tries,
                                                  const llm::Messages& messages, bool& cut) {
  Desk& desk = *request.desk;
  const std::uint64_t prompt = prompt_tokens(messages);
  const llm::ChatClient& client = *client_;
  const auto room = desk.reserve(request.directive.step, call, prompt, client.model().max_tokens,
                                 client.model().price);
  if (!room)
    return fail(ErrorCode::unavailable, "the caps leave no room for another call");
  const Reservation held(desk, request.directive.step, call);
  ModelCall record;
  record.step = request.directive.step;
  record.id = fmt::format("{}/try{}", call, tries + 1);
  record.stage = stage;
  record.model = client.model().name;
  record.usage.prompt = prompt;
  record.usage.estimated = true;
  record.finish = "lost";
  KERNEVO_CHECK(
      desk.memo().remember(fmt::format("{}/started/{}", key, tries + 1), to_json(record)));

  llm::ChatRequest chat;
  chat.messages = messages;
  chat.max_tokens = *room;
  chat.most_tokens = *room;
  chat.allowance = prompt + *room;
  chat.id = fmt::format("{}.{}", request.directive.step, call);
  const llm::CallResult result = client_->complete(chat, [&desk] { return desk.cancelled(); });
  record.usage = result.usage;
  record.dollars = result.dollars;
  record.seconds = result.seconds;
  record.tries = result.tries;
  if (result.reply) {
    record.id = call;
    record.finish = result.reply->finish;
    if (!result.reply->model.empty())
      record.model = result.reply->model;
    const Remembered reply{result.reply->text, {}, record};
    KERNEVO_CHECK(desk.memo().remember(key, to_text(reply)));
    // A reply ends its try: nothing of it is lost.
    KERNEVO_CHECK(
        desk.memo().remember(fmt::format("{}/ended/{}", key, tries + 1), to_json(record)));
    desk.account(record);
    return Answer{result.reply->text, {}, result.reply->finish == "length"};
  }
  const llm::CallFailure& failure = *result.failure;
  cut = failure.kind == llm::FailureKind::cut;
  // It was paid for and is an answer, if a useless one: it is not asked for again.
  if (is_the_models_fault(failure.kind)) {
    record.id = call;
    record.finish = failure.kind == llm::FailureKind::out_of_length ? "length" : "failed";
    KERNEVO_CHECK(desk.memo().remember(key, to_text({{}, failure.message, record})));
    KERNEVO_CHECK(
        desk.memo().remember(fmt::format("{}/ended/{}", key, tries + 1), to_json(record)));
    desk.account(record);
    return Answer{{}, failure.message, record.finish == "length"};
  }
  // The end of a recording.
  if (!settings_.replay.empty() && failure.kind == llm::FailureKind::bad_request)
    return fail(ErrorCode::unavailable, failure.message, std::nullopt, failure.fix);
  record.finish = failure.kind == llm::FailureKind::cancelled ? "cancelled" : "failed";
  KERNEVO_CHECK(desk.memo().remember(fmt::format("{}/ended/{}", key, tries + 1), to_json(record)));
  desk.account(record);
  return fail(llm::stops_the_run(failure.kind) ? ErrorCode::unavailable : ErrorCode::infrastructure,
              failure.message, std::nullopt, failure.fix);
}

bool LlmProposer::wants_edits(const std::string& base) const {
  if (settings_.edits != "auto")
    return settings_.edits == "always" && !base.empty();
  return base.size() >= kLongKernel && edits_that_failed_ < kEditsGivenUp;
}

// `base` is what edits are made to.
Proposal LlmProposer::read(const ProposalRequest& request, const Answer& answer,
                           const std::string& base) {
  Proposal proposal;
  proposal.genes = request.parent.candidate.genes;
  proposal.genes.push_back(fmt::format("{}:{}", name_, request.directive.direction));
  if (!answer.complaint.empty()) {
    proposal.rejected = unreadable(answer.complaint);
    return proposal;
  }
  auto reply = read_kernel_reply(answer.text);
  if (!reply) {
    proposal.rejected = unreadable(
        answer.cut ? "the answer was cut off at its limit before it held a whole kernel; be shorter"
                   : reply.error().message);
    return proposal;
  }
  proposal.title = reply->title;
  if (reply->edits.empty()) {
    proposal.source = std::move(reply->source);
    return proposal;
  }
  auto edited = apply_edits(base, reply->edits);
  if (edited) {
    proposal.source = std::move(*edited);
    return proposal;
  }
  ++edits_that_failed_;
  proposal.rejected =
      unreadable(fmt::format("{}; answer with the whole kernel file", edited.error().message));
  return proposal;
}

Result<std::optional<Proposal>> LlmProposer::propose(const ProposalRequest& request) {
  std::string plan;
  if (settings_.plan) {
    KERNEVO_TRY(messages, writer_->plan(request));
    KERNEVO_TRY(answer, ask(request, "plan", 0, messages));
    plan = answer.text.substr(0, kPlanKept);
  }
  if (request.directive.mode == SearchMode::recombine && request.mate) {
    KERNEVO_TRY(messages, writer_->recombine(request, plan));
    KERNEVO_TRY(answer, ask(request, "recombine", 0, messages));
    return std::optional(read(request, answer, request.parent.source));
  }
  const std::string& parent = request.parent.source;
  // In the cheap mode a kernel is one call: an edit that does not apply would cost a second.
  const bool edits = (settings_.plan || settings_.edits == "always") &&
                     request.parent.candidate.step > 0 && wants_edits(parent);
  KERNEVO_TRY(messages, writer_->code(request, plan, edits));
  KERNEVO_TRY(answer, ask(request, "code", 0, messages));
  Proposal proposal = read(request, answer, parent);
  if (!edits || !proposal.rejected)
    return std::optional(std::move(proposal));
  KERNEVO_TRY(whole, writer_->code(request, plan, false));
  KERNEVO_TRY(second, ask(request, "code", 1, whole));
  return std::optional(read(request, second, parent));
}

Result<std::optional<Proposal>> LlmProposer::repair(const ProposalRequest& request,
                                                    const FailedAttempt& failed) {
  const bool edits = !failed.source.empty() && wants_edits(failed.source);
  KERNEVO_TRY(messages, writer_->repair(request, failed, edits));
  KERNEVO_TRY(answer, ask(request, "repair", failed.ordinal + 1, messages));
  return std::optional(
      read(request, answer, failed.source.empty() ? request.parent.source : failed.source));
}

Result<std::vector<std::string>> LlmProposer::reflect(const ProposalRequest& request,
                                                      const Proposal& proposal,
                                                      const Evaluation& evaluation) {
  std::vector<std::string> lessons;
  const auto learn = [&](const std::string& text) {
    for (std::string& lesson : read_lessons(text))
      lessons.push_back(std::move(lesson));
  };
  if (settings_.insights) {
    KERNEVO_TRY(messages, writer_->insights(request, proposal, evaluation));
    KERNEVO_TRY(answer, ask(request, "insights", 0, messages));
    learn(answer.text);
  }
  const bool moved =
      request.parent.objective && evaluation.objective &&
      std::abs(std::log(request.parent.objective->value / evaluation.objective->value)) > kSameTime;
  if (settings_.lineage && moved) {
    KERNEVO_TRY(messages, writer_->lineage(request, proposal, evaluation));
    KERNEVO_TRY(answer, ask(request, "lineage", 0, messages));
    learn(answer.text);
  }
  return lessons;
}

} // namespace kernevo::propose
