#include "kernevo/evolve/identity.h"

#include "kernevo/base/hash.h"
#include "kernevo/ptx/facts.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <string>

namespace kernevo::evolve {

std::string structure_identity(const std::string& default_instance, const KernelFile& kernel) {
  if (kernel.parameters.empty())
    return default_instance;
  std::string space;
  for (const TuneParameter& parameter : kernel.parameters) {
    std::vector<std::int64_t> values = parameter.values;
    std::sort(values.begin(), values.end());
    space += fmt::format("{}:", parameter.name);
    for (const std::int64_t value : values)
      space += fmt::format("{},", value);
  }
  for (const Constraint& constraint : kernel.constraints)
    space += constraint.condition.text() + ";";
  // Two recipes may share names and values of parameters and a default that differs; and the same
  // default with other values to try is another thing to tune.
  return sha256_hex(default_instance + space);
}

KernelFacts code_facts(std::string_view ptx) {
  const std::optional<ptx::PtxFacts> shown = ptx::facts_of(ptx);
  KernelFacts facts;
  if (!shown) {
    facts.memory = "unknown";
    return facts;
  }
  facts.memory = shown->async_copies ? "async" : shown->shared_memory ? "shared" : "global";
  facts.tensor = shown->tensor_cores;
  facts.vector_bytes = shown->global_access_bytes;
  return facts;
}

} // namespace kernevo::evolve
