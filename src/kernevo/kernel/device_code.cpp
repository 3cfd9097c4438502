#include "kernevo/kernel/device_code.h"

#include "kernevo/kernel/macro_table.h"
#include "kernevo/kernel/source_scan.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <utility>
#include <vector>

namespace kernevo {
namespace {

using Tokens = std::vector<SourceToken>;

template <std::size_t n>
bool is_one_of(std::string_view word, const std::array<std::string_view, n>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_space(std::string_view word) { // an execution or memory space of the device
  static constexpr std::array<std::string_view, 6> spaces = {
      "__device__", "__global__", "__constant__", "__shared__", "__managed__", "__grid_constant__"};
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
  bool of_class = false;    // static, which in a class belongs to no object
  bool initialised = false; // a variable that says with what
  bool is_operator = false;
  bool linkage = false;           // extern, so declared elsewhere
  bool defaulted = false;         // = default, = delete
  std::string_view name;          // of a function
  std::vector<std::size_t> hosts; // where it says __host__
};

struct Trouble {
  int line = 0;
  int column = 0;
  std::string what;
  std::string fix;
};

// What is changed in the source, by offset.
struct Edits {
  std::map<std::size_t, std::string_view> inserts;
  std::set<std::size_t> kept_hosts; // __host__ of constant expressions, which both sides evaluate
};

struct Call { // of a macro, where a declaration may begin
  std::size_t name = 0;
  std::size_t end = 0; // after its arguments
};

class Walker {
public:
  Walker(const Tokens& tokens, const char* origin, const MacroTable& macros)
      : tokens_(tokens), origin_(origin), macros_(macros), inside_(tokens.size(), false) {}

  void run() {
    scope("", false);
    if (!done())
      unclear(at_, "this '}' closes nothing", "remove it");
    for (std::size_t i = 0; i < tokens_.size(); ++i)
      if (!inside_[i] && macros_.makes_declarations(tokens_[i].text) && !starts_.contains(i))
        unclear(i,
                fmt::format("the macro '{}' ends or begins declarations in the middle of one",
                            tokens_[i].text),
                "write it out");
  }

  const Edits& edits() const { return edits_; }
  const std::map<std::string, std::string>& kernels() const { return kernels_; }
  const std::vector<Call>& calls() const { return calls_; }
  const std::optional<Trouble>& trouble() const { return trouble_; }

private:
  static constexpr int kDeepest = 64; // namespaces and classes in each other

  bool done() const { return at_ >= tokens_.size(); }
  std::string_view word(std::size_t ahead = 0) const {
    return at_ + ahead < tokens_.size() ? tokens_[at_ + ahead].text : std::string_view();
  }
  std::size_t offset(std::size_t token) const {
    return static_cast<std::size_t>(tokens_[token].text.data() - origin_);
  }

  void unclear(std::size_t token, std::string what, std::string fix) {
    if (trouble_)
      return;
    const SourceToken place =
        tokens_.empty() ? SourceToken{} : tokens_[std::min(token, tokens_.size() - 1)];
    trouble_ = Trouble{place.line, place.column, std::move(what), std::move(fix)};
  }

  // After the bracket that closes the one here.
  void skip_group(std::string_view open, std::string_view close) {
    int depth = 0;
    for (; !done(); ++at_) {
      inside_[at_] = true;
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
    const std::size_t begin = at_;
    int depth = 0;
    while (!done()) {
      if (word() == "(") {
        skip_group("(", ")");
        continue;
      }
      if (word() == "{" || word() == ";" || word() == "operator")
        break;
      for (const char c : word())
        depth += c == '<' ? 1 : (c == '>' && word() != "->" ? -1 : 0);
      ++at_;
      if (depth <= 0)
        return;
    }
    unclear(begin, "it is not clear where the parameters of this template end",
            "write parentheses around comparisons and braces");
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
        unclear(at_, fmt::format("more than {} namespaces and classes in each other", kDeepest),
                "write fewer");
        at_ = tokens_.size();
        return;
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
    } else if (word() == "asm" || word() == "__asm__" || word() == "__asm") {
      unclear(at_, "assembly outside a function", "write it as a statement of the kernel");
      skip_statement();
    } else if (word() == "using" || word() == "static_assert" || word() == "concept" ||
               (word() == "typedef" && word(1) != "struct" && word(1) != "union")) {
      skip_statement();
    } else if (macros_.makes_declarations(word()) || (word(1) == "(" && macros_.contains(word()))) {
      call();
    } else if (word() == "template") {
      ++at_;
      if (word() == "<")
        skip_angles();
      if (word() == "concept")
        skip_statement();
      else if (!done())
        declaration(prefix, in_class, depth);
    } else {
      declaration(prefix, in_class, depth);
    }
  }

  // A macro that stands for declarations of its own.
  void call() {
    const std::size_t name = at_;
    starts_.insert(name);
    ++at_;
    if (word() == "(")
      skip_group("(", ")");
    calls_.push_back({name, at_});
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
    const std::size_t first = at_;
    d.begin = offset(first);
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
          declares_more(first);
          continue;
        }
        skip_group("{", "}");
        if (d.function && !value && !(initialisers && (word() == "," || word() == "{")))
          break;
        // An initialiser or an enum's list. A body that was not seen as one would be followed by
        // the next declaration.
        if (!d.function && !is_enum && !done() && word() != ";" && word() != "," && word() != "}" &&
            (!value || tokens_[at_].kind == SourceToken::Kind::identifier))
          unclear(first, "this declaration cannot be read",
                  "write it plainly, and everything of another kind in a declaration of its own");
        if (is_enum)
          declares_more(first);
        d.initialised = d.initialised || (!d.function && !is_enum);
        is_enum = false;
        continue;
      }
      if (now == "(") {
        skip_group("(", ")");
        continue;
      }
      if (now == "[") {
        d.array = d.array || (!value && !d.function);
        skip_group("[", "]");
        continue;
      }
      if (now == "asm" || now == "__asm__" || now == "__asm")
        unclear(at_, "assembly outside a function", "write it as a statement of the kernel");
      look(now, value, d);
      type =
          type || (!d.function && !value && (now == "struct" || now == "class" || now == "union"));
      is_enum = is_enum || (now == "enum" && !d.function);
      if (is_enum)
        type = false;
      value = value || (now == "=" && !d.function);
      d.initialised = d.initialised || value;
      initialisers = initialisers || (now == ":" && d.function);
      ++at_;
    }
    finish(d, first, prefix, in_class);
  }

  // A type and variables of it in one: those would be the host's.
  void declares_more(std::size_t first) {
    if (tokens_[first].text != "typedef" && !done() &&
        tokens_[at_].kind == SourceToken::Kind::identifier && !is_attribute(word()))
      unclear(at_, "a type and a variable in one declaration",
              "declare the variable by itself, after the type");
  }

  void look(std::string_view now, bool value, Declaration& d) const {
    d.space = d.space || is_space(now);
    d.global = d.global || now == "__global__";
    d.constant = d.constant || (now == "const" && !value);
    d.constant_expr = d.constant_expr || now == "constexpr";
    d.linkage = d.linkage || (now == "extern" && !value);
    d.of_class = d.of_class || (now == "static" && !value);
    if (now == "__host__")
      d.hosts.push_back(offset(at_));
    if (now == "=" && (word(1) == "default" || word(1) == "delete"))
      d.defaulted = true;
    if (d.function || value)
      return;
    if (now == "operator")
      d.function = d.is_operator = true;
    else if (tokens_[at_].kind == SourceToken::Kind::identifier && !is_attribute(now) &&
             (word(1) == "(" || is_specialised())) {
      d.function = true;
      d.name = now;
    }
  }

  // A name with template arguments before a parenthesis: a specialisation of a function.
  bool is_specialised() const {
    if (word(1) != "<")
      return false;
    int depth = 0;
    for (std::size_t i = at_ + 1; i < tokens_.size(); ++i) {
      const std::string_view text = tokens_[i].text;
      if (text == ";" || text == "{" || text == "}" || text == "=")
        return false;
      for (const char c : text)
        depth += c == '<' ? 1 : (c == '>' && text != "->" ? -1 : 0);
      if (depth <= 0)
        return i + 1 < tokens_.size() && tokens_[i + 1].text == "(";
    }
    return false;
  }

  void finish(const Declaration& d, std::size_t first, const std::string& prefix, bool in_class) {
    if (d.global && !d.name.empty())
      kernels_.emplace(d.name, prefix + std::string(d.name));
    if (d.constant_expr)
      edits_.kept_hosts.insert(d.hosts.begin(), d.hosts.end());
    // The host's own code must not find it: a comparison of errors, say.
    if (d.is_operator && d.constant_expr && !in_class)
      unclear(first, "an operator outside of a class that is constexpr, which the host may use",
              "write it without constexpr");
    if (d.space || d.defaulted)
      return;
    if (d.function)
      edits_.inserts.emplace(d.begin, d.constant_expr && d.hosts.empty() ? "__host__ __device__ "
                                                                         : "__device__ ");
    else if (in_class)
      member(d, first);
    // A constant that is no array can be used by value on both sides. What it is must be known when
    // it is compiled: else a host would work it out when the program starts.
    else if (!d.linkage && variable(first)) {
      if (d.array || (!d.constant && !d.constant_expr))
        edits_.inserts.emplace(d.begin, "__device__ ");
      else if (!d.constant_expr)
        edits_.inserts.emplace(d.begin, "constexpr ");
    }
  }

  void member(const Declaration& d, std::size_t first) {
    if (!d.of_class || !d.initialised || d.constant_expr)
      return;
    if (d.constant)
      edits_.inserts.emplace(d.begin, "constexpr ");
    else
      unclear(first, "a variable of a class that is given a value in it",
              "write it outside of the class, or make it constexpr");
  }

  // Neither a type nor an empty declaration.
  bool variable(std::size_t first) const {
    static constexpr std::array<std::string_view, 5> types = {"struct", "class", "union", "enum",
                                                              "typedef"};
    return !is_one_of(tokens_[first].text, types);
  }

  const Tokens& tokens_; // without preprocessor lines
  const char* origin_;   // of offsets
  const MacroTable& macros_;
  std::size_t at_ = 0;
  std::vector<bool> inside_; // of brackets that are not looked into
  std::set<std::size_t> starts_;
  std::vector<Call> calls_;
  Edits edits_;
  std::map<std::string, std::string> kernels_;
  std::optional<Trouble> trouble_;
};

// The first bracket that has no partner.
std::optional<Trouble> unpaired(const Tokens& tokens) {
  std::vector<const SourceToken*> open;
  for (const SourceToken& token : tokens) {
    if (token.text == "(" || token.text == "[" || token.text == "{") {
      open.push_back(&token);
    } else if (token.text == ")" || token.text == "]" || token.text == "}") {
      const std::string_view wanted = token.text == ")" ? "(" : token.text == "]" ? "[" : "{";
      if (open.empty() || open.back()->text != wanted)
        return Trouble{token.line, token.column,
                       fmt::format("this '{}' closes nothing", token.text), "brackets must nest"};
      open.pop_back();
    }
  }
  if (open.empty())
    return std::nullopt;
  return Trouble{open.back()->line, open.back()->column,
                 fmt::format("this '{}' is never closed", open.back()->text), "brackets must nest"};
}

// Whether a macro that makes declarations says for all of them that they are the device's.
class MacroCheck {
public:
  explicit MacroCheck(const MacroTable& macros) : macros_(macros) {}

  std::optional<Trouble> check(const Tokens& tokens, const Call& call) {
    const SourceToken& name = tokens[call.name];
    if (!macros_.makes_declarations(name.text))
      return std::nullopt; // a part of the declaration that follows it
    if (macros_.definitions(name.text).size() > kMostDefinitions)
      return Trouble{
          name.line, name.column,
          fmt::format("the macro '{}' is defined more than {} times", name.text, kMostDefinitions),
          "give each its own name"};
    if (!says_device(name.text))
      return Trouble{
          name.line, name.column,
          fmt::format("the macro '{}' declares something without saying __device__", name.text),
          "write __device__ before every function and variable in it"};
    for (const SourceMacro& macro : macros_.definitions(name.text))
      if (parameter_parts(tokens, call, macro))
        return Trouble{name.line, name.column,
                       fmt::format("an argument of the macro '{}' ends one declaration and begins "
                                   "another",
                                   name.text),
                       "write the declarations out"};
    return std::nullopt;
  }

private:
  static constexpr std::size_t kMostDefinitions = 16; // every call looks at all of them

  bool says_device(std::string_view name) {
    const auto [found, added] = known_.emplace(name, false); // one that uses itself never does
    if (!added)
      return found->second;
    bool says = true;
    for (const SourceMacro& macro : macros_.definitions(name)) {
      Walker walker(macro.body, macro.body.empty() ? nullptr : macro.body.front().text.data(),
                    macros_);
      walker.run();
      says = says && !walker.trouble() && walker.edits().inserts.empty();
      for (const Call& call : walker.calls())
        says = says && !check(macro.body, call);
    }
    known_[name] = says;
    return says;
  }

  // Whether an argument with ';' or braces lands outside the macro's own brackets.
  bool parameter_parts(const Tokens& tokens, const Call& call, const SourceMacro& macro) const {
    std::set<std::size_t> parting; // arguments, by number
    std::size_t number = 0;
    int depth = 0;
    for (std::size_t i = call.name + 1; i < call.end; ++i) {
      const std::string_view text = tokens[i].text;
      depth += text == "(" || text == "[" || text == "{" ? 1 : 0;
      depth -= text == ")" || text == "]" || text == "}" ? 1 : 0;
      if (text == "," && depth == 1)
        ++number;
      if (parts_declarations(text) || macros_.makes_declarations(text))
        parting.insert(number);
    }
    depth = 0;
    for (const SourceToken& token : macro.body) {
      depth += token.text == "(" || token.text == "[" || token.text == "{" ? 1 : 0;
      depth -= token.text == ")" || token.text == "]" || token.text == "}" ? 1 : 0;
      const auto parameter =
          std::find(macro.parameters.begin(), macro.parameters.end(), token.text);
      if (depth > 0 || parameter == macro.parameters.end())
        continue;
      const auto index = static_cast<std::size_t>(parameter - macro.parameters.begin());
      const bool rest = *parameter == "__VA_ARGS__";
      if (rest ? parting.lower_bound(index) != parting.end() : parting.contains(index))
        return true;
    }
    return false;
  }

  const MacroTable& macros_;
  std::map<std::string_view, bool> known_;
};

std::string edited(std::string_view source, const SourceScan& scan, const Edits& edits) {
  std::string text;
  std::size_t written = 0;
  auto insert = edits.inserts.begin();
  const auto insert_up_to = [&](std::size_t offset) {
    for (; insert != edits.inserts.end() && insert->first <= offset; ++insert) {
      text += source.substr(written, insert->first - written);
      text += insert->second;
      written = insert->first;
    }
  };
  for (const SourceToken& token : scan.tokens) {
    const auto offset = static_cast<std::size_t>(token.text.data() - source.data());
    if (token.text != "__host__" || edits.kept_hosts.contains(offset))
      continue;
    insert_up_to(offset);
    text += source.substr(written, offset - written);
    written = offset + token.text.size();
    if (written < source.size() && source[written] == ' ')
      ++written;
  }
  insert_up_to(source.size());
  text += source.substr(written);
  return text;
}

} // namespace

Result<DeviceCode> device_code(std::string_view source, const std::string& file, int first_line) {
  const SourceScan scan = scan_cuda_source(source);
  const MacroTable macros(scan);
  Tokens tokens;
  for (const SourceToken& token : scan.tokens)
    if (!token.preprocessor)
      tokens.push_back(token);
  std::optional<Trouble> trouble = unpaired(tokens);
  for (const std::string& name : macros.names())
    for (const SourceMacro& macro : macros.definitions(name))
      if (!trouble)
        trouble = unpaired(macro.body);
  Walker walker(tokens, source.data(), macros);
  if (!trouble) {
    walker.run();
    trouble = walker.trouble();
  }
  MacroCheck check(macros);
  for (const Call& call : walker.calls())
    if (!trouble)
      trouble = check.check(tokens, call);
  if (trouble)
    return fail(ErrorCode::input, std::move(trouble->what),
                Place{file, trouble->line + first_line - 1, trouble->column},
                std::move(trouble->fix));
  return DeviceCode{edited(source, scan, walker.edits()), walker.kernels(), macros.names()};
}

} // namespace kernevo
