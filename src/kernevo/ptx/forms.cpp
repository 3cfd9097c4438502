// Compiles the rows of the instruction table, once.
#include "kernevo/ptx/forms.h"
#include "kernevo/ptx/names.h"

#include <array>
#include <cassert>

namespace kernevo::ptx {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    if (end != 0)
      parts.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
  return parts;
}

bool take_suffix(std::string_view& text, char suffix) {
  if (text.empty() || text.back() != suffix)
    return false;
  text.remove_suffix(1);
  return true;
}

TypeSet set_of(std::initializer_list<Type> types) {
  TypeSet set = 0;
  for (const Type type : types)
    set |= bit(type);
  return set;
}

// A type's name, or one of the words that stand for several.
TypeSet type_set(std::string_view name) {
  static const TypeSet bits = set_of({Type::b16, Type::b32, Type::b64});
  static const TypeSet word = set_of({Type::u32, Type::s32, Type::u64, Type::s64});
  static const TypeSet integers = word | set_of({Type::u16, Type::s16});
  static const TypeSet integers8 = integers | set_of({Type::u8, Type::s8});
  if (name == "bits")
    return bits;
  if (name == "word")
    return word;
  if (name == "int")
    return integers;
  if (name == "int8")
    return integers8;
  static const TypeSet memory = bits | integers8 | set_of({Type::b8, Type::f32, Type::f64});
  if (name == "memory")
    return memory;
  if (name == "memory32")
    return memory & ~set_of({Type::b64, Type::u64, Type::s64, Type::f64});
  const std::optional<Type> type = find_type(name);
  assert(type && "instruction table: unknown type");
  return type ? bit(*type) : 0;
}

TypeSet type_sets(std::string_view text) {
  TypeSet set = 0;
  for (const std::string_view name : split(text, '|'))
    set |= type_set(name);
  return set;
}

std::uint32_t space_set(std::string_view text) {
  std::uint32_t set = text.empty() ? 1 : 0;
  for (const std::string_view name : split(text, '|')) {
    const std::optional<Space> space = name == "-" ? Space::generic : find_space(name);
    assert(space && "instruction table: unknown space");
    set |= 1U << static_cast<unsigned>(space.value_or(Space::generic));
  }
  return set;
}

ModifierGroup modifier_group(std::string_view text) {
  ModifierGroup group;
  group.optional = take_suffix(text, '?');
  for (const std::string_view name : split(text, '|')) {
    const std::optional<Mod> modifier = find_modifier(name);
    assert(modifier && "instruction table: unknown modifier");
    if (modifier)
      group.any_of.set(static_cast<std::size_t>(*modifier));
  }
  return group;
}

OperandRule::Role role_of(char letter) {
  switch (letter) {
  case 'd': return OperandRule::Role::destination;
  case 'n': return OperandRule::Role::predicate;
  case 'a': return OperandRule::Role::address;
  case 'k': return OperandRule::Role::tensor;
  case 'i': return OperandRule::Role::literal;
  case 'p': return OperandRule::Role::pointer;
  case 'u': return OperandRule::Role::unpack;
  case 'm': return OperandRule::Role::pack;
  case 'x': return OperandRule::Role::texel;
  case 'o': return OperandRule::Role::texel_offsets;
  case 'g': return OperandRule::Role::derivatives;
  case 'l': return OperandRule::Role::label;
  case 't': return OperandRule::Role::table;
  case 'c': return OperandRule::Role::call;
  default: return OperandRule::Role::source;
  }
}

OperandRule operand_rule(std::string_view text) {
  OperandRule rule;
  rule.optional = take_suffix(text, '?');
  if (const std::size_t bar = text.find('|'); bar != std::string_view::npos) {
    rule.pair = true;
    rule.pair_optional = rule.optional;
    rule.optional = false;
    text = text.substr(0, bar);
  }
  rule.wider = text.front() == 'D' || text.front() == 'S';
  rule.role = role_of(text.front() == 'D' ? 'd' : text.front());
  text.remove_prefix(1);
  if (rule.role == OperandRule::Role::predicate)
    rule.type = Type::pred;
  if (text.empty())
    return rule;
  if (text.front() == 'v' || text.front() == 'e') {
    rule.elements = -1;
    rule.braced = text.front() == 'e';
    text.remove_prefix(1);
  } else if (text.size() > 1 && text[1] == '.') {
    rule.elements = text.front() == '*' ? -2 : text.front() - '0';
    text.remove_prefix(1);
  }
  if (text.front() == '.') {
    rule.type = find_type(text.substr(1)).value_or(Type::none);
    assert(rule.type != Type::none && "instruction table: unknown operand type");
  } else if (text.front() == 'w') {
    rule.slot = 0;
    rule.twice = true;
  } else {
    rule.slot = text.front() - '0';
  }
  return rule;
}

Form compile(const FormRow& row) {
  Form form;
  for (const std::string_view group : split(row.modifiers, ' '))
    form.modifiers.push_back(modifier_group(group));
  for (const std::string_view types : split(row.types, ' '))
    form.types.push_back(type_sets(types));
  const std::string_view spaces = row.spaces;
  if (const std::size_t arrow = spaces.find('>'); arrow != std::string_view::npos) {
    form.spaces = space_set(spaces.substr(0, arrow));
    form.spaces2 = space_set(spaces.substr(arrow + 1));
  } else {
    form.spaces = space_set(spaces);
  }
  if (const auto widths = split(row.widths, '|'); !widths.empty()) {
    form.widths = 0;
    for (const std::string_view width : widths)
      form.widths |= 1U << static_cast<unsigned>(width.front() - '0');
  }
  for (const std::string_view operand : split(row.operands, ' '))
    form.operands.push_back(operand_rule(operand));
  form.sm = row.sm;
  form.ptx = row.ptx;
  form.architectures = row.architectures;
  return form;
}

using Table = std::array<std::vector<Form>, kOpcodeCount>;

Table compile_all() {
  Table table;
  for (const FormRow& row : instruction_rows())
    table[static_cast<std::size_t>(row.opcode)].push_back(compile(row));
  return table;
}

} // namespace

std::span<const Form> forms_of(Opcode opcode) {
  static const Table table = compile_all();
  return table[static_cast<std::size_t>(opcode)];
}

} // namespace kernevo::ptx
