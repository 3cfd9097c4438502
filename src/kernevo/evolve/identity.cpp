#include "kernevo/evolve/identity.h"

#include "kernevo/base/hash.h"
#include "kernevo/model/json.h"
#include "kernevo/toolchain/ptx_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>

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

int type_bytes(std::string_view type) {
  static constexpr std::array<std::pair<std::string_view, int>, 4> kWidths = {
      {{"8", 1}, {"16", 2}, {"32", 4}, {"64", 8}}};
  for (const auto& [suffix, bytes] : kWidths)
    if (type.size() == suffix.size() + 1 && type.substr(1) == suffix)
      return bytes;
  return type == "b128" ? 16 : 0;
}

// "ld.global.nc.v4.f32" -> 16.
int access_bytes(std::string_view mnemonic) {
  int vector = 1;
  int bytes = 0;
  while (!mnemonic.empty()) {
    const std::size_t dot = std::min(mnemonic.find('.'), mnemonic.size());
    const std::string_view part = mnemonic.substr(0, dot);
    if (part == "v2" || part == "v4" || part == "v8")
      vector = part[1] - '0';
    else if (const int width = type_bytes(part); width > 0)
      bytes = width;
    mnemonic.remove_prefix(std::min(dot + 1, mnemonic.size()));
  }
  return vector * bytes;
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
  return sha256_hex(fmt::format("{}\n{}", hash_ptx(ptx), plans));
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
  KernelFacts facts;
  facts.memory = ptx.find("cp.async") != std::string_view::npos  ? "async"
                 : ptx.find(".shared") != std::string_view::npos ? "shared"
                                                                 : "global";
  for (const std::string_view unit : {"mma.sync", "wmma.mma", "wgmma.mma", "mma.sp"})
    facts.tensor = facts.tensor || ptx.find(unit) != std::string_view::npos;
  for (const std::string_view access : {"ld.global", "st.global"}) {
    std::size_t at = 0;
    while ((at = ptx.find(access, at)) != std::string_view::npos) {
      const std::size_t end = std::min(ptx.find_first_of(" \t\n;", at), ptx.size());
      facts.vector_bytes = std::max(facts.vector_bytes, access_bytes(ptx.substr(at, end - at)));
      at = end;
    }
  }
  // cp.async.cg.shared.global [..], [..], 16;
  std::size_t at = 0;
  while ((at = ptx.find("cp.async.c", at)) != std::string_view::npos) {
    const std::size_t end = std::min(ptx.find(';', at), ptx.size());
    const std::string_view line = ptx.substr(at, end - at);
    for (const int bytes : {4, 8, 16})
      if (line.find(fmt::format(", {}", bytes)) != std::string_view::npos)
        facts.vector_bytes = std::max(facts.vector_bytes, bytes);
    at = end;
  }
  return facts;
}

} // namespace kernevo::evolve
