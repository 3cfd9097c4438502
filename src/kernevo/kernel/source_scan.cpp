#include "kernevo/kernel/source_scan.h"

#include "kernevo/base/identifier.h"

#include <array>

namespace kernevo {

namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

// A position in the source that keeps count of lines and columns.
class Cursor {
public:
  explicit Cursor(std::string_view source) : source_(source) {}

  bool done() const { return offset_ >= source_.size(); }
  char now() const { return peek(0); }
  char peek(std::size_t ahead) const {
    return offset_ + ahead < source_.size() ? source_[offset_ + ahead] : '\0';
  }
  bool at(std::string_view text) const { return source_.substr(offset_).starts_with(text); }
  void advance(std::size_t count = 1) {
    for (; count > 0 && !done(); --count) {
      if (source_[offset_] == '\n') {
        ++line_;
        column_ = 1;
      } else {
        ++column_;
      }
      ++offset_;
    }
  }
  // The length of a backslash-newline here, 0 when there is none.
  std::size_t splice() const {
    if (now() != '\\')
      return 0;
    if (peek(1) == '\n')
      return 2;
    return peek(1) == '\r' && peek(2) == '\n' ? 3 : 0;
  }
  std::string_view from(std::size_t start) const { return source_.substr(start, offset_ - start); }
  std::string_view rest() const { return source_.substr(offset_); }
  std::size_t offset() const { return offset_; }
  int line() const { return line_; }
  int column() const { return column_; }

private:
  std::string_view source_;
  std::size_t offset_ = 0;
  int line_ = 1;
  int column_ = 1;
};

// Any other name before a quote is a name of its own, and what follows an ordinary string.
bool starts_raw_string(std::string_view name) {
  return name == "R" || name == "LR" || name == "uR" || name == "UR" || name == "u8R";
}

std::string_view without_trailing_space(std::string_view text) {
  while (!text.empty() && is_space(text.back()))
    text.remove_suffix(1);
  return text;
}

class CudaScanner {
public:
  explicit CudaScanner(std::string_view source) : cursor_(source) {}

  SourceScan run() {
    while (!cursor_.done())
      step();
    end_directive();
    return std::move(scan_);
  }

private:
  void end_directive() {
    if (!preprocessor_)
      return;
    scan_.directives.back().end = cursor_.offset();
    scan_.directives.back().last_token = scan_.tokens.size();
  }

  void step() {
    const char c = cursor_.now();
    if (const std::size_t splice = cursor_.splice(); splice > 0) {
      cursor_.advance(splice); // the logical line, and with it a # line, goes on
    } else if (c == '\n') {
      end_directive();
      cursor_.advance();
      line_start_ = true;
      preprocessor_ = false;
      defines_ = false;
    } else if (is_space(c)) {
      cursor_.advance();
    } else if (cursor_.at("//")) {
      line_comment();
    } else if (cursor_.at("/*")) {
      block_comment();
    } else if (line_start_ && (c == '#' || cursor_.at("%:"))) {
      preprocessor_line();
    } else {
      line_start_ = false;
      token();
    }
  }

  void line_comment() {
    bool alone = line_start_;
    bool continuation = false;
    cursor_.advance(2);
    for (;;) {
      CommentLine comment;
      comment.line = cursor_.line();
      comment.column = cursor_.column();
      comment.alone = alone;
      comment.continuation = continuation;
      const std::size_t start = cursor_.offset();
      while (!cursor_.done() && cursor_.now() != '\n' && cursor_.splice() == 0)
        cursor_.advance();
      comment.text = without_trailing_space(cursor_.from(start));
      const std::size_t splice = cursor_.splice();
      comment.continued = splice > 0;
      scan_.comments.push_back(comment);
      if (splice == 0)
        return;
      cursor_.advance(splice);
      continuation = true;
      alone = true;
    }
  }

  void block_comment() {
    bool alone = line_start_;
    cursor_.advance(2);
    while (!cursor_.done()) {
      CommentLine comment;
      comment.line = cursor_.line();
      comment.column = cursor_.column();
      comment.alone = alone;
      comment.block = true;
      const std::size_t start = cursor_.offset();
      while (!cursor_.done() && cursor_.now() != '\n' && !cursor_.at("*/"))
        cursor_.advance();
      comment.text = without_trailing_space(cursor_.from(start));
      scan_.comments.push_back(comment);
      if (cursor_.at("*/")) {
        cursor_.advance(2);
        return;
      }
      cursor_.advance();
      alone = true;
    }
  }

  void skip_line_space() {
    while (is_space(cursor_.now()) || cursor_.splice() > 0)
      cursor_.advance(cursor_.splice() > 0 ? cursor_.splice() : 1);
  }

  void preprocessor_line() {
    line_start_ = false;
    preprocessor_ = true;
    PreprocessorLine& directive = scan_.directives.emplace_back();
    directive.line = cursor_.line();
    directive.column = cursor_.column();
    directive.begin = cursor_.offset();
    directive.first_token = scan_.tokens.size();
    cursor_.advance(cursor_.now() == '#' ? 1 : 2);
    skip_line_space();
    skip_block_comments();
    std::string word; // a copy: a splice may stand in the middle of it
    while (continues_name(cursor_.now()) || cursor_.splice() > 0) {
      if (const std::size_t splice = cursor_.splice(); splice > 0) {
        cursor_.advance(splice);
        continue;
      }
      word += cursor_.now();
      cursor_.advance();
    }
    directive.word = word;
    if (word == "define")
      defines_ = true;
    else if (word == "if" || word == "ifdef" || word == "ifndef")
      ++conditions_;
    else if (word == "endif" && conditions_ > 0)
      --conditions_;
    else if (word == "include" || word == "include_next" || word == "import" || word == "embed")
      include_line();
  }

  void skip_block_comments() {
    while (cursor_.at("/*")) {
      block_comment();
      skip_line_space();
    }
  }

  void include_line() {
    skip_line_space();
    skip_block_comments();
    IncludeLine include;
    include.line = cursor_.line();
    include.column = cursor_.column();
    include.conditional = conditions_ > 0;
    const char open = cursor_.now();
    include.quoted = open == '"';
    include.computed = open != '"' && open != '<';
    const char close = open == '<' ? '>' : '"';
    if (!include.computed)
      cursor_.advance();
    const std::size_t start = cursor_.offset();
    while (!cursor_.done() && cursor_.now() != '\n' &&
           (include.computed ? !is_space(cursor_.now()) : cursor_.now() != close))
      cursor_.advance();
    include.header = cursor_.from(start);
    if (!include.computed && cursor_.now() == close)
      cursor_.advance();
    scan_.includes.push_back(include);
  }

  void token() {
    SourceToken token;
    token.line = cursor_.line();
    token.column = cursor_.column();
    token.preprocessor = preprocessor_;
    token.defines = defines_;
    const std::size_t start = cursor_.offset();
    const char c = cursor_.now();
    if (starts_name(c)) {
      while (continues_name(cursor_.now()))
        cursor_.advance();
      token.kind = SourceToken::Kind::identifier;
      const std::string_view name = cursor_.from(start);
      if (cursor_.now() == '"' && starts_raw_string(name)) {
        raw_string();
        token.kind = SourceToken::Kind::string;
      }
    } else if (is_digit(c) || (c == '.' && is_digit(cursor_.peek(1)))) {
      // A digit separator is part of the number, not the start of a character literal.
      while (continues_name(cursor_.now()) || cursor_.now() == '.' ||
             (cursor_.now() == '\'' && continues_name(cursor_.peek(1))))
        cursor_.advance();
      token.kind = SourceToken::Kind::number;
    } else if (c == '"' || c == '\'') {
      quoted(c);
      token.kind = SourceToken::Kind::string;
    } else {
      static constexpr std::array<std::string_view, 5> long_tokens = {"<<<", ">>>", "::", "->",
                                                                      "##"};
      std::size_t length = 1;
      for (const std::string_view text : long_tokens)
        if (cursor_.at(text) && text.size() > length)
          length = text.size();
      cursor_.advance(length);
    }
    token.text = cursor_.from(start);
    scan_.tokens.push_back(token);
  }

  void quoted(char mark) {
    cursor_.advance();
    while (!cursor_.done() && cursor_.now() != mark && cursor_.now() != '\n') {
      if (cursor_.now() == '\\')
        cursor_.advance(cursor_.splice() > 0 ? cursor_.splice() - 1 : 1);
      cursor_.advance();
    }
    if (cursor_.now() == mark)
      cursor_.advance();
  }

  void raw_string() {
    cursor_.advance();
    const std::size_t start = cursor_.offset();
    while (!cursor_.done() && cursor_.now() != '(' && cursor_.now() != '\n' &&
           cursor_.offset() - start < 16)
      cursor_.advance();
    std::string close(1, ')');
    close.append(cursor_.from(start)).push_back('"');
    const std::size_t end = cursor_.rest().find(close);
    cursor_.advance(end == std::string_view::npos ? cursor_.rest().size() : end + close.size());
  }

  Cursor cursor_;
  SourceScan scan_;
  bool line_start_ = true;
  bool preprocessor_ = false;
  bool defines_ = false;
  int conditions_ = 0;
};

class PythonScanner {
public:
  explicit PythonScanner(std::string_view source) : cursor_(source) {}

  SourceScan run() {
    bool line_start = true;
    while (!cursor_.done()) {
      const char c = cursor_.now();
      if (c == '\n') {
        line_start = true;
        cursor_.advance();
      } else if (is_space(c)) {
        cursor_.advance();
      } else if (c == '#') {
        comment(line_start);
      } else {
        line_start = false;
        token();
      }
    }
    return std::move(scan_);
  }

private:
  void comment(bool alone) {
    cursor_.advance();
    CommentLine comment;
    comment.line = cursor_.line();
    comment.column = cursor_.column();
    comment.alone = alone;
    // Python does not splice comments; the mark is ours alone.
    comment.continuation = !scan_.comments.empty() && scan_.comments.back().continued &&
                           scan_.comments.back().line + 1 == comment.line;
    const std::size_t start = cursor_.offset();
    while (!cursor_.done() && cursor_.now() != '\n')
      cursor_.advance();
    comment.text = without_trailing_space(cursor_.from(start));
    if (comment.text.ends_with('\\')) {
      comment.continued = true;
      comment.text = without_trailing_space(comment.text.substr(0, comment.text.size() - 1));
    }
    scan_.comments.push_back(comment);
  }

  void token() {
    SourceToken token;
    token.line = cursor_.line();
    token.column = cursor_.column();
    const std::size_t start = cursor_.offset();
    const char c = cursor_.now();
    if (c == '"' || c == '\'') {
      string(c);
      token.kind = SourceToken::Kind::string;
    } else if (continues_name(c)) {
      while (continues_name(cursor_.now()))
        cursor_.advance();
      token.kind = is_digit(c) ? SourceToken::Kind::number : SourceToken::Kind::identifier;
    } else {
      cursor_.advance();
    }
    token.text = cursor_.from(start);
    scan_.tokens.push_back(token);
  }

  void string(char mark) {
    const std::string triple(3, mark);
    if (cursor_.at(triple)) {
      cursor_.advance(3);
      while (!cursor_.done() && !cursor_.at(triple))
        cursor_.advance(cursor_.now() == '\\' ? 2 : 1);
      cursor_.advance(3);
      return;
    }
    cursor_.advance();
    while (!cursor_.done() && cursor_.now() != mark && cursor_.now() != '\n')
      cursor_.advance(cursor_.now() == '\\' ? 2 : 1);
    if (cursor_.now() == mark)
      cursor_.advance();
  }

  Cursor cursor_;
  SourceScan scan_;
};

} // namespace

SourceScan scan_cuda_source(std::string_view source) {
  return CudaScanner(source).run();
}
SourceScan scan_python_source(std::string_view source) {
  return PythonScanner(source).run();
}

} // namespace kernevo
