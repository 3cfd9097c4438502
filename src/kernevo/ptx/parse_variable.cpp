// Declarations, their initial values, and constant expressions.
#include "kernevo/ptx/names.h"
#include "kernevo/ptx/parser.h"

#include <bit>
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <limits>

namespace kernevo::ptx {
namespace {

constexpr int kDeepestExpression = 32;
constexpr std::size_t kMostDimensions = 8;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;
// Initial values are kept in memory; a sparse one must not take more than the text suggests.
constexpr std::uint64_t kMostInitialBytes = std::uint64_t{256} << 20;

int precedence(const Token& token) {
  if (token.kind != Token::Kind::punctuation)
    return 0;
  switch (token.text.front()) {
  case '|': return 1;
  case '^': return 2;
  case '&': return 3;
  case '<':
  case '>': return 4;
  case '+':
  case '-': return 5;
  case '*':
  case '/': return 6;
  default: return 0;
  }
}

std::uint64_t apply(char operation, std::uint64_t a, std::uint64_t b) {
  switch (operation) {
  case '|': return a | b;
  case '^': return a ^ b;
  case '&': return a & b;
  case '<': return b < 64 ? a << b : 0;
  case '>': return b < 64 ? a >> b : 0;
  case '+': return a + b;
  case '-': return a - b;
  case '*': return a * b;
  default: return b == 0 ? 0 : a / b;
  }
}

bool negate(Constant& value) {
  switch (value.kind) {
  case Constant::Kind::integer: value.bits = 0 - value.bits; break;
  case Constant::Kind::real32: value.bits ^= 0x80000000U; break;
  case Constant::Kind::real64: value.bits ^= std::uint64_t{1} << 63; break;
  }
  return true;
}

bool parse_integer(std::string_view text, std::uint64_t& into) {
  int base = 10;
  if (text.size() > 1 && text.back() == 'U')
    text.remove_suffix(1);
  if (text.size() > 1 && text.front() == '0') {
    const char letter = text[1];
    base = letter == 'x' || letter == 'X' ? 16 : letter == 'b' || letter == 'B' ? 2 : 8;
    text.remove_prefix(base == 8 ? 1 : 2);
  }
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, into, base);
  return error == std::errc{} && stopped == end;
}

// 0f3F800000 and 0d3FF0000000000000.
bool parse_raw_bits(std::string_view digits, std::size_t expected, std::uint64_t& into) {
  const char* const end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, into, 16);
  return digits.size() == expected && error == std::errc{} && stopped == end;
}

} // namespace

bool Parser::literal(const Token& token, Constant& into) {
  const std::string_view text = token.text;
  const char second = text.size() > 1 && text.front() == '0' ? text[1] : '\0';
  bool good = false;
  if (second == 'f' || second == 'F') {
    into.kind = Constant::Kind::real32;
    good = parse_raw_bits(text.substr(2), 8, into.bits);
  } else if (second == 'd' || second == 'D') {
    into.kind = Constant::Kind::real64;
    good = parse_raw_bits(text.substr(2), 16, into.bits);
  } else if (second != 'x' && second != 'X' &&
             text.find_first_of(".eE") != std::string_view::npos) {
    into.kind = Constant::Kind::real64;
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, code] = std::from_chars(text.data(), end, value);
    good = code == std::errc{} && stopped == end;
    into.bits = std::bit_cast<std::uint64_t>(value);
  } else {
    into.kind = Constant::Kind::integer;
    good = parse_integer(text, into.bits);
  }
  return good || error(token, fmt::format("{} is not a number PTX can hold", shown(token)));
}

bool Parser::constant_term(Constant& into, int depth) {
  if (depth > kDeepestExpression)
    return error(current_, "this constant expression is nested too deeply");
  const Token at = current_;
  if (accept('-'))
    return constant_term(into, depth + 1) && negate(into);
  if (accept('+'))
    return constant_term(into, depth + 1);
  if (current_.is('~') || current_.is('!')) {
    const bool logical = current_.is('!');
    advance();
    if (!constant_term(into, depth + 1))
      return false;
    if (into.kind != Constant::Kind::integer)
      return error(at, "this operator needs an integer");
    into.bits = logical ? static_cast<std::uint64_t>(into.bits == 0) : ~into.bits;
    return true;
  }
  if (accept('(')) {
    if (accept(".s64") || accept(".u64"))
      return expect(')') && constant_term(into, depth + 1);
    return constant(into, depth + 1) && expect(')');
  }
  if (current_.kind == Token::Kind::identifier && current_.text == "WARP_SZ") {
    into = {Constant::Kind::integer, 32};
    advance();
    return true;
  }
  if (current_.kind != Token::Kind::number)
    return unexpected("a constant");
  if (!literal(current_, into))
    return false;
  advance();
  return true;
}

bool Parser::constant(Constant& into, int depth, int least) {
  if (!constant_term(into, depth))
    return false;
  while (precedence(current_) > least) {
    const Token operation = current_;
    const int strength = precedence(operation);
    advance();
    const char symbol = operation.text.front();
    if ((symbol == '<' || symbol == '>') && !accept(symbol))
      return unexpected(symbol == '<' ? "'<<'" : "'>>'");
    Constant right;
    if (depth > kDeepestExpression)
      return error(operation, "this constant expression is nested too deeply");
    if (!constant(right, depth + 1, strength))
      return false;
    if (into.kind != Constant::Kind::integer || right.kind != Constant::Kind::integer)
      return error(operation, "only integers may be computed with here");
    if (symbol == '/' && right.bits == 0)
      return error(operation, "division by zero in a constant expression");
    into.bits = apply(symbol, into.bits, right.bits);
  }
  return true;
}

bool Parser::variable_type(Variable& into) {
  bool aligned = false;
  while (current_.kind == Token::Kind::dotted) {
    const Token at = current_;
    const std::string_view text = at.text.substr(1);
    advance();
    if (text == "align") {
      std::uint64_t alignment = 0;
      if (!number(alignment, 1U << 20, "the alignment"))
        return false;
      if (!std::has_single_bit(alignment))
        return error(at, fmt::format("the alignment {} is not a power of two", alignment));
      into.alignment = static_cast<std::uint32_t>(alignment);
      aligned = true;
    } else if (text == "attribute") {
      if (!skip_attribute())
        return false;
    } else if (text == "v2" || text == "v4") {
      into.vector_width = text == "v2" ? 2 : 4;
    } else if (const auto type = find_type(text)) {
      if (*type == Type::pred && into.space != Space::reg)
        return error(at, "a variable cannot be of type .pred");
      into.type = *type;
      const auto natural = static_cast<std::uint32_t>(bytes_of(*type) * into.vector_width);
      if (!aligned)
        into.alignment = natural;
      return true;
    } else if (text == "texref" || text == "samplerref" || text == "surfref") {
      if (into.space != Space::global && into.space != Space::param)
        return error(at, fmt::format("{} belongs into .global or .param", shown(at)));
      using Reference = Variable::Reference;
      into.reference = text == "texref"       ? Reference::texture
                       : text == "samplerref" ? Reference::sampler
                                              : Reference::surface;
      into.type = Type::u64;
      into.alignment = 8;
      return true;
    } else {
      return error(at, fmt::format("unknown type {}", shown(at)), ErrorCode::unsupported);
    }
  }
  return unexpected("a type");
}

bool Parser::dimensions(Dimensions& into) {
  while (accept('[')) {
    const Token at = current_;
    Constant size;
    if (accept(']')) {
      if (!into.sizes.empty())
        return error(at, "only the first dimension may be left open");
      into.sizes.push_back(0);
      continue;
    }
    if (!constant(size))
      return false;
    if (size.kind != Constant::Kind::integer || size.bits > kMostBytes)
      return error(at, "an array dimension must be a whole number of at most 2^40");
    if (size.bits == 0 && !into.sizes.empty())
      return error(at, "an array dimension cannot be zero");
    into.sizes.push_back(size.bits);
    if (into.sizes.size() > kMostDimensions)
      return error(at, fmt::format("more than {} array dimensions", kMostDimensions));
    if (!expect(']'))
      return false;
  }
  return true;
}

bool Parser::declarator(Declaration& into, bool is_parameter) {
  if (!name(into.name, "a variable name"))
    return false;
  Variable& variable = into.variable;
  variable.name = into.name.text;
  variable.line = into.name.line;
  Dimensions sizes;
  if (!dimensions(sizes))
    return false;
  const bool open = !sizes.sizes.empty() && sizes.sizes.front() == 0;
  if (accept('=')) {
    if (is_parameter)
      return error(into.name, "a parameter cannot have an initial value");
    const bool good = variable.reference == Variable::Reference::none
                          ? initialiser(variable, sizes)
                          : reference_properties(variable);
    if (!good)
      return false;
  } else {
    variable.unsized = open;
    if (open && !variable.is_extern && !is_parameter)
      return error(into.name, fmt::format("the size of {} is missing", shown(into.name)));
  }
  std::uint64_t bytes = static_cast<std::uint64_t>(bytes_of(variable.type)) *
                        static_cast<std::uint64_t>(variable.vector_width);
  for (const std::uint64_t size : sizes.sizes) {
    if (size != 0 && bytes > kMostBytes / size)
      return error(into.name, fmt::format("{} is larger than any memory", shown(into.name)));
    bytes *= size;
  }
  variable.bytes = bytes;
  if (variable.initial.size() > bytes)
    return error(into.name, fmt::format("too many initial values for {}", shown(into.name)));
  return true;
}

// { filter_mode = linear, width = 16 }
bool Parser::reference_properties(Variable& variable) {
  constexpr std::size_t most = 64;
  if (!expect('{'))
    return false;
  do {
    Token property;
    if (!name(property, "a property such as filter_mode") || !expect('='))
      return false;
    if (current_.kind != Token::Kind::identifier && current_.kind != Token::Kind::number)
      return unexpected("the value of this property");
    if (variable.properties.size() == most)
      return error(property, "too many properties");
    variable.properties.push_back({std::string(property.text), std::string(current_.text)});
    advance();
  } while (accept(','));
  return expect('}');
}

bool Parser::reserve(Variable& variable, std::uint64_t bytes, const Token& at) {
  if (bytes <= variable.initial.size())
    return true;
  initial_bytes_ += bytes - variable.initial.size();
  if (bytes > kMostInitialBytes || initial_bytes_ > kMostInitialBytes)
    return error(at, "the initial values of this module take more than 256 MiB",
                 ErrorCode::unsupported);
  variable.initial.resize(bytes);
  return true;
}

bool Parser::store(Variable& variable, std::uint64_t index, const Token& at,
                   const Constant& value) {
  const auto size = static_cast<std::uint64_t>(bytes_of(variable.type));
  std::uint64_t bits = value.bits;
  if (variable.type == Type::f32 && value.kind == Constant::Kind::real64)
    bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
  else if (value.kind != Constant::Kind::integer && size < (variable.type == Type::f32 ? 4U : 8U) &&
           !(value.kind == Constant::Kind::real32 && size == 4))
    return error(at, "this number does not fit the variable's type");
  else if (variable.type == Type::f64 && value.kind == Constant::Kind::real32)
    bits = std::bit_cast<std::uint64_t>(
        static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
  if (!reserve(variable, (index + 1) * size, at))
    return false;
  std::memcpy(variable.initial.data() + index * size, &bits, std::min<std::uint64_t>(size, 8));
  return true;
}

bool Parser::initial_symbol(Variable& variable, std::uint64_t index) {
  Variable::Relocation relocation;
  Token symbol;
  const Token at = current_;
  if (current_.text == "generic") {
    advance();
    if (!expect('(') || !name(symbol, "a variable name") || !expect(')'))
      return false;
    relocation.generic = true;
  } else if (!name(symbol, "a variable name")) {
    return false;
  }
  if (!offset(relocation.addend))
    return false;
  const auto size = static_cast<std::uint64_t>(bytes_of(variable.type));
  if (size != 8 && size != 4)
    return error(at, "an address does not fit the variable's type");
  relocation.symbol = symbol.text;
  relocation.at = index * size;
  variable.relocations.push_back(std::move(relocation));
  return reserve(variable, (index + 1) * size, at);
}

// 0xFF(sym), 0xFF00(sym), ...: nvcc writes an address inside a byte array one byte at a time. The
// eight of them become one relocation.
bool Parser::initial_mask(Variable& variable, std::uint64_t index, const Token& at,
                          std::uint64_t mask) {
  Variable::Relocation relocation;
  Token symbol;
  if (!expect('('))
    return false;
  const bool generic = current_.kind == Token::Kind::identifier && current_.text == "generic";
  if (generic) {
    advance();
    if (!expect('('))
      return false;
  }
  if (!name(symbol, "a variable name") || (!generic && !offset(relocation.addend)) ||
      (generic && (!expect(')') || !offset(relocation.addend))) || !expect(')'))
    return false;
  int byte = 0;
  while (byte < 8 && mask != std::uint64_t{0xFF} << (8 * byte))
    ++byte;
  if (byte == 8 || bytes_of(variable.type) != 1)
    return error(at, "only whole bytes of an address can be initial values",
                 ErrorCode::unsupported);
  relocation.symbol = symbol.text;
  relocation.generic = generic;
  relocation.at = index - static_cast<std::uint64_t>(byte);
  if (byte == 0) {
    variable.relocations.push_back(std::move(relocation));
  } else {
    const bool follows = !variable.relocations.empty() && index >= static_cast<unsigned>(byte) &&
                         variable.relocations.back().at == relocation.at &&
                         variable.relocations.back().symbol == relocation.symbol &&
                         variable.relocations.back().addend == relocation.addend;
    if (!follows)
      return error(at, "the bytes of an address must stand one after another",
                   ErrorCode::unsupported);
  }
  return reserve(variable, index + 1, at);
}

bool Parser::initial_value(Variable& variable, std::uint64_t index) {
  const Token at = current_;
  if (current_.kind == Token::Kind::identifier && current_.text != "WARP_SZ")
    return initial_symbol(variable, index);
  Constant value;
  if (!constant(value))
    return false;
  if (current_.is('(') && value.kind == Constant::Kind::integer)
    return initial_mask(variable, index, at, value.bits);
  return store(variable, index, at, value);
}

bool Parser::check_masks(const Variable& variable, const Token& at) {
  if (bytes_of(variable.type) == 1)
    for (const auto& relocation : variable.relocations)
      if (relocation.at + 8 > variable.initial.size())
        return error(at, "an address in the initial values is incomplete", ErrorCode::unsupported);
  return true;
}

// Walks the nested braces with one counter a level, so that no depth of input costs recursion.
bool Parser::initialiser(Variable& variable, Dimensions& sizes) {
  const Token start = current_;
  std::vector<std::uint64_t> shape = sizes.sizes;
  if (variable.vector_width > 1)
    shape.push_back(static_cast<std::uint64_t>(variable.vector_width));
  if (shape.empty())
    return initial_value(variable, 0);
  // strides[l] = elements in one entry of level l
  std::vector<std::uint64_t> strides(shape.size(), 1);
  for (std::size_t l = shape.size() - 1; l > 0; --l) {
    if (shape[l] > kMostBytes / strides[l])
      return error(start, "this array is larger than any memory");
    strides[l - 1] = strides[l] * shape[l];
  }
  std::vector<std::uint64_t> position; // per open brace
  if (!expect('{'))
    return false;
  position.push_back(0);
  std::uint64_t base = 0; // of the innermost open brace
  std::uint64_t entries = 0;
  while (!position.empty()) {
    const std::size_t level = position.size() - 1;
    if (accept('}')) {
      if (level == 0)
        entries = position.back();
      position.pop_back();
      if (!position.empty()) {
        base -= position.back() * strides[position.size() - 1];
        ++position.back();
        if (!current_.is('}') && !expect(','))
          return false;
      }
      continue;
    }
    if (shape[level] != 0 && position.back() >= shape[level])
      return error(current_, "too many initial values");
    const std::uint64_t at = position.back() * strides[level];
    if (current_.is('{')) {
      if (level + 1 >= shape.size())
        return error(current_, "too many braces around an initial value");
      advance();
      base += at;
      position.push_back(0);
      continue;
    }
    if (strides[level] != 1)
      return error(current_, "this initial value needs braces of its own", ErrorCode::unsupported);
    if (!initial_value(variable, base + at))
      return false;
    ++position.back();
    if (!current_.is('}') && !expect(','))
      return false;
  }
  if (!sizes.sizes.empty() && sizes.sizes.front() == 0)
    sizes.sizes.front() = entries;
  return check_masks(variable, start);
}

bool Parser::parameters(std::vector<Variable>& into, std::vector<Token>& names) {
  if (!expect('('))
    return false;
  if (accept(')'))
    return true;
  do {
    Declaration declaration;
    Variable& variable = declaration.variable;
    if (accept(".reg"))
      variable.space = Space::reg;
    else if (accept(".param"))
      variable.space = Space::param;
    else
      return unexpected("'.param'");
    if (!variable_type(variable))
      return false;
    if (accept(".ptr")) {
      // What the pointer points at: a hint without meaning for execution.
      if (current_.kind == Token::Kind::dotted && find_space(current_.text.substr(1)))
        advance();
      std::uint64_t alignment = 0;
      if (accept(".align") && !number(alignment, 1U << 20, "the alignment"))
        return false;
    }
    if (!declarator(declaration, true))
      return false;
    names.push_back(declaration.name);
    into.push_back(std::move(variable));
  } while (accept(','));
  return expect(')');
}

} // namespace kernevo::ptx
