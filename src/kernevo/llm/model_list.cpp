#include "kernevo/llm/model_list.h"

#include "kernevo/llm/json_text.h"

#include <algorithm>

namespace kernevo::llm {

std::optional<std::vector<std::string>> parse_model_list(std::string_view body) {
  const auto json = parse_foreign(body);
  if (!json)
    return std::nullopt;
  const Json* list = &*json;
  for (const char* name : {"data", "models"})
    if (const Json& inner = member(*json, name); inner.is_array())
      list = &inner;
  if (!list->is_array())
    return std::nullopt;
  std::vector<std::string> names;
  for (const Json& one : *list) {
    std::string name = one.is_string() ? one.get<std::string>() : text_member(one, "id");
    if (name.empty())
      name = text_member(one, "name");
    if (!name.empty())
      names.push_back(std::move(name));
  }
  return names.empty() ? std::nullopt : std::optional(std::move(names));
}

bool lists_model(const std::vector<std::string>& names, std::string_view model) {
  const std::string_view plain = model.substr(0, model.find(':')); // "name:nitro", "name:latest"
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    if (name.starts_with("models/"))
      name.remove_prefix(7);
    return name == model || name == plain || name.substr(0, name.find(':')) == model;
  });
}

} // namespace kernevo::llm
