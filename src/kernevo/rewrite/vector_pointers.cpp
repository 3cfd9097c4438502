#include "kernevo/rewrite/vector_pointers.h"

#include <algorithm>

namespace kernevo::rewrite {
namespace {

int count_elements(const Stmt& stmt, const std::string& pointer, const std::string& index) {
  int count = 0;
  visit(stmt, [&](const Expr& expr) { count += is_element(expr, pointer, index) ? 1 : 0; });
  return count;
}

int count_mentions(const Stmt& stmt, const std::string& pointer) {
  int count = 0;
  visit(stmt, [&](const Expr& expr) { count += expr.is_name(pointer) ? 1 : 0; });
  return count;
}

// p[index] = value; as a statement of its own, whose value does not read p.
bool is_fresh_store(const Stmt& stmt, const std::string& pointer, const std::string& index) {
  return stmt.kind == Stmt::Kind::expression && stmt.condition->is(Expr::Kind::assign, "=") &&
         is_element(*stmt.condition->kids[0], pointer, index) &&
         !names_in(*stmt.condition->kids[1]).contains(pointer);
}

bool is_store(const Stmt& stmt, const std::string& pointer, const std::string& index) {
  return stmt.kind == Stmt::Kind::expression && stmt.condition->kind == Expr::Kind::assign &&
         is_element(*stmt.condition->kids[0], pointer, index);
}

} // namespace

bool is_element(const Expr& expr, const std::string& pointer, const std::string& index) {
  return expr.kind == Expr::Kind::index && expr.kids[0]->is_name(pointer) &&
         expr.kids[1]->is_name(index);
}

OrRefusal<std::vector<VectorPointer>> vector_pointers(const Draft& draft, const Body& body,
                                                      const ThreadShape& shape,
                                                      const IndexVariable& index) {
  const std::string& kernel = body.function->name;
  const Changes& changes = body.names->changes();
  if (changes.unknown)
    return refuse("{} writes where it cannot be followed", kernel);
  std::vector<VectorPointer> found;
  bool all = true; // pointers are such ones
  for (const Parameter& parameter : body.function->parameters) {
    if (!parameter.is_pointer())
      continue;
    const int mentions = count_mentions(*body.block, parameter.name);
    if (mentions == 0)
      continue;
    if (body.names->declarations(parameter.name) != 1 ||
        count_elements(*body.block, parameter.name, index.name) != mentions ||
        !draft.code().size_of_type(parameter.element)) {
      all = false;
      continue;
    }
    VectorPointer pointer;
    pointer.parameter = &parameter;
    pointer.stored = changes.through.contains(parameter.name);
    pointer.loaded = true;
    for (const Stmt* stmt : shape.inside) {
      if (count_mentions(*stmt, parameter.name) == 0)
        continue;
      pointer.loaded = !is_fresh_store(*stmt, parameter.name, index.name);
      break;
    }
    if (pointer.stored &&
        std::none_of(shape.inside.begin(), shape.inside.end(),
                     [&](const Stmt* stmt) { return is_store(*stmt, parameter.name, index.name); }))
      return refuse("{} writes {} only under a condition", kernel, parameter.name);
    found.push_back(pointer);
  }
  if (found.empty())
    return refuse("{} has no pointer that is only used as p[{}]", kernel, index.name);
  // Loads come before and stores after what they stood among: no other pointer may see it.
  const auto stores = std::count_if(found.begin(), found.end(),
                                    [](const VectorPointer& pointer) { return pointer.stored; });
  const bool store_is_last =
      all && stores == 1 && std::all_of(found.begin(), found.end(), [&](const VectorPointer& p) {
        return !p.stored || (!shape.inside.empty() &&
                             is_store(*shape.inside.back(), p.parameter->name, index.name) &&
                             count_mentions(*body.block, p.parameter->name) <= 2);
      });
  if (!buffers_are_distinct(draft, *body.function) && !store_is_last)
    return refuse("pointers of {} may point to the same data", kernel);
  bool jumps = false;
  for (const Stmt* stmt : shape.inside)
    visit_statements(*stmt, [&](const Stmt& inner) {
      jumps = jumps || (inner.kind == Stmt::Kind::jump && inner.text == "return");
    });
  if (jumps && stores > 0)
    return refuse("{} returns before it has written", kernel);
  return found;
}

} // namespace kernevo::rewrite
