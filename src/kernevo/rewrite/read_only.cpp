#include "kernevo/rewrite/rewrite_list.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace kernevo::rewrite {
namespace {

// Types __ldg is defined for.
bool can_load(const Code& code, const std::string& element) {
  static const std::set<std::string, std::less<>> vectors = {
      "char2", "char4",  "short2", "short4",  "int2",  "int4",   "uint2",
      "uint4", "float2", "float4", "double2", "half2", "__half2"};
  const std::string type = code.resolve_type(element);
  return (code.size_of_type(type) && type != "bool") || vectors.contains(type);
}

// Index expressions that are read, not written to and not asked for their address.
void find_reads(const Expr& expr, bool written, std::vector<const Expr*>& reads) {
  if (expr.kind == Expr::Kind::index && !written)
    reads.push_back(&expr);
  for (std::size_t i = 0; i < expr.kids.size(); ++i) {
    const bool target =
        i == 0 && (expr.kind == Expr::Kind::assign || expr.kind == Expr::Kind::postfix ||
                   (expr.kind == Expr::Kind::unary &&
                    (expr.text == "&" || expr.text == "++" || expr.text == "--")));
    // p[i].x = 1 writes p[i]; the index of what is written is still read.
    const bool passed_on = written && (expr.kind == Expr::Kind::member && i == 0);
    find_reads(*expr.kids[i], target || passed_on, reads);
  }
}

} // namespace

Outcome read_only(Draft& draft) {
  const Code& code = draft.code();
  std::set<std::string> bases;
  std::string reason = "no pointer is const and __restrict__ and read by p[i]";
  for (const Function& kernel : code.kernels()) {
    const auto body = draft.body(kernel);
    if (!body) {
      reason = body.error().why;
      continue;
    }
    std::vector<const Expr*> reads;
    visit_statements(*body->block, [&](const Stmt& stmt) {
      for (const Declarator& declarator : stmt.declarators)
        if (declarator.init)
          find_reads(*declarator.init, declarator.reference, reads);
      if (stmt.condition)
        find_reads(*stmt.condition, false, reads);
      if (stmt.step)
        find_reads(*stmt.step, false, reads);
    });
    for (const Expr* read : reads) {
      // A name, so that the base is one pointer whatever the index is.
      if (read->kids[0]->kind != Expr::Kind::name)
        continue;
      const std::string& name = read->kids[0]->text;
      const Parameter* parameter = nullptr;
      if (const auto base = body->names->pointer(*read->kids[0]))
        parameter = base->base;
      else if (const Names::Local* local = body->names->local(name);
               local != nullptr && local->declarator->pointer && local->declarator->init &&
               local->declaration->is_const && !body->names->changed(name))
        // Its offset need not be known, only where it began.
        parameter = body->names->declarations(root_name(*local->declarator->init)) == 1
                        ? kernel.find_parameter(root_name(*local->declarator->init))
                        : nullptr;
      if (parameter == nullptr || !parameter->points_to_const || !parameter->restricted ||
          !can_load(code, parameter->element) ||
          body->names->changes().through.contains(parameter->name))
        continue;
      draft.edits().insert(read->begin, "__ldg(&");
      draft.edits().insert(read->end, ")");
      bases.insert(parameter->name);
    }
  }
  if (bases.empty())
    return refuse("{}", reason);
  return fmt::format("{} {} loaded with __ldg", fmt::join(bases, ", "),
                     bases.size() == 1 ? "is" : "are");
}

} // namespace kernevo::rewrite
