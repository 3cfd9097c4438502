// The operands of an instruction.
#include "kernevo/ptx/names.h"
#include "kernevo/ptx/parser.h"
#include "kernevo/ptx/verify.h"

#include <fmt/format.h>
#include <utility>

namespace kernevo::ptx {
namespace {

constexpr std::size_t kMostArguments = 4096;

bool is_branch(Opcode opcode) {
  return opcode == Opcode::bra || opcode == Opcode::brx_idx;
}

bool is_bulk_copy(Opcode opcode) {
  switch (opcode) {
  case Opcode::cp_async_bulk:
  case Opcode::cp_async_bulk_tensor:
  case Opcode::cp_async_bulk_prefetch_tensor:
  case Opcode::cp_reduce_async_bulk:
  case Opcode::cp_reduce_async_bulk_tensor:
  case Opcode::tensormap_cp_fenceproxy: return true;
  default: return false;
  }
}

void set_constant(Operand& into, const Constant& value) {
  into.bits = value.bits;
  switch (value.kind) {
  case Constant::Kind::integer: into.kind = Operand::Kind::integer; break;
  case Constant::Kind::real32: into.kind = Operand::Kind::real32; break;
  case Constant::Kind::real64: into.kind = Operand::Kind::real64; break;
  }
}

} // namespace

bool Parser::offset(std::int64_t& into) {
  if (!current_.is('+') && !current_.is('-'))
    return true;
  const Token at = current_;
  accept('+');
  Constant value;
  if (!constant(value))
    return false;
  if (value.kind != Constant::Kind::integer)
    return error(at, "an offset must be a whole number");
  into = static_cast<std::int64_t>(value.bits);
  return true;
}

bool Parser::special(Operand& into, const Token& token) {
  char component = 0;
  if (is_vector_special(token.text)) {
    if (current_.kind != Token::Kind::dotted || current_.text.size() != 2)
      return error(token, fmt::format("{} needs a component such as .x", shown(token)));
    component = current_.text[1];
    advance();
  }
  const auto found = find_special(token.text, component);
  if (!found)
    return error(token, fmt::format("unknown register {}", shown(token)));
  if (*found >= Special::clusterid_x && *found <= Special::is_explicit_cluster &&
      target_.sm < kFirstWithClusters)
    return error(token, fmt::format("{} needs .target {}, but .target is {}", shown(token),
                                    needed_text("", kFirstWithClusters), name_of(target_)));
  into.kind = Operand::Kind::special;
  into.special = *found;
  return true;
}

bool Parser::symbol(Operand& into, const Token& token, std::uint32_t index, std::int32_t element) {
  into.kind = Operand::Kind::symbol;
  into.name = token.text;
  const bool known = variable_index_.contains(into.name) && !is_branch(body_->instruction.opcode);
  if (!known) {
    PendingName pending;
    pending.instruction = static_cast<std::uint32_t>(body_->function.instructions.size());
    pending.operand = index;
    pending.element = element;
    pending.name = token.text;
    pending.line = token.line;
    pending.column = token.column;
    body_->scopes.wait_for(std::move(pending));
  }
  return true;
}

// What may follow a register's name: the component of a vector register, the selector of a video
// operand.
bool Parser::register_part(Operand& into, const LocalName& local) {
  into.kind = Operand::Kind::reg;
  into.reg = local.reg;
  if (current_.kind != Token::Kind::dotted) {
    if (local.width == 1)
      return true;
    into.kind = Operand::Kind::vector;
    for (int i = 0; i < local.width; ++i) {
      Operand& component = into.elements.emplace_back();
      component.kind = Operand::Kind::reg;
      component.reg = local.reg + static_cast<RegisterId>(i);
    }
    return true;
  }
  const std::string_view part = current_.text.substr(1);
  if (local.width > 1) {
    const std::size_t at =
        part.size() == 1 ? std::string_view("xyzwrgba").find(part[0]) : std::string_view::npos;
    if (at == std::string_view::npos || at % 4 >= static_cast<std::size_t>(local.width))
      return error(current_, fmt::format("{} is no component of a vector register of {}",
                                         shown(current_), local.width));
    into.reg += static_cast<RegisterId>(at % 4);
  } else if (takes_selectors(body_->instruction.opcode)) {
    into.name = part;
  } else {
    return error(current_, fmt::format("{} cannot stand after this register", shown(current_)));
  }
  advance();
  return true;
}

bool Parser::named(Operand& into, std::uint32_t index, std::int32_t element) {
  const Token token = current_;
  advance();
  if (token.text == "_") {
    into.kind = Operand::Kind::sink;
    return true;
  }
  if (const LocalName* local = body_->scopes.find(token.text)) {
    if (local->kind == LocalName::Kind::reg)
      return register_part(into, *local);
    into.kind = Operand::Kind::symbol;
    into.name = local->unique;
    return true;
  }
  if (token.text.front() == '%')
    return special(into, token);
  return symbol(into, token, index, element);
}

// A variable named in an address must be where the instruction looks.
bool Parser::in_right_space(const Token& symbol, std::uint32_t index) {
  Instruction& made = body_->instruction;
  if (is_bulk_copy(made.opcode))
    return true; // its operands stand in up to three spaces; the lowering looks at each
  const Space wanted = made.opcode == Opcode::cp_async && index == 1 ? made.space2 : made.space;
  Space actual = Space::generic;
  bool read_only = false;
  if (const LocalName* local = body_->scopes.find(symbol.text)) {
    actual = local->space;
    read_only = local->read_only;
  } else if (const auto found = variable_index_.find(std::string(symbol.text));
             found != variable_index_.end()) {
    actual = module_.variables[found->second].space;
  }
  if (wanted != Space::generic && actual != Space::generic && wanted != actual)
    return error(symbol, fmt::format("{} is in .{}, not in .{}", shown(symbol), name_of(actual),
                                     name_of(wanted)));
  // Without a state space the variable says where it is.
  const bool plain = made.opcode == Opcode::ld || made.opcode == Opcode::st ||
                     made.opcode == Opcode::atom || made.opcode == Opcode::red;
  const bool reachable =
      actual == Space::shared || actual == Space::local || actual == Space::global;
  if (wanted == Space::generic && plain && reachable)
    made.space = actual;
  if (read_only && made.opcode == Opcode::st)
    return error(symbol, fmt::format("the kernel's parameter {} cannot be written", shown(symbol)));
  return true;
}

bool Parser::address(Operand& into, std::uint32_t index) {
  advance();
  into.kind = Operand::Kind::address;
  Operand& base = into.elements.emplace_back();
  const Token at = current_;
  if (current_.kind == Token::Kind::identifier && current_.text != "WARP_SZ") {
    if (!named(base, index, 0))
      return false;
    if (base.kind != Operand::Kind::reg && base.kind != Operand::Kind::symbol)
      return error(at, fmt::format("{} cannot be an address", shown(at)));
    if (base.kind == Operand::Kind::symbol && !in_right_space(at, index))
      return false;
    if (!offset(into.offset))
      return false;
  } else {
    Constant value;
    if (!constant(value))
      return false;
    if (value.kind != Constant::Kind::integer)
      return error(at, "an address must be a whole number");
    set_constant(base, value);
  }
  constexpr std::size_t most_parts = 4;
  while (accept(',')) {
    if (into.elements.size() == most_parts)
      return error(current_, "too many parts inside the brackets");
    const auto element = static_cast<std::int32_t>(into.elements.size());
    Operand& part = into.elements.emplace_back();
    if (current_.is('{')) {
      part.kind = Operand::Kind::vector;
      if (!elements(part, '}', index))
        return false;
    } else if (!operand(part, index, element)) {
      return false;
    }
    if (part.kind == Operand::Kind::pair)
      return error(at, "'|' cannot stand inside brackets");
  }
  return expect(']');
}

bool Parser::elements(Operand& into, char close, std::uint32_t index) {
  const std::size_t most = close == ')' ? kMostArguments : kMostOperands;
  advance();
  if (accept(close))
    return true;
  do {
    const auto element = static_cast<std::int32_t>(into.elements.size());
    Operand& made = into.elements.emplace_back();
    if (into.elements.size() > most)
      return error(current_, fmt::format("more than {} elements", most));
    if (current_.is('{') || current_.is('[') || current_.is('('))
      return unexpected("a register, a number or a name");
    if (!operand(made, index, element))
      return false;
    if (made.kind == Operand::Kind::pair)
      return error(current_, "'|' cannot stand inside a list");
    if (made.kind == Operand::Kind::vector && close != ')')
      return error(current_, "a vector register cannot stand inside a vector");
  } while (accept(','));
  return expect(close);
}

bool Parser::operand(Operand& into, std::uint32_t index, std::int32_t element) {
  if (current_.is('[') && element < 0)
    return address(into, index);
  if (current_.is('{') && element < 0) {
    into.kind = Operand::Kind::vector;
    return elements(into, '}', index) && second_destination(into, index, element);
  }
  if (current_.is('!')) {
    const Token at = current_;
    advance();
    if (current_.kind != Token::Kind::identifier)
      return unexpected("a predicate");
    if (!named(into, index, element))
      return false;
    if (into.kind != Operand::Kind::reg)
      return error(at, "only a predicate register can be negated");
    into.negated = true;
    return true;
  }
  if (current_.kind != Token::Kind::identifier || current_.text == "WARP_SZ") {
    if (current_.kind != Token::Kind::number && current_.kind != Token::Kind::identifier &&
        !current_.is('-') && !current_.is('+') && !current_.is('~') && !current_.is('('))
      return unexpected("an operand");
    Constant value;
    if (!constant(value))
      return false;
    set_constant(into, value);
    return true;
  }
  if (!named(into, index, element))
    return false;
  if (into.kind == Operand::Kind::symbol)
    return offset(into.offset);
  if (into.kind == Operand::Kind::reg && (current_.is('+') || current_.is('-')))
    return register_sum(into);
  return second_destination(into, index, element);
}

// A register plus a number, as a value: an addition of its own before the instruction.
bool Parser::register_sum(Operand& into) {
  const Token at = current_;
  auto& registers = body_->function.registers;
  const Type declared = registers[into.reg].type;
  const int bits = declared == Type::pred || is_float(declared) ? 0 : bits_of(declared);
  if (bits != 16 && bits != 32 && bits != 64)
    return error(at, "a number can only be added to an integer register");
  Instruction sum;
  sum.opcode = Opcode::add;
  sum.types = {bits == 16 ? Type::u16 : bits == 32 ? Type::u32 : Type::u64};
  sum.guard = body_->instruction.guard;
  sum.line = at.line;
  sum.source = body_->lines.current();
  std::int64_t addend = 0;
  if (!offset(addend))
    return false;
  Operand number;
  number.kind = Operand::Kind::integer;
  number.bits = static_cast<std::uint64_t>(addend);
  Operand result = into;
  result.reg = static_cast<RegisterId>(registers.size());
  registers.push_back({fmt::format("#{}", result.reg), declared});
  sum.operands = {result, into, number};
  body_->before.push_back(std::move(sum));
  into = std::move(result);
  return true;
}

// The p of d|p, if there is one.
bool Parser::second_destination(Operand& into, std::uint32_t index, std::int32_t element) {
  const bool writable = into.kind == Operand::Kind::reg || into.kind == Operand::Kind::sink ||
                        into.kind == Operand::Kind::vector;
  if (!writable || !accept('|'))
    return true;
  Operand second;
  const Token at = current_;
  if (current_.kind != Token::Kind::identifier)
    return unexpected("a register");
  if (!named(second, index, element))
    return false;
  if (second.kind != Operand::Kind::reg && second.kind != Operand::Kind::sink)
    return error(at, fmt::format("{} is not a register", shown(at)));
  Operand pair;
  pair.kind = Operand::Kind::pair;
  pair.elements.push_back(std::move(into));
  pair.elements.push_back(std::move(second));
  into = std::move(pair);
  return true;
}

} // namespace kernevo::ptx
