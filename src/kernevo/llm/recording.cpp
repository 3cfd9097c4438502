#include "kernevo/llm/recording.h"

#include "kernevo/base/files.h"
#include "kernevo/llm/client.h"
#include "kernevo/llm/json_text.h"

#include <algorithm>

namespace kernevo::llm {
namespace {

constexpr std::uintmax_t kLargest = 1U << 30U;

// {"id": "1.code.0", "text": "..."} with finish, reasoning and model at will.
RecordedCall short_form(const Json& json) {
  only_keys(json, {"id", "text", "reasoning", "finish", "model"});
  RecordedCall call;
  call.id = json.at("id").get<std::string>();
  Json message{{"role", "assistant"}, {"content", json.at("text").get<std::string>()}};
  if (json.contains("reasoning"))
    message["reasoning_content"] = json.at("reasoning").get<std::string>();
  call.body =
      dump_text({{"object", "chat.completion"},
                 {"model", json.value("model", "")},
                 {"choices", Json::array({{{"index", 0},
                                           {"message", std::move(message)},
                                           {"finish_reason", json.value("finish", "stop")}}})}});
  call.add_usage = true;
  return call;
}

void read_response(const Json& response, RecordedCall& call) {
  call.status = response.value("status", 200);
  if (const Json& headers = member(response, "headers"); headers.is_object())
    for (const auto& [name, value] : headers.items())
      if (value.is_string())
        call.headers[name] = value.get<std::string>();
  if (const Json& body = member(response, "json"); !body.is_null())
    call.body = dump_text(body);
  else
    call.body = text_member(response, "text");
  call.message = text_member(response, "message");
  const std::string error = text_member(response, "error");
  if (!error.empty())
    call.error = transport_error_named(error).value_or(TransportError::other);
  else if (member(response, "cut") == true ||
           (member(response, "streamed") == true && response.contains("malformed")))
    call.error = TransportError::cut; // what came of it looks whole now, and was not
}

RecordedCall call_of(const Json& json) {
  if (!json.contains("request"))
    return short_form(json);
  RecordedCall call;
  const Json& request = json.at("request");
  call.id = request.at("id").get<std::string>();
  if (const Json& body = member(request, "json"); !body.is_null())
    call.request_json = dump_text(body);
  read_response(json.at("response"), call);
  return call;
}

Result<void> read_into(std::string_view text, const Place& place,
                       std::vector<RecordedCall>& calls) {
  auto call = read_json(text, "recorded call", call_of);
  if (!call) {
    call.error().place = place;
    return tl::unexpected(std::move(call).error());
  }
  // Nobody asks for a probe, and a call that the user stopped was made again.
  if (call->id != kProbeId && call->error != TransportError::cancelled)
    calls.push_back(std::move(*call));
  return {};
}

Result<void> read_lines(const std::filesystem::path& file, std::vector<RecordedCall>& calls) {
  KERNEVO_TRY(text, read_text_file(file, kLargest));
  // One file of a trace is one object over many lines.
  if (const auto whole = parse_foreign(text); whole && whole->is_object())
    return read_into(text, {file.string(), 0, 0}, calls);
  int line = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view one = std::string_view(text).substr(begin, end - begin);
    ++line;
    if (one.find_first_not_of(" \t\r") != std::string_view::npos)
      KERNEVO_CHECK(read_into(one, {file.string(), line, 0}, calls));
    begin = end + 1;
  }
  return {};
}

Result<void> read_folder(const std::filesystem::path& folder, std::vector<RecordedCall>& calls) {
  std::vector<std::filesystem::path> files;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(folder, problem))
    if (entry.path().extension() == ".json")
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& file : files)
    KERNEVO_CHECK(read_lines(file, calls));
  return {};
}

} // namespace

Result<std::vector<RecordedCall>> read_recording(const std::filesystem::path& place) {
  std::vector<RecordedCall> calls;
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(place, ignored);
  KERNEVO_CHECK(folder ? read_folder(place, calls) : read_lines(place, calls));
  if (calls.empty())
    return fail(ErrorCode::input, fmt::format("{} holds no recorded calls", place.string()),
                std::nullopt, "give a folder of trace files or a file with one call a line");
  return calls;
}

std::string with_usage(const RecordedCall& call, std::string_view request_body) {
  auto reply = parse_foreign(call.body);
  const auto request = parse_foreign(request_body);
  if (!call.add_usage || !reply || !request)
    return call.body;
  std::uint64_t prompt = 0;
  if (const Json& messages = member(*request, "messages"); messages.is_array())
    for (const Json& message : messages)
      prompt += estimate_tokens(text_member(message, "content"));
  const Json& message = reply->at("choices").front().at("message");
  const std::uint64_t reasoning = estimate_tokens(text_member(message, "reasoning_content"));
  (*reply)["usage"] = {
      {"prompt_tokens", prompt},
      {"completion_tokens", estimate_tokens(text_member(message, "content")) + reasoning},
      {"completion_tokens_details", {{"reasoning_tokens", reasoning}}}};
  return dump_text(*reply);
}

bool same_request(const RecordedCall& call, std::string_view request_body) {
  if (call.request_json.empty())
    return true;
  const auto request = parse_foreign(request_body);
  const auto recorded = parse_foreign(call.request_json);
  return request && recorded && *request == *recorded;
}

} // namespace kernevo::llm
