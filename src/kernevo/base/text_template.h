// Texts with holes: kernels of a family, prompts.
//   {{key}}                        the value of a key
//   {{if flag}} {{else}} {{end}}   lines kept or dropped, each on a line of its own; nested
//                                  at will, {{if !flag}} for the opposite
//   {{include part.cu}}            a part several templates have in common, beside the template
#pragma once

#include "kernevo/base/result.h"

#include <map>
#include <string>
#include <string_view>

namespace kernevo {

struct TemplateContext {
  std::map<std::string, std::string> values;
  std::map<std::string, bool> flags;
};

// A key or flag the context does not have and an {{if}} without its {{end}} are input errors at
// their line of `file`.
Result<std::string> expand_template(std::string_view text, const TemplateContext& context,
                                    const std::string& file);

} // namespace kernevo
