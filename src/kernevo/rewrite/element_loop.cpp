#include "kernevo/rewrite/element_loop.h"

#include <algorithm>

namespace kernevo::rewrite {
namespace {

void find_returns(const Stmt& stmt, bool in_loop, std::vector<const Stmt*>& plain, bool& hidden) {
  if (stmt.kind == Stmt::Kind::jump && stmt.text == "return") {
    plain.push_back(&stmt);
    hidden = hidden || in_loop;
  }
  const bool loop = stmt.kind == Stmt::Kind::loop || stmt.kind == Stmt::Kind::other_loop;
  for (const auto& inner : stmt.body)
    find_returns(*inner, in_loop || loop, plain, hidden);
}

} // namespace

std::string indent_step(const Draft& draft, const Body& body) {
  if (body.block->body.empty())
    return "  ";
  const std::string inner = draft.code().indentation(body.block->body[0]->begin);
  const std::string outer = draft.code().indentation(body.function->begin);
  return inner.size() > outer.size() && inner.starts_with(outer) ? inner.substr(outer.size())
                                                                 : "  ";
}

std::optional<Refusal> check_repeatable(const Draft& draft, const Body& body,
                                        const ThreadShape& shape, const IndexVariable& index) {
  const std::string& kernel = body.function->name;
  if (index.declaration->declarators.size() != 1)
    return Refusal{fmt::format("'{}' is declared together with others", index.name)};
  bool hidden = false;
  std::vector<const Stmt*> returns;
  find_returns(*body.block, false, returns, hidden);
  if (hidden)
    return Refusal{fmt::format("{} returns from inside a loop", kernel)};
  // Whatever is declared from the index on lives inside the loop; the rest must stay as it is.
  std::set<std::string> outside;
  for (const Parameter& parameter : body.function->parameters)
    outside.insert(parameter.name);
  for (const auto& stmt : body.block->body) {
    if (stmt->begin >= index.declaration->begin)
      break;
    for (const Declarator& declarator : stmt->declarators)
      outside.insert(declarator.name);
  }
  for (const auto& stmt : body.block->body)
    if (stmt->begin >= index.declaration->begin)
      for (const std::string& name : changes_of(*stmt, draft.code()).names)
        if (outside.contains(name))
          return Refusal{
              fmt::format("{} changes '{}', which the next element would see", kernel, name)};
  // The bound is needed before the declarations that follow the index.
  std::set<std::string> later;
  for (const auto& stmt : body.block->body)
    if (stmt->begin >= index.declaration->begin)
      for (const Declarator& declarator : stmt->declarators)
        later.insert(declarator.name);
  for (const IndexVariable& each : shape.indices)
    if (each.axis == index.axis)
      for (const std::string& name : names_in(*each.bound))
        if (later.contains(name))
          return Refusal{fmt::format("the bound of '{}' is computed after it", index.name)};
  return std::nullopt;
}

OrRefusal<const IndexVariable*> index_to_loop_over(const Draft& draft,
                                                   const ElementKernel& element) {
  const IndexVariable* index = element.shape.find('y');
  if (index == nullptr)
    index = element.shape.find('x');
  if (index == nullptr)
    return refuse("{} has no index along x or y", element.body.function->name);
  if (auto refusal = check_repeatable(draft, element.body, element.shape, *index))
    return tl::unexpected<Refusal>(*refusal);
  return index;
}

std::string with_block(const Draft& draft, const IndexVariable& index, const std::string& block) {
  SourceEdits edits;
  const Expr& init = *index.declarator->init;
  visit(init, [&](const Expr& expr) {
    if (expr.kind == Expr::Kind::member && expr.kids[0]->is_name("blockIdx") &&
        expr.text == std::string(1, index.axis))
      edits.replace(expr.kids[0]->begin, expr.kids[0]->begin + draft.text(expr).size(), block);
  });
  return edits.apply(draft.source(), init.begin, init.end);
}

void wrap_in_loop(Draft& draft, const Body& body, const IndexVariable& index,
                  const ElementLoop& loop) {
  const Code& code = draft.code();
  const std::string_view source = draft.source();
  const std::string step = indent_step(draft, body);
  const std::size_t begin = index.declaration->begin;
  const std::size_t close = code.tokens()[body.function->body_close].begin;
  const std::string indent = code.indentation(begin);
  const auto is_alone = [&](std::size_t at) {
    const std::size_t line = code.line_start(at);
    return source.substr(line, at - line).find_first_not_of(" \t") == std::string_view::npos;
  };
  std::string head;
  for (const std::string& line : loop.before)
    head += fmt::format("{}{}\n", indent, line);
  if (loop.unrolled)
    head += "#pragma unroll\n";
  head += fmt::format("{}{} {{\n", indent, loop.head);
  if (is_alone(begin))
    draft.edits().insert(code.line_start(begin), head + step);
  else
    draft.edits().insert(begin, fmt::format("\n{}{}{}", head, indent, step));
  const Expr& init = *index.declarator->init;
  draft.edits().replace(init.begin, init.end, loop.index);
  bool hidden = false;
  std::vector<const Stmt*> returns;
  find_returns(*body.block, false, returns, hidden);
  for (const Stmt* stmt : returns)
    if (stmt->begin > begin)
      draft.edits().replace(stmt->begin, stmt->begin + std::string_view("return").size(),
                            "continue");
  // The lines that are inside now move to the right; a # line stays where it is.
  for (std::size_t at = source.find('\n', init.end); at < close; at = source.find('\n', at + 1)) {
    const std::size_t first = source.find_first_not_of(" \t", at + 1);
    if (first < close && source[first] != '\n' && source[first] != '\r' && source[first] != '#')
      draft.edits().insert(at + 1, step);
  }
  std::string tail = fmt::format("{}}}\n", indent);
  for (const std::string& line : loop.after)
    tail += fmt::format("{}{}\n", line.starts_with('#') ? "" : indent, line);
  if (is_alone(close))
    draft.edits().insert(code.line_start(close), tail);
  else
    draft.edits().insert(close, "\n" + tail);
}

} // namespace kernevo::rewrite
