#include "kernevo/rewrite/element_loop.h"
#include "kernevo/rewrite/rewrite_list.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace kernevo::rewrite {
namespace {

// How the kernel uses a pointer whose every mention is p[index].
struct VectorPointer {
  const Parameter* parameter = nullptr;
  bool loaded = false;
  bool stored = false;
  std::string pack; // its type
  std::string local;
};

bool is_element(const Expr& expr, const std::string& pointer, const std::string& index) {
  return expr.kind == Expr::Kind::index && expr.kids[0]->is_name(pointer) &&
         expr.kids[1]->is_name(index);
}

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

// The pointers that can be accessed as vectors, or why none may be.
OrRefusal<std::vector<VectorPointer>> find_pointers(const Draft& draft, const Body& body,
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

bool inside_a_block(const Draft& draft, const Function& kernel) {
  int depth = 0;
  for (const Token& token : draft.code().tokens()) {
    if (token.begin >= kernel.begin)
      break;
    depth += token.is("{") ? 1 : (token.is("}") ? -1 : 0);
  }
  return depth != 0;
}

} // namespace

Outcome vectorise(Draft& draft, const Function& kernel) {
  const auto body = draft.body(kernel);
  if (!body)
    return refuse("{}", body.error().why);
  if (const std::string reason = cooperation(draft, *body); !reason.empty())
    return refuse("{}", reason);
  if (kernel.is_template || inside_a_block(draft, kernel))
    return refuse("{} is a template or stands in a namespace", kernel.name);
  const auto shape = thread_shape(draft, *body);
  if (!shape)
    return refuse("{}", shape.error().why);
  if (shape->indices.size() != 1 || shape->indices[0].axis != 'x')
    return refuse("{} has more than one index", kernel.name);
  const IndexVariable& index = shape->indices[0];
  if (!(index.scale == Polynomial::constant(1)))
    return refuse("a thread of {} has several elements already", kernel.name);
  if (auto refusal = check_repeatable(draft, *body, *shape, index))
    return tl::unexpected<Refusal>(*refusal);
  auto pointers = find_pointers(draft, *body, *shape, index);
  if (!pointers)
    return refuse("{}", pointers.error().why);
  const std::string vector = draft.fresh("VECTOR");
  const std::string first = draft.fresh("first");
  const std::string lane = draft.fresh("lane");
  const std::string whole = draft.fresh("whole");
  const std::string bound = draft.text(*index.bound);
  for (const LaunchDirective* launch : draft.launches(kernel)) {
    const Expression& grid = *axis_of(*launch, 'x').grid;
    if (!draft.set(grid, fmt::format("ceil_div({}, {})", grid.text(), vector)))
      return refuse("the launch of {} is broken over lines", kernel.name);
  }
  std::map<std::string, std::string> packs;
  int widest = 1;
  std::string declarations;
  for (VectorPointer& pointer : *pointers) {
    const std::string& element = pointer.parameter->element;
    widest = std::max(widest, *draft.code().size_of_type(element));
    std::string& pack = packs[element];
    if (pack.empty()) {
      std::string name = element + "_pack";
      std::replace_if(name.begin(), name.end(), [](char c) { return c == ' ' || c == ':'; }, '_');
      pack = draft.fresh(name);
      declarations += fmt::format("struct alignas({0} * sizeof({1}) < 16 ? {0} * sizeof({1}) : 16) "
                                  "{2} {{\n  {1} at[{0}];\n}};\n",
                                  vector, element, pack);
    }
    pointer.pack = pack;
    pointer.local = draft.fresh(pointer.parameter->name + "_pack");
  }
  draft.edits().insert(
      kernel.begin,
      fmt::format("// {} elements that are read or written at once.\n{}\n", vector, declarations));
  const int wide = std::max(2, 16 / widest);
  draft.add_directive(wide > 2 ? fmt::format("@tune {} {} {} {}", vector, wide, wide / 2, wide * 2)
                               : fmt::format("@tune {} 2 4", vector));

  ElementLoop loop;
  loop.before.push_back(fmt::format("const long long {} = static_cast<long long>({}) * {};", first,
                                    draft.text(*index.declarator->init), vector));
  loop.before.push_back(fmt::format("if ({} >= {})", first, bound));
  loop.before.push_back("  return;");
  std::string condition = fmt::format("{} + {} <= {}", first, vector, bound);
  for (const VectorPointer& pointer : *pointers)
    condition += fmt::format(" && reinterpret_cast<unsigned long long>({}) % sizeof({}) == 0",
                             pointer.parameter->name, pointer.pack);
  loop.before.push_back(fmt::format("const bool {} = {};", whole, condition));
  std::vector<std::string> names;
  for (const VectorPointer& pointer : *pointers) {
    const std::string& name = pointer.parameter->name;
    names.push_back(name);
    loop.before.push_back(fmt::format("{} {};", pointer.pack, pointer.local));
    if (pointer.loaded) {
      loop.before.push_back(fmt::format("if ({})", whole));
      loop.before.push_back(fmt::format("  {} = *reinterpret_cast<const {}*>({} + {});",
                                        pointer.local, pointer.pack, name, first));
      loop.before.push_back("else");
      loop.before.push_back(fmt::format("  for (int {0} = 0; {0} < {1}; ++{0})", lane, vector));
      loop.before.push_back(fmt::format("    if ({} + {} < {})", first, lane, bound));
      loop.before.push_back(
          fmt::format("      {}.at[{}] = {}[{} + {}];", pointer.local, lane, name, first, lane));
    }
    if (pointer.stored) {
      loop.after.push_back(fmt::format("if ({})", whole));
      loop.after.push_back(fmt::format("  *reinterpret_cast<{}*>({} + {}) = {};", pointer.pack,
                                       name, first, pointer.local));
      loop.after.push_back("else");
      loop.after.push_back(fmt::format("  for (int {0} = 0; {0} < {1}; ++{0})", lane, vector));
      loop.after.push_back(fmt::format("    if ({} + {} < {})", first, lane, bound));
      loop.after.push_back(
          fmt::format("      {}[{} + {}] = {}.at[{}];", name, first, lane, pointer.local, lane));
    }
    visit(*body->block, [&](const Expr& expr) {
      if (is_element(expr, name, index.name))
        draft.edits().replace(expr.kids[0]->begin, expr.kids[0]->end, pointer.local + ".at");
      if (is_element(expr, name, index.name))
        draft.edits().replace(expr.kids[1]->begin, expr.kids[1]->end, lane);
    });
  }
  loop.head = fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", lane, vector);
  loop.unrolled = true;
  loop.index = fmt::format("{} + {}", first, lane);
  wrap_in_loop(draft, *body, index, loop);
  return fmt::format("{} {} accessed {} elements at a time", fmt::join(names, ", "),
                     names.size() == 1 ? "is" : "are", vector);
}

} // namespace kernevo::rewrite
