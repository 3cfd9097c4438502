// The texts a model is given, as files with holes (base/text_template.h has the language).
// share/prompts holds them; those of the backend's folder and of the user's take their place.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/base/text_template.h"

#include <map>
#include <string>

namespace kernevo::propose {

class PromptFiles {
public:
  // `overrides` is a folder; empty for none. Whatever a text asks for must be known: checked here,
  // so that filling it cannot fail later.
  static Result<PromptFiles> load(const std::string& backend, const std::string& overrides);

  // Everything this text may ask for, still empty.
  static TemplateContext blank(const std::string& name);
  Result<std::string> fill(const std::string& name, const TemplateContext& context) const;

private:
  struct File {
    std::string path;
    std::string text;
  };
  static Result<void> check(const std::string& name, const File& file);

  std::map<std::string, File> files_; // by name: "system"
};

} // namespace kernevo::propose
