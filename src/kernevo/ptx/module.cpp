#include "kernevo/ptx/module.h"

namespace kernevo::ptx {

const Function* Module::find_function(std::string_view name) const {
  const Function* declaration = nullptr;
  for (const Function& function : functions) {
    if (function.name != name)
      continue;
    if (!function.is_declaration)
      return &function;
    declaration = &function;
  }
  return declaration;
}

} // namespace kernevo::ptx
