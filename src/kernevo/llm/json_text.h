// What the files that read an endpoint's JSON share. Include only from .cpp files.
#pragma once

#include "kernevo/model/json_fields.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kernevo::llm {

// Nothing when it is no JSON, or nested so deep that whoever walks it would run out of stack.
inline std::optional<Json> parse_foreign(std::string_view text) {
  constexpr int kDeepest = 100;
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else
        in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest)
        return std::nullopt;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded())
    return std::nullopt;
  return json;
}

// A member, or null for anything that has none.
inline const Json& member(const Json& json, const char* key) {
  static const Json kNull;
  if (!json.is_object())
    return kNull;
  const auto found = json.find(key);
  return found == json.end() ? kNull : *found;
}

inline std::string text_member(const Json& json, const char* key) {
  const Json& value = member(json, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

inline std::optional<double> number_member(const Json& json, const char* key) {
  const Json& value = member(json, key);
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

inline std::string dump_text(const Json& json, int indent = -1) {
  return dump_json(json, indent);
}

} // namespace kernevo::llm
