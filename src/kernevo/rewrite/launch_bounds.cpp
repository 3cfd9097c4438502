#include "kernevo/base/identifier.h"
#include "kernevo/rewrite/register_limits.h"
#include "kernevo/rewrite/rewrite_list.h"

#include <algorithm>

namespace kernevo::rewrite {

OrRefusal<std::string> threads_per_block(const Draft& draft, const Function& kernel) {
  std::set<std::string> parameters;
  for (const TuneParameter& parameter : draft.kernel().parameters)
    parameters.insert(parameter.name);
  std::set<std::string> found;
  for (const LaunchDirective* launch : draft.launches(kernel)) {
    std::string product;
    for (const Expression& size : launch->block) {
      for (const std::string& name : size.names())
        if (!parameters.contains(name))
          return refuse("the block of {} depends on the shape ({})", kernel.name, name);
      // min and max are functions of expressions, not of the preprocessor.
      if (size.text().find("min") != std::string::npos ||
          size.text().find("max") != std::string::npos ||
          size.text().find("ceil_div") != std::string::npos ||
          size.text().find("next_pow2") != std::string::npos)
        return refuse("the block of {} is not a plain expression", kernel.name);
      if (size.text() == "1")
        continue;
      const bool plain = is_identifier(size.text()) ||
                         size.text().find_first_not_of("0123456789") == std::string::npos;
      product += fmt::format("{}{}{}{}", product.empty() ? "" : " * ", plain ? "" : "(",
                             size.text(), plain ? "" : ")");
    }
    found.insert(product.empty() ? "1" : product);
  }
  if (found.empty())
    return refuse("{} has no launch", kernel.name);
  if (found.size() > 1)
    return refuse("the launches of {} have different blocks", kernel.name);
  return *found.begin();
}

bool has_register_limit(const Function& kernel) {
  return std::any_of(kernel.attributes.begin(), kernel.attributes.end(), [](const std::string& a) {
    return a == "__launch_bounds__" || a == "__maxnreg__" || a == "__block_size__";
  });
}

Outcome launch_bounds(Draft& draft, const Function& kernel) {
  if (has_register_limit(kernel))
    return refuse("{} has launch bounds or a register limit already", kernel.name);
  if (draft.kernel().max_registers)
    return refuse("@maxregs limits the registers already");
  const auto threads = threads_per_block(draft, kernel);
  if (!threads)
    return refuse("{}", threads.error().why);
  const std::string blocks = draft.fresh("MIN_BLOCKS");
  draft.add_directive(fmt::format("@tune {} 2 1 3 4 6 8", blocks));
  draft.add_directive(fmt::format("@where {} == 1 || {} * {} <= 2048", blocks, *threads, blocks));
  draft.edits().insert(draft.code().tokens()[kernel.name_token].begin,
                       fmt::format("__launch_bounds__({}, {}) ", *threads, blocks));
  return fmt::format("{} is compiled for blocks of {} threads, {} of them on a multiprocessor",
                     kernel.name, *threads, blocks);
}

} // namespace kernevo::rewrite
