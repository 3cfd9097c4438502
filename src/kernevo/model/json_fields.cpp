#include "kernevo/model/json_fields.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

namespace kernevo {

void refuse(const std::string& what) {
  throw nlohmann::json::other_error::create(600, what, static_cast<const Json*>(nullptr));
}

Json parse_json(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes)
    refuse(fmt::format("{} bytes of JSON are more than the {} allowed", text.size(), limits.bytes));
  std::vector<std::unordered_set<std::string>> open; // keys of the objects around
  return Json::parse(text, [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > limits.depth)
      refuse(fmt::format("nested deeper than {}", limits.depth));
    if (limits.duplicate_keys)
      return true;
    switch (event) {
    case Json::parse_event_t::object_start: open.emplace_back(); break;
    case Json::parse_event_t::object_end: open.pop_back(); break;
    case Json::parse_event_t::key: {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!open.back().insert(key).second)
        refuse("key '" + one_line(key, 60) + "' stands twice");
      if (open.back().size() > limits.keys)
        refuse(fmt::format("an object has more than {} keys", limits.keys));
      break;
    }
    default: break;
    }
    return true;
  });
}

void only_keys(const Json& object, std::initializer_list<std::string_view> known) {
  if (!object.is_object())
    refuse("an object was wanted");
  for (const auto& item : object.items())
    if (std::find(known.begin(), known.end(), item.key()) == known.end())
      refuse("unknown key '" + one_line(item.key(), 60) + "'");
}

const Json& list_at(const Json& object, const char* key) {
  const Json& list = object.at(key);
  if (!list.is_array())
    refuse(fmt::format("{} is not a list", key));
  return list;
}

const Json& object_at(const Json& object, const char* key) {
  const Json& inner = object.at(key);
  if (!inner.is_object())
    refuse(fmt::format("{} is not an object", key));
  return inner;
}

int count_at(const Json& object, const char* key) {
  const int value = object.at(key);
  if (value < 0)
    refuse(fmt::format("{} is negative", key));
  return value;
}

double amount_at(const Json& object, const char* key) {
  const double value = object.at(key);
  if (value < 0)
    refuse(fmt::format("{} is negative", key));
  return value;
}

Json place_to_json(const Place& place) {
  return {{"file", place.file}, {"line", place.line}, {"column", place.column}};
}

Place place_from_json(const Json& json) {
  only_keys(json, {"file", "line", "column"});
  return {json.at("file"), count_at(json, "line"), count_at(json, "column")};
}

} // namespace kernevo
