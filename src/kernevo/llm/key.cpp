#include "kernevo/llm/key.h"

#include <cstdlib>
#include <fmt/format.h>

namespace kernevo::llm {

Result<std::string> key_of(const ModelSettings& model) {
  if (model.api_key_env.empty())
    return std::string();
  const char* value = std::getenv(model.api_key_env.c_str());
  std::string key = value == nullptr ? "" : value;
  key.erase(0, key.find_first_not_of(" \t\r\n"));
  key.erase(key.find_last_not_of(" \t\r\n") + 1);
  if (key.empty())
    return fail(ErrorCode::usage,
                fmt::format("the key of model {} is missing: the variable {} is not set",
                            model.name, model.api_key_env),
                std::nullopt, fmt::format("export {}=...", model.api_key_env));
  for (const char c : key)
    if (static_cast<unsigned char>(c) <= ' ' || c == '\x7f')
      return fail(ErrorCode::usage,
                  fmt::format("the variable {} holds no key: it has blanks or control characters "
                              "inside",
                              model.api_key_env),
                  std::nullopt, fmt::format("export {}=...", model.api_key_env));
  return key;
}

Result<std::string> base_url_of(const ModelSettings& model) {
  std::string url = model.base_url;
  const auto drop_slashes = [&] { url.erase(url.find_last_not_of('/') + 1); };
  drop_slashes();
  if (url.ends_with("/chat/completions")) {
    url.erase(url.size() - std::string_view("/chat/completions").size());
    drop_slashes();
  }
  if (!url.starts_with("http://") && !url.starts_with("https://"))
    return fail(
        ErrorCode::usage,
        fmt::format("the base URL of model {} is '{}', which is not an http or https address",
                    model.name, model.base_url),
        std::nullopt, "write it like https://openrouter.ai/api/v1");
  for (const char c : url)
    if (static_cast<unsigned char>(c) <= ' ')
      return fail(ErrorCode::usage,
                  fmt::format("the base URL of model {} has a blank in it", model.name));
  return url;
}

} // namespace kernevo::llm
