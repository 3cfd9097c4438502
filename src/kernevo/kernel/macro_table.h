// The macros a source defines, as far as they can change how its declarations read.
#pragma once

#include "kernevo/kernel/source_scan.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

struct SourceMacro {
  bool function = false; // has parameters
  std::vector<std::string_view> parameters;
  std::vector<SourceToken> body;
};

class MacroTable {
public:
  explicit MacroTable(const SourceScan& scan);

  bool contains(std::string_view name) const { return macros_.contains(name); }
  // Every definition of the name.
  const std::vector<SourceMacro>& definitions(std::string_view name) const;
  // Whether it may begin or end a declaration: ';', braces or assembly in it, or in a macro it
  // uses.
  bool makes_declarations(std::string_view name) const { return makers_.contains(name); }
  std::set<std::string> names() const;

private:
  std::map<std::string_view, std::vector<SourceMacro>> macros_;
  std::set<std::string_view> makers_;
};

// ';', a brace, or assembly.
bool parts_declarations(std::string_view word);

} // namespace kernevo
