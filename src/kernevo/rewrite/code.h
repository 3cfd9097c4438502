// What a rewrite sees of a kernel file: its tokens with C's operators put together, its kernels
// with their parameters, its type aliases and macros.
#pragma once

#include "kernevo/kernel/kernel_file.h"
#include "kernevo/kernel/source_scan.h"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo::rewrite {

struct Token {
  SourceToken::Kind kind = SourceToken::Kind::punctuation;
  std::string_view text;
  std::size_t begin = 0; // offset in the source

  std::size_t end() const { return begin + text.size(); }
  bool is(std::string_view other) const { return text == other; }
  bool is_name() const { return kind == SourceToken::Kind::identifier; }
};

// The tokens of a text without preprocessor lines, operators of several characters as one token.
std::vector<Token> tokenise(std::string_view source);

struct Parameter {
  std::string name;
  std::string type;    // as written, without __restrict__: "const Element*"
  std::string element; // what a pointer points to, without const: "Element"; empty for values
  bool points_to_const = false;
  bool restricted = false;
  std::size_t begin = 0;    // of its first token
  std::size_t star_end = 0; // offset after the '*'

  bool is_pointer() const { return !element.empty(); }
};

struct Function {
  std::string name;
  std::size_t name_token = 0;
  std::size_t body_open = 0; // tokens of the braces
  std::size_t body_close = 0;
  std::size_t begin = 0; // offset of its declaration
  bool is_template = false;
  std::vector<std::string> attributes; // __launch_bounds__, __maxnreg__, ...
  std::vector<Parameter> parameters;
  bool simple_parameters = true; // false: some parameter was not understood

  const Parameter* find_parameter(std::string_view wanted) const;
};

class Code {
public:
  explicit Code(const KernelFile& file);

  std::string_view source() const { return source_; }
  const std::vector<Token>& tokens() const { return tokens_; }
  // The token of the bracket that closes the one at `open`; nothing when it is missing.
  std::optional<std::size_t> closing(std::size_t open) const;

  const std::vector<Function>& kernels() const { return kernels_; }
  // Every identifier anywhere in the code, preprocessor lines included.
  const std::set<std::string, std::less<>>& identifiers() const { return identifiers_; }
  bool is_type(std::string_view name) const;
  // The type an alias stands for, through any number of aliases.
  std::string resolve_type(std::string_view type) const;
  // Bytes of an element type; nothing when it is not a plain one.
  std::optional<int> size_of_type(std::string_view type) const;
  bool is_floating_type(std::string_view type) const;
  bool is_integer_type(std::string_view type) const;

  // Why a function's text cannot be taken at its word (conditional compilation, macros with a body
  // that is no number); empty when it can.
  std::string obscured(const Function& function) const;
  // Whether a function of the file with this name takes a reference.
  bool takes_reference(std::string_view name) const { return by_reference_.contains(name); }
  // Whether the file defines a function of this name.
  bool defines(std::string_view name) const { return defined_.contains(name); }

  // White space at the start of the line that holds the offset.
  std::string indentation(std::size_t offset) const;
  std::size_t line_start(std::size_t offset) const;

private:
  void match_brackets();
  void find_kernels();
  void find_names(const SourceScan& scan);
  void read_parameters(std::size_t open, std::size_t close, Function& function) const;

  std::string_view source_;
  std::vector<Token> tokens_;
  std::vector<std::size_t> closing_;
  std::vector<Function> kernels_;
  std::set<std::string, std::less<>> identifiers_;
  std::map<std::string, std::string, std::less<>> aliases_;
  std::set<std::string, std::less<>> types_;
  std::set<std::string, std::less<>> odd_macros_; // macros that are more than a number
  std::set<std::string, std::less<>> by_reference_;
  std::set<std::string, std::less<>> defined_;
};

} // namespace kernevo::rewrite
