#include "kernevo/ptx/parse.h"

#include "kernevo/ptx/names.h"
#include "kernevo/ptx/parser.h"

#include <charconv>
#include <fmt/format.h>
#include <limits>
#include <utility>

namespace kernevo::ptx {
namespace {

constexpr std::uint32_t kMostFiles = 65536;

} // namespace

std::string shown(const Token& token) {
  constexpr std::size_t longest = 60;
  if (token.kind == Token::Kind::end)
    return "end of file";
  if (token.kind == Token::Kind::bad && token.text == "/*")
    return "unclosed comment";
  if (token.kind == Token::Kind::bad && token.text == "\"")
    return "unclosed string";
  std::string text;
  for (const char c : token.text.substr(0, longest)) {
    if (c >= ' ' && c <= '~')
      text += c;
    else
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  if (token.text.size() > longest)
    text += "...";
  return "'" + text + "'";
}

Parser::Parser(std::string_view text, std::string file) : file_(std::move(file)), lexer_(text) {
  advance();
}

bool Parser::error(const Token& at, std::string message, ErrorCode code) {
  if (!error_)
    error_ = Error{code, std::move(message),
                   Place{file_, static_cast<int>(at.line), static_cast<int>(at.column)}, ""};
  return false;
}

bool Parser::unexpected(std::string_view wanted) {
  return error(current_, fmt::format("expected {}, found {}", wanted, shown(current_)));
}

bool Parser::accept(char c) {
  if (!current_.is(c))
    return false;
  advance();
  return true;
}

bool Parser::expect(char c) {
  if (accept(c))
    return true;
  return unexpected(fmt::format("'{}'", c));
}

bool Parser::accept(std::string_view dotted) {
  if (!current_.is(dotted))
    return false;
  advance();
  return true;
}

bool Parser::name(Token& into, std::string_view what) {
  if (current_.kind != Token::Kind::identifier)
    return unexpected(what);
  into = current_;
  advance();
  return true;
}

bool Parser::number(std::uint64_t& into, std::uint64_t limit, std::string_view what) {
  const Token at = current_;
  Constant value;
  if (current_.kind != Token::Kind::number)
    return unexpected(what);
  if (!literal(current_, value))
    return false;
  advance();
  if (value.kind != Constant::Kind::integer || value.bits > limit)
    return error(at, fmt::format("{} must be a whole number of at most {}", what, limit));
  into = value.bits;
  return true;
}

bool Parser::version() {
  if (!accept(".version"))
    return unexpected("'.version' first");
  const Token at = current_;
  const std::size_t dot = at.text.find('.');
  const char* const end = at.text.data() + at.text.size();
  if (at.kind != Token::Kind::number || dot == std::string_view::npos)
    return unexpected("a version such as 8.0");
  const auto major = std::from_chars(at.text.data(), end, module_.version_major);
  const auto minor = std::from_chars(at.text.data() + dot + 1, end, module_.version_minor);
  if (major.ec != std::errc{} || major.ptr != at.text.data() + dot || minor.ec != std::errc{} ||
      minor.ptr != end || module_.version_major > 99 || module_.version_minor > 9)
    return unexpected("a version such as 8.0");
  target_.ptx = module_.version_major * 10 + module_.version_minor;
  if (target_.ptx > kNewestPtx)
    return error(at,
                 fmt::format("PTX {} is newer than any this version knows, the newest is {}.{}; "
                             "compile with an older toolkit",
                             at.text, kNewestPtx / 10, kNewestPtx % 10),
                 ErrorCode::unsupported);
  advance();
  return true;
}

bool Parser::target() {
  if (!accept(".target"))
    return unexpected("'.target' after '.version'");
  Token token;
  do {
    if (!name(token, "a target such as sm_80"))
      return false;
    if (token.text.starts_with("sm_")) {
      const auto named = parse_target(token.text);
      if (!named)
        return error(token, fmt::format("unknown target {}", shown(token)));
      module_.target = token.text;
      module_.target_line = token.line;
      module_.compute_capability = named->sm;
      target_.sm = named->sm;
      target_.suffix = named->suffix;
      if (const int first = first_ptx_of(target_); first > target_.ptx)
        return error(token, fmt::format("target {} needs PTX {}.{} or newer, but .version is {}.{}",
                                        shown(token), first / 10, first % 10, target_.ptx / 10,
                                        target_.ptx % 10));
    } else if (token.text != "texmode_unified" && token.text != "texmode_independent" &&
               token.text != "debug" && token.text != "map_f64_to_f32") {
      return error(token, fmt::format("unknown target {}", shown(token)));
    }
  } while (accept(','));
  if (module_.target.empty())
    return error(token, "the .target names no architecture such as sm_80");
  return true;
}

bool Parser::header() {
  if (!version() || !target())
    return false;
  if (!accept(".address_size"))
    return true;
  const Token at = current_;
  std::uint64_t size = 0;
  if (!number(size, 64, "the address size"))
    return false;
  if (size != 64)
    return error(at, fmt::format("only 64-bit addresses are supported, not {}", size),
                 ErrorCode::unsupported);
  return true;
}

bool Parser::file_directive() {
  std::uint64_t index = 0;
  if (!number(index, kMostFiles, "the file number"))
    return false;
  if (current_.kind != Token::Kind::string)
    return unexpected("a file name");
  if (module_.files.size() <= index)
    module_.files.resize(index + 1);
  module_.files[index] = current_.text;
  advance();
  constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t ignored = 0;
  while (accept(','))
    if (!number(ignored, any, "a time stamp or size"))
      return false;
  return true;
}

bool Parser::section() {
  if (current_.kind != Token::Kind::dotted && current_.kind != Token::Kind::identifier)
    return unexpected("a section name");
  advance();
  const Token open = current_;
  if (!current_.is('{'))
    return unexpected("'{'");
  if (!lexer_.skip_block())
    return error(open, "this '{' is never closed");
  advance();
  return true;
}

bool Parser::pragma() {
  do {
    if (current_.kind != Token::Kind::string)
      return unexpected("a string");
    advance();
  } while (accept(','));
  return expect(';');
}

bool Parser::skip_attribute() {
  if (!expect('('))
    return false;
  int depth = 1;
  while (depth > 0) {
    if (current_.kind == Token::Kind::end || current_.kind == Token::Kind::bad)
      return unexpected("')'");
    depth += current_.is('(') ? 1 : current_.is(')') ? -1 : 0;
    advance();
  }
  return true;
}

bool Parser::linkage(Linkage& into) {
  while (true) {
    if (accept(".extern")) {
      into = Linkage::external;
    } else if (accept(".common")) {
      into = Linkage::common;
    } else if (accept(".visible")) {
      into = Linkage::visible;
    } else if (accept(".weak")) {
      into = Linkage::weak;
    } else if (accept(".attribute")) {
      if (!skip_attribute())
        return false;
    } else {
      return true;
    }
  }
}

// .alias another_name, function;
bool Parser::alias() {
  Token other;
  Token function;
  if (!name(other, "a function name") || !expect(',') || !name(function, "a function name"))
    return false;
  if (!module_.aliases.emplace(other.text, function.text).second)
    return error(other, fmt::format("{} is an alias already", shown(other)));
  return expect(';');
}

bool Parser::resolve_aliases() {
  for (const auto& [other, function] : module_.aliases) {
    const auto target = function_index_.find(function);
    if (target == function_index_.end() || module_.functions[target->second].is_declaration)
      return error(current_, fmt::format("the alias '{}' stands for '{}', which is not defined in "
                                         "this module",
                                         other, function));
    const auto declared = function_index_.find(other);
    if (declared == function_index_.end() || !module_.functions[declared->second].is_declaration)
      return error(current_,
                   fmt::format("the alias '{}' must be declared and have no body", other));
  }
  return true;
}

bool Parser::module_item() {
  if (accept(';'))
    return true;
  if (accept(".file"))
    return file_directive();
  if (accept(".section"))
    return section();
  if (accept(".pragma"))
    return pragma();
  if (accept(".alias"))
    return alias();
  Linkage linked = Linkage::local;
  if (!linkage(linked))
    return false;
  if (accept(".entry"))
    return function(true, linked);
  if (accept(".func"))
    return function(false, linked);
  if (current_.kind == Token::Kind::dotted) {
    const auto space = find_space(current_.text.substr(1));
    if (space == Space::global || space == Space::constant || space == Space::shared) {
      advance();
      return module_variables(*space, linked);
    }
    return error(current_, fmt::format("unsupported directive {}", shown(current_)),
                 ErrorCode::unsupported);
  }
  return unexpected("a directive");
}

bool Parser::add_module_variable(const Token& at, Variable variable, bool is_common) {
  if (function_index_.contains(variable.name))
    return error(at, fmt::format("{} is declared twice", shown(at)));
  const auto [found, fresh] = variable_index_.emplace(variable.name, module_.variables.size());
  if (fresh) {
    module_.variables.push_back(std::move(variable));
    return true;
  }
  Variable& earlier = module_.variables[found->second];
  if (!earlier.is_extern && !variable.is_extern && !is_common)
    return error(at,
                 fmt::format("{} is declared twice, first in line {}", shown(at), earlier.line));
  if (earlier.is_extern || (is_common && variable.bytes > earlier.bytes))
    earlier = std::move(variable);
  return true;
}

bool Parser::module_variables(Space space, Linkage linkage) {
  Variable common;
  common.space = space;
  common.linkage = linkage;
  common.is_extern = linkage == Linkage::external;
  if (!variable_type(common))
    return false;
  do {
    Declaration declaration;
    declaration.variable = common;
    if (!declarator(declaration, false) ||
        !add_module_variable(declaration.name, std::move(declaration.variable),
                             linkage == Linkage::common))
      return false;
  } while (accept(','));
  return expect(';');
}

bool Parser::add_function(const Token& at, Function function) {
  if (variable_index_.contains(function.name))
    return error(at, fmt::format("{} is declared twice", shown(at)));
  const auto [found, fresh] = function_index_.emplace(function.name, module_.functions.size());
  if (fresh) {
    module_.functions.push_back(std::move(function));
    return true;
  }
  Function& earlier = module_.functions[found->second];
  if (!earlier.is_declaration && !function.is_declaration)
    return error(at, fmt::format("{} is defined twice, first in line {}", shown(at), earlier.line));
  if (earlier.is_declaration)
    earlier = std::move(function);
  return true;
}

bool Parser::resolve_calls() {
  for (const Calls& calls : calls_) {
    for (const Body::Use& use : calls.uses)
      if (!function_index_.contains(std::string(use.name)))
        return error(use.at, fmt::format("unknown name {}", shown(use.at)));
    const Function& caller = module_.functions[calls.function];
    for (const Body::CallSite& site : calls.sites) {
      const Instruction& call = caller.instructions[site.instruction];
      const Operand& callee = call.operands[1];
      const std::vector<Variable>* parameters = nullptr;
      const std::vector<Variable>* returns = nullptr;
      if (callee.kind == Operand::Kind::symbol) {
        const Function& target = module_.functions[function_index_.at(callee.name)];
        parameters = &target.parameters;
        returns = &target.returns;
      } else if (call.operands.size() > 3) {
        const auto found = caller.prototypes.find(call.operands[3].name);
        if (found == caller.prototypes.end())
          continue; // a .calltargets table
        parameters = &found->second.parameters;
        returns = &found->second.returns;
      } else {
        return error(site.at, "an indirect call needs a prototype");
      }
      const bool variadic = !parameters->empty() && parameters->back().unsized;
      const std::size_t given = call.operands[2].elements.size();
      if (given != parameters->size() && !(variadic && given + 1 >= parameters->size()))
        return error(site.at, fmt::format("the call passes {} arguments, but the function takes {}",
                                          given, parameters->size()));
      if (call.operands[0].elements.size() > returns->size())
        return error(site.at, "the call takes a result the function does not return");
    }
  }
  return true;
}

// Every file index an instruction carries must be one of Module::files.
void Parser::pad_files() {
  if (module_.files.size() <= highest_file_)
    module_.files.resize(highest_file_ + std::size_t{1});
}

Result<Module> Parser::run() {
  module_.files.emplace_back();
  bool good = header();
  while (good && current_.kind != Token::Kind::end)
    good = module_item();
  if (good && resolve_aliases() && resolve_calls()) {
    pad_files();
    return std::move(module_);
  }
  return tl::unexpected<Error>(std::move(*error_));
}

Result<Module> parse(std::string_view text, const std::string& file) {
  // NVRTC counts the terminating NUL as part of the text.
  while (!text.empty() && text.back() == '\0')
    text.remove_suffix(1);
  return Parser(text, file).run();
}

} // namespace kernevo::ptx
