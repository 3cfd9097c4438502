#include "kernevo/rewrite/names.h"

#include <array>

namespace kernevo::rewrite {
namespace {

constexpr int kLongestChain = 16; // of definitions that use each other

bool is_builtin_index(const std::string& name) {
  for (const std::string_view base : {"threadIdx.", "blockIdx.", "blockDim.", "gridDim."})
    if (name.starts_with(base))
      return true;
  return false;
}

void note_write(const Expr& target, Changes& changes) {
  switch (target.kind) {
  case Expr::Kind::name: changes.names.insert(target.text); return;
  case Expr::Kind::member: note_write(*target.kids[0], changes); return;
  case Expr::Kind::index:
  case Expr::Kind::unary: {
    const std::string root = root_name(*target.kids[0]);
    if (root.empty())
      changes.unknown = true;
    else
      changes.through.insert(root);
    return;
  }
  default: changes.unknown = true; return;
  }
}

} // namespace

std::string root_name(const Expr& expr) {
  switch (expr.kind) {
  case Expr::Kind::name: return expr.text;
  case Expr::Kind::member:
  case Expr::Kind::index:
  case Expr::Kind::cast: return root_name(*expr.kids[0]);
  case Expr::Kind::unary:
    return expr.text == "&" || expr.text == "*" ? root_name(*expr.kids[0]) : std::string();
  case Expr::Kind::binary:
    // Pointer arithmetic: the pointer stands on the left.
    return expr.text == "+" || expr.text == "-" ? root_name(*expr.kids[0]) : std::string();
  default: return {};
  }
}

Changes changes_of(const Stmt& stmt, const Code& code) {
  Changes changes;
  visit(stmt, [&](const Expr& expr) {
    if (expr.kind == Expr::Kind::assign || expr.kind == Expr::Kind::postfix ||
        (expr.kind == Expr::Kind::unary && (expr.text == "++" || expr.text == "--"))) {
      note_write(*expr.kids[0], changes);
    } else if (expr.kind == Expr::Kind::unary && expr.text == "&") {
      note_write(*expr.kids[0], changes);
    } else if (expr.kind == Expr::Kind::call) {
      const bool atomic = expr.text.starts_with("atomic");
      for (const auto& argument : expr.kids) {
        const std::string root = root_name(*argument);
        if (root.empty())
          continue;
        // What a function of the file does through a pointer is not followed.
        if (atomic || code.defines(expr.text))
          changes.through.insert(root);
        if (code.takes_reference(expr.text) || expr.text.find("::") != std::string::npos)
          changes.names.insert(root);
      }
    }
  });
  // A reference is another name for something: neither may be taken as fixed.
  visit_statements(stmt, [&](const Stmt& inner) {
    for (const Declarator& declarator : inner.declarators)
      if (declarator.reference) {
        changes.names.insert(declarator.name);
        if (declarator.init)
          note_write(*declarator.init, changes);
      }
  });
  return changes;
}

std::set<std::string> names_in(const Expr& expr) {
  std::set<std::string> names;
  visit(expr, [&](const Expr& inner) {
    if (inner.kind == Expr::Kind::name)
      names.insert(inner.text);
  });
  return names;
}

std::set<std::string> names_in(const Stmt& stmt) {
  std::set<std::string> names;
  visit(stmt, [&](const Expr& inner) {
    if (inner.kind == Expr::Kind::name)
      names.insert(inner.text);
  });
  return names;
}

Names::Names(const Code& code, const Function& function, const Stmt& body)
    : code_(code), function_(function), changes_(changes_of(body, code)) {
  for (const Parameter& parameter : function.parameters)
    ++counts_[parameter.name];
  visit_statements(body, [&](const Stmt& stmt) {
    for (const Declarator& declarator : stmt.declarators) {
      ++counts_[declarator.name];
      locals_[declarator.name] = {&stmt, &declarator};
    }
  });
}

const Names::Local* Names::local(const std::string& name) const {
  const auto found = locals_.find(name);
  return found == locals_.end() || counts_.at(name) != 1 ? nullptr : &found->second;
}

int Names::declarations(const std::string& name) const {
  const auto found = counts_.find(name);
  return found == counts_.end() ? 0 : found->second;
}

std::optional<Polynomial> Names::value(const Expr& expr, const std::set<std::string>& free) const {
  return evaluate(expr, code_, [&](const std::string& name) { return lookup(name, free, 0); });
}

std::optional<Polynomial> Names::lookup(const std::string& name, const std::set<std::string>& free,
                                        int depth) const {
  if (is_builtin_index(name) && counts_.count(name.substr(0, name.find('.'))) == 0)
    return Polynomial::symbol(name);
  if (name.find('.') != std::string::npos || declarations(name) > 1)
    return std::nullopt;
  if (free.contains(name))
    return Polynomial::symbol(name);
  if (changed(name) || depth > kLongestChain)
    return std::nullopt;
  if (const Parameter* parameter = function_.find_parameter(name))
    return parameter->is_pointer() || !code_.is_integer_type(parameter->type)
               ? std::nullopt
               : std::optional<Polynomial>(Polynomial::symbol(name));
  if (declarations(name) == 0) // a @tune parameter or a constant of the file
    return Polynomial::symbol(name);
  const Local* found = local(name);
  const Declarator& declarator = *found->declarator;
  if (declarator.pointer || declarator.array || declarator.reference || !declarator.init ||
      (!code_.is_integer_type(found->declaration->text) && found->declaration->text != "auto"))
    return std::nullopt;
  return evaluate(*declarator.init, code_,
                  [&](const std::string& inner) { return lookup(inner, free, depth + 1); });
}

std::optional<Names::Access> Names::access(const Expr& index_expr,
                                           const std::set<std::string>& free) const {
  if (index_expr.kind != Expr::Kind::index)
    return std::nullopt;
  auto base = pointer(*index_expr.kids[0], free, 0);
  const auto index = value(*index_expr.kids[1], free);
  if (!base || !index)
    return std::nullopt;
  const auto sum = Polynomial::add(base->index, *index);
  if (!sum)
    return std::nullopt;
  return Access{base->base, *sum};
}

std::optional<Names::Access> Names::pointer(const Expr& expr,
                                            const std::set<std::string>& free) const {
  return pointer(expr, free, 0);
}

std::optional<Names::Access> Names::pointer(const Expr& expr, const std::set<std::string>& free,
                                            int depth) const {
  if (depth > kLongestChain)
    return std::nullopt;
  if (expr.kind == Expr::Kind::name) {
    if (declarations(expr.text) != 1)
      return std::nullopt;
    if (const Parameter* parameter = function_.find_parameter(expr.text))
      return parameter->is_pointer() ? std::optional<Access>(Access{parameter, {}}) : std::nullopt;
    const Local* found = local(expr.text);
    if (found == nullptr || !found->declarator->pointer || !found->declarator->init ||
        changed(expr.text))
      return std::nullopt;
    return pointer(*found->declarator->init, free, depth + 1);
  }
  if (expr.kind == Expr::Kind::binary && (expr.text == "+" || expr.text == "-")) {
    auto base = pointer(*expr.kids[0], free, depth + 1);
    const auto offset = value(*expr.kids[1], free);
    if (!base || !offset)
      return std::nullopt;
    const auto sum = Polynomial::add(base->index, *offset, expr.text == "+" ? 1 : -1);
    if (!sum)
      return std::nullopt;
    return Access{base->base, *sum};
  }
  if (expr.kind == Expr::Kind::unary && expr.text == "&" &&
      expr.kids[0]->kind == Expr::Kind::index) {
    return access(*expr.kids[0], free);
  }
  return std::nullopt;
}

} // namespace kernevo::rewrite
