#include "kernevo/rewrite/element_loop.h"
#include "kernevo/rewrite/rewrite_list.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace kernevo::rewrite {
namespace {

// for (T k = low; k < high; ++k) with one accumulation in its body.
struct Reduction {
  const Stmt* loop = nullptr;
  std::string variable;
  std::string accumulator;
  std::string combine; // "" for a sum, or the function: fmaxf
};

bool is_plain_count(const Stmt& loop, std::string& variable) {
  if (loop.kind != Stmt::Kind::loop || !loop.init || !loop.condition || !loop.step ||
      loop.init->declarators.size() != 1 || !loop.init->declarators[0].init)
    return false;
  variable = loop.init->declarators[0].name;
  const Expr& step = *loop.step;
  const bool by_one = ((step.kind == Expr::Kind::unary || step.kind == Expr::Kind::postfix) &&
                       step.text == "++" && step.kids[0]->is_name(variable)) ||
                      (step.is(Expr::Kind::assign, "+=") && step.kids[0]->is_name(variable) &&
                       step.kids[1]->is(Expr::Kind::number, "1"));
  return by_one && loop.condition->is(Expr::Kind::binary, "<") &&
         loop.condition->kids[0]->is_name(variable);
}

// acc += e, acc = acc + e, acc = fmaxf(acc, e); where acc is a name e does not hold.
bool read_accumulation(const Stmt& stmt, Reduction& reduction) {
  if (stmt.kind != Stmt::Kind::expression || stmt.condition->kind != Expr::Kind::assign ||
      stmt.condition->kids[0]->kind != Expr::Kind::name)
    return false;
  const std::string& name = stmt.condition->kids[0]->text;
  const Expr& value = *stmt.condition->kids[1];
  reduction.accumulator = name;
  if (stmt.condition->text == "+=")
    return !names_in(value).contains(name);
  static const std::set<std::string, std::less<>> functions = {"fmaxf", "fminf", "fmax",
                                                               "fmin",  "max",   "min"};
  if (stmt.condition->text != "=" || value.kind != Expr::Kind::call ||
      !functions.contains(value.text) || value.kids.size() != 2 || !value.kids[0]->is_name(name))
    return false;
  reduction.combine = value.text;
  return !names_in(*value.kids[1]).contains(name);
}

bool has_call_or_access(const Expr& expr) {
  bool found = false;
  visit(expr, [&](const Expr& inner) {
    found = found || inner.kind == Expr::Kind::call || inner.kind == Expr::Kind::index ||
            inner.is(Expr::Kind::unary, "*");
  });
  return found;
}

std::optional<Reduction> read_loop(const Draft& draft, const Body& body, const Stmt& loop) {
  Reduction reduction;
  reduction.loop = &loop;
  if (!is_plain_count(loop, reduction.variable))
    return std::nullopt;
  std::vector<const Stmt*> statements;
  const Stmt& inside = *loop.body[0];
  if (inside.kind == Stmt::Kind::block)
    for (const auto& stmt : inside.body)
      statements.push_back(stmt.get());
  else
    statements.push_back(&inside);
  std::set<std::string> inner_names;
  int accumulations = 0;
  for (const Stmt* stmt : statements) {
    Reduction candidate = reduction;
    if (stmt->kind == Stmt::Kind::declaration) {
      for (const Declarator& declarator : stmt->declarators)
        inner_names.insert(declarator.name);
    } else if (read_accumulation(*stmt, candidate)) {
      reduction = candidate;
      ++accumulations;
    } else {
      return std::nullopt;
    }
  }
  const Names::Local* local = body.names->local(reduction.accumulator);
  if (accumulations != 1 || local == nullptr || local->declarator->array ||
      local->declarator->pointer || !draft.code().is_floating_type(local->declaration->text))
    return std::nullopt;
  // Only the accumulator lives on; it is mentioned once (twice where it is an argument).
  int mentions = 0;
  visit(inside, [&](const Expr& expr) { mentions += expr.is_name(reduction.accumulator) ? 1 : 0; });
  const Changes changes = changes_of(inside, draft.code());
  if (mentions != (reduction.combine.empty() ? 1 : 2) || changes.unknown ||
      !changes.through.empty() || has_call_or_access(*loop.condition->kids[1]))
    return std::nullopt;
  for (const std::string& name : changes.names)
    if (name != reduction.accumulator && !inner_names.contains(name))
      return std::nullopt;
  for (const std::string& name : names_in(*loop.condition->kids[1]))
    if (changes.names.contains(name) || name == reduction.variable)
      return std::nullopt;
  return reduction;
}

void find(const Draft& draft, const Body& body, const Stmt& parent, std::vector<Reduction>& found) {
  for (const auto& stmt : parent.body) {
    if (parent.kind == Stmt::Kind::block)
      if (auto reduction = read_loop(draft, body, *stmt)) {
        // Not where it has been done: the remainder looks like the loop it came from.
        if (!draft.code().identifiers().contains(reduction->accumulator + "_parts"))
          found.push_back(std::move(*reduction));
        continue;
      }
    find(draft, body, *stmt, found);
  }
}

// The line before is a #pragma: the loop's own, which would end up in front of a block.
bool has_pragma(const Draft& draft, std::size_t offset) {
  const std::size_t line = draft.code().line_start(offset);
  if (line == 0)
    return false;
  const std::size_t before = draft.code().line_start(line - 1);
  const std::size_t first = draft.source().find_first_not_of(" \t", before);
  return first < line && draft.source()[first] == '#';
}

// Further lines to the right, but for # lines.
std::string indented(const std::string& text, const std::string& by) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    result += text[i];
    if (text[i] == '\n' && i + 1 < text.size() && text[i + 1] != '#')
      result += by;
  }
  return result;
}

} // namespace

Outcome independent_accumulators(Draft& draft) {
  std::string reason = "no loop only sums up or takes a maximum";
  std::vector<std::string> names;
  std::string parts;
  std::string part;
  for (const Function& kernel : draft.code().kernels()) {
    const auto body = draft.body(kernel);
    if (!body) {
      reason = body.error().why;
      continue;
    }
    std::vector<Reduction> found;
    find(draft, *body, *body->block, found);
    for (const Reduction& reduction : found) {
      if (has_pragma(draft, reduction.loop->begin))
        continue;
      if (parts.empty()) {
        parts = draft.fresh("PARTS");
        part = draft.fresh("part");
      }
      const Stmt& loop = *reduction.loop;
      const std::string& acc = reduction.accumulator;
      const std::string type = body->names->local(acc)->declaration->text;
      const std::string array = draft.fresh(acc + "_parts");
      const std::string next = draft.fresh(reduction.variable + "_next");
      const std::string count = loop.init->text;
      const std::string indent = draft.code().indentation(loop.begin);
      const std::string high = draft.text(*loop.condition->kids[1]);
      const Expr& low = *loop.init->declarators[0].init;
      SourceEdits in_parts;
      const Stmt& inside = *loop.body[0];
      visit(inside, [&](const Expr& expr) {
        if (expr.is_name(acc))
          in_parts.replace(expr.begin, expr.end, fmt::format("{}[{}]", array, part));
      });
      const std::string each = fmt::format(
          "#pragma unroll\n{0}  for (int {1} = 0; {1} < {2}; ++{1})", indent, part, parts);
      std::string text = fmt::format("{{\n{0}  {1} {2}[{3}];\n", indent, type, array, parts);
      text += fmt::format("{}\n{}    {}[{}] = {};\n", each, indent, array, part,
                          reduction.combine.empty() ? "0" : acc);
      text += fmt::format("{0}  {1} {2} = {3};\n", indent, count, next, draft.text(low));
      text += fmt::format("{0}  for (; {1} + ({2} - 1) < {3}; {1} += {2})\n", indent, next, parts,
                          high);
      text += fmt::format(
          "#pragma unroll\n{0}    for (int {1} = 0; {1} < {2}; ++{1}) {{\n{0}      const {3} {4} = "
          "{5} + {1};\n{0}      {6}\n{0}    }}\n",
          indent, part, parts, count, reduction.variable, next,
          indented(in_parts.apply(draft.source(), inside.begin, inside.end), "    "));
      SourceEdits rest;
      rest.replace(low.begin, low.end, next);
      text += fmt::format("{}  {}\n", indent,
                          indented(rest.apply(draft.source(), loop.begin, loop.end), "  "));
      text += fmt::format("{}\n{}    {} = {};\n{}}}", each, indent, acc,
                          reduction.combine.empty()
                              ? fmt::format("{} + {}[{}]", acc, array, part)
                              : fmt::format("{}({}, {}[{}])", reduction.combine, acc, array, part),
                          indent);
      draft.edits().replace(loop.begin, loop.end, text);
      names.push_back(acc);
    }
  }
  if (names.empty())
    return refuse("{}", reason);
  draft.add_directive(fmt::format("@tune {} 4 2 8", parts));
  return fmt::format("{} {} summed in {} independent parts", fmt::join(names, ", "),
                     names.size() == 1 ? "is" : "are", parts);
}

} // namespace kernevo::rewrite
