#include "kernevo/extract/device_code.h"

#include "kernevo/kernel/source_scan.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace kernevo::extract {
namespace {

using Tokens = std::vector<SourceToken>;

template <std::size_t n>
bool is_one_of(std::string_view word, const std::array<std::string_view, n>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_space(std::string_view word) { // an execution or memory space
  static constexpr std::array<std::string_view, 7> spaces = {
      "__device__", "__global__",  "__host__",         "__constant__",
      "__shared__", "__managed__", "__grid_constant__"};
  return is_one_of(word, spaces);
}

// Words that look like the name of a function before a parenthesis.
bool is_attribute(std::string_view word) {
  static constexpr std::array<std::string_view, 12> attributes = {
      "__launch_bounds__", "__maxnreg__", "__cluster_dims__", "__block_size__",
      "__attribute__",     "alignas",     "__align__",        "decltype",
      "__declspec",        "noexcept",    "explicit",         "requires"};
  return is_one_of(word, attributes);
}

// What one declaration says up to its body or its end.
struct Declaration {
  std::size_t begin = 0; // where a space would be written: after template<...> and extern "C"
  bool space = false;
  bool global = false;
  bool function = false;
  bool constant = false;      // const
  bool constant_expr = false; // constexpr
  bool array = false;
  bool linkage = false;   // extern, so declared elsewhere
  bool defaulted = false; // = default, = delete
  std::string_view name;  // of a function
};

class Walker {
public:
  Walker(std::string_view source, DeviceCode& into) : source_(source), into_(into) {
    const SourceScan scan = scan_cuda_source(source);
    for (std::size_t i = 0; i < scan.tokens.size(); ++i) {
      const SourceToken& token = scan.tokens[i];
      if (!token.preprocessor)
        tokens_.push_back(token);
      else if (token.defines &&
               (i == 0 || !scan.tokens[i - 1].defines || scan.tokens[i - 1].line != token.line))
        into_.macros.emplace(token.text);
    }
  }

  void run() {
    scope("", false);
    std::size_t written = 0;
    for (const auto& [offset, words] : inserts_) {
      into_.text += source_.substr(written, offset - written);
      into_.text += words;
      written = offset;
    }
    into_.text += source_.substr(written);
  }

private:
  static constexpr int kDeepest = 64; // namespaces and classes in each other

  bool done() const { return at_ >= tokens_.size(); }
  std::string_view word(std::size_t ahead = 0) const {
    return at_ + ahead < tokens_.size() ? tokens_[at_ + ahead].text : std::string_view();
  }

  // After the bracket that closes the one here.
  void skip_group(std::string_view open, std::string_view close) {
    int depth = 0;
    for (; !done(); ++at_) {
      if (word() == open)
        ++depth;
      else if (word() == close && --depth == 0) {
        ++at_;
        return;
      }
    }
  }

  // After the '>' of template<...>.
  void skip_angles() {
    int depth = 0;
    while (!done()) {
      if (word() == "(") {
        skip_group("(", ")");
        continue;
      }
      for (const char c : word())
        depth += c == '<' ? 1 : (c == '>' && word() != "->" ? -1 : 0);
      ++at_;
      if (depth <= 0)
        return;
    }
  }

  void skip_statement() {
    while (!done() && word() != ";") {
      if (word() == "{")
        skip_group("{", "}");
      else if (word() == "(")
        skip_group("(", ")");
      else
        ++at_;
    }
    ++at_;
  }

  // Everything up to the '}' that ends the scope, or the end of the source.
  void scope(const std::string& prefix, bool in_class, int depth = 0) {
    while (!done()) {
      if (word() == "}") {
        ++at_;
        return;
      }
      if (depth > kDeepest) {
        ++at_;
        continue;
      }
      statement(prefix, in_class, depth);
    }
  }

  void statement(const std::string& prefix, bool in_class, int depth) {
    if (word() == ";" || word() == ":") {
      ++at_;
    } else if (in_class && word(1) == ":" && word(2) != ":" &&
               (word() == "public" || word() == "private" || word() == "protected")) {
      at_ += 2;
    } else if (word() == "inline" && word(1) == "namespace") {
      ++at_;
    } else if (word() == "namespace") {
      open_namespace(prefix, depth);
    } else if (word() == "extern" && tokens_[at_].kind == SourceToken::Kind::identifier &&
               at_ + 1 < tokens_.size() && tokens_[at_ + 1].kind == SourceToken::Kind::string) {
      at_ += 2;
      if (word() == "{") {
        ++at_;
        scope(prefix, in_class, depth + 1);
      } else if (!done()) {
        declaration(prefix, in_class, depth);
      }
    } else if (word() == "using" || word() == "static_assert" || word() == "asm" ||
               (word() == "typedef" && word(1) != "struct" && word(1) != "union")) {
      skip_statement();
    } else if (word(1) == "(" && into_.macros.contains(std::string(word()))) {
      ++at_; // makes declarations that cannot be seen here
      skip_group("(", ")");
    } else if (word() == "template") {
      ++at_;
      if (word() == "<")
        skip_angles();
      if (!done())
        declaration(prefix, in_class, depth);
    } else {
      declaration(prefix, in_class, depth);
    }
  }

  void open_namespace(const std::string& prefix, int depth) {
    std::string inner = prefix;
    ++at_;
    while (!done() && word() != "{") {
      if (word() == "=" || word() == ";") {
        skip_statement();
        return;
      }
      if (tokens_[at_].kind == SourceToken::Kind::identifier && word() != "inline")
        inner += std::string(word()) + "::";
      ++at_;
    }
    ++at_;
    scope(inner, false, depth + 1);
  }

  void declaration(const std::string& prefix, bool in_class, int depth) {
    Declaration d;
    d.begin = static_cast<std::size_t>(tokens_[at_].text.data() - source_.data());
    bool type = false; // struct, class, union: its body holds declarations
    bool is_enum = false;
    bool value = false; // after '='
    bool initialisers = false;
    while (!done()) {
      const std::string_view now = word();
      if (now == ";") {
        ++at_;
        break;
      }
      if (now == "}") // the scope's own; the declaration was not one
        break;
      if (now == "{") {
        if (type && !d.function && !value) {
          ++at_;
          scope("", true, depth + 1);
          type = false;
          continue;
        }
        skip_group("{", "}");
        if (d.function && !value && !is_enum && !(initialisers && (word() == "," || word() == "{")))
          break;
        continue;
      }
      if (now == "(") {
        skip_group("(", ")");
        continue;
      }
      look(now, value, d);
      type =
          type || (!d.function && !value && (now == "struct" || now == "class" || now == "union"));
      is_enum = is_enum || now == "enum";
      if (is_enum)
        type = false;
      value = value || (now == "=" && !d.function);
      initialisers = initialisers || (now == ":" && d.function);
      ++at_;
    }
    finish(d, prefix, in_class);
  }

  void look(std::string_view now, bool value, Declaration& d) const {
    d.space = d.space || is_space(now);
    d.global = d.global || now == "__global__";
    d.constant = d.constant || (now == "const" && !value);
    d.constant_expr = d.constant_expr || now == "constexpr";
    d.linkage = d.linkage || (now == "extern" && !value);
    d.array = d.array || (now == "[" && !value && !d.function);
    if (now == "=" && (word(1) == "default" || word(1) == "delete"))
      d.defaulted = true;
    if (d.function || value)
      return;
    if (now == "operator")
      d.function = true;
    else if (tokens_[at_].kind == SourceToken::Kind::identifier && word(1) == "(" &&
             !is_attribute(now)) {
      d.function = true;
      d.name = now;
    }
  }

  void finish(const Declaration& d, const std::string& prefix, bool in_class) {
    if (d.global && !d.name.empty())
      into_.kernels.emplace(d.name, prefix + std::string(d.name));
    if (d.space || d.defaulted)
      return;
    if (d.function)
      inserts_.emplace_back(d.begin, d.constant_expr ? "__host__ __device__ " : "__device__ ");
    // A constant that is no array can be used by value on both sides.
    else if (!in_class && !d.linkage && variable(d) &&
             (d.array || (!d.constant && !d.constant_expr)))
      inserts_.emplace_back(d.begin, "__device__ ");
  }

  // Neither a type nor an empty declaration.
  bool variable(const Declaration& d) const {
    const std::string_view text = source_.substr(d.begin);
    for (const std::string_view start : {"struct", "class", "union", "enum", "typedef"})
      if (text.starts_with(start))
        return false;
    return true;
  }

  std::string_view source_;
  DeviceCode& into_;
  Tokens tokens_; // without preprocessor lines
  std::size_t at_ = 0;
  std::vector<std::pair<std::size_t, std::string_view>> inserts_;
};

} // namespace

DeviceCode device_code(std::string_view source) {
  DeviceCode code;
  Walker(source, code).run();
  return code;
}

} // namespace kernevo::extract
