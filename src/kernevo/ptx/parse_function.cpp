// Function headers and bodies, statement by statement.
#include "kernevo/ptx/names.h"
#include "kernevo/ptx/parser.h"
#include "kernevo/ptx/register_parts.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <limits>
#include <string_view>
#include <utility>

namespace kernevo::ptx {
namespace {

constexpr std::uint64_t kMost32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMostFiles = 65535;

// Directives with one number that say nothing about what the code computes.
constexpr std::array<std::string_view, 4> kIgnoredWithNumber = {
    ".maxnctapersm", ".abi_preserve", ".abi_preserve_control", ".local_maxnreg"};

bool starts_module_item(std::string_view text) {
  constexpr std::array<std::string_view, 10> items = {".visible", ".extern", ".weak",   ".common",
                                                      ".func",    ".entry",  ".global", ".const",
                                                      ".shared",  ".file"};
  return std::find(items.begin(), items.end(), text) != items.end();
}

} // namespace

bool Parser::three_numbers(std::optional<std::array<std::uint32_t, 3>>& into) {
  std::array<std::uint32_t, 3> numbers = {1, 1, 1};
  std::size_t count = 0;
  do {
    std::uint64_t value = 0;
    if (count == numbers.size())
      return error(current_, "at most three numbers belong here");
    if (!number(value, kMost32, "the number of threads"))
      return false;
    numbers[count++] = static_cast<std::uint32_t>(value);
  } while (accept(','));
  into = numbers;
  return true;
}

bool Parser::one_number(std::optional<std::uint32_t>& into) {
  std::uint64_t value = 0;
  if (!number(value, kMost32, "the value of this directive"))
    return false;
  into = static_cast<std::uint32_t>(value);
  return true;
}

bool Parser::function_directives(Function& function) {
  std::optional<std::uint32_t> one;
  while (current_.kind == Token::Kind::dotted) {
    if (!function.is_entry && starts_module_item(current_.text))
      break;
    const Token at = current_;
    advance();
    bool good = true;
    if (at.text == ".maxntid") {
      good = three_numbers(function.max_threads);
    } else if (at.text == ".reqntid") {
      good = three_numbers(function.required_threads);
    } else if (at.text == ".minnctapersm") {
      good = one_number(function.min_blocks);
    } else if (at.text == ".maxnreg") {
      good = one_number(function.max_registers);
    } else if (at.text == ".reqnctapercluster") {
      good = three_numbers(function.required_cluster);
    } else if (at.text == ".maxclusterrank") {
      good = one_number(function.max_cluster);
    } else if (at.text == ".explicitcluster") {
      function.explicit_cluster = true;
    } else if (at.text == ".pragma") {
      good = pragma();
    } else if (std::find(kIgnoredWithNumber.begin(), kIgnoredWithNumber.end(), at.text) !=
               kIgnoredWithNumber.end()) {
      good = one_number(one);
    } else if (at.text != ".noreturn") {
      return error(at, fmt::format("unsupported directive {}", shown(at)), ErrorCode::unsupported);
    }
    if (!good)
      return false;
  }
  return true;
}

bool Parser::function(bool is_entry, Linkage linkage) {
  Body body;
  Function& made = body.function;
  made.is_entry = is_entry;
  made.linkage = linkage;
  std::vector<Token> names;
  while (accept(".attribute"))
    if (!skip_attribute())
      return false;
  if (!is_entry && current_.is('(') && !parameters(made.returns, names))
    return false;
  if (!name(body.name, "a function name"))
    return false;
  made.name = body.name.text;
  made.line = body.name.line;
  if (current_.is('(') && !parameters(made.parameters, names))
    return false;
  if (!function_directives(made))
    return false;
  // Old compilers wrote prototypes without a semicolon, and ptxas still takes them.
  const bool bare = !is_entry && current_.kind == Token::Kind::dotted;
  if (accept(';') || bare) {
    made.is_declaration = true;
    return add_function(body.name, std::move(made));
  }
  if (linkage == Linkage::external)
    return error(body.name, fmt::format("{} is .extern and cannot have a body", shown(body.name)));
  if (!current_.is('{'))
    return unexpected("'{' or ';'");
  body.scopes.open();
  body_ = &body;
  const bool named = declare_parameters(names);
  body_ = nullptr;
  if (!named)
    return false;
  // Known before its body, which may call it.
  function_index_.emplace(made.name, module_.functions.size());
  if (const auto found = function_index_.find(made.name);
      found->second == module_.functions.size()) {
    Function placeholder;
    placeholder.name = made.name;
    placeholder.is_declaration = true;
    module_.functions.push_back(std::move(placeholder));
  }
  body_ = &body;
  const bool good = this->body() && finish_function();
  body_ = nullptr;
  return good;
}

// A .reg parameter becomes a .param variable behind a register: loaded at the start, and for a
// result stored before each ret.
bool Parser::declare_parameters(const std::vector<Token>& names) {
  Function& made = body_->function;
  const std::size_t results = made.returns.size();
  for (std::size_t i = 0; i < names.size(); ++i) {
    Variable& parameter = i < results ? made.returns[i] : made.parameters[i - results];
    if (parameter.space != Space::reg) {
      if (!body_->scopes.declare_variable(names[i].text,
                                          body_->scopes.make_unique(names[i].text, false),
                                          Space::param, made.is_entry))
        return error(names[i], fmt::format("{} is declared twice", shown(names[i])));
      continue;
    }
    const RegisterParts parts = parts_of(parameter.type, parameter.vector_width);
    if (made.is_entry || parts.memory == Type::none)
      return error(names[i], fmt::format("{} cannot be a .reg parameter", shown(names[i])),
                   ErrorCode::unsupported);
    if (!body_->scopes.declare_register(names[i].text, parameter.type, parameter.vector_width))
      return error(names[i], fmt::format("{} is declared twice", shown(names[i])));
    parameter.space = Space::param;
    const MovedRegister moved{body_->scopes.find(names[i].text)->reg, parts, parameter.name};
    take_memory(parameter);
    if (i < results)
      body_->moved_returns.push_back(moved);
    else
      load_parts(made.instructions, made.registers, moved, {});
  }
  return true;
}

void Parser::move_register_returns(const std::optional<Guard>& guard) {
  Instruction place;
  place.guard = guard;
  place.line = current_.line;
  place.source = body_->lines.current();
  for (const MovedRegister& moved : body_->moved_returns)
    store_parts(body_->function.instructions, body_->function.registers, moved, place);
}

bool Parser::body() {
  const Token open = current_;
  body_->scopes.open();
  advance();
  while (body_->scopes.depth() > 1) {
    if (current_.kind == Token::Kind::end)
      return error(open, fmt::format("the body of {} is never closed", shown(body_->name)));
    if (!statement())
      return false;
  }
  return close_block();
}

bool Parser::close_block() {
  std::vector<Scopes::Resolved> resolved;
  body_->scopes.close(resolved);
  for (Scopes::Resolved& found : resolved) {
    const PendingName& pending = found.pending;
    if (pending.where == PendingName::Where::branch_target) {
      body_->function.branch_targets[pending.table][pending.operand] = std::move(found.label);
      continue;
    }
    Instruction& user = body_->function.instructions[pending.instruction];
    Operand& operand = user.operands[pending.operand];
    const bool takes_label = user.opcode == Opcode::bra || user.opcode == Opcode::brx_idx ||
                             (user.opcode == Opcode::call && pending.operand == 3);
    if (!takes_label) {
      Token at;
      at.line = pending.line;
      at.column = pending.column;
      return error(at, fmt::format("label '{}' cannot be used as a value", pending.name));
    }
    (pending.element < 0 ? operand : operand.elements[static_cast<std::size_t>(pending.element)])
        .name = std::move(found.label);
  }
  return true;
}

bool Parser::statement() {
  if (accept(';'))
    return true;
  if (current_.is('{')) {
    if (body_->scopes.depth() >= Scopes::kDeepest)
      return error(current_, fmt::format("blocks are nested deeper than {}", Scopes::kDeepest));
    body_->scopes.open();
    advance();
    return true;
  }
  if (current_.is('}')) {
    // The token after the last brace belongs to the module.
    advance();
    return close_block();
  }
  if (current_.kind == Token::Kind::dotted)
    return directive();
  return instruction();
}

bool Parser::directive() {
  const Token at = current_;
  advance();
  if (at.text == ".loc")
    return loc();
  if (at.text == ".reg")
    return registers();
  if (at.text == ".pragma")
    return pragma();
  if (at.text == ".file")
    return file_directive();
  if (at.text == ".section")
    return section();
  const auto space = find_space(at.text.substr(1));
  if (space && *space != Space::sreg && at.text.find(':') == std::string_view::npos)
    return local_variables(*space);
  return error(at, fmt::format("unsupported directive {}", shown(at)), ErrorCode::unsupported);
}

bool Parser::loc() {
  const auto location = [this](Location& into) {
    std::uint64_t file = 0;
    std::uint64_t line = 0;
    std::uint64_t column = 0;
    if (!number(file, kMostFiles, "the file number") || !number(line, kMost32, "the line") ||
        !number(column, kMost32, "the column"))
      return false;
    into = {static_cast<std::uint32_t>(file), static_cast<std::uint32_t>(line),
            static_cast<std::uint32_t>(column)};
    highest_file_ = std::max(highest_file_, into.file);
    return true;
  };
  Location here;
  std::optional<Location> inlined_at;
  if (!location(here))
    return false;
  while (accept(',')) {
    Token word;
    if (!name(word, "'function_name' or 'inlined_at'"))
      return false;
    if (word.text == "function_name") {
      std::int64_t ignored = 0;
      if (current_.kind != Token::Kind::identifier && current_.kind != Token::Kind::dotted)
        return unexpected("a label");
      advance();
      if (!offset(ignored))
        return false;
    } else if (word.text == "inlined_at") {
      Location outer;
      if (!location(outer))
        return false;
      inlined_at = outer;
    } else {
      return error(word,
                   fmt::format("expected 'function_name' or 'inlined_at', found {}", shown(word)));
    }
  }
  body_->lines.locate(here, inlined_at);
  return true;
}

bool Parser::registers() {
  const int width = accept(".v2") ? 2 : accept(".v4") ? 4 : 1;
  const Token at = current_;
  const auto type =
      at.kind == Token::Kind::dotted ? find_type(at.text.substr(1)) : std::optional<Type>{};
  if (!type)
    return unexpected("a register type");
  if ((*type != Type::pred && bits_of(*type) < 8) || (*type == Type::pred && width > 1))
    return error(at, fmt::format("a register cannot be of type {}", at.text));
  advance();
  do {
    Token token;
    if (!name(token, "a register name"))
      return false;
    bool fresh = false;
    if (accept('<')) {
      std::uint64_t count = 0;
      if (!number(count, kMost32, "the number of registers") || !expect('>'))
        return false;
      fresh = body_->scopes.declare_registers(token.text, count, *type, width);
    } else {
      fresh = body_->scopes.declare_register(token.text, *type, width);
    }
    if (!fresh)
      return error(token, fmt::format("{} is declared twice", shown(token)));
  } while (accept(','));
  return expect(';');
}

bool Parser::local_variables(Space space) {
  Variable common;
  common.space = space;
  if (!variable_type(common))
    return false;
  do {
    Declaration declaration;
    declaration.variable = common;
    if (!declarator(declaration, false))
      return false;
    Variable& variable = declaration.variable;
    const bool taken =
        variable_index_.contains(variable.name) || function_index_.contains(variable.name);
    variable.name = body_->scopes.make_unique(declaration.name.text, taken);
    if (!body_->scopes.declare_variable(declaration.name.text, variable.name, variable.space))
      return error(declaration.name, fmt::format("{} is declared twice", shown(declaration.name)));
    body_->function.variables.push_back(std::move(variable));
  } while (accept(','));
  return expect(';');
}

bool Parser::label(const Token& at) {
  const bool taken = variable_index_.contains(std::string(at.text)) ||
                     function_index_.contains(std::string(at.text));
  std::string unique = body_->scopes.make_unique(at.text, taken);
  if (!body_->scopes.declare_label(at.text, unique))
    return error(at, fmt::format("{} is declared twice", shown(at)));
  if (accept(".branchtargets") || accept(".calltargets"))
    return table(at, std::move(unique));
  if (accept(".callprototype"))
    return prototype(unique);
  const auto next = static_cast<std::uint32_t>(body_->function.instructions.size());
  body_->function.labels.emplace(std::move(unique), next);
  return true;
}

bool Parser::table(const Token& at, std::string unique) {
  std::vector<std::string> targets;
  do {
    Token target;
    if (!name(target, "a label"))
      return false;
    PendingName pending;
    pending.where = PendingName::Where::branch_target;
    pending.table = unique;
    pending.operand = static_cast<std::uint32_t>(targets.size());
    pending.name = target.text;
    pending.line = target.line;
    pending.column = target.column;
    body_->scopes.wait_for(std::move(pending));
    targets.emplace_back(target.text);
  } while (accept(','));
  if (targets.empty())
    return error(at, "this table is empty");
  body_->function.branch_targets.emplace(std::move(unique), std::move(targets));
  return expect(';');
}

bool Parser::prototype(const std::string& unique) {
  Prototype made;
  std::vector<Token> names;
  if (current_.is('(') && !parameters(made.returns, names))
    return false;
  Token ignored;
  if (!name(ignored, "'_'"))
    return false;
  if (current_.is('(') && !parameters(made.parameters, names))
    return false;
  Function directives;
  if (!function_directives(directives))
    return false;
  body_->function.prototypes.emplace(unique, std::move(made));
  return expect(';');
}

// A name no block of the function knows is a function's, or nobody's.
bool Parser::finish_name(const PendingName& pending) {
  Token at;
  at.kind = Token::Kind::identifier;
  at.text = pending.name;
  at.line = pending.line;
  at.column = pending.column;
  if (pending.where == PendingName::Where::operand) {
    const Opcode opcode = body_->function.instructions[pending.instruction].opcode;
    if (opcode == Opcode::bra)
      return error(at, fmt::format("label {} is not defined in {}", shown(at), shown(body_->name)));
    if (opcode == Opcode::brx_idx)
      return error(at, fmt::format("there is no .branchtargets table {}", shown(at)));
  }
  body_->uses.push_back({pending.name, at});
  return true;
}

bool Parser::finish_function() {
  Function& function = body_->function;
  move_register_returns(std::nullopt);
  for (const PendingName& pending : body_->scopes.left())
    if (!finish_name(pending))
      return false;
  for (const Instruction& instruction : function.instructions) {
    if (instruction.opcode != Opcode::bra && instruction.opcode != Opcode::brx_idx)
      continue;
    const std::string& target = instruction.operands.back().name;
    const bool good = instruction.opcode == Opcode::bra ? function.labels.contains(target)
                                                        : function.branch_targets.contains(target);
    if (!good) {
      Token at;
      at.line = instruction.line;
      return error(at, fmt::format("'{}' cannot be branched to", target));
    }
  }
  Calls calls;
  calls.function = function_index_.at(function.name);
  calls.sites = std::move(body_->calls);
  calls.uses = std::move(body_->uses);
  if (!add_function(body_->name, std::move(function)))
    return false;
  calls_.push_back(std::move(calls));
  return true;
}

} // namespace kernevo::ptx
