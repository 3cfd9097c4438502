#include "kernevo/propose/command_proposer.h"

#include "kernevo/base/subprocess.h"
#include "kernevo/base/temporary_folder.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/propose/command_folder.h"
#include "kernevo/propose/headless_output.h"
#include "kernevo/propose/read_reply.h"
#include "kernevo/propose/reply_text.h"

namespace kernevo::propose {
namespace {

constexpr int kGivenUp = 3; // commands in a row that could not be started
constexpr int kNotFound = 127;
constexpr int kNotExecutable = 126;
constexpr std::size_t kReasonShown = 300;
constexpr std::uint64_t kBytesOfToken = 4;
constexpr std::uint64_t kReplyTokens = 8192;

std::string last_line(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ')
    text.remove_suffix(1);
  const std::size_t begin = text.rfind('\n');
  return clean_line(begin == std::string_view::npos ? text : text.substr(begin + 1), kReasonShown);
}

std::string how_it_ended(const SubprocessResult& run, double seconds) {
  if (run.timed_out)
    return fmt::format("the command took longer than {} seconds and was ended", seconds);
  const std::string words = last_line(run.error_output.empty() ? run.output : run.error_output);
  const std::string end = run.signal != 0
                              ? fmt::format("the command was ended by signal {}", run.signal)
                              : fmt::format("the command ended with {}", run.exit_status);
  return words.empty() ? end : fmt::format("{}: {}", end, words);
}

} // namespace

struct CommandProposer::Answer {
  std::string source; // from its file; empty: see `text`
  std::string text;   // what it said
  ModelCall call;

  std::string to_json() const {
    return dump_json(
        Json{{"source", source}, {"text", text}, {"call", Json::parse(kernevo::to_json(call))}});
  }
  static Result<Answer> from_json(const std::string& remembered) {
    return read_json(remembered, "remembered answer", [](const Json& json) {
      auto call = model_call_from_json(json.at("call").dump());
      if (!call)
        throw nlohmann::json::other_error::create(602, call.error().message, &json);
      return Answer{json.at("source"), json.at("text"), std::move(*call)};
    });
  }
};

Result<std::optional<Proposal>> CommandProposer::propose(const ProposalRequest& request) {
  return ask(request, nullptr);
}

Result<std::optional<Proposal>> CommandProposer::repair(const ProposalRequest& request,
                                                        const FailedAttempt& failed) {
  return ask(request, &failed);
}

Result<CommandProposer::Answer> CommandProposer::run(const ProposalRequest& request,
                                                     const FailedAttempt* failed,
                                                     const std::string& text) {
  KERNEVO_TRY(folder, TemporaryFolder::make());
  KERNEVO_CHECK(fill_command_folder(folder.path(), request, failed, text));
  SubprocessRequest process;
  process.arguments = {"/bin/sh", "-c", settings_.command};
  process.environment = command_environment(folder.path(), request);
  process.input = text;
  process.folder = folder.path();
  process.time_limit_seconds = settings_.seconds;
  process.output_limit = settings_.output_limit;
  process.dies_with_us = true;
  process.cancelled = [desk = request.desk] { return desk->cancelled(); };
  KERNEVO_TRY(ended, run_subprocess(process));
  if (ended.cancelled)
    return fail(ErrorCode::infrastructure, "the command was cancelled");
  const bool missing = ended.signal == 0 && !ended.timed_out &&
                       (ended.exit_status == kNotFound || ended.exit_status == kNotExecutable);
  if (missing && ++not_started_ >= kGivenUp)
    return fail(ErrorCode::unavailable,
                fmt::format("the command cannot be started: {}", last_line(ended.error_output)),
                std::nullopt, "check the command line of the proposer");
  if (missing)
    return fail(ErrorCode::infrastructure, how_it_ended(ended, settings_.seconds));
  not_started_ = 0;

  HeadlessOutput output = read_headless_output(ended.output);
  Answer answer;
  answer.call.model = output.model.empty() ? "command" : output.model;
  answer.call.usage = output.usage;
  answer.call.dollars = output.dollars;
  answer.call.seconds = ended.seconds;
  answer.call.finish = "stop";
  if (!ended.succeeded() || output.failure) {
    answer.call.finish = "failed";
    answer.text = output.failure ? "the command says: " + clean_line(*output.failure, kReasonShown)
                                 : how_it_ended(ended, settings_.seconds);
    return answer;
  }
  KERNEVO_TRY(written, read_command_answer(folder.path()));
  answer.source = written.value_or("");
  answer.text = std::move(output.text);
  return answer;
}

Result<CommandProposer::Answer> CommandProposer::ask_anew(const ProposalRequest& request,
                                                          const FailedAttempt* failed,
                                                          const std::string& id) {
  Desk& desk = *request.desk;
  const Step step = request.directive.step;
  KERNEVO_TRY(wanted, settings_.request_text(request));
  const std::string text = command_request(wanted, failed);
  if (!desk.reserve(step, id, text.size() / kBytesOfToken, kReplyTokens, std::nullopt))
    return fail(ErrorCode::unavailable, "the caps leave no room for another command");
  auto answer = run(request, failed, text);
  if (!answer) {
    desk.release(step, id);
    return answer;
  }
  answer->call.step = step;
  answer->call.id = id;
  answer->call.stage = "command";
  return answer;
}

Result<std::optional<Proposal>> CommandProposer::ask(const ProposalRequest& request,
                                                     const FailedAttempt* failed) {
  Desk& desk = *request.desk;
  const std::uint32_t ordinal = failed == nullptr ? 0 : failed->ordinal + 1;
  const std::string key = fmt::format("command {}.{}.{}", request.directive.step,
                                      failed == nullptr ? "propose" : "repair", ordinal);
  KERNEVO_TRY(known, desk.memo().recall(key));
  KERNEVO_TRY(answer, known ? Answer::from_json(*known)
                            : ask_anew(request, failed, fmt::format("command.{}", ordinal)));
  if (!known)
    KERNEVO_CHECK(desk.memo().remember(key, answer.to_json()));
  desk.account(answer.call);
  return std::optional(read(request, failed, answer));
}

Proposal CommandProposer::read(const ProposalRequest& request, const FailedAttempt* failed,
                               const Answer& answer) {
  Proposal proposal;
  proposal.genes = request.parent.candidate.genes;
  proposal.genes.push_back(fmt::format("command:{}", request.directive.direction));
  if (answer.call.finish != "stop") { // its own failure: nobody else's, and a lesson
    proposal.rejected = Diagnosis{std::nullopt, Rung::parse, false, answer.text, {}};
    return proposal;
  }
  if (!answer.source.empty()) {
    proposal.source = answer.source;
    proposal.title = title_of(answer.text);
    return proposal;
  }
  const auto reject = [&](const Error& error) {
    proposal.rejected = Diagnosis{std::nullopt, Rung::parse, false, error.message, {}};
    return proposal;
  };
  auto reply = read_kernel_reply(answer.text);
  if (!reply)
    return reject(reply.error());
  proposal.title = reply->title;
  proposal.source = reply->source;
  if (reply->edits.empty())
    return proposal;
  const bool mends = failed != nullptr && !failed->source.empty();
  auto edited = apply_edits(mends ? failed->source : request.parent.source, reply->edits);
  if (!edited)
    return reject(edited.error());
  proposal.source = std::move(*edited);
  return proposal;
}

} // namespace kernevo::propose
