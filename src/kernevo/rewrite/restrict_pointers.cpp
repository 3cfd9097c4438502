#include "kernevo/base/identifier.h"
#include "kernevo/rewrite/rewrite_list.h"
#include "kernevo/rewrite/thread_shape.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace kernevo::rewrite {
namespace {

// Whether nothing is ever written through the pointer, and making it const compiles: every use is a
// read p[i], *p, or the start of a pointer to const.
bool only_read(const Body& body, const std::string& name) {
  int uses = 0;
  int reads = 0;
  const auto count_reads = [&](const Expr& expr) {
    visit(expr, [&](const Expr& inner) {
      if (inner.is_name(name))
        ++uses;
      if ((inner.kind == Expr::Kind::index || inner.is(Expr::Kind::unary, "*")) &&
          inner.kids[0]->is_name(name))
        ++reads;
    });
  };
  visit_statements(*body.block, [&](const Stmt& stmt) {
    for (const Declarator& declarator : stmt.declarators) {
      if (!declarator.init)
        continue;
      count_reads(*declarator.init);
      // const T* q = p + ...;
      if (declarator.pointer && stmt.is_const && root_name(*declarator.init) == name)
        ++reads;
    }
    if (stmt.condition)
      count_reads(*stmt.condition);
    if (stmt.step)
      count_reads(*stmt.step);
  });
  // p += offset moves the pointer and writes nothing.
  visit(*body.block, [&](const Expr& expr) {
    if (expr.kind == Expr::Kind::assign && expr.text == "+=" && expr.kids[0]->is_name(name))
      ++reads;
  });
  return uses == reads && !body.names->changes().through.contains(name) &&
         !body.names->changes().unknown && body.names->declarations(name) == 1;
}

// Pointers that may be called __restrict__: in every launch their buffer is given to no other, or
// none of those that share it is written through.
bool may_restrict(const Draft& draft, const Function& kernel, const std::set<std::string>& read) {
  const auto launches = draft.launches(kernel);
  for (const LaunchDirective* launch : launches) {
    if (launch->arguments.size() != kernel.parameters.size())
      return false;
    std::map<std::string, std::vector<std::string>> users;
    for (std::size_t i = 0; i < launch->arguments.size(); ++i) {
      if (!kernel.parameters[i].is_pointer())
        continue;
      if (!is_identifier(launch->arguments[i]))
        return false;
      users[launch->arguments[i]].push_back(kernel.parameters[i].name);
    }
    for (const auto& [buffer, names] : users)
      if (names.size() > 1 && !std::all_of(names.begin(), names.end(),
                                           [&](const std::string& n) { return read.contains(n); }))
        return false;
  }
  return !launches.empty();
}

} // namespace

Outcome restrict_pointers(Draft& draft) {
  std::vector<std::string> notes;
  std::string reason;
  for (const Function& kernel : draft.code().kernels()) {
    const auto body = draft.body(kernel);
    std::set<std::string> read;
    if (!kernel.simple_parameters) {
      reason = fmt::format("the parameters of {} are not plain", kernel.name);
      continue;
    }
    for (const Parameter& parameter : kernel.parameters)
      if (parameter.is_pointer() &&
          (parameter.points_to_const || (body && only_read(*body, parameter.name))))
        read.insert(parameter.name);
    const bool apart = may_restrict(draft, kernel, read);
    if (!apart && reason.empty())
      reason = fmt::format("a launch gives {} the same buffer twice, or cannot be followed",
                           kernel.name);
    for (const Parameter& parameter : kernel.parameters) {
      if (!parameter.is_pointer())
        continue;
      const bool add_const = !parameter.points_to_const && read.contains(parameter.name);
      const bool add_restrict = apart && !parameter.restricted;
      if (add_const)
        draft.edits().insert(parameter.begin, "const ");
      if (add_restrict) {
        const bool space = draft.source().substr(parameter.star_end, 1) == " ";
        draft.edits().insert(parameter.star_end, space ? " __restrict__" : " __restrict__ ");
      }
      if (add_const || add_restrict)
        notes.push_back(parameter.name);
    }
  }
  if (notes.empty())
    return refuse("{}",
                  reason.empty() ? "its pointers are const and __restrict__ already" : reason);
  return fmt::format("{} {} __restrict__, and const where nothing is written",
                     fmt::join(notes, ", "), notes.size() == 1 ? "is" : "are");
}

} // namespace kernevo::rewrite
