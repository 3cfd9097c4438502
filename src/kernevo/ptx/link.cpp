#include "kernevo/ptx/link.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <utility>

namespace kernevo::ptx {
namespace {

using Renames = std::map<std::string, std::string>;

bool is_local(const Variable& variable) {
  return variable.linkage == Linkage::local && !variable.is_extern;
}
// Kernels are launched by name from outside, whatever they say. A forward declaration may lack the
// directive that the definition has.
bool is_local(const Function& function) {
  return function.linkage == Linkage::local && !function.is_entry && !function.is_declaration;
}

void rename(std::string& name, const Renames& renames) {
  if (const auto found = renames.find(name); found != renames.end())
    name = found->second;
}

void rename(Operand& operand, const Renames& renames) {
  if (operand.kind == Operand::Kind::symbol)
    rename(operand.name, renames);
  for (Operand& element : operand.elements)
    rename(element, renames);
}

void rename(Module& module, const Renames& renames) {
  if (renames.empty())
    return;
  auto in_variable = [&](Variable& variable) {
    rename(variable.name, renames);
    for (Variable::Relocation& relocation : variable.relocations)
      rename(relocation.symbol, renames);
  };
  for (Variable& variable : module.variables)
    in_variable(variable);
  for (Function& function : module.functions) {
    rename(function.name, renames);
    for (Variable& variable : function.variables)
      for (Variable::Relocation& relocation : variable.relocations)
        rename(relocation.symbol, renames);
    for (auto& [table, targets] : function.branch_targets)
      for (std::string& target : targets)
        rename(target, renames);
    for (Instruction& instruction : function.instructions)
      for (Operand& operand : instruction.operands)
        rename(operand, renames);
  }
  std::map<std::string, std::string> aliases;
  for (const auto& [other, function] : module.aliases) {
    std::string from = other;
    std::string to = function;
    rename(from, renames);
    rename(to, renames);
    aliases.emplace(std::move(from), std::move(to));
  }
  module.aliases = std::move(aliases);
}

class Linker {
public:
  explicit Linker(Module first) : whole_(std::move(first)) {
    for (std::size_t i = 0; i < whole_.variables.size(); ++i)
      variables_[whole_.variables[i].name] = i;
    for (std::size_t i = 0; i < whole_.functions.size(); ++i) {
      functions_[whole_.functions[i].name] = i;
      note_inner(whole_.functions[i]);
    }
  }

  Result<void> add(Module module, std::size_t number) {
    rename(module, clashes(module, number));
    move_files(module);
    for (Variable& variable : module.variables)
      KERNEVO_CHECK(add(std::move(variable)));
    for (Function& function : module.functions)
      KERNEVO_CHECK(add(std::move(function)));
    whole_.aliases.merge(module.aliases);
    if (module.compute_capability > whole_.compute_capability) {
      whole_.compute_capability = module.compute_capability;
      whole_.target = module.target;
    }
    return {};
  }

  Module take() { return std::move(whole_); }

private:
  bool known(const std::string& name) const {
    return variables_.contains(name) || functions_.contains(name) || inner_.contains(name);
  }

  void note_inner(const Function& function) {
    for (const Variable& variable : function.variables)
      inner_.insert(variable.name);
  }

  // Local names of the module that something else has already, and local names of the others that
  // stand in the way of the module's.
  Renames clashes(Module& module, std::size_t number) {
    Renames renames;
    Renames earlier;
    auto look = [&](const std::string& name, bool local) {
      if (!known(name))
        return;
      if (local)
        renames.emplace(name, fmt::format("{}@{}", name, number));
      else if (is_local_here(name))
        earlier.emplace(name, fmt::format("{}@0", name));
    };
    for (const Variable& variable : module.variables)
      look(variable.name, is_local(variable));
    for (Function& function : module.functions) {
      look(function.name, is_local(function));
      for (Variable& variable : function.variables)
        if (variable.space != Space::param && variable.space != Space::local &&
            known(variable.name)) {
          // Known inside the function alone.
          const Renames inside = {{variable.name, fmt::format("{}@{}", variable.name, number)}};
          for (Instruction& instruction : function.instructions)
            for (Operand& operand : instruction.operands)
              rename(operand, inside);
          variable.name = inside.begin()->second;
        }
    }
    rename(whole_, earlier);
    for (const auto& [from, to] : earlier) {
      move_key(variables_, from, to);
      move_key(functions_, from, to);
    }
    return renames;
  }

  static void move_key(std::map<std::string, std::size_t>& map, const std::string& from,
                       const std::string& to) {
    if (auto node = map.extract(from)) {
      node.key() = to;
      map.insert(std::move(node));
    }
  }

  bool is_local_here(const std::string& name) const {
    if (const auto found = variables_.find(name); found != variables_.end())
      return is_local(whole_.variables[found->second]);
    if (const auto found = functions_.find(name); found != functions_.end())
      return is_local(whole_.functions[found->second]);
    return false;
  }

  void move_files(Module& module) {
    const auto base = static_cast<std::uint32_t>(whole_.files.size() - 1);
    for (std::size_t i = 1; i < module.files.size(); ++i)
      whole_.files.push_back(std::move(module.files[i]));
    for (Function& function : module.functions)
      for (Instruction& instruction : function.instructions)
        if (instruction.source.file != 0)
          instruction.source.file += base;
  }

  static Error twice(const std::string& name) {
    return Error{ErrorCode::input, fmt::format("two modules define '{}'", name), std::nullopt,
                 "make one of them static, or link only one of the modules"};
  }

  Result<void> add(Variable variable) {
    if (functions_.contains(variable.name))
      return tl::unexpected(twice(variable.name));
    const auto [found, fresh] = variables_.emplace(variable.name, whole_.variables.size());
    if (fresh) {
      whole_.variables.push_back(std::move(variable));
      return {};
    }
    Variable& earlier = whole_.variables[found->second];
    if (variable.is_extern) {
      earlier.alignment = std::max(earlier.alignment, variable.alignment);
      return {};
    }
    if (earlier.is_extern ||
        (earlier.linkage == Linkage::weak && variable.linkage != Linkage::weak))
      earlier = std::move(variable);
    else if (earlier.linkage == Linkage::common && variable.linkage == Linkage::common)
      earlier = variable.bytes > earlier.bytes ? std::move(variable) : std::move(earlier);
    else if (variable.linkage != Linkage::weak)
      return tl::unexpected(twice(variable.name));
    return {};
  }

  Result<void> add(Function function) {
    if (variables_.contains(function.name))
      return tl::unexpected(twice(function.name));
    const auto [found, fresh] = functions_.emplace(function.name, whole_.functions.size());
    if (fresh) {
      note_inner(function);
      whole_.functions.push_back(std::move(function));
      return {};
    }
    Function& earlier = whole_.functions[found->second];
    if (function.is_declaration)
      return {};
    if (!earlier.is_declaration && function.linkage == Linkage::weak)
      return {};
    if (!earlier.is_declaration && earlier.linkage != Linkage::weak)
      return tl::unexpected(twice(function.name));
    note_inner(function);
    earlier = std::move(function);
    return {};
  }

  Module whole_;
  std::map<std::string, std::size_t> variables_;
  std::map<std::string, std::size_t> functions_;
  std::set<std::string> inner_; // variables of function bodies
};

} // namespace

Result<Module> link(std::vector<Module> modules) {
  if (modules.empty())
    return fail(ErrorCode::input, "there is no module to link");
  Linker linker(std::move(modules.front()));
  for (std::size_t i = 1; i < modules.size(); ++i)
    KERNEVO_CHECK(linker.add(std::move(modules[i]), i));
  return linker.take();
}

} // namespace kernevo::ptx
