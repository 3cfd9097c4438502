#include "kernevo/kernel/macro_table.h"

#include <algorithm>

namespace kernevo {

bool parts_declarations(std::string_view word) {
  return word == ";" || word == "{" || word == "}" || word == "asm" || word == "__asm__" ||
         word == "__asm";
}

MacroTable::MacroTable(const SourceScan& scan) {
  for (const PreprocessorLine& line : scan.directives) {
    if (line.word != "define" || line.first_token == line.last_token)
      continue;
    const SourceToken& name = scan.tokens[line.first_token];
    SourceMacro macro;
    std::size_t at = line.first_token + 1;
    // A macro has parameters when the parenthesis touches its name.
    macro.function = at < line.last_token && scan.tokens[at].text == "(" &&
                     scan.tokens[at].text.data() == name.text.data() + name.text.size();
    for (; macro.function && at < line.last_token && scan.tokens[at].text != ")"; ++at) {
      if (scan.tokens[at].kind == SourceToken::Kind::identifier)
        macro.parameters.push_back(scan.tokens[at].text);
      else if (scan.tokens[at].text == "." && scan.tokens[at - 1].text != ".")
        macro.parameters.emplace_back("__VA_ARGS__");
    }
    at = std::min(at + (macro.function ? 1 : 0), line.last_token);
    macro.body.assign(scan.tokens.begin() + static_cast<long>(at),
                      scan.tokens.begin() + static_cast<long>(line.last_token));
    macros_[name.text].push_back(std::move(macro));
  }
  // Who uses whom, so that a chain of macros costs no more than its length.
  std::map<std::string_view, std::vector<std::string_view>> users;
  std::vector<std::string_view> found;
  for (const auto& [name, definitions] : macros_)
    for (const SourceMacro& macro : definitions)
      for (const SourceToken& token : macro.body) {
        if (parts_declarations(token.text) && makers_.insert(name).second)
          found.push_back(name);
        if (macros_.contains(token.text))
          users[token.text].push_back(name);
      }
  while (!found.empty()) {
    const std::string_view name = found.back();
    found.pop_back();
    for (const std::string_view user : users[name])
      if (makers_.insert(user).second)
        found.push_back(user);
  }
}

const std::vector<SourceMacro>& MacroTable::definitions(std::string_view name) const {
  static const std::vector<SourceMacro> none;
  const auto found = macros_.find(name);
  return found == macros_.end() ? none : found->second;
}

std::set<std::string> MacroTable::names() const {
  std::set<std::string> names;
  for (const auto& [name, definitions] : macros_)
    names.emplace(name);
  return names;
}

} // namespace kernevo
