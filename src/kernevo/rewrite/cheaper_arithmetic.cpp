#include "kernevo/rewrite/rewrite_list.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/ranges.h>
#include <limits>

namespace kernevo::rewrite {
namespace {

// "0.5", "1e-3", "2.": a literal of type double whose value a float can hold.
bool is_double_literal(const Token& token) {
  if (token.kind != SourceToken::Kind::number)
    return false;
  const std::string_view text = token.text;
  if (text.starts_with("0x") || text.starts_with("0X") ||
      text.find('\'') != std::string_view::npos ||
      text.find_first_of(".eE") == std::string_view::npos ||
      text.find_first_of("fFlL") != std::string_view::npos)
    return false;
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size() &&
         std::fabs(value) <= static_cast<double>(std::numeric_limits<float>::max()) &&
         (value == 0 || std::fabs(value) >= static_cast<double>(std::numeric_limits<float>::min()));
}

// static_cast<T>(0.5) is folded by the compiler.
bool is_cast_away(const std::vector<Token>& tokens, std::size_t at) {
  return at >= 2 && at + 1 < tokens.size() && tokens[at - 1].is("(") && tokens[at + 1].is(")") &&
         tokens[at - 2].is(">");
}

struct Counts {
  int literals = 0;
  int types = 0;
  int divisions = 0;
};

// Why double precision may not become single here; empty when it may.
std::string needs_double(const Draft& draft) {
  if (draft.context().task != nullptr && draft.context().task->dtype == DType::float64)
    return "the task computes in double precision";
  const auto& tokens = draft.code().tokens();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].is_name() &&
        (tokens[i].text.starts_with("__d") || tokens[i].text.starts_with("__double") ||
         tokens[i].text == "__hiloint2double" || tokens[i].text == "double2" ||
         tokens[i].text == "double4") &&
        tokens[i].text != "__device__")
      return fmt::format("it uses {}", tokens[i].text);
    if (tokens[i].is("double") && i + 1 < tokens.size() &&
        (tokens[i + 1].is("*") || tokens[i + 1].is("&")))
      return "it has buffers of doubles";
  }
  for (const ScratchDirective& scratch : draft.kernel().scratch)
    if (scratch.dtype == DType::float64)
      return "it has buffers of doubles";
  return {};
}

int narrow(Draft& draft, Counts& counts) {
  const auto& tokens = draft.code().tokens();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (is_double_literal(tokens[i]) && !is_cast_away(tokens, i)) {
      draft.edits().insert(tokens[i].end(), "f");
      ++counts.literals;
    } else if (tokens[i].is("double")) {
      draft.edits().replace(tokens[i].begin, tokens[i].end(), "float");
      ++counts.types;
    }
  }
  return counts.literals + counts.types;
}

// Divisions in a loop by a float the loop does not change become products with its reciprocal.
void reciprocals(Draft& draft, const Body& body, const Stmt& parent, Counts& counts,
                 std::map<std::string, std::string>& made) {
  for (const auto& stmt : parent.body) {
    const bool loop = stmt->kind == Stmt::Kind::loop || stmt->kind == Stmt::Kind::other_loop;
    if (!loop || parent.kind != Stmt::Kind::block) {
      reciprocals(draft, body, *stmt, counts, made);
      continue;
    }
    const Changes changes = changes_of(*stmt, draft.code());
    std::string declarations;
    const std::string indent = draft.code().indentation(stmt->begin);
    made.clear();
    visit(*stmt, [&](const Expr& expr) {
      if (!expr.is(Expr::Kind::binary, "/") || expr.kids[1]->kind != Expr::Kind::name)
        return;
      const Expr& divisor = *expr.kids[1];
      const Names::Local* local = body.names->local(divisor.text);
      const Parameter* parameter = body.function->find_parameter(divisor.text);
      const std::string type = local != nullptr       ? local->declaration->text
                               : parameter != nullptr ? parameter->type
                                                      : std::string();
      const bool plain =
          local == nullptr || (!local->declarator->pointer && !local->declarator->array &&
                               local->declaration->begin < stmt->begin);
      if (!plain || draft.code().resolve_type(type) != "float" ||
          body.names->declarations(divisor.text) != 1 || changes.names.contains(divisor.text) ||
          draft.text(divisor) != divisor.text)
        return;
      std::string& name = made[divisor.text];
      if (name.empty()) {
        name = draft.fresh(divisor.text + "_reciprocal");
        declarations += fmt::format("const float {} = 1.0f / {};\n{}", name, divisor.text, indent);
      }
      // The operator stands between the operands, maybe with space or a comment.
      const std::string_view between =
          draft.source().substr(expr.kids[0]->end, divisor.begin - expr.kids[0]->end);
      const std::size_t slash = between.find('/');
      if (between.find_first_not_of(" \t\r\n/") != std::string_view::npos ||
          slash == std::string_view::npos)
        return;
      draft.edits().replace(expr.kids[0]->end + slash, expr.kids[0]->end + slash + 1, "*");
      draft.edits().replace(divisor.begin, divisor.end, name);
      ++counts.divisions;
    });
    if (!declarations.empty())
      draft.edits().insert(stmt->begin, declarations);
  }
}

} // namespace

Outcome cheaper_arithmetic(Draft& draft) {
  Counts counts;
  std::string reason = needs_double(draft);
  if (reason.empty() && narrow(draft, counts) == 0)
    reason = "it has no double literal or type";
  if (draft.context().fast_math_allowed)
    for (const Function& kernel : draft.code().kernels())
      if (const auto body = draft.body(kernel)) {
        std::map<std::string, std::string> made;
        reciprocals(draft, *body, *body->block, counts, made);
      }
  if (counts.literals + counts.types + counts.divisions == 0)
    return refuse("{}", reason);
  std::vector<std::string> parts;
  const auto say = [&](int count, std::string_view one, std::string_view many) {
    if (count > 0)
      parts.push_back(fmt::format("{} {}", count, count == 1 ? one : many));
  };
  say(counts.literals, "literal is float instead of double",
      "literals are float instead of double");
  say(counts.types, "type is float instead of double", "types are float instead of double");
  say(counts.divisions, "division in a loop is a product with a reciprocal",
      "divisions in loops are products with a reciprocal");
  return fmt::format("{}", fmt::join(parts, ", "));
}

} // namespace kernevo::rewrite
