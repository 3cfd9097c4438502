// The parser behind parse(). Its parts: parse.cpp (module), parse_variable.cpp (declarations and
// constants), parse_function.cpp (bodies), parse_instruction.cpp, parse_operand.cpp.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/ptx/lexer.h"
#include "kernevo/ptx/line_map.h"
#include "kernevo/ptx/mnemonic.h"
#include "kernevo/ptx/module.h"
#include "kernevo/ptx/register_parts.h"
#include "kernevo/ptx/scopes.h"

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kernevo::ptx {

inline constexpr std::size_t kMostOperands = 128; // also elements of a vector; calls may pass more

// A literal or a constant expression.
struct Constant {
  enum class Kind : std::uint8_t { integer, real32, real64 };
  Kind kind = Kind::integer;
  std::uint64_t bits = 0;
};

// Every member that returns bool returns false after it has set error_: the first error wins and
// the parser stops there.
class Parser {
public:
  Parser(std::string_view text, std::string file);
  Result<Module> run();

private:
  // parse.cpp
  void advance() { current_ = lexer_.next(); }
  bool accept(char c);
  bool expect(char c);
  bool accept(std::string_view dotted);
  bool error(const Token& at, std::string message, ErrorCode code = ErrorCode::input);
  bool unexpected(std::string_view wanted);
  bool name(Token& into, std::string_view what);
  bool number(std::uint64_t& into, std::uint64_t limit, std::string_view what);
  bool header();
  bool version();
  bool target();
  bool module_item();
  bool file_directive();
  bool section();
  bool pragma();
  bool skip_attribute();
  bool alias();
  bool linkage(Linkage& into);
  bool module_variables(Space space, Linkage linkage);
  bool add_module_variable(const Token& at, Variable variable, bool is_common);
  bool add_function(const Token& at, Function function);
  bool resolve_aliases();
  bool resolve_calls();
  void pad_files();

  // parse_variable.cpp
  bool constant(Constant& into, int depth = 0, int least = 0);
  bool constant_term(Constant& into, int depth);
  bool literal(const Token& token, Constant& into);
  // After the space: type, alignment, name, dimensions and initial value.
  struct Declaration {
    Token name;
    Variable variable;
  };
  bool variable_type(Variable& into);
  bool declarator(Declaration& into, bool is_parameter);
  bool reference_properties(Variable& variable);
  struct Dimensions {
    std::vector<std::uint64_t> sizes; // 0 = left open
  };
  bool dimensions(Dimensions& into);
  bool initialiser(Variable& variable, Dimensions& sizes);
  bool initial_value(Variable& variable, std::uint64_t index);
  bool initial_symbol(Variable& variable, std::uint64_t index);
  bool initial_mask(Variable& variable, std::uint64_t index, const Token& at, std::uint64_t mask);
  bool store(Variable& variable, std::uint64_t index, const Token& at, const Constant& value);
  bool reserve(Variable& variable, std::uint64_t bytes, const Token& at);
  bool check_masks(const Variable& variable, const Token& at);
  bool parameters(std::vector<Variable>& into, std::vector<Token>& names);

  // parse_function.cpp
  bool function(bool is_entry, Linkage linkage);
  bool function_directives(Function& function);
  bool three_numbers(std::optional<std::array<std::uint32_t, 3>>& into);
  bool one_number(std::optional<std::uint32_t>& into);
  bool body();
  bool statement();
  bool close_block();
  bool directive();
  bool loc();
  bool registers();
  bool local_variables(Space space);
  bool label(const Token& at);
  bool table(const Token& at, std::string unique);
  bool prototype(const std::string& unique);
  bool declare_parameters(const std::vector<Token>& names);
  void move_register_returns(const std::optional<Guard>& guard);
  bool finish_function();
  bool finish_name(const PendingName& pending);

  // parse_instruction.cpp
  bool instruction();
  bool guard(std::optional<Guard>& into);
  const Mnemonic* decode(const Token& token);
  bool plain_operands();
  bool call_operands();
  void expand_vector_move();
  void place_before();
  std::vector<Instruction> pass_through_memory();

  // parse_operand.cpp
  bool operand(Operand& into, std::uint32_t index, std::int32_t element = -1);
  bool address(Operand& into, std::uint32_t index);
  bool register_part(Operand& into, const LocalName& local);
  bool register_sum(Operand& into);
  bool second_destination(Operand& into, std::uint32_t index, std::int32_t element);
  bool in_right_space(const Token& symbol, std::uint32_t index);
  bool elements(Operand& into, char close, std::uint32_t index);
  bool named(Operand& into, std::uint32_t index, std::int32_t element);
  bool special(Operand& into, const Token& token);
  bool offset(std::int64_t& into);
  bool symbol(Operand& into, const Token& token, std::uint32_t index, std::int32_t element);

  // What is known only inside a function body.
  struct Body {
    Function function;
    Token name;
    Scopes scopes{function.registers};
    LineMap lines;
    Instruction instruction;           // being parsed
    std::vector<Token> operand_tokens; // where its operands start
    struct CallSite {
      std::uint32_t instruction = 0;
      Token at;
    };
    std::vector<CallSite> calls;
    struct Use { // of a function by name
      std::string_view name;
      Token at;
    };
    std::vector<Use> uses;
    // .reg parameters and results: the register and the .param variable behind it.
    std::vector<MovedRegister> moved_returns;
    std::vector<Instruction> before; // what must run before the instruction being parsed
  };
  struct Calls {
    std::size_t function = 0;
    std::vector<Body::CallSite> sites;
    std::vector<Body::Use> uses;
  };

  std::string file_;
  Lexer lexer_;
  Token current_;
  Module module_;
  Target target_;
  std::optional<Error> error_;
  std::unordered_map<std::string, std::size_t> variable_index_;
  std::unordered_map<std::string, std::size_t> function_index_;
  std::unordered_map<std::string_view, Mnemonic> mnemonics_;
  std::vector<Calls> calls_;
  std::uint64_t initial_bytes_ = 0;
  std::uint32_t highest_file_ = 0;
  Body* body_ = nullptr;
};

// A token as shown in a message: quoted, shortened, without control characters.
std::string shown(const Token& token);

} // namespace kernevo::ptx
