#include "kernevo/evaluate/instance_identity.h"

#include "kernevo/base/hash.h"
#include "kernevo/model/json.h"
#include "kernevo/toolchain/ptx_text.h"

#include <cctype>
#include <fmt/format.h>
#include <vector>

namespace kernevo {
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
      launch.place = {}; // where and how it is written says nothing about what it is
      for (LaunchArgument& argument : launch.arguments)
        argument.name.clear();
      if (const auto lowered = build.lowered_names.find(launch.kernel);
          lowered != build.lowered_names.end())
        launch.kernel = lowered->second;
    }
    for (ScratchBuffer& buffer : plan->scratch)
      buffer.name.clear();
    plans += to_json(*plan) + '\n';
  }
  // To what no kernel is called: two that take each other's names would become one.
  const std::vector<std::string> entries = entry_names(ptx);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    rename(ptx, entries[i], fmt::format("<{}>", i));
    rename(plans, entries[i], fmt::format("<{}>", i));
  }
  return sha256_hex(fmt::format("{}\n{}\n{}", hash_ptx(ptx), assembly_identity(kernel), plans));
}

} // namespace kernevo
