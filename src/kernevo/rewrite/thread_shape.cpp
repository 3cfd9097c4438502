#include "kernevo/rewrite/thread_shape.h"
#include "kernevo/base/identifier.h"

#include <algorithm>
#include <array>

namespace kernevo::rewrite {
namespace {

std::string axis_name(std::string_view base, char axis) {
  return fmt::format("{}.{}", base, axis);
}

std::size_t axis_number(char axis) {
  return static_cast<std::size_t>(axis - 'x');
}

// A launch size as a polynomial over the launch's names; ceil_div is opaque.
std::optional<Polynomial> launch_value(const Draft& draft, const Expr& expr) {
  return evaluate(expr, draft.code(), [](const std::string& name) {
    return std::optional<Polynomial>(Polynomial::symbol(name));
  });
}

std::optional<Polynomial> launch_value(const Draft& draft, const Expression* size) {
  if (size == nullptr)
    return Polynomial::constant(1);
  const auto expr = parse_expression(size->text());
  return expr ? launch_value(draft, *expr) : std::nullopt;
}

// What the kernel's parameters are called in this launch.
class ArgumentNames {
public:
  ArgumentNames(const Draft& draft, const Function& function, const LaunchDirective& launch) {
    known_ = function.parameters.size() == launch.arguments.size();
    for (std::size_t i = 0; known_ && i < launch.arguments.size(); ++i)
      if (const auto expr = parse_expression(launch.arguments[i]))
        if (const auto value = launch_value(draft, *expr))
          values_[function.parameters[i].name] = *value;
  }
  bool known() const { return known_; }
  // The value of an expression of the kernel, in the launch's names.
  std::optional<Polynomial> value(const Draft& draft, const Body& body, const Expr& expr,
                                  const std::map<std::string, Polynomial>& more,
                                  int depth = 0) const {
    return evaluate(expr, draft.code(), [&](const std::string& name) -> std::optional<Polynomial> {
      if (const auto found = more.find(name); found != more.end())
        return found->second;
      if (body.names->declarations(name) > 1 || body.names->changed(name) || depth > 8)
        return std::nullopt;
      if (body.function->find_parameter(name) != nullptr) {
        const auto found = values_.find(name);
        return found == values_.end() ? std::nullopt : std::optional<Polynomial>(found->second);
      }
      if (const Names::Local* local = body.names->local(name)) {
        if (!local->declarator->init || local->declarator->pointer ||
            !draft.code().is_integer_type(local->declaration->text))
          return std::nullopt;
        return value(draft, body, *local->declarator->init, more, depth + 1);
      }
      // A @tune parameter means the same on both sides.
      if (body.names->declarations(name) == 0 && name.find('.') == std::string::npos)
        return Polynomial::symbol(name);
      return std::nullopt;
    });
  }

private:
  bool known_ = false;
  std::map<std::string, Polynomial> values_;
};

// Whether the grid is ceil_div(bound, size), possibly in several steps.
bool covers(const Draft& draft, const Expression* grid, const Polynomial& size,
            const Polynomial& bound) {
  if (grid == nullptr)
    return false;
  const auto expr = parse_expression(grid->text());
  if (!expr)
    return false;
  Polynomial divided = Polynomial::constant(1);
  const Expr* at = expr.get();
  while (at->is(Expr::Kind::call, "ceil_div") && at->kids.size() == 2) {
    const auto divisor = launch_value(draft, *at->kids[1]);
    const auto product = divisor ? Polynomial::multiply(divided, *divisor) : std::nullopt;
    if (!product)
      return false;
    divided = *product;
    at = at->kids[0].get();
  }
  const auto whole = launch_value(draft, *at);
  return whole && *whole == bound && divided == size;
}

// The comparisons joined by && or ||.
void split(const Expr& expr, std::string_view op, std::vector<const Expr*>& parts) {
  if (expr.is(Expr::Kind::binary, op)) {
    split(*expr.kids[0], op, parts);
    split(*expr.kids[1], op, parts);
  } else {
    parts.push_back(&expr);
  }
}

bool is_bare_return(const Stmt& stmt) {
  if (stmt.kind == Stmt::Kind::block)
    return stmt.body.size() == 1 && is_bare_return(*stmt.body[0]);
  return stmt.kind == Stmt::Kind::jump && stmt.text == "return";
}

// Reads the guard into the bounds of the indices; false when it is none.
bool read_guard(const Stmt& stmt, ThreadShape& shape) {
  if (stmt.kind != Stmt::Kind::branch || stmt.body.size() != 1)
    return false;
  const bool early = is_bare_return(*stmt.body[0]);
  std::vector<const Expr*> parts;
  split(*stmt.condition, early ? "||" : "&&", parts);
  std::vector<const Expr*> bounds(shape.indices.size(), nullptr);
  for (const Expr* part : parts) {
    if (part->kind != Expr::Kind::binary)
      return false;
    // index >= bound, or bound <= index; inside: index < bound, bound > index.
    const std::string_view straight = early ? ">=" : "<";
    const std::string_view turned = early ? "<=" : ">";
    const bool is_straight = part->text == straight;
    if (!is_straight && part->text != turned)
      return false;
    const Expr& index = *part->kids[is_straight ? 0 : 1];
    const Expr& bound = *part->kids[is_straight ? 1 : 0];
    bool found = false;
    for (std::size_t i = 0; i < shape.indices.size(); ++i)
      if (index.is_name(shape.indices[i].name) && bounds[i] == nullptr) {
        bounds[i] = &bound;
        found = true;
      }
    if (!found)
      return false;
  }
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (bounds[i] == nullptr)
      return false;
    shape.indices[i].bound = bounds[i];
  }
  shape.guard = &stmt;
  shape.early_return = early;
  return true;
}

// Where a block or thread index is used outside the index declarations; empty when nowhere.
std::string other_use(const Body& body, const ThreadShape& shape) {
  std::string found;
  std::map<std::string, int> bare; // mentions that are no member
  const auto look = [&](const Expr& expr) {
    visit(expr, [&](const Expr& inner) {
      const bool member =
          inner.kind == Expr::Kind::member && inner.kids[0]->kind == Expr::Kind::name;
      const std::string& base = member ? inner.kids[0]->text : inner.text;
      if ((!member && inner.kind != Expr::Kind::name) ||
          (base != "threadIdx" && base != "blockIdx" && base != "blockDim" && base != "gridDim"))
        return;
      bare[base] += member ? -1 : 1;
      if (member && inner.text.size() == 1 && shape.find(inner.text[0]) != nullptr)
        found = fmt::format("{}.{}", base, inner.text);
    });
  };
  visit_statements(*body.block, [&](const Stmt& stmt) {
    if (std::any_of(shape.indices.begin(), shape.indices.end(),
                    [&](const IndexVariable& index) { return index.declaration == &stmt; }))
      return;
    for (const Declarator& declarator : stmt.declarators)
      if (declarator.init)
        look(*declarator.init);
    if (stmt.condition)
      look(*stmt.condition);
    if (stmt.step)
      look(*stmt.step);
  });
  for (const auto& [name, count] : bare)
    if (count > 0)
      found = name;
  return found;
}

bool is_thread_word(std::string_view word) {
  for (const std::string_view prefix : {"threadIdx", "blockIdx", "blockDim", "gridDim",
                                        "__shared__", "__sync", "__shfl", "__ballot"})
    if (word.starts_with(prefix))
      return true;
  return false;
}

// Adds the indices a declaration makes from threadIdx; false when it makes none.
bool read_indices(const Names& names, const Stmt& stmt, ThreadShape& shape) {
  bool found = false;
  for (const Declarator& declarator : stmt.declarators) {
    if (!declarator.init)
      continue;
    const auto value = names.value(*declarator.init);
    if (!value || names.changed(declarator.name) || names.declarations(declarator.name) != 1)
      continue;
    for (const char axis : {'x', 'y', 'z'})
      if (const auto scale = value->coefficient(axis_name("threadIdx", axis));
          scale && !(*scale == Polynomial()) && shape.find(axis) == nullptr) {
        shape.indices.push_back({axis, declarator.name, &stmt, &declarator, *scale, nullptr});
        found = true;
      }
  }
  return found;
}

// What stands before the guard, the guard, and what it guards.
OrRefusal<ThreadShape> read_shape(const Body& body) {
  ThreadShape shape;
  const std::string& kernel = body.function->name;
  const auto& statements = body.block->body;
  std::size_t at = 0;
  for (; at < statements.size() && shape.guard == nullptr; ++at) {
    const Stmt& stmt = *statements[at];
    if (stmt.kind == Stmt::Kind::declaration) {
      if (!read_indices(*body.names, stmt, shape))
        shape.before.push_back(&stmt);
    } else if (!shape.indices.empty() && read_guard(stmt, shape)) {
      break;
    } else {
      return refuse("{} does something before a guard of its thread index", kernel);
    }
  }
  if (shape.guard == nullptr)
    return refuse("{} has no 'if (index >= size) return' or 'if (index < size)' around its work",
                  kernel);
  if (shape.early_return) {
    for (std::size_t i = at + 1; i < statements.size(); ++i)
      shape.inside.push_back(statements[i].get());
  } else {
    if (at + 1 != statements.size())
      return refuse("{} goes on after its guarded work", kernel);
    const Stmt& guarded = *shape.guard->body[0];
    if (guarded.kind == Stmt::Kind::block)
      for (const auto& stmt : guarded.body)
        shape.inside.push_back(stmt.get());
    else
      shape.inside.push_back(&guarded);
  }
  return shape;
}

// The index is (blockIdx * block + threadIdx) * scale in this launch, which covers its bound.
std::optional<Refusal> check_index(const Draft& draft, const Body& body, const IndexVariable& index,
                                   const LaunchDirective& launch) {
  const std::string& kernel = body.function->name;
  const LaunchAxis sizes = axis_of(launch, index.axis);
  const auto block = launch_value(draft, sizes.block);
  const ArgumentNames arguments(draft, *body.function, launch);
  if (!block || !arguments.known())
    return Refusal{fmt::format("the launch of {} cannot be followed", kernel)};
  const Polynomial thread = Polynomial::symbol(axis_name("threadIdx", index.axis));
  const Polynomial block_index = Polynomial::symbol(axis_name("blockIdx", index.axis));
  std::map<std::string, Polynomial> more = {{axis_name("threadIdx", index.axis), thread},
                                            {axis_name("blockIdx", index.axis), block_index},
                                            {axis_name("blockDim", index.axis), *block}};
  const auto value = arguments.value(draft, body, *index.declarator->init, more);
  const auto whole_block = Polynomial::multiply(block_index, *block);
  const auto position = whole_block ? Polynomial::add(*whole_block, thread) : std::nullopt;
  const auto expected = position ? Polynomial::multiply(*position, index.scale) : std::nullopt;
  if (!value || !expected || !(*value == *expected))
    return Refusal{fmt::format("'{}' of {} is not blockIdx.{} * blockDim.{} + threadIdx.{}",
                               index.name, kernel, index.axis, index.axis, index.axis)};
  const auto bound = arguments.value(draft, body, *index.bound, {});
  const auto size = Polynomial::multiply(*block, index.scale);
  if (!bound || !size || !covers(draft, sizes.grid, *size, *bound))
    return Refusal{fmt::format("the grid of {} is not ceil_div(the bound of '{}', its block)",
                               kernel, index.name)};
  return std::nullopt;
}

OrRefusal<ThreadShape> thread_shape(const Draft& draft, const Body& body) {
  const std::string& kernel = body.function->name;
  if (draft.launches(*body.function).empty())
    return refuse("{} has no launch", kernel);
  auto shape = read_shape(body);
  if (!shape)
    return shape;
  for (const IndexVariable& index : shape->indices)
    for (const LaunchDirective* launch : draft.launches(*body.function))
      if (auto refusal = check_index(draft, body, index, *launch))
        return tl::unexpected<Refusal>(*refusal);
  if (const std::string misused = other_use(body, *shape); !misused.empty())
    return refuse("{} uses {} beyond its index", kernel, misused);
  return shape;
}

// Why threads may not be given other work; empty when they may.
std::string cooperation(const Draft& draft, const Body& body) {
  std::string reason;
  const Code& code = draft.code();
  bool helpers = false; // functions of the file that ask who they are
  for (std::size_t i = 0; i < code.tokens().size(); ++i)
    helpers = helpers || (is_thread_word(code.tokens()[i].text) &&
                          std::none_of(code.kernels().begin(), code.kernels().end(),
                                       [&](const Function& kernel) {
                                         return i > kernel.body_open && i < kernel.body_close;
                                       }));
  const std::string& kernel = body.function->name;
  visit_statements(*body.block, [&](const Stmt& stmt) {
    if (stmt.is_shared)
      reason = fmt::format("{} uses shared memory", kernel);
    else if (stmt.is_static)
      reason = fmt::format("{} has static variables", kernel);
  });
  visit(*body.block, [&](const Expr& expr) {
    if (expr.kind != Expr::Kind::call && expr.kind != Expr::Kind::name)
      return;
    static constexpr std::array<std::string_view, 13> prefixes = {
        "__sync",     "__shfl",       "__ballot",           "__any", "__all",  "__match",
        "__reduce",   "__activemask", "cooperative_groups", "cg::",  "nvcuda", "wmma",
        "__nanosleep"};
    for (const std::string_view prefix : prefixes)
      if (expr.text.starts_with(prefix))
        reason = fmt::format("threads of {} work together ({})", kernel, expr.text);
    if (expr.text == "__threadfence" || expr.text == "clock" || expr.text == "clock64")
      reason = fmt::format("{} uses {}", kernel, expr.text);
    if (helpers && expr.kind == Expr::Kind::call && code.defines(expr.text))
      reason = fmt::format("{} calls {}, which may use the thread's index", kernel, expr.text);
  });
  return reason;
}

} // namespace

const IndexVariable* ThreadShape::find(char axis) const {
  const auto found = std::find_if(indices.begin(), indices.end(),
                                  [&](const IndexVariable& index) { return index.axis == axis; });
  return found == indices.end() ? nullptr : &*found;
}

LaunchAxis axis_of(const LaunchDirective& launch, char axis) {
  const std::size_t number = axis_number(axis);
  return {number < launch.grid.size() ? &launch.grid[number] : nullptr,
          number < launch.block.size() ? &launch.block[number] : nullptr};
}

OrRefusal<ElementKernel> element_kernel(const Draft& draft, const Function& kernel) {
  auto body = draft.body(kernel);
  if (!body)
    return tl::unexpected<Refusal>(body.error());
  if (const std::string reason = cooperation(draft, *body); !reason.empty())
    return refuse("{}", reason);
  auto shape = thread_shape(draft, *body);
  if (!shape)
    return tl::unexpected<Refusal>(shape.error());
  return ElementKernel{std::move(*body), std::move(*shape)};
}

std::optional<Refusal>
set_grids(Draft& draft, const Function& kernel, char axis,
          const std::function<std::string(const std::string& present)>& grid) {
  for (const LaunchDirective* launch : draft.launches(kernel)) {
    const Expression& size = *axis_of(*launch, axis).grid;
    if (!draft.set(size, grid(size.text())))
      return Refusal{fmt::format("the launch of {} is broken over lines", kernel.name)};
  }
  return std::nullopt;
}

bool buffers_are_distinct(const Draft& draft, const Function& function) {
  for (const LaunchDirective* launch : draft.launches(function)) {
    if (launch->arguments.size() != function.parameters.size())
      return false;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < launch->arguments.size(); ++i)
      if (function.parameters[i].is_pointer() &&
          (!is_identifier(launch->arguments[i]) || !seen.insert(launch->arguments[i]).second))
        return false;
  }
  return !draft.launches(function).empty();
}

} // namespace kernevo::rewrite
