// Helpers for strict JSON reading, for the codecs in model/ and the messages between processes.
// Include only from .cpp files: this is where nlohmann/json enters.
#pragma once

#include "kernevo/base/result.h"

#include <fmt/format.h>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

namespace kernevo {

using Json = nlohmann::ordered_json;

// Runs a reader that may throw the library's exceptions and turns them into a Result.
template <class F>
auto read_json(std::string_view text, const char* what, F&& reader)
    -> Result<decltype(reader(std::declval<const Json&>()))> {
  try {
    return reader(Json::parse(text));
  } catch (const nlohmann::json::exception& problem) {
    return fail(ErrorCode::input, fmt::format("{}: {}", what, problem.what()));
  }
}

// Throws for a key that is not in the list: a misspelt key is an error, not silence.
inline void only_keys(const Json& object, std::initializer_list<std::string_view> known) {
  const std::set<std::string_view> names(known);
  for (const auto& item : object.items())
    if (!names.contains(item.key()))
      throw nlohmann::json::other_error::create(600, "unknown key '" + item.key() + "'", &object);
}

template <class T> void put_optional(Json& object, const char* key, const std::optional<T>& value) {
  object[key] = value ? Json(*value) : Json(nullptr);
}

template <class T> std::optional<T> get_optional(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null())
    return std::nullopt;
  return found->template get<T>();
}

Json place_to_json(const Place& place);
Place place_from_json(const Json& json);

} // namespace kernevo
