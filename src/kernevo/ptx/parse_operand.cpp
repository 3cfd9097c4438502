// One instruction and its operands.
#include "kernevo/ptx/names.h"
#include "kernevo/ptx/parser.h"
#include "kernevo/ptx/verify.h"

#include <fmt/format.h>
#include <utility>

namespace kernevo::ptx {
namespace {

constexpr std::size_t kMostOperands = 128; // also elements of a vector; calls may pass more
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

// ld.b32 {%r1}, [...]: a vector of one is its element.
void unwrap_vectors_of_one(Instruction& instruction) {
  const bool plain = instruction.opcode == Opcode::ld || instruction.opcode == Opcode::ldu ||
                     instruction.opcode == Opcode::st || instruction.opcode == Opcode::atom ||
                     instruction.opcode == Opcode::red;
  if (!plain || instruction.vector_width != 1)
    return;
  for (Operand& operand : instruction.operands)
    if (operand.kind == Operand::Kind::vector && operand.elements.size() == 1) {
      Operand element = std::move(operand.elements.front());
      operand = std::move(element);
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

const Mnemonic* Parser::decode(const Token& token) {
  const auto found = mnemonics_.find(token.text);
  if (found != mnemonics_.end())
    return &found->second;
  constexpr std::size_t longest_mnemonic = 200;
  if (token.text.size() > longest_mnemonic) {
    error(token, fmt::format("unknown instruction {}", shown(token)), ErrorCode::unsupported);
    return nullptr;
  }
  Result<Mnemonic> decoded = decode_mnemonic(token.text, target_);
  if (!decoded) {
    error(token, decoded.error().message, decoded.error().code);
    return nullptr;
  }
  return &mnemonics_.emplace(token.text, std::move(*decoded)).first->second;
}

// "+ 4", "+ -4", "- 4" or nothing.
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
  registers.push_back({"#" + std::to_string(result.reg), declared});
  sum.operands = {result, into, number};
  body_->before.push_back(std::move(sum));
  into = std::move(result);
  return true;
}

// Puts what must run first into the function, and the names that wait in this instruction after it.
void Parser::place_before() {
  auto& instructions = body_->function.instructions;
  const auto by = static_cast<std::uint32_t>(body_->before.size());
  if (by == 0)
    return;
  const auto index = static_cast<std::uint32_t>(instructions.size());
  body_->scopes.move_waiting(index, by);
  for (Body::CallSite& site : body_->calls)
    if (site.instruction == index)
      site.instruction += by;
  for (Instruction& instruction : body_->before)
    instructions.push_back(std::move(instruction));
  body_->before.clear();
}

// Vectors and predicates go to a function, and come back, through .param variables. Returns what
// fetches the results after the call.
std::vector<Instruction> Parser::pass_through_memory() {
  Instruction& call = body_->instruction;
  Function& function = body_->function;
  std::vector<Instruction> after;
  for (const std::size_t list : {0, 2})
    for (Operand& element : call.operands[list].elements) {
      const bool vector = element.kind == Operand::Kind::vector;
      if (!vector && element.kind != Operand::Kind::reg)
        continue;
      const RegisterId reg = vector ? element.elements.front().reg : element.reg;
      const Type type = function.registers[reg].type;
      if (!vector && type != Type::pred)
        continue;
      Variable through;
      through.name = body_->scopes.make_unique("#passed", false);
      through.space = Space::param;
      through.type = type;
      through.vector_width = vector ? static_cast<int>(element.elements.size()) : 1;
      const MovedRegister moved{reg, parts_of(type, through.vector_width), through.name};
      take_memory(through);
      if (list == 0)
        load_parts(after, function.registers, moved, call);
      else
        store_parts(body_->before, function.registers, moved, call);
      element = {};
      element.kind = Operand::Kind::symbol;
      element.name = through.name;
      function.variables.push_back(std::move(through));
    }
  return after;
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

// call (results), callee, (arguments), prototype
bool Parser::call_operands() {
  auto& operands = body_->instruction.operands;
  operands.resize(3);
  operands[0].kind = Operand::Kind::list;
  operands[2].kind = Operand::Kind::list;
  if (current_.is('(') && (!elements(operands[0], ')', 0) || !expect(',')))
    return false;
  const Token callee = current_;
  if (current_.kind != Token::Kind::identifier)
    return unexpected("the function to call");
  if (!named(operands[1], 1, -1))
    return false;
  if (operands[1].kind != Operand::Kind::reg && operands[1].kind != Operand::Kind::symbol)
    return error(callee, fmt::format("{} cannot be called", shown(callee)));
  if (operands[1].kind == Operand::Kind::symbol && !body_->scopes.waits_for(callee.text))
    return error(callee, fmt::format("{} cannot be called", shown(callee)));
  if (accept(',')) {
    bool more = true;
    if (current_.is('(')) {
      if (!elements(operands[2], ')', 2))
        return false;
      more = accept(',');
    }
    if (more) {
      const Token table = current_;
      if (current_.kind != Token::Kind::identifier)
        return unexpected("a prototype");
      if (!named(operands.emplace_back(), 3, -1))
        return false;
      if (operands[3].kind != Operand::Kind::symbol)
        return error(table, fmt::format("{} is not a prototype", shown(table)));
    }
  }
  body_->calls.push_back({static_cast<std::uint32_t>(body_->function.instructions.size()), callee});
  return true;
}

// mov.v2 and mov.v4 become plain moves; through fresh registers, for the two sides may overlap.
void Parser::expand_vector_move() {
  const Instruction& whole = body_->instruction;
  Function& function = body_->function;
  const auto first = static_cast<RegisterId>(function.registers.size());
  const std::size_t count = whole.operands[0].elements.size();
  Instruction part = whole;
  part.vector_width = 1;
  auto move = [&](Operand to, Operand from) {
    part.operands = {std::move(to), std::move(from)};
    function.instructions.push_back(part);
  };
  Operand between;
  between.kind = Operand::Kind::reg;
  for (std::size_t i = 0; i < count; ++i) {
    between.reg = first + static_cast<RegisterId>(i);
    function.registers.push_back({"#" + std::to_string(between.reg), whole.type()});
    move(between, whole.operands[1].elements[i]);
  }
  for (std::size_t i = 0; i < count; ++i) {
    between.reg = first + static_cast<RegisterId>(i);
    move(whole.operands[0].elements[i], between);
  }
}

bool Parser::instruction() {
  Instruction& made = body_->instruction;
  made = {};
  body_->operand_tokens.clear();
  body_->before.clear();
  if (accept('@')) {
    Guard guard;
    guard.negated = accept('!');
    const Token at = current_;
    Operand predicate;
    if (current_.kind != Token::Kind::identifier)
      return unexpected("a predicate");
    if (!named(predicate, 0, -1))
      return false;
    if (predicate.kind != Operand::Kind::reg ||
        body_->function.registers[predicate.reg].type != Type::pred)
      return error(at, fmt::format("{} is not a predicate register", shown(at)));
    guard.reg = predicate.reg;
    made.guard = guard;
  }
  if (current_.kind != Token::Kind::identifier)
    return unexpected("an instruction");
  const Token start = current_;
  const Token token = lexer_.whole_mnemonic(start);
  if (token.text.size() == start.text.size() && !made.guard && lexer_.peek() == ':') {
    advance();
    advance();
    return label(start);
  }
  const Mnemonic* mnemonic = decode(token);
  if (mnemonic == nullptr)
    return false;
  advance();
  made.opcode = mnemonic->opcode;
  made.modifiers = mnemonic->modifiers;
  made.types = mnemonic->types;
  made.space = mnemonic->space;
  made.space2 = mnemonic->space2;
  made.vector_width = mnemonic->vector_width;
  made.matrix_columns = static_cast<std::uint16_t>(mnemonic->matrix_columns);
  made.line = token.line;
  made.source = body_->lines.current();
  made.scope = body_->scopes.id() - 1;
  if (made.opcode == Opcode::ret && !body_->moved_returns.empty())
    move_register_returns(made.guard);
  if (made.opcode == Opcode::call) {
    if (!call_operands())
      return false;
  } else if (!current_.is(';')) {
    do {
      body_->operand_tokens.push_back(current_);
      const auto index = static_cast<std::uint32_t>(made.operands.size());
      if (index == kMostOperands)
        return error(current_, "too many operands");
      if (!operand(made.operands.emplace_back(), index))
        return false;
    } while (accept(','));
  }
  if (!current_.is(';'))
    return unexpected("',' or ';'");
  unwrap_vectors_of_one(made);
  const auto problem = verify_operands(*mnemonic, token.text, made, body_->function.registers);
  if (problem) {
    const bool placed = problem->operand && *problem->operand < body_->operand_tokens.size();
    return error(placed ? body_->operand_tokens[*problem->operand] : token, problem->message);
  }
  advance();
  std::vector<Instruction> after;
  if (made.opcode == Opcode::call)
    after = pass_through_memory();
  place_before();
  if (made.opcode == Opcode::mov && made.vector_width > 1) {
    expand_vector_move();
    return true;
  }
  body_->function.instructions.push_back(std::move(made));
  for (Instruction& instruction : after)
    body_->function.instructions.push_back(std::move(instruction));
  return true;
}

} // namespace kernevo::ptx
