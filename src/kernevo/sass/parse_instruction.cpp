#include "kernevo/sass/parse_instruction.h"

#include "kernevo/base/identifier.h"
#include "kernevo/sass/opcode_table.h"
#include "kernevo/sass/operand_width.h"

#include <cctype>
#include <charconv>

namespace kernevo::sass {

namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0)
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0)
    text.remove_suffix(1);
  return text;
}

// "R12" -> 12 after the prefix; nothing for RZ, names and anything longer.
std::optional<int> number_after(std::string_view word, std::string_view prefix) {
  if (!word.starts_with(prefix) || word.size() == prefix.size())
    return std::nullopt;
  int number = 0;
  const char* end = word.data() + word.size();
  const auto [stop, problem] = std::from_chars(word.data() + prefix.size(), end, number);
  return problem == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

std::optional<Registers> register_of(std::string_view word) {
  using Prefix = std::pair<std::string_view, RegisterFile>;
  for (const auto& [prefix, file] :
       {Prefix{"R", RegisterFile::general}, Prefix{"P", RegisterFile::predicate},
        Prefix{"UR", RegisterFile::uniform}, Prefix{"UP", RegisterFile::uniform_predicate},
        Prefix{"B", RegisterFile::convergence}, Prefix{"SB", RegisterFile::scoreboard}})
    if (const auto number = number_after(word, prefix))
      return Registers{file, *number, 1};
  return std::nullopt;
}

// "@!UP0"
std::optional<Guard> guard_of(std::string_view word) {
  Guard guard;
  word.remove_prefix(1);
  if (word.starts_with('!')) {
    guard.negated = true;
    word.remove_prefix(1);
  }
  if (word == "PT" || word == "UPT") {
    guard.file = word == "PT" ? RegisterFile::predicate : RegisterFile::uniform_predicate;
    guard.index = 7;
    return guard;
  }
  const auto found = register_of(word);
  if (!found)
    return std::nullopt;
  guard.file = found->file;
  guard.index = found->first;
  return guard;
}

// Splits at commas outside brackets; a space separates too where an operand is followed by a
// label or a signed offset ("R4 `(dot)", "R4 -0xe0").
std::vector<std::string> split_operands(std::string_view text) {
  std::vector<std::string> operands;
  int depth = 0;
  std::size_t begin = 0;
  const auto take = [&](std::size_t end) {
    if (const std::string_view one = trimmed(text.substr(begin, end - begin)); !one.empty())
      operands.emplace_back(one);
    begin = end + 1;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '[' || c == '(' || c == '{')
      ++depth;
    else if (c == ']' || c == ')' || c == '}')
      --depth;
    else if (depth == 0 &&
             (c == ',' || (c == ' ' && i > begin && i + 1 < text.size() &&
                           (text[i + 1] == '`' || text[i + 1] == '-' || text[i + 1] == '+'))))
      take(i);
  }
  take(text.size());
  return operands;
}

// Appends every register an operand names. `count` is the width of a plain register operand;
// registers inside brackets are addresses, whose width is written (R2.64) or known by the form.
void add_registers(std::string_view operand, int count, int address_count,
                   std::vector<Registers>& into) {
  bool inside = false;
  for (std::size_t i = 0; i < operand.size();) {
    const char c = operand[i];
    if (c == '[' || c == ']')
      inside = c == '[';
    if (!continues_name(c)) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < operand.size() && continues_name(operand[end]))
      ++end;
    auto found = register_of(operand.substr(i, end - i));
    const std::string_view rest = operand.substr(end);
    if (found && (i == 0 || operand[i - 1] != '.')) {
      const bool wide = rest.starts_with(".64");
      const bool data =
          found->file == RegisterFile::general || found->file == RegisterFile::uniform;
      if (!data)
        found->count = 1;
      else if (!inside)
        found->count = wide ? 2 : count;
      else if (found->file == RegisterFile::uniform)
        found->count = operand.starts_with("desc[") ? 2 : wide ? 2 : 1;
      else
        found->count = wide                                                 ? 2
                       : rest.starts_with(".U32") || rest.starts_with(".X") ? 1
                                                                            : address_count;
      into.push_back(*found);
    }
    i = end;
  }
}

bool is_predicate(std::string_view operand) {
  if (operand.starts_with('!'))
    operand.remove_prefix(1);
  if (operand == "PT" || operand == "UPT")
    return true;
  const auto found = register_of(operand);
  return found &&
         (found->file == RegisterFile::predicate || found->file == RegisterFile::uniform_predicate);
}

// How many of the leading operands are written.
std::size_t written_operands(const SassInstruction& instruction, Writes writes) {
  const std::vector<std::string>& operands = instruction.operands;
  if (operands.empty() || writes == Writes::none)
    return 0;
  if (writes == Writes::all_but_last)
    return operands.size() - 1;
  std::size_t count = 0;
  while (count < operands.size() && count < 2 && is_predicate(operands[count]))
    ++count;
  if (writes == Writes::two_predicates)
    return count;
  // "LOP3 P0, R0, ..." writes both; "FCHK P0, R1, R2" only the predicate.
  if (count == 0 || instruction.opcode == "LOP3" || instruction.opcode == "ULOP3" ||
      instruction.opcode == "SHFL" || instruction.opcode.starts_with("ATOM") ||
      instruction.opcode.starts_with("R2UR"))
    ++count;
  while (writes == Writes::first_and_carry && count < operands.size() && count < 3 &&
         is_predicate(operands[count]))
    ++count;
  return std::min(count, operands.size());
}

} // namespace

SassInstruction parse_instruction(std::string_view text) {
  SassInstruction instruction;
  text = trimmed(text);
  if (text.starts_with('@')) {
    const std::size_t end = text.find(' ');
    instruction.guard = guard_of(text.substr(0, end));
    text = end == std::string_view::npos ? "" : trimmed(text.substr(end));
  }
  const std::size_t end = text.find(' ');
  std::string_view mnemonic = text.substr(0, end);
  bool first = true;
  while (true) {
    const std::size_t dot = mnemonic.find('.');
    if (const std::string_view part = mnemonic.substr(0, dot); first)
      instruction.opcode = part;
    else
      instruction.modifiers.emplace_back(part);
    first = false;
    if (dot == std::string_view::npos)
      break;
    mnemonic.remove_prefix(dot + 1);
  }
  if (end != std::string_view::npos)
    instruction.operands = split_operands(trimmed(text.substr(end)));
  const OpcodeInfo* info = find_opcode(instruction.opcode);
  instruction.memory = memory_access(instruction);
  const std::size_t written =
      written_operands(instruction, info == nullptr ? Writes::first : info->writes);
  const int address = address_registers(instruction);
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    const bool is_written = i < written && instruction.operands[i].find('[') == std::string::npos;
    const int width = operand_registers(instruction, i, written);
    add_registers(instruction.operands[i], width, address,
                  is_written ? instruction.destinations : instruction.sources);
  }
  return instruction;
}

} // namespace kernevo::sass
