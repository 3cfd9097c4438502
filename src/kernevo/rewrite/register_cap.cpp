#include "kernevo/rewrite/register_limits.h"
#include "kernevo/rewrite/rewrite_list.h"

#include <algorithm>
#include <array>

namespace kernevo::rewrite {
namespace {

// Offsets of a line that holds "// @maxregs N" and nothing else.
std::optional<std::pair<std::size_t, std::size_t>> maxregs_line(std::string_view source) {
  for (std::size_t begin = 0; begin < source.size();) {
    const std::size_t newline = std::min(source.find('\n', begin), source.size());
    std::string_view line = source.substr(begin, newline - begin);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.starts_with("//")) {
      line.remove_prefix(2);
      line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
      if (line.starts_with("@maxregs") && !line.ends_with('\\'))
        return std::pair(begin, std::min(newline + 1, source.size()));
    }
    begin = newline + 1;
  }
  return std::nullopt;
}

} // namespace

Outcome register_cap(Draft& draft, const Function& kernel) {
  if (has_register_limit(kernel))
    return refuse("{} has launch bounds or a register limit already", kernel.name);
  const auto threads = threads_per_block(draft, kernel);
  if (!threads)
    return refuse("{}", threads.error().why);
  const std::optional<int> cap = draft.kernel().max_registers;
  if (cap && draft.code().kernels().size() > 1)
    return refuse("@maxregs is for several kernels");
  if (cap) {
    const auto line = maxregs_line(draft.source());
    if (!line)
      return refuse("its register limit is no @maxregs line of its own");
    draft.edits().replace(line->first, line->second, "");
  }
  // A tight cap is given room first; without one, fewer registers let more warps in.
  const std::string name = draft.fresh("REGISTERS");
  const int first = cap && *cap < 128 ? 128 : 64;
  std::string values = std::to_string(first);
  for (const int value : {32, 40, 48, 64, 80, 96, 128, 168, 255})
    if (value != first)
      values += fmt::format(" {}", value);
  draft.add_directive(fmt::format("@tune {} {}", name, values));
  draft.add_directive(fmt::format("@where {} * {} <= 65536", name, *threads));
  draft.edits().insert(draft.code().tokens()[kernel.name_token].begin,
                       fmt::format("__maxnreg__({}) ", name));
  return fmt::format("a thread of {} may use {} registers", kernel.name, name);
}

} // namespace kernevo::rewrite
