// Helpers for strict JSON reading, for the codecs in model/ and the messages between processes.
// Include only from .cpp files: this is where nlohmann/json enters.
#pragma once

#include "kernevo/base/one_line.h"
#include "kernevo/base/printable.h"
#include "kernevo/base/result.h"

#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <fmt/format.h>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace kernevo {

// The library turns numbers into each other in silence: -1 into a huge count, 1e300 into an int.
// Here a number that is not exactly a value of the wanted type is an error, and so is an array of
// another length than the wanted one.
template <class T, class = void> struct StrictFields {
  template <class J>
  static auto from_json(J&& json, T& value)
      -> decltype(::nlohmann::from_json(std::forward<J>(json), value), void());
  template <class J, class V>
  static auto to_json(J& json, V&& value)
      -> decltype(::nlohmann::to_json(json, std::forward<V>(value)), void()) {
    ::nlohmann::to_json(json, std::forward<V>(value));
  }
};

using Json =
    nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool, std::int64_t,
                         std::uint64_t, double, std::allocator, StrictFields>;

// Ends the reading of a record; read_json() turns it into an error.
[[noreturn]] void refuse(const std::string& what);

template <class T> inline constexpr bool is_fixed_array = false;
template <class T, std::size_t N> inline constexpr bool is_fixed_array<std::array<T, N>> = true;

template <class T, class S>
template <class J>
auto StrictFields<T, S>::from_json(J&& json, T& value)
    -> decltype(::nlohmann::from_json(std::forward<J>(json), value), void()) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    const bool exact = json.is_number_unsigned()
                           ? std::in_range<T>(*json.template get_ptr<const std::uint64_t*>())
                           : json.is_number_integer() &&
                                 std::in_range<T>(*json.template get_ptr<const std::int64_t*>());
    if (!exact)
      refuse(fmt::format("{} is no {} of {} bits", one_line(json.dump(), 40),
                         std::is_signed_v<T> ? "integer" : "count", 8 * sizeof(T)));
    ::nlohmann::from_json(json, value);
  } else if constexpr (std::is_floating_point_v<T>) {
    ::nlohmann::from_json(json, value);
    if (!json.is_number() || !std::isfinite(value))
      refuse(one_line(json.dump(), 40) + " is no finite number");
  } else if constexpr (is_fixed_array<T>) {
    if (!json.is_array() || json.size() != value.size())
      refuse(fmt::format("an array of {} was wanted", value.size()));
    for (std::size_t i = 0; i < value.size(); ++i)
      json[i].get_to(value[i]);
  } else {
    ::nlohmann::from_json(std::forward<J>(json), value);
  }
}

// What a text may be made of at most. Objects are looked up one key after the other, so many keys
// would take their time.
struct JsonLimits {
  std::size_t bytes = std::size_t{64} << 20U;
  int depth = 128;
  std::size_t keys = 4096; // of one object
  bool duplicate_keys = false;
};

// Throws the library's exceptions.
Json parse_json(std::string_view text, const JsonLimits& limits = {});

inline constexpr std::size_t kLongestComplaint = 400; // texts from elsewhere may be quoted in it

// Runs a reader that may throw the library's exceptions and turns them into a Result.
template <class F>
auto read_json(std::string_view text, const char* what, F&& reader, const JsonLimits& limits = {})
    -> Result<decltype(reader(std::declval<const Json&>()))> {
  try {
    return reader(parse_json(text, limits));
  } catch (const nlohmann::json::exception& problem) {
    return fail(ErrorCode::input,
                fmt::format("{}: {}", what, one_line(problem.what(), kLongestComplaint)));
  }
}

// As text. Bytes that are no UTF-8 are replaced, never an exception.
inline std::string dump_json(const Json& json, int indent = -1) {
  return printable_json(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

// Throws for what is no object, and for a key that is not in the list: a misspelt key is an error,
// not silence.
void only_keys(const Json& object, std::initializer_list<std::string_view> known);
// Throw when it is absent or something else; a loop over a number or a string would run once.
const Json& list_at(const Json& object, const char* key);
const Json& object_at(const Json& object, const char* key);

template <class T> void put_optional(Json& object, const char* key, const std::optional<T>& value) {
  object[key] = value ? Json(*value) : Json(nullptr);
}

template <class T> std::optional<T> get_optional(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null())
    return std::nullopt;
  return found->template get<T>();
}

// The value of an enum that is written by its name; `last` is its last one.
template <class Enum> Enum enum_of(const Json& json, const char* what, Enum last) {
  const auto name = json.get<std::string>();
  for (int i = 0; i <= static_cast<int>(last); ++i)
    if (name_of(static_cast<Enum>(i)) == name)
      return static_cast<Enum>(i);
  refuse(fmt::format("unknown {} '{}'", what, one_line(name, 60)));
}

template <class Enum> Enum enum_at(const Json& object, const char* key, Enum last) {
  return enum_of(object.at(key), key, last);
}

// Absent where it is null. The key itself must be there.
template <class Enum>
std::optional<Enum> nullable_enum_at(const Json& object, const char* key, Enum last) {
  const Json& value = object.at(key);
  return value.is_null() ? std::nullopt : std::optional(enum_of(value, key, last));
}

// The same for a key that may be missing.
template <class Enum>
std::optional<Enum> optional_enum_at(const Json& object, const char* key, Enum last) {
  return object.contains(key) ? nullable_enum_at(object, key, last) : std::nullopt;
}

// A count that the record keeps as an int, an amount that is no count: never negative.
int count_at(const Json& object, const char* key);
double amount_at(const Json& object, const char* key);

// A record inside another, read by its own codec.
template <class T> T value_of(Result<T> result) {
  if (!result)
    refuse(result.error().message);
  return std::move(*result);
}

Json place_to_json(const Place& place);
Place place_from_json(const Json& json);

} // namespace kernevo
