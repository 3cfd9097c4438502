#include "kernevo/llm/reply_reader.h"

#include "kernevo/llm/error_fields.h"
#include "kernevo/llm/usage_fields.h"

#include <array>
#include <utility>

namespace kernevo::llm {
namespace {

// A string, or a list of parts of which those with text count.
std::string text_of(const Json& content) {
  if (content.is_string())
    return content.get<std::string>();
  std::string text;
  if (content.is_array())
    for (const Json& part : content)
      text += part.is_string() ? part.get<std::string>() : text_member(part, "text");
  return text;
}

// Endpoints that send it twice, in two shapes, send the same: the first that is there counts.
std::string reasoning_of(const Json& message) {
  for (const char* name : {"reasoning_content", "reasoning"})
    if (std::string text = text_of(member(message, name)); !text.empty())
      return text;
  std::string text;
  if (const Json& details = member(message, "reasoning_details"); details.is_array())
    for (const Json& one : details)
      for (const char* name : {"text", "summary"})
        text += text_member(one, name);
  return text;
}

bool is_error(const Json& json) {
  const Json& error = member(json, "error");
  return (!error.is_null() && error != false) || text_member(json, "object") == "error";
}

// Whether it held anything of an answer.
bool read_choice(const Json& choice, ReadReply& read) {
  const Json& delta = member(choice, "delta");
  const Json& message = delta.is_object() ? delta : member(choice, "message");
  std::string text = text_of(member(message, "content"));
  if (text.empty())
    text = text_of(member(choice, "text"));
  const std::string reasoning = reasoning_of(message);
  const std::string finish = text_member(choice, "finish_reason");
  read.content += text;
  read.reasoning += reasoning;
  if (!finish.empty())
    read.finish = finish;
  return !text.empty() || !reasoning.empty() || !finish.empty();
}

bool read_completion(const Json& json, ReadReply& read) {
  bool payload = false;
  if (is_error(json)) {
    read.error = error_of(json);
    read.error_json = dump_text(json);
    payload = true;
  }
  if (const std::string model = text_member(json, "model"); !model.empty())
    read.model = model;
  if (const std::string id = text_member(json, "id"); !id.empty())
    read.endpoint_id = id;
  if (const Json& usage = member(json, "usage"); usage.is_object()) {
    if (const auto counted = usage_of(usage)) {
      read.usage = counted;
      read.usage_json = dump_text(usage);
      payload = true;
    }
    if (const auto cost = cost_of(usage))
      read.cost = cost;
  }
  const Json& choices = member(json, "choices");
  if (!choices.is_array())
    return payload;
  for (const Json& choice : choices) {
    if (number_member(choice, "index").value_or(0) != 0)
      continue;
    payload = read_choice(choice, read) || payload;
    if (is_error(choice) && !read.error) {
      read.error = error_of(choice);
      read.error_json = dump_text(choice);
    }
  }
  return payload;
}

} // namespace

ReplyReader::ReplyReader(std::size_t limit)
    : limit_(limit), parser_([this](const SseEvent& event) { on_event(event); }) {}

bool ReplyReader::feed(std::string_view piece) {
  if (ended_)
    return false;
  read_.bytes += piece.size();
  if (read_.bytes > limit_) {
    read_.malformed = "the answer is larger than " + std::to_string(limit_ >> 20U) + " MiB";
    ended_ = true;
    return false;
  }
  if (form_ == Form::stream) {
    parser_.feed(piece);
    return !ended_;
  }
  if (form_ == Form::whole)
    ++payloads_;
  start_ += piece;
  if (form_ == Form::unknown)
    find_form();
  return !ended_;
}

// Blank lines come before a whole answer while the endpoint is still at work.
void ReplyReader::find_form() {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  static constexpr std::array<std::string_view, 4> kFields = {"data:", "event:", "id:", "retry:"};
  if (start_.starts_with(kMark))
    start_.erase(0, kMark.size());
  start_.erase(0, start_.find_first_not_of(" \t\r\n"));
  if (start_.empty() || (kMark.starts_with(start_) && !finishing_))
    return;
  bool stream = start_.front() == ':';
  for (const std::string_view field : kFields) {
    stream = stream || start_.starts_with(field);
    if (!stream && !finishing_ && field.starts_with(start_))
      return; // too little to tell
  }
  form_ = stream ? Form::stream : Form::whole;
  read_.streamed = stream;
  if (!stream) {
    ++payloads_;
    return;
  }
  const std::string first = std::exchange(start_, {});
  parser_.feed(first);
}

void ReplyReader::finish() {
  finishing_ = true;
  if (form_ == Form::unknown)
    find_form();
  if (ended_)
    return;
  if (form_ == Form::stream)
    parser_.finish();
  else
    read_whole();
  if (!read_.finish.empty())
    read_.complete = true;
}

void ReplyReader::on_event(const SseEvent& event) {
  if (ended_)
    return;
  if (event.data == "[DONE]") {
    read_.complete = true;
    ended_ = true;
    return;
  }
  const auto json = parse_foreign(event.data);
  if (!json) {
    if (finishing_) // the last line of a stream that broke off
      return;
    if (event.type == "error")
      read_.error = error_body(event.data);
    else
      read_.malformed = "a piece of the stream is no JSON";
    ended_ = true;
    return;
  }
  if (read_completion(*json, read_))
    ++payloads_;
  if (event.type == "error" && !read_.error) {
    read_.error = error_of(*json);
    read_.error_json = dump_text(*json);
  }
  if (read_.error)
    ended_ = true;
}

void ReplyReader::read_whole() {
  const auto parsed = parse_foreign(start_);
  if (!parsed) {
    read_.malformed = start_.empty() ? "the answer is empty" : "the answer is no JSON";
    read_.unread = std::exchange(start_, {});
    return;
  }
  const Json& json = parsed->is_array() && parsed->size() == 1 ? parsed->front() : *parsed;
  read_completion(json, read_);
  if (const Json& choices = member(json, "choices");
      !read_.error && (!choices.is_array() || choices.empty())) {
    read_.malformed = "the answer has no choices";
    read_.unread = std::exchange(start_, {});
  }
}

std::string assembled_json(const ReadReply& read) {
  Json message{{"role", "assistant"}, {"content", read.content}};
  if (!read.reasoning.empty())
    message["reasoning_content"] = read.reasoning;
  Json choice{{"index", 0}, {"message", std::move(message)}, {"finish_reason", nullptr}};
  if (!read.finish.empty())
    choice["finish_reason"] = read.finish;
  Json json{{"id", read.endpoint_id},
            {"object", "chat.completion"},
            {"model", read.model},
            {"choices", Json::array({std::move(choice)})}};
  if (const auto usage = parse_foreign(read.usage_json))
    json["usage"] = *usage;
  if (read.error) {
    const auto error = parse_foreign(read.error_json);
    const Json& inner = error ? member(*error, "error") : member(Json(), "error");
    json["error"] = inner.is_null() ? Json{{"message", read.error->message}} : inner;
  }
  return dump_text(json);
}

} // namespace kernevo::llm
