#include "kernevo/evolve/identity.h"

#include "kernevo/base/hash.h"
#include "kernevo/model/json.h"
#include "kernevo/ptx/facts.h"
#include "kernevo/toolchain/ptx_text.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <optional>

namespace kernevo::evolve {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

// Every whole word of the text that is `from`. Parameters are called after their kernel
// ("name_param_0"), so a word that only begins with it counts when '_' follows.
void rename(std::string& text, const std::string& from, const std::string& to) {
  std::size_t at = 0;
  while ((at = text.find(from, at)) != std::string::npos) {
    const bool begins = at == 0 || !is_word(text[at - 1]);
    const std::size_t end = at + from.size();
    const bool ends =
        end >= text.size() || !is_word(text[end]) || text.compare(end, 7, "_param_") == 0;
    if (begins && ends) {
      text.replace(at, from.size(), to);
      at += to.size();
    } else {
      at = end;
    }
  }
}

// What reaches the assembler and does not show in the PTX: its level and its limit of registers.
// All other flags change the PTX, or nothing.
std::string assembly_identity(const KernelFile& kernel) {
  constexpr std::string_view usual = "-O3";
  std::string level(usual);
  for (const std::string& flag : kernel.flags)
    if (flag.starts_with("-O"))
      level = flag;
  return fmt::format("{} {}", level, kernel.max_registers.value_or(0));
}

} // namespace

std::string instance_identity(const Task& task, const KernelFile& kernel,
                              const ParameterValues& parameters, const Build& build) {
  std::string ptx = build.ptx;
  std::string plans;
  for (const ShapeCase& shape : task.shapes) {
    const auto problem = make_problem(task, shape);
    if (!problem)
      return {};
    auto plan =
        make_launch_plan(kernel, parameters, *problem, task.default_launch, Place{task.file});
    if (!plan)
      return {};
    for (Launch& launch : plan->launches) {
      launch.place = {}; // where it is written says nothing about what it is
      if (const auto lowered = build.lowered_names.find(launch.kernel);
          lowered != build.lowered_names.end())
        launch.kernel = lowered->second;
    }
    plans += to_json(*plan) + '\n';
  }
  std::vector<std::string> entries = entry_names(ptx);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    rename(ptx, entries[i], fmt::format("kernel{}", i));
    rename(plans, entries[i], fmt::format("kernel{}", i));
  }
  return sha256_hex(fmt::format("{}\n{}\n{}", hash_ptx(ptx), assembly_identity(kernel), plans));
}

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
