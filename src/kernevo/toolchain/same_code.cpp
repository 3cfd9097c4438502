#include "kernevo/toolchain/same_code.h"

#include "kernevo/base/identifier.h"
#include "kernevo/toolchain/ptx_text.h"
#include "kernevo/toolchain/toolchain.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace kernevo {
namespace {

struct Item { // a variable or a function at the top of a module
  std::string text;
  bool entry = false;
};
using Module = std::map<std::string, Item, std::less<>>;

bool in_symbol(char c) {
  return continues_name(c) || c == '$' || c == '%';
}

std::string_view symbol_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && in_symbol(text[end]))
    ++end;
  return text.substr(at, end - at);
}

// After ".entry" or ".func (results)"; before '[', '=' or ';' of a variable.
std::string name_of(std::string_view text) {
  std::size_t at = text.find(".entry");
  std::size_t length = 6;
  if (at == std::string_view::npos) {
    at = text.find(".func");
    length = 5;
  }
  if (at != std::string_view::npos) {
    at += length;
    while (at < text.size() && !in_symbol(text[at]) && text[at] != '(')
      ++at;
    if (at < text.size() && text[at] == '(')
      at = std::min(text.find(')', at), text.size());
    while (at < text.size() && !in_symbol(text[at]))
      ++at;
    return std::string(symbol_at(text, at));
  }
  std::size_t end = std::min(text.find_first_of("[=;"), text.size());
  while (end > 0 && !in_symbol(text[end - 1]))
    --end;
  std::size_t begin = end;
  while (begin > 0 && in_symbol(text[begin - 1]))
    --begin;
  return std::string(text.substr(begin, end - begin));
}

Module items_of(const std::string& ptx) {
  Module module;
  std::string item;
  int depth = 0;
  for (std::size_t begin = 0; begin < ptx.size();) {
    const std::size_t end = std::min(ptx.find('\n', begin), ptx.size());
    std::string_view line = std::string_view(ptx).substr(begin, end - begin);
    begin = end + 1;
    if (item.empty() && (line.starts_with(".version") || line.starts_with(".target") ||
                         line.starts_with(".address_size")))
      continue;
    // Templates are weak for one compiler and visible for the other.
    for (const std::string_view linkage : {".visible ", ".weak "})
      if (item.empty() && line.starts_with(linkage))
        line.remove_prefix(linkage.size());
    item += line;
    item += '\n';
    for (const char c : line)
      depth += c == '{' ? 1 : (c == '}' ? -1 : 0);
    const bool function =
        item.find(".entry") != std::string::npos || item.find(".func") != std::string::npos;
    if (depth == 0 && (line.ends_with(';') || (function && line.ends_with('}')))) {
      Item& known = module[name_of(item)];
      if (item.size() > known.text.size()) // a declaration may stand before the definition
        known = {item, item.find(".entry") != std::string::npos};
      item.clear();
    }
  }
  return module;
}

// A kernel and all it uses, every symbol by the order in which it is met.
std::string canonical(const Module& module, const std::string& kernel) {
  std::map<std::string, std::string, std::less<>> names;
  std::vector<std::string> wanted = {kernel};
  std::string text = plain_kernel_name(kernel) + "\n";
  for (std::size_t next = 0; next < wanted.size(); ++next) {
    const std::string_view body = module.find(wanted[next])->second.text;
    for (std::size_t at = 0; at < body.size();) {
      const std::string_view symbol = symbol_at(body, at);
      if (symbol.empty()) {
        text += body[at++];
        continue;
      }
      at += symbol.size();
      const bool item = module.contains(symbol);
      if (!item && !symbol.starts_with("_Z") && !symbol.starts_with("$L__") &&
          !symbol.starts_with("__local_depot")) {
        text += symbol;
        continue;
      }
      const auto [found, added] = names.emplace(symbol, fmt::format("symbol{}", names.size()));
      text += found->second;
      if (added && item && symbol != kernel)
        wanted.emplace_back(symbol);
    }
  }
  return text;
}

std::multiset<std::string> kernels_of(std::string_view ptx) {
  const Module module = items_of(bare_ptx(ptx));
  std::multiset<std::string> kernels;
  for (const auto& [name, item] : module)
    if (item.entry)
      kernels.insert(canonical(module, name));
  return kernels;
}

} // namespace

bool same_device_code(std::string_view ptx, std::string_view other) {
  return kernels_of(ptx) == kernels_of(other);
}

} // namespace kernevo
