#include "kernevo/rewrite/syntax.h"

#include "kernevo/rewrite/expression_parser.h"

#include <fmt/format.h>

namespace kernevo::rewrite {
namespace {

using StmtPtr = std::unique_ptr<Stmt>;

class StatementParser : public ExpressionParser {
public:
  using ExpressionParser::ExpressionParser;

  StmtPtr block() {
    auto stmt = start(Stmt::Kind::block);
    expect("{");
    while (!now("}"))
      stmt->body.push_back(statement());
    expect("}");
    return finish(std::move(stmt));
  }

private:
  StmtPtr start(Stmt::Kind kind) const {
    auto stmt = std::make_unique<Stmt>();
    stmt->kind = kind;
    stmt->begin = token().begin;
    return stmt;
  }
  StmtPtr finish(StmtPtr stmt) const {
    stmt->end = at_ > 0 ? tokens_[at_ - 1].end() : 0;
    return stmt;
  }

  StmtPtr statement() {
    const Depth depth(*this);
    if (now("{"))
      return block();
    auto stmt = start(Stmt::Kind::empty);
    if (accept(";"))
      return finish(std::move(stmt));
    if (accept("if")) {
      stmt->kind = Stmt::Kind::branch;
      if (now("constexpr"))
        stop("if constexpr");
      expect("(");
      stmt->condition = expression();
      expect(")");
      stmt->body.push_back(statement());
      if (accept("else"))
        stmt->body.push_back(statement());
      return finish(std::move(stmt));
    }
    if (accept("for"))
      return for_loop(std::move(stmt));
    if (accept("while")) {
      stmt->kind = Stmt::Kind::other_loop;
      expect("(");
      stmt->condition = expression();
      expect(")");
      stmt->body.push_back(statement());
      return finish(std::move(stmt));
    }
    if (accept("do")) {
      stmt->kind = Stmt::Kind::other_loop;
      stmt->body.push_back(statement());
      expect("while");
      expect("(");
      stmt->condition = expression();
      expect(")");
      expect(";");
      return finish(std::move(stmt));
    }
    if (now("return") || now("break") || now("continue")) {
      stmt->kind = Stmt::Kind::jump;
      stmt->text = std::string(token().text);
      ++at_;
      expect(";");
      return finish(std::move(stmt));
    }
    for (const std::string_view word :
         {"switch", "goto", "asm", "__asm__", "try", "throw", "using", "typedef", "struct", "class",
          "template", "namespace", "static_assert", "union", "enum"})
      if (now(word))
        stop("the statement");
    if (begins_declaration())
      return declaration();
    stmt->kind = Stmt::Kind::expression;
    stmt->condition = expression();
    expect(";");
    return finish(std::move(stmt));
  }

  StmtPtr for_loop(StmtPtr stmt) {
    stmt->kind = Stmt::Kind::loop;
    expect("(");
    if (begins_declaration()) {
      stmt->init = declaration();
    } else {
      stmt->init = start(Stmt::Kind::expression);
      if (now(";"))
        stmt->init->kind = Stmt::Kind::empty;
      else
        stmt->init->condition = expression();
      expect(";");
      stmt->init = finish(std::move(stmt->init));
    }
    if (!now(";"))
      stmt->condition = expression();
    expect(";");
    if (!now(")"))
      stmt->step = expression();
    expect(")");
    stmt->body.push_back(statement());
    return finish(std::move(stmt));
  }

  bool begins_declaration() const {
    if (!token().is_name())
      return false;
    if (is_qualifier(token().text))
      return true;
    const std::size_t length = type_length(at_);
    if (length == 0)
      return false;
    const Token& after = token(length);
    if (!after.is_name())
      return is_arithmetic_word(token().text) && !after.is("(");
    const Token& next = token(length + 1);
    return next.is("=") || next.is(";") || next.is(",") || next.is("[") || next.is("(") ||
           next.is("{");
  }

  StmtPtr declaration() {
    auto stmt = start(Stmt::Kind::declaration);
    bool named = false;
    for (; at_ < end_; ++at_) {
      const std::string_view text = token().text;
      if ((text == "__align__" || text == "alignas") && token(1).is("(")) {
        at_ += 2;
        comma_free();
        if (!now(")"))
          stop("the alignment");
      } else if (is_qualifier(text)) {
        stmt->is_const = stmt->is_const || text == "const" || text == "constexpr";
        stmt->is_shared = stmt->is_shared || text == "__shared__";
        stmt->is_static = stmt->is_static || text == "static" || text == "extern";
      } else if (is_arithmetic_word(text) || (!named && token().is_name())) {
        named = true;
        stmt->text += (stmt->text.empty() ? "" : " ") + std::string(text);
      } else {
        break;
      }
    }
    if (!named)
      stop("the declaration");
    do {
      Declarator declarator;
      declarator.begin = token().begin;
      while (now("*") || now("&") || now("const") || now("__restrict__")) {
        declarator.pointer = declarator.pointer || now("*");
        declarator.reference = declarator.reference || now("&");
        ++at_;
      }
      if (!token().is_name())
        stop("the declaration");
      declarator.name = std::string(token().text);
      ++at_;
      while (accept("[")) {
        declarator.array = true;
        if (!now("]"))
          comma_free();
        expect("]");
      }
      if (accept("=")) {
        declarator.init = now("{") ? list() : comma_free();
      } else if (now("{")) {
        declarator.init = list();
      } else if (now("(")) {
        stop("the declaration");
      }
      stmt->declarators.push_back(std::move(declarator));
    } while (accept(","));
    expect(";");
    return finish(std::move(stmt));
  }
};

} // namespace

ParsedBody parse_body(const Code& code, const Function& function) {
  ParsedBody result;
  result.problem = code.obscured(function);
  if (!result.problem.empty())
    return result;
  try {
    result.block =
        StatementParser(code.tokens(), function.body_open, function.body_close + 1, &code).block();
  } catch (const Unparsed& unparsed) {
    result.problem = fmt::format("in {}, {}", function.name, unparsed.problem);
  }
  return result;
}

std::unique_ptr<Expr> parse_expression(std::string_view text) {
  const std::vector<Token> tokens = tokenise(text);
  try {
    return ExpressionParser(tokens, 0, tokens.size(), nullptr).whole_expression();
  } catch (const Unparsed&) {
    return nullptr;
  }
}

void visit(const Expr& expr, const ExprVisitor& visitor) {
  visitor(expr);
  for (const auto& kid : expr.kids)
    visit(*kid, visitor);
}

void visit(const Stmt& stmt, const ExprVisitor& visitor) {
  visit_statements(stmt, [&](const Stmt& inner) {
    for (const Declarator& declarator : inner.declarators)
      if (declarator.init)
        visit(*declarator.init, visitor);
    if (inner.condition)
      visit(*inner.condition, visitor);
    if (inner.step)
      visit(*inner.step, visitor);
  });
}

void visit_statements(const Stmt& stmt, const std::function<void(const Stmt&)>& visitor) {
  visitor(stmt);
  if (stmt.init)
    visit_statements(*stmt.init, visitor);
  for (const auto& inner : stmt.body)
    visit_statements(*inner, visitor);
}

} // namespace kernevo::rewrite
