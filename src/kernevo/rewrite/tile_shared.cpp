// Tiles of both factors of a product go through shared memory, and each thread keeps ROWS x COLS
// sums in registers. The order in which a sum is added up stays the same.
#include "kernevo/rewrite/element_loop.h"
#include "kernevo/rewrite/product_loop.h"
#include "kernevo/rewrite/rewrite_list.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace kernevo::rewrite {
namespace {

// Where the sizes of a launch say ceil_div(bound, block): the bound.
std::string innermost_bound(const Expression& grid) {
  const auto expr = parse_expression(grid.text());
  const Expr* at = expr.get();
  while (at != nullptr && at->is(Expr::Kind::call, "ceil_div"))
    at = at->kids[0].get();
  return at == nullptr ? grid.text() : grid.text().substr(at->begin, at->end - at->begin);
}

class Writer {
public:
  Writer(Draft& draft, const Body& body, const ProductLoop& product)
      : draft_(draft), body_(body), product_(product), step_(indent_step(draft, body)),
        tile_(draft.fresh("TILE")), depth_(draft.fresh("DEPTH")), rows_(draft.fresh("ROWS")),
        cols_(draft.fresh("COLS")), row_(draft.fresh("r")), col_(draft.fresh("c")),
        at_(draft.fresh("e")), inner_(draft.fresh(product.variable + "_inner")),
        outer_(draft.fresh(product.variable + "_tile")) {
    for (const Operand& operand : product.operands)
      tiles_.push_back(draft.fresh(operand.base->name + "_tile"));
  }

  bool write_launches() {
    for (const LaunchDirective* launch : draft_.launches(*body_.function)) {
      if (launch->grid.size() < 2 || launch->block.size() < 2 ||
          (launch->block.size() > 2 && launch->block[2].text() != "1"))
        return false;
      const auto grid = [&](const Expression& size) {
        return draft_.set(size, fmt::format("ceil_div({}, {})", innermost_bound(size), tile_));
      };
      if (!grid(launch->grid[0]) || !grid(launch->grid[1]) ||
          !draft_.set(launch->block[0], fmt::format("{} / {}", tile_, cols_)) ||
          !draft_.set(launch->block[1], fmt::format("{} / {}", tile_, rows_)))
        return false;
    }
    return true;
  }

  void write_directives() {
    int bytes = 0;
    for (const Operand& operand : product_.operands)
      bytes += *draft_.code().size_of_type(operand.base->element);
    draft_.add_directive(fmt::format("@tune {} 64 32 128 16", tile_));
    draft_.add_directive(fmt::format("@tune {} 16 8 32", depth_));
    draft_.add_directive(fmt::format("@tune {} 4 1 2 8", rows_));
    draft_.add_directive(fmt::format("@tune {} 4 1 2 8", cols_));
    draft_.add_directive(
        fmt::format("@where ({0} / {1}) * ({0} / {2}) >= 32 && ({0} / {1}) * ({0} / "
                    "{2}) <= 1024",
                    tile_, rows_, cols_));
    // One column more for tiles that are padded.
    draft_.add_directive(fmt::format("@where ({} + 1) * {} * {} <= 49152", tile_, depth_, bytes));
  }

  void write_body() {
    const Code& code = draft_.code();
    const std::size_t begin =
        std::min(product_.x->declaration->begin, product_.y->declaration->begin);
    const std::size_t close = code.tokens()[body_.function->body_close].begin;
    const std::string outer = code.indentation(body_.function->begin);
    indent_ = code.indentation(begin);
    tiles();
    sums();
    line(fmt::format("for ({0} {1} = {2}; {1} < {3}; {1} += {4}) {{", product_.loop->init->text,
                     outer_, draft_.text(*product_.low), draft_.text(*product_.high), depth_));
    in();
    for (std::size_t i = 0; i < tiles_.size(); ++i)
      load(i);
    line("__syncthreads();");
    products();
    line("__syncthreads();");
    out();
    line("}");
    results();
    // The first line's indentation is there already; the last brace needs its own.
    text_.erase(0, indent_.size());
    draft_.edits().replace(begin, close, text_ + outer);
  }

private:
  void line(const std::string& text) {
    text_ += text.starts_with('#') ? text + "\n" : fmt::format("{}{}\n", indent_, text);
  }
  void in() { indent_ += step_; }
  void out() { indent_.erase(indent_.size() - step_.size()); }

  std::string threads_x() const { return fmt::format("({} / {})", tile_, cols_); }
  std::string threads_y() const { return fmt::format("({} / {})", tile_, rows_); }
  // Where a thread's r-th row and c-th column lie in the tile.
  std::string row_in_tile() const {
    return fmt::format("threadIdx.y + {} * {}", row_, threads_y());
  }
  std::string col_in_tile() const {
    return fmt::format("threadIdx.x + {} * {}", col_, threads_x());
  }

  // [index][k] for what lies along k and is shared along x; [k][index] otherwise.
  static bool index_first(const Operand& operand) { return !operand.along_x && operand.unit_in_k; }

  void tiles() {
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      const Operand& operand = product_.operands[i];
      // Neighbouring threads write a column: one column more spreads it over the banks.
      const bool padded = operand.along_x && operand.unit_in_k;
      line(fmt::format("__shared__ __align__(16) {} {}[{}][{}{}];", operand.base->element,
                       tiles_[i], index_first(operand) ? tile_ : depth_,
                       index_first(operand) ? depth_ : tile_, padded ? " + 1" : ""));
    }
  }

  // Declarations of `candidates` that the text needs, in order.
  std::vector<const Stmt*> needed(std::set<std::string> used,
                                  const std::vector<const Stmt*>& candidates) const {
    std::vector<const Stmt*> result;
    for (auto stmt = candidates.rbegin(); stmt != candidates.rend(); ++stmt) {
      const bool wanted =
          std::any_of((*stmt)->declarators.begin(), (*stmt)->declarators.end(),
                      [&](const Declarator& declarator) { return used.contains(declarator.name); });
      if (!wanted)
        continue;
      used.merge(names_in(**stmt));
      result.insert(result.begin(), *stmt);
    }
    return result;
  }

  std::vector<const Stmt*> fixed_and_inner() const {
    std::vector<const Stmt*> all = product_.fixed;
    all.insert(all.end(), product_.index_declarations.begin(), product_.index_declarations.end());
    return all;
  }

  void declare(const IndexVariable& index, const std::string& in_tile) {
    line(fmt::format("const {} {} = blockIdx.{} * {} + {};", index.declaration->text, index.name,
                     index.axis, tile_, in_tile));
  }

  void each_sum_begin() {
    line("#pragma unroll");
    line(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {{", row_, rows_));
    in();
    line("#pragma unroll");
    line(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {{", col_, cols_));
    in();
  }
  void each_sum_end() {
    out();
    line("}");
    out();
    line("}");
  }

  void sums() {
    for (const Stmt* stmt : product_.shifts)
      line(draft_.text(*stmt));
    for (const Stmt* stmt : product_.sums)
      for (const Declarator& declarator : stmt->declarators)
        line(fmt::format("{} {}[{}][{}];", stmt->text, declarator.name, rows_, cols_));
    each_sum_begin();
    std::set<std::string> used;
    for (const Stmt* stmt : product_.sums)
      used.merge(names_in(*stmt));
    indices_and_fixed(used);
    for (const Stmt* stmt : product_.sums)
      for (const Declarator& declarator : stmt->declarators)
        line(fmt::format("{}[{}][{}] = {};", declarator.name, row_, col_,
                         with_sums(declarator.init->begin, declarator.init->end, *stmt)));
    each_sum_end();
  }

  void indices_and_fixed(const std::set<std::string>& used) {
    const std::vector<const Stmt*> fixed = needed(used, product_.fixed);
    std::set<std::string> all = used;
    for (const Stmt* stmt : fixed)
      all.merge(names_in(*stmt));
    if (all.contains(product_.y->name))
      declare(*product_.y, row_in_tile());
    if (all.contains(product_.x->name))
      declare(*product_.x, col_in_tile());
    for (const Stmt* stmt : fixed)
      line(draft_.text(*stmt));
  }

  // The source from begin to end, with sum[r][c] for every sum below `stmt`.
  std::string with_sums(std::size_t begin, std::size_t end, const Stmt& stmt) const {
    SourceEdits edits;
    note_sums(stmt, edits);
    return edits.apply(draft_.source(), begin, end);
  }
  void note_sums(const Stmt& stmt, SourceEdits& edits) const {
    visit(stmt, [&](const Expr& expr) {
      if (expr.kind == Expr::Kind::name && product_.accumulators.contains(expr.text))
        edits.insert(expr.begin + draft_.text(expr).find(expr.text) + expr.text.size(),
                     fmt::format("[{}][{}]", row_, col_));
    });
  }

  void load(std::size_t i) {
    const Operand& operand = product_.operands[i];
    const IndexVariable& index = operand.along_x ? *product_.x : *product_.y;
    const std::string& fast = operand.unit_in_k ? depth_ : tile_; // which neighbours read along
    line(
        fmt::format("for (int {0} = threadIdx.y * {1} + threadIdx.x; {0} < {2} * {3}; {0} += {1} * "
                    "{4}) {{",
                    at_, threads_x(), tile_, depth_, threads_y()));
    in();
    const std::string quick = fmt::format("{} % {}", at_, fast);
    const std::string slow = fmt::format("{} / {}", at_, fast);
    const std::string& of_k = operand.unit_in_k ? quick : slow;
    const std::string& of_index = operand.unit_in_k ? slow : quick;
    declare(index, of_index);
    line(fmt::format("const {} {} = {} + {};", product_.loop->init->text, product_.variable, outer_,
                     of_k));
    for (const Stmt* stmt : needed(names_in(*operand.places[0]), fixed_and_inner()))
      line(draft_.text(*stmt));
    line(fmt::format("{}[{}][{}] = {} < {} && {} < {} ? {} : static_cast<{}>(0.0f);", tiles_[i],
                     index_first(operand) ? of_index : of_k, index_first(operand) ? of_k : of_index,
                     index.name, draft_.text(*index.bound), product_.variable,
                     draft_.text(*product_.high), operand.text, operand.base->element));
    out();
    line("}");
  }

  void products() {
    line("#pragma unroll");
    line(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {{", inner_, depth_));
    in();
    each_sum_begin();
    SourceEdits edits;
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      const Operand& operand = product_.operands[i];
      const std::string index = operand.along_x ? col_in_tile() : row_in_tile();
      for (const Expr* place : operand.places)
        edits.replace(place->begin, place->end,
                      fmt::format("{}[{}][{}]", tiles_[i], index_first(operand) ? index : inner_,
                                  index_first(operand) ? inner_ : index));
    }
    for (const Stmt* stmt : product_.products) {
      note_sums(*stmt, edits);
      line(edits.apply(draft_.source(), stmt->begin, stmt->end));
    }
    each_sum_end();
    out();
    line("}");
  }

  void results() {
    if (product_.after.empty())
      return;
    each_sum_begin();
    std::set<std::string> used = {product_.x->name, product_.y->name};
    SourceEdits edits;
    for (const Stmt* stmt : product_.after) {
      used.merge(names_in(*stmt));
      note_sums(*stmt, edits);
    }
    indices_and_fixed(used);
    line(fmt::format("if ({} < {} && {} < {}) {{", product_.y->name,
                     draft_.text(*product_.y->bound), product_.x->name,
                     draft_.text(*product_.x->bound)));
    in();
    line(edits.apply(draft_.source(), product_.after.front()->begin, product_.after.back()->end));
    out();
    line("}");
    each_sum_end();
  }

  Draft& draft_;
  const Body& body_;
  const ProductLoop& product_;
  std::string step_;
  std::string indent_;
  std::string text_;
  std::string tile_, depth_, rows_, cols_;
  std::string row_, col_, at_, inner_, outer_;
  std::vector<std::string> tiles_;
};

} // namespace

Outcome tile_shared(Draft& draft, const Function& kernel) {
  if (!kernel.attributes.empty())
    return refuse("{} has {}, which may not suit another block", kernel.name, kernel.attributes[0]);
  const auto element = element_kernel(draft, kernel);
  if (!element)
    return tl::unexpected<Refusal>(element.error());
  const auto product = product_loop(draft, element->body, element->shape);
  if (!product)
    return refuse("{}", product.error().why);
  Writer writer(draft, element->body, *product);
  if (!writer.write_launches())
    return refuse("the launch of {} has one dimension or is broken over lines", kernel.name);
  writer.write_directives();
  writer.write_body();
  std::set<std::string> names;
  for (const Operand& operand : product->operands)
    names.insert(operand.base->name);
  return fmt::format("{} are read in tiles through shared memory, several sums a thread",
                     fmt::join(names, ", "));
}

} // namespace kernevo::rewrite
