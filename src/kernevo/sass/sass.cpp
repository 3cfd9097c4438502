#include "kernevo/sass/sass.h"

#include <algorithm>

namespace kernevo::sass {

bool SassInstruction::has(const char* modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

std::string SassInstruction::text() const {
  std::string text = opcode;
  for (const std::string& modifier : modifiers)
    text += "." + modifier;
  for (std::size_t i = 0; i < operands.size(); ++i)
    text += (i == 0 ? " " : ", ") + operands[i];
  return text;
}

const SassFunction* SassModule::find(const std::string& name) const {
  for (const SassFunction& function : functions)
    if (function.name == name)
      return &function;
  return nullptr;
}

} // namespace kernevo::sass
