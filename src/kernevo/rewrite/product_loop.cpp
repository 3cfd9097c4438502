#include "kernevo/rewrite/product_loop.h"

#include <algorithm>

namespace kernevo::rewrite {
namespace {

// Functions that make zero of zero.
bool keeps_zero(const std::string& function) {
  return function == "__half2float" || function == "__bfloat162float";
}

// p[i], or __ldg(&p[i]): the index expression, else null.
const Expr* read_of(const Expr& expr) {
  if (expr.kind == Expr::Kind::index)
    return &expr;
  if (expr.is(Expr::Kind::call, "__ldg") && expr.kids.size() == 1 &&
      expr.kids[0]->is(Expr::Kind::unary, "&") && expr.kids[0]->kids[0]->kind == Expr::Kind::index)
    return expr.kids[0]->kids[0].get();
  return nullptr;
}

bool touches_memory(const Stmt& stmt) {
  bool found = false;
  visit(stmt, [&](const Expr& expr) {
    found = found || expr.kind == Expr::Kind::index || expr.is(Expr::Kind::unary, "*") ||
            expr.kind == Expr::Kind::call;
  });
  return found;
}

class Reader {
public:
  Reader(const Draft& draft, const Body& body, const ThreadShape& shape)
      : draft_(draft), body_(body), shape_(shape) {}

  OrRefusal<ProductLoop> read() {
    result_.x = shape_.find('x');
    result_.y = shape_.find('y');
    if (result_.x == nullptr || result_.y == nullptr || shape_.indices.size() != 2)
      return refuse("{} has no indices along x and y", kernel());
    const Polynomial one = Polynomial::constant(1);
    if (!(result_.x->scale == one) || !(result_.y->scale == one))
      return refuse("a thread of {} has several elements already", kernel());
    if (auto refusal = find_loop())
      return tl::unexpected<Refusal>(*refusal);
    if (auto refusal = read_before())
      return tl::unexpected<Refusal>(*refusal);
    if (auto refusal = read_inside())
      return tl::unexpected<Refusal>(*refusal);
    if (auto refusal = read_after())
      return tl::unexpected<Refusal>(*refusal);
    return std::move(result_);
  }

private:
  using Maybe = std::optional<Refusal>;
  const std::string& kernel() const { return body_.function->name; }
  template <class... Args> static Maybe no(fmt::format_string<Args...> format, Args&&... args) {
    return Refusal{fmt::format(format, std::forward<Args>(args)...)};
  }

  bool is_uniform(const Expr& expr) const {
    const auto value = body_.names->value(expr);
    if (!value)
      return false;
    const std::set<std::string> symbols = value->symbols();
    return std::none_of(symbols.begin(), symbols.end(),
                        [](const std::string& symbol) { return symbol.starts_with("threadIdx."); });
  }

  Maybe find_loop() {
    for (const Stmt* stmt : shape_.inside) {
      if (result_.loop != nullptr) {
        result_.after.push_back(stmt);
        continue;
      }
      if (stmt->kind == Stmt::Kind::loop)
        result_.loop = stmt;
      else
        before_.push_back(stmt);
    }
    if (result_.loop == nullptr)
      return no("{} has no loop", kernel());
    const Stmt& loop = *result_.loop;
    if (!loop.init || loop.init->declarators.size() != 1 || !loop.init->declarators[0].init ||
        !loop.condition || !loop.step)
      return no("the loop of {} is not a plain count", kernel());
    result_.variable = loop.init->declarators[0].name;
    result_.low = loop.init->declarators[0].init.get();
    const std::string& k = result_.variable;
    const Expr& step = *loop.step;
    const bool by_one = ((step.kind == Expr::Kind::unary || step.kind == Expr::Kind::postfix) &&
                         step.text == "++" && step.kids[0]->is_name(k)) ||
                        (step.is(Expr::Kind::assign, "+=") && step.kids[0]->is_name(k) &&
                         step.kids[1]->is(Expr::Kind::number, "1"));
    if (!by_one || !loop.condition->is(Expr::Kind::binary, "<") ||
        !loop.condition->kids[0]->is_name(k) || body_.names->declarations(k) != 1 ||
        !draft_.code().is_integer_type(loop.init->text))
      return no("the loop of {} is not a plain count", kernel());
    result_.high = loop.condition->kids[1].get();
    if (!is_uniform(*result_.low) || !is_uniform(*result_.high))
      return no("threads of {} count differently far", kernel());
    return std::nullopt;
  }

  // Everything from the first index to the loop.
  Maybe read_before() {
    std::vector<const Stmt*> statements;
    const std::size_t first =
        std::min(result_.x->declaration->begin, result_.y->declaration->begin);
    for (const Stmt* stmt : shape_.before)
      if (stmt->begin > first)
        statements.push_back(stmt);
    statements.insert(statements.end(), before_.begin(), before_.end());
    for (const IndexVariable* index : {result_.x, result_.y})
      for (const Declarator& declarator : index->declaration->declarators)
        if (declarator.name != result_.x->name && declarator.name != result_.y->name)
          return no("'{}' is declared together with others", index->name);
    for (const Stmt* stmt : statements) {
      if (stmt->kind == Stmt::Kind::expression) {
        const Expr& expr = *stmt->condition;
        const Parameter* parameter = expr.is(Expr::Kind::assign, "+=")
                                         ? body_.function->find_parameter(root_name(*expr.kids[0]))
                                         : nullptr;
        if (parameter == nullptr || !parameter->is_pointer() ||
            expr.kids[0]->kind != Expr::Kind::name || !is_uniform(*expr.kids[1]))
          return no("{} does something else before its loop", kernel());
        shifted_.insert(parameter->name);
        result_.shifts.push_back(stmt);
        continue;
      }
      if (stmt->kind != Stmt::Kind::declaration || stmt->is_shared || touches_memory(*stmt))
        return no("{} does something else before its loop", kernel());
      bool changes = false;
      bool fixed = false;
      for (const Declarator& declarator : stmt->declarators) {
        if (body_.names->declarations(declarator.name) != 1 || declarator.array ||
            declarator.reference)
          return no("'{}' of {} cannot be followed", declarator.name, kernel());
        const bool changed = body_.names->changed(declarator.name);
        changes = changes || changed;
        fixed = fixed || !changed;
        if (!changed)
          continue;
        if (declarator.pointer || !declarator.init)
          return no("'{}' of {} cannot be followed", declarator.name, kernel());
        result_.accumulators.insert(declarator.name);
      }
      if (changes && fixed)
        return no("a declaration of {} mixes sums and others", kernel());
      (changes ? result_.sums : result_.fixed).push_back(stmt);
    }
    for (const Stmt* stmt : result_.fixed)
      for (const std::string& name : names_in(*stmt))
        if (result_.accumulators.contains(name))
          return no("{} uses a sum before its loop", kernel());
    return std::nullopt;
  }

  Maybe read_inside() {
    std::vector<const Stmt*> statements;
    const Stmt& inside = *result_.loop->body[0];
    if (inside.kind == Stmt::Kind::block)
      for (const auto& stmt : inside.body)
        statements.push_back(stmt.get());
    else
      statements.push_back(&inside);
    for (const Stmt* stmt : statements) {
      if (stmt->kind == Stmt::Kind::declaration && !stmt->is_shared) {
        if (auto refusal = read_declaration(*stmt))
          return refusal;
      } else if (stmt->kind == Stmt::Kind::expression) {
        if (!is_accumulation(*stmt->condition))
          return no("the loop of {} does more than add up products of what it reads", kernel());
        result_.products.push_back(stmt);
      } else {
        return no("the loop of {} does more than add up products of what it reads", kernel());
      }
    }
    for (const bool along_x : {false, true})
      if (std::none_of(result_.operands.begin(), result_.operands.end(),
                       [&](const Operand& operand) { return operand.along_x == along_x; }))
        return no("nothing the loop of {} reads is shared by threads along {}", kernel(),
                  along_x ? "y" : "x");
    static constexpr std::size_t most_tiles = 4;
    if (result_.operands.size() > most_tiles)
      return no("the loop of {} reads too much for shared memory", kernel());
    // Every mention of a buffer in the loop is one of the reads.
    std::size_t mentions = 0;
    std::size_t reads = 0;
    visit(inside, [&](const Expr& expr) {
      mentions += expr.kind == Expr::Kind::index || expr.is(Expr::Kind::unary, "*") ? 1 : 0;
    });
    for (const Operand& operand : result_.operands)
      reads += operand.places.size();
    if (mentions != reads)
      return no("the loop of {} reads what cannot be staged", kernel());
    return std::nullopt;
  }

  Maybe read_declaration(const Stmt& stmt) {
    bool reads = false;
    for (const Declarator& declarator : stmt.declarators) {
      if (!declarator.init || declarator.array || declarator.pointer || declarator.reference ||
          body_.names->changed(declarator.name) || body_.names->declarations(declarator.name) != 1)
        return no("'{}' of {} cannot be followed", declarator.name, kernel());
      bool memory = false;
      visit(*declarator.init,
            [&](const Expr& expr) { memory = memory || read_of(expr) != nullptr; });
      if (memory && !is_zero(*declarator.init))
        return no("the loop of {} does more than add up products of what it reads", kernel());
      if (memory)
        zeros_.insert(declarator.name);
      reads = reads || memory;
    }
    if (!reads && touches_memory(stmt))
      return no("the loop of {} does more than add up products of what it reads", kernel());
    (reads ? result_.products : result_.index_declarations).push_back(&stmt);
    return std::nullopt;
  }

  // sum += e, sum = sum + e, sum = fmaf(a, b, sum).
  bool is_accumulation(const Expr& expr) {
    if (expr.kind != Expr::Kind::assign || expr.kids[0]->kind != Expr::Kind::name ||
        !result_.accumulators.contains(expr.kids[0]->text))
      return false;
    const std::string& sum = expr.kids[0]->text;
    const Expr& value = *expr.kids[1];
    if (expr.text == "+=" || expr.text == "-=")
      return is_zero(value);
    if (expr.text != "=")
      return false;
    if (value.is(Expr::Kind::binary, "+"))
      return value.kids[0]->is_name(sum) && is_zero(*value.kids[1]);
    return value.kind == Expr::Kind::call &&
           (value.text == "fmaf" || value.text == "fma" || value.text == "__fmaf_rn") &&
           value.kids.size() == 3 && value.kids[2]->is_name(sum) && is_zero(*value.kids[0]) &&
           is_zero(*value.kids[1]);
  }

  // Zero when everything read is zero, and finite in any case that follows from that.
  bool is_zero(const Expr& expr) {
    if (read_of(expr) != nullptr)
      return note_read(expr);
    switch (expr.kind) {
    case Expr::Kind::name: return zeros_.contains(expr.text);
    case Expr::Kind::cast: return !expr.text.starts_with("reinterpret") && is_zero(*expr.kids[0]);
    case Expr::Kind::call:
      return keeps_zero(expr.text) && expr.kids.size() == 1 && is_zero(*expr.kids[0]);
    case Expr::Kind::unary: return expr.text == "-" && is_zero(*expr.kids[0]);
    case Expr::Kind::binary: {
      if (expr.text == "+" || expr.text == "-")
        return is_zero(*expr.kids[0]) && is_zero(*expr.kids[1]);
      if (expr.text != "*")
        return false;
      const auto is_number = [](const Expr& e) { return e.kind == Expr::Kind::number; };
      if (is_number(*expr.kids[0]))
        return is_zero(*expr.kids[1]);
      return is_zero(*expr.kids[0]) && (is_number(*expr.kids[1]) || is_zero(*expr.kids[1]));
    }
    default: return false;
    }
  }

  // Classifies a read; false when it cannot be staged.
  bool note_read(const Expr& expr) {
    const Expr& index = *read_of(expr);
    const std::string& x = result_.x->name;
    const std::string& y = result_.y->name;
    const std::string& k = result_.variable;
    const auto access = body_.names->access(index, {x, y, k});
    if (!access || !draft_.code().size_of_type(access->base->element) ||
        body_.names->changes().through.contains(access->base->name) ||
        (body_.names->changed(access->base->name) && !shifted_.contains(access->base->name)))
      return false;
    const std::set<std::string> symbols = access->index.symbols();
    if (!symbols.contains(k) || symbols.contains(x) == symbols.contains(y) ||
        symbols.contains("threadIdx.x") || symbols.contains("threadIdx.y") ||
        symbols.contains("threadIdx.z"))
      return false;
    Operand operand;
    operand.base = access->base;
    operand.text = draft_.text(expr);
    operand.along_x = symbols.contains(x);
    const auto unit = [&](const std::string& symbol) {
      const auto stride = access->index.coefficient(symbol);
      return stride && stride->as_constant() == 1;
    };
    operand.unit_in_k = unit(k) && !unit(operand.along_x ? x : y);
    for (Operand& known : result_.operands)
      if (known.text == operand.text) {
        known.places.push_back(&expr);
        return true;
      }
    operand.places.push_back(&expr);
    result_.operands.push_back(std::move(operand));
    return true;
  }

  Maybe read_after() const {
    bool jumps = false;
    for (const Stmt* stmt : result_.after)
      visit_statements(*stmt, [&](const Stmt& inner) {
        jumps = jumps || (inner.kind == Stmt::Kind::jump && inner.text == "return");
      });
    if (jumps)
      return no("{} returns after its loop", kernel());
    // What the loop's end leaves behind may be used, but pointers must stay.
    for (const Stmt* stmt : result_.after)
      for (const std::string& name : changes_of(*stmt, draft_.code()).names)
        if (body_.function->find_parameter(name) != nullptr)
          return no("{} changes '{}' after its loop", kernel(), name);
    if (!buffers_are_distinct(draft_, *body_.function))
      return no("pointers of {} may point to the same data", kernel());
    return std::nullopt;
  }

  const Draft& draft_;
  const Body& body_;
  const ThreadShape& shape_;
  ProductLoop result_;
  std::vector<const Stmt*> before_;
  std::set<std::string> zeros_;
  std::set<std::string> shifted_;
};

} // namespace

OrRefusal<ProductLoop> product_loop(const Draft& draft, const Body& body,
                                    const ThreadShape& shape) {
  return Reader(draft, body, shape).read();
}

} // namespace kernevo::rewrite
