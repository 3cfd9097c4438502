// One instruction: its guard, its mnemonic, its operands, and what stands for it.
#include "kernevo/ptx/parser.h"
#include "kernevo/ptx/verify.h"

#include <fmt/format.h>
#include <utility>

namespace kernevo::ptx {
namespace {

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
bool Parser::guard(std::optional<Guard>& into) {
  Guard made;
  made.negated = accept('!');
  const Token at = current_;
  Operand predicate;
  if (current_.kind != Token::Kind::identifier)
    return unexpected("a predicate");
  if (!named(predicate, 0, -1))
    return false;
  if (predicate.kind != Operand::Kind::reg ||
      body_->function.registers[predicate.reg].type != Type::pred)
    return error(at, fmt::format("{} is not a predicate register", shown(at)));
  made.reg = predicate.reg;
  into = made;
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

bool Parser::plain_operands() {
  auto& operands = body_->instruction.operands;
  if (current_.is(';'))
    return true;
  do {
    body_->operand_tokens.push_back(current_);
    const auto index = static_cast<std::uint32_t>(operands.size());
    if (index == kMostOperands)
      return error(current_, "too many operands");
    if (!operand(operands.emplace_back(), index))
      return false;
  } while (accept(','));
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
    function.registers.push_back({fmt::format("#{}", between.reg), whole.type()});
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
  if (accept('@') && !guard(made.guard))
    return false;
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
  if (!(made.opcode == Opcode::call ? call_operands() : plain_operands()))
    return false;
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
