// What was loaded as a part of larger JSON records. Include only from .cpp files.
#pragma once

#include "kernevo/model/json_fields.h"
#include "kernevo/model/loaded_code.h"

namespace kernevo {

inline Json loaded_code_to_json(const LoadedCode& code) {
  Json json{{"form", name_of(code.form)}, {"architecture", code.architecture}};
  if (code.form == CodeForm::cubin)
    json["assembler"] = code.assembler;
  return json;
}

// Throws the library's exceptions.
inline LoadedCode loaded_code_of(const Json& json) {
  LoadedCode code;
  code.form = enum_at(json, "form", CodeForm::ptx);
  if (code.form == CodeForm::cubin)
    only_keys(json, {"form", "architecture", "assembler"});
  else
    only_keys(json, {"form", "architecture"});
  json.at("architecture").get_to(code.architecture);
  if (code.form == CodeForm::cubin)
    json.at("assembler").get_to(code.assembler);
  return code;
}

// Under "code"; records of devices that load what they compile, and older ones, have none.
inline void put_loaded_code(Json& json, const std::optional<LoadedCode>& code) {
  if (code)
    json["code"] = loaded_code_to_json(*code);
}
inline std::optional<LoadedCode> get_loaded_code(const Json& json) {
  return json.contains("code") ? std::optional(loaded_code_of(json.at("code"))) : std::nullopt;
}

} // namespace kernevo
