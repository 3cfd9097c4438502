#include "kernevo/rewrite/syntax.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <set>

namespace kernevo::rewrite {
namespace {

using ExprPtr = std::unique_ptr<Expr>;
using StmtPtr = std::unique_ptr<Stmt>;

// Deeper nesting than any kernel has; bounds the recursion on hostile sources.
constexpr int kDeepest = 200;
// Operators in a row at one level; the tree is as deep.
constexpr int kLongest = 500;

int precedence(std::string_view op) {
  static constexpr std::array<std::pair<std::string_view, int>, 18> table = {{{"||", 1},
                                                                              {"&&", 2},
                                                                              {"|", 3},
                                                                              {"^", 4},
                                                                              {"&", 5},
                                                                              {"==", 6},
                                                                              {"!=", 6},
                                                                              {"<", 7},
                                                                              {">", 7},
                                                                              {"<=", 7},
                                                                              {">=", 7},
                                                                              {"<<", 8},
                                                                              {">>", 8},
                                                                              {"+", 9},
                                                                              {"-", 9},
                                                                              {"*", 10},
                                                                              {"/", 10},
                                                                              {"%", 10}}};
  for (const auto& [text, level] : table)
    if (text == op)
      return level;
  return 0;
}

bool is_assignment(std::string_view op) {
  static const std::set<std::string_view> ops = {
      "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
  return ops.contains(op);
}

bool is_qualifier(std::string_view word) {
  static const std::set<std::string_view> words = {
      "const", "constexpr", "static", "__shared__", "extern", "register", "__restrict__"};
  return words.contains(word);
}

bool is_arithmetic_word(std::string_view word) {
  static const std::set<std::string_view> words = {"unsigned", "signed", "long",   "short", "int",
                                                   "char",     "float",  "double", "bool"};
  return words.contains(word);
}

// Thrown away with the whole parse; never leaves this file.
struct Unparsed {
  std::string problem;
};

class Parser {
public:
  Parser(const std::vector<Token>& tokens, std::size_t begin, std::size_t end, const Code* code)
      : tokens_(tokens), at_(begin), end_(end), code_(code) {}

  StmtPtr block() {
    auto stmt = start(Stmt::Kind::block);
    expect("{");
    while (!now("}"))
      stmt->body.push_back(statement());
    expect("}");
    return finish(std::move(stmt));
  }

  ExprPtr whole_expression() {
    ExprPtr result = comma_free();
    if (at_ != end_)
      stop("more than an expression");
    return result;
  }

private:
  const Token& token(std::size_t ahead = 0) const {
    static const Token none{};
    return at_ + ahead < end_ ? tokens_[at_ + ahead] : none;
  }
  bool now(std::string_view text) const { return at_ < end_ && tokens_[at_].is(text); }
  [[noreturn]] void stop(std::string_view what) const {
    throw Unparsed{fmt::format("{} at '{}' is beyond what can be followed", what,
                               at_ < end_ ? token().text : "the end")};
  }
  void expect(std::string_view text) {
    if (!now(text))
      stop("the code");
    ++at_;
  }
  bool accept(std::string_view text) {
    if (!now(text))
      return false;
    ++at_;
    return true;
  }

  struct Depth {
    explicit Depth(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > kDeepest)
        parser_.stop("the nesting");
    }
    ~Depth() { --parser_.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    Parser& parser_;
  };

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
  ExprPtr make(Expr::Kind kind, std::size_t begin, std::string text) const {
    auto expr = std::make_unique<Expr>();
    expr->kind = kind;
    expr->text = std::move(text);
    expr->begin = begin;
    expr->end = at_ > 0 ? tokens_[at_ - 1].end() : 0;
    return expr;
  }
  template <class... Kids>
  ExprPtr make(Expr::Kind kind, std::size_t begin, std::string text, Kids... kids) const {
    auto expr = make(kind, begin, std::move(text));
    (expr->kids.push_back(std::move(kids)), ...);
    return expr;
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

  bool is_type(std::string_view name) const { return code_ != nullptr && code_->is_type(name); }

  // Tokens from `at` that form a type: qualifiers, words, pointers. 0 when there is none.
  std::size_t type_length(std::size_t at) const {
    std::size_t i = at;
    bool named = false;
    for (; i < end_; ++i) {
      const Token& t = tokens_[i];
      if (is_qualifier(t.text))
        continue;
      if (is_arithmetic_word(t.text)) {
        named = true;
        continue;
      }
      if (!named && t.is_name()) {
        named = true;
        continue;
      }
      break;
    }
    if (!named)
      return 0;
    while (i < end_ && (tokens_[i].is("*") || tokens_[i].is("&") || is_qualifier(tokens_[i].text)))
      ++i;
    return i - at;
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

  ExprPtr list() {
    const Depth depth(*this);
    const std::size_t begin = token().begin;
    expect("{");
    std::vector<ExprPtr> items;
    while (!now("}")) {
      items.push_back(now("{") ? list() : comma_free());
      if (!accept(","))
        break;
    }
    expect("}");
    auto expr = make(Expr::Kind::list, begin, "");
    expr->kids = std::move(items);
    return expr;
  }

  // With the comma operator, as in a for's step.
  ExprPtr expression() {
    const std::size_t begin = token().begin;
    ExprPtr left = comma_free();
    for (int length = 0; accept(","); ++length) {
      if (length > kLongest)
        stop("the expression");
      ExprPtr right = comma_free();
      left = make(Expr::Kind::binary, begin, ",", std::move(left), std::move(right));
    }
    return left;
  }

  ExprPtr comma_free() {
    const Depth depth(*this);
    const std::size_t begin = token().begin;
    ExprPtr left = binary(1);
    if (accept("?")) {
      ExprPtr yes = expression();
      expect(":");
      ExprPtr no = comma_free();
      return make(Expr::Kind::conditional, begin, "?", std::move(left), std::move(yes),
                  std::move(no));
    }
    if (is_assignment(token().text)) {
      std::string op(token().text);
      ++at_;
      ExprPtr right = now("{") ? list() : comma_free();
      return make(Expr::Kind::assign, begin, std::move(op), std::move(left), std::move(right));
    }
    return left;
  }

  ExprPtr binary(int least) {
    const std::size_t begin = token().begin;
    ExprPtr left = unary();
    bool compared = false;
    for (int length = 0;; ++length) {
      const int level =
          token().kind == SourceToken::Kind::punctuation ? precedence(token().text) : 0;
      if (level < least || level == 0)
        return left;
      // f<4>(x) looks like two comparisons, which nobody writes on purpose.
      if (length > kLongest || (compared && level == precedence("<")))
        stop("the expression");
      compared = compared || level == precedence("<");
      std::string op(token().text);
      ++at_;
      ExprPtr right = binary(level + 1);
      left = make(Expr::Kind::binary, begin, std::move(op), std::move(left), std::move(right));
    }
  }

  ExprPtr unary() {
    const Depth depth(*this);
    const std::size_t begin = token().begin;
    for (const std::string_view op : {"++", "--", "-", "+", "!", "~", "*", "&"})
      if (now(op)) {
        ++at_;
        ExprPtr operand = unary();
        return make(Expr::Kind::unary, begin, std::string(op), std::move(operand));
      }
    if (now("sizeof")) {
      ++at_;
      expect("(");
      const std::size_t length = type_length(at_);
      if (length == 0 || !token(length).is(")"))
        stop("sizeof");
      at_ += length + 1;
      return make(Expr::Kind::number, begin, "sizeof");
    }
    if (now("(") && is_cast())
      return c_cast();
    return suffixes(primary());
  }

  // "(type)" before an operand.
  bool is_cast() const {
    const std::size_t length = type_length(at_ + 1);
    if (length == 0 || !token(length + 1).is(")"))
      return false;
    bool known = false;
    for (std::size_t i = 1; i <= length; ++i)
      known = known || is_arithmetic_word(token(i).text) || is_type(token(i).text) ||
              (i > 1 && token(i).is("*"));
    const Token& after = token(length + 2);
    return known && (after.kind != SourceToken::Kind::punctuation || after.is("(") ||
                     after.is("-") || after.is("&") || after.is("*") || after.is("!"));
  }

  std::string type_text(std::size_t length) {
    std::string text;
    for (std::size_t i = 0; i < length; ++i, ++at_)
      if (!is_qualifier(token().text) || token().is("__shared__"))
        text += (text.empty() || now("*") ? "" : " ") + std::string(token().text);
    return text;
  }

  ExprPtr c_cast() {
    const std::size_t begin = token().begin;
    expect("(");
    std::string type = type_text(type_length(at_));
    expect(")");
    ExprPtr operand = unary();
    return make(Expr::Kind::cast, begin, std::move(type), std::move(operand));
  }

  std::vector<ExprPtr> arguments() {
    expect("(");
    std::vector<ExprPtr> result;
    while (!now(")")) {
      result.push_back(now("{") ? list() : comma_free());
      if (!accept(","))
        break;
    }
    expect(")");
    return result;
  }

  ExprPtr primary() {
    const Depth depth(*this);
    const Token& first = token();
    const std::size_t begin = first.begin;
    if (at_ >= end_)
      stop("the expression");
    if (first.kind == SourceToken::Kind::number || first.kind == SourceToken::Kind::string) {
      ++at_;
      return make(first.kind == SourceToken::Kind::number ? Expr::Kind::number : Expr::Kind::string,
                  begin, std::string(first.text));
    }
    if (accept("(")) {
      ExprPtr inside = expression();
      expect(")");
      inside->begin = begin; // with its parentheses
      inside->end = tokens_[at_ - 1].end();
      return inside;
    }
    if (!first.is_name())
      stop("the expression");
    if (first.is("static_cast") || first.is("reinterpret_cast")) {
      const bool reinterpret = first.is("reinterpret_cast");
      ++at_;
      expect("<");
      const std::size_t length = type_length(at_);
      if (length == 0)
        stop("the cast");
      std::string type = type_text(length);
      expect(">");
      expect("(");
      ExprPtr operand = expression();
      expect(")");
      if (reinterpret)
        type = "reinterpret " + type;
      return make(Expr::Kind::cast, begin, std::move(type), std::move(operand));
    }
    if (is_arithmetic_word(first.text) || is_qualifier(first.text) || first.is("operator") ||
        first.is("new") || first.is("delete") || first.is("asm") || first.is("const_cast") ||
        first.is("dynamic_cast")) {
      // float(x)
      if (is_arithmetic_word(first.text) && token(1).is("(")) {
        ++at_;
        std::vector<ExprPtr> inside = arguments();
        if (inside.size() == 1)
          return make(Expr::Kind::cast, begin, std::string(first.text), std::move(inside[0]));
      }
      stop("the expression");
    }
    ++at_;
    std::string name(first.text);
    while (now("::") && token(1).is_name()) {
      name += "::" + std::string(token(1).text);
      at_ += 2;
    }
    if (now("::"))
      stop("the name");
    return make(Expr::Kind::name, begin, std::move(name));
  }

  ExprPtr suffixes(ExprPtr base) {
    for (int length = 0;; ++length) {
      const std::size_t begin = base->begin;
      if (length > kLongest)
        stop("the expression");
      if (accept("[")) {
        ExprPtr index = expression();
        expect("]");
        base = make(Expr::Kind::index, begin, "", std::move(base), std::move(index));
      } else if (now("(")) {
        if (base->kind != Expr::Kind::name)
          stop("the call");
        std::vector<ExprPtr> inside = arguments();
        const bool cast = inside.size() == 1 && is_type(base->text);
        auto call = make(cast ? Expr::Kind::cast : Expr::Kind::call, begin, base->text);
        call->kids = std::move(inside);
        base = std::move(call);
      } else if (now(".") || now("->")) {
        ++at_;
        if (!token().is_name() || token(1).is("("))
          stop("the member");
        std::string member(token().text);
        ++at_;
        base = make(Expr::Kind::member, begin, std::move(member), std::move(base));
      } else if (now("++") || now("--")) {
        std::string op(token().text);
        ++at_;
        base = make(Expr::Kind::postfix, begin, std::move(op), std::move(base));
      } else {
        return base;
      }
    }
  }

  const std::vector<Token>& tokens_;
  std::size_t at_;
  std::size_t end_;
  const Code* code_;
  int depth_ = 0;
};

} // namespace

ParsedBody parse_body(const Code& code, const Function& function) {
  ParsedBody result;
  result.problem = code.obscured(function);
  if (!result.problem.empty())
    return result;
  try {
    result.block =
        Parser(code.tokens(), function.body_open, function.body_close + 1, &code).block();
  } catch (const Unparsed& unparsed) {
    result.problem = fmt::format("in {}, {}", function.name, unparsed.problem);
  }
  return result;
}

std::unique_ptr<Expr> parse_expression(std::string_view text) {
  const std::vector<Token> tokens = tokenise(text);
  try {
    return Parser(tokens, 0, tokens.size(), nullptr).whole_expression();
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
