#include "kernevo/llm/error_body.h"

#include "kernevo/llm/error_fields.h"

#include <algorithm>
#include <cctype>

namespace kernevo::llm {
namespace {

constexpr std::size_t kLongestMessage = 2000;

void read_code(const Json& value, ErrorBody& error) {
  if (value.is_number_integer()) {
    const auto number = value.get<double>();
    if (number >= 400 && number < 600)
      error.status = static_cast<int>(number);
  } else if (value.is_string() && error.code.empty()) {
    error.code = value.get<std::string>();
    if (error.code.size() == 3 && (error.code[0] == '4' || error.code[0] == '5') &&
        std::all_of(error.code.begin(), error.code.end(),
                    [](unsigned char c) { return std::isdigit(c) != 0; }))
      error.status = std::stoi(error.code);
  }
}

void add_message(ErrorBody& error, const std::string& text) {
  if (text.empty() || error.message.find(text) != std::string::npos)
    return;
  error.message += (error.message.empty() ? "" : ": ") + text;
}

// A list of complaints about fields: [{"loc": ["body", "seed"], "msg": "extra fields ..."}].
void read_details(const Json& list, ErrorBody& error) {
  for (const Json& one : list) {
    add_message(error, one.is_string() ? one.get<std::string>() : text_member(one, "msg"));
    const Json& place = member(one, "loc");
    if (place.is_array() && !place.empty() && place.back().is_string() && error.param.empty())
      error.param = place.back().get<std::string>();
  }
}

void read_wait(const Json& json, ErrorBody& error) {
  for (const char* name : {"retry_after", "retry_after_seconds"})
    if (const auto wait = number_member(json, name); wait && *wait >= 0 && !error.retry_after)
      error.retry_after = wait;
}

void read_object(const Json& json, ErrorBody& error) {
  for (const char* name : {"message", "msg", "title"})
    add_message(error, text_member(json, name));
  read_code(member(json, "code"), error);
  read_code(member(json, "status"), error);
  if (error.code.empty())
    error.code = text_member(json, "type");
  if (error.param.empty())
    error.param = text_member(json, "param");
  read_wait(json, error);
  const Json& metadata = member(json, "metadata");
  read_wait(metadata, error);
  // A gateway's own message is often just "Provider returned error".
  add_message(error, text_member(metadata, "raw"));
  const Json& detail = member(json, "detail");
  if (detail.is_string())
    add_message(error, detail.get<std::string>());
  else if (detail.is_array())
    read_details(detail, error);
  else if (detail.is_object())
    add_message(error, text_member(detail, "message"));
  if (const Json& list = member(json, "errors"); list.is_array())
    read_details(list, error);
}

} // namespace

std::string ErrorBody::lower() const {
  std::string text = message + " " + code + " " + param;
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

ErrorBody error_of(const Json& given) {
  const Json& json = given.is_array() && !given.empty() ? given.front() : given;
  ErrorBody error;
  const Json& inner = member(json, "error");
  if (inner.is_string())
    add_message(error, inner.get<std::string>());
  else if (inner.is_object())
    read_object(inner, error);
  read_object(json, error);
  if (error.message.size() > kLongestMessage)
    error.message.resize(kLongestMessage);
  return error;
}

ErrorBody error_body(std::string_view body) {
  if (const auto json = parse_foreign(body); json && (json->is_object() || json->is_array()))
    return error_of(*json);
  ErrorBody error;
  // Of a page of HTML the text is enough.
  bool tag = false;
  for (const char c : body.substr(0, kLongestMessage)) {
    if (c == '<')
      tag = true;
    else if (c == '>')
      tag = false;
    else if (!tag)
      error.message += c;
  }
  return error;
}

} // namespace kernevo::llm
