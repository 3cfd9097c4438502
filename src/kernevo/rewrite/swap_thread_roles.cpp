#include "kernevo/rewrite/rewrite_list.h"
#include "kernevo/rewrite/thread_shape.h"

#include <algorithm>
#include <cstdlib>

namespace kernevo::rewrite {
namespace {

constexpr std::int64_t kMostBlocksAlongY = 65535;

// Accesses that neighbours along an axis spread over memory, those in loops counting more.
struct Spread {
  double along_x = 0;
  double along_y = 0;
};

bool is_spread(const std::optional<Polynomial>& stride) {
  if (!stride)
    return true;
  const auto value = stride->as_constant();
  return !value || std::abs(*value) > 1;
}

void weigh(const Body& body, const Stmt& stmt, const std::set<std::string>& loop_variables,
           double weight, Spread& spread) {
  const auto look = [&](const Expr& expr) {
    visit(expr, [&](const Expr& inner) {
      const auto access = body.names->access(inner, loop_variables);
      if (!access)
        return;
      spread.along_x += is_spread(access->index.coefficient("threadIdx.x")) ? weight : 0;
      spread.along_y += is_spread(access->index.coefficient("threadIdx.y")) ? weight : 0;
    });
  };
  const bool loop = stmt.kind == Stmt::Kind::loop || stmt.kind == Stmt::Kind::other_loop;
  const double inside = loop ? weight * 16 : weight;
  for (const Declarator& declarator : stmt.declarators)
    if (declarator.init)
      look(*declarator.init);
  if (stmt.condition)
    look(*stmt.condition);
  for (const auto& inner : stmt.body)
    weigh(body, *inner, loop_variables, inside, spread);
}

// The size with one divisor of its ceil_div put in place of another.
std::string with_divisor(const std::string& size, const std::string& from, const std::string& to) {
  SourceEdits edits;
  const auto expr = parse_expression(size);
  for (const Expr* at = expr.get(); at != nullptr && at->is(Expr::Kind::call, "ceil_div");
       at = at->kids[0].get())
    if (size.substr(at->kids[1]->begin, at->kids[1]->end - at->kids[1]->begin) == from) {
      edits.replace(at->kids[1]->begin, at->kids[1]->end, to);
      break;
    }
  return edits.apply(size);
}

bool fits_along_y(const Draft& draft, const std::string& grid) {
  const auto size = Expression::parse(grid);
  const auto parameters = choose_parameters(draft.kernel());
  if (!size || !parameters || draft.context().task == nullptr)
    return true;
  for (const ShapeCase& shape : draft.context().task->shapes) {
    Dims names = shape.dims;
    names.insert(parameters->begin(), parameters->end());
    if (const auto blocks = size->evaluate(names); blocks && *blocks > kMostBlocksAlongY)
      return false;
  }
  return true;
}

bool is_one_token(const std::string& text) {
  return tokenise(text).size() == 1;
}

// x for y and y for x in an index declaration, and the other block size where it is a number.
void turn(Draft& draft, const IndexVariable& index, const std::string& own,
          const std::string& other) {
  const char axis = index.axis == 'x' ? 'y' : 'x';
  visit(*index.declarator->init, [&](const Expr& expr) {
    if (expr.kind == Expr::Kind::member && expr.text == std::string(1, index.axis)) {
      const std::string text = draft.text(expr);
      const std::size_t dot = text.find('.');
      const std::size_t member = text.find(index.axis, dot + 1);
      draft.edits().replace(expr.begin + member, expr.begin + member + 1, std::string(1, axis));
    } else if ((expr.kind == Expr::Kind::number || expr.kind == Expr::Kind::name) &&
               expr.text == own && draft.text(expr) == own) {
      draft.edits().replace(expr.begin, expr.end, other);
    }
  });
}

} // namespace

Outcome swap_thread_roles(Draft& draft, const Function& kernel) {
  const auto element = element_kernel(draft, kernel);
  if (!element)
    return tl::unexpected<Refusal>(element.error());
  const IndexVariable* x = element->shape.find('x');
  const IndexVariable* y = element->shape.find('y');
  if (x == nullptr || y == nullptr)
    return refuse("{} has no indices along x and y", kernel.name);
  std::set<std::string> loop_variables;
  visit_statements(*element->body.block, [&](const Stmt& stmt) {
    if (stmt.kind == Stmt::Kind::loop && stmt.init)
      for (const Declarator& declarator : stmt.init->declarators)
        loop_variables.insert(declarator.name);
  });
  Spread spread;
  weigh(element->body, *element->body.block, loop_variables, 1, spread);
  if (spread.along_x <= spread.along_y)
    return refuse("neighbours along x of {} are no further apart in memory than along y",
                  kernel.name);
  std::set<std::string> blocks_x;
  std::set<std::string> blocks_y;
  for (const LaunchDirective* launch : draft.launches(kernel)) {
    if (launch->grid.size() < 2 || launch->block.size() < 2)
      return refuse("a launch of {} has one dimension", kernel.name);
    const LaunchAxis along_x = axis_of(*launch, 'x');
    const LaunchAxis along_y = axis_of(*launch, 'y');
    const std::string block_x = along_x.block->text();
    const std::string block_y = along_y.block->text();
    blocks_x.insert(block_x);
    blocks_y.insert(block_y);
    const std::string grid_x = with_divisor(along_y.grid->text(), block_y, block_x);
    const std::string grid_y = with_divisor(along_x.grid->text(), block_x, block_y);
    if (!fits_along_y(draft, grid_y))
      return refuse("the grid of {} would have too many blocks along y", kernel.name);
    if (!draft.set(*along_x.grid, grid_x) || !draft.set(*along_y.grid, grid_y))
      return refuse("the launch of {} is broken over lines", kernel.name);
  }
  if (blocks_x.size() != 1 || blocks_y.size() != 1 || !is_one_token(*blocks_x.begin()) ||
      !is_one_token(*blocks_y.begin()))
    return refuse("the block of {} is not a plain pair of numbers", kernel.name);
  turn(draft, *x, *blocks_x.begin(), *blocks_y.begin());
  turn(draft, *y, *blocks_y.begin(), *blocks_x.begin());
  return fmt::format("'{}' of {} follows threadIdx.y and '{}' follows threadIdx.x", x->name,
                     kernel.name, y->name);
}

} // namespace kernevo::rewrite
