#include "kernevo/ptx/scopes.h"

#include <charconv>
#include <optional>
#include <utility>

namespace kernevo::ptx {
namespace {

// %r12 -> {%r, 12}; nothing for %r, %r012 or a number no range can hold.
std::optional<std::pair<std::string_view, std::uint64_t>> split_number(std::string_view name) {
  std::size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
    --digits;
  constexpr std::size_t most_digits = 19; // fit 64 bits
  if (digits == name.size() || name.size() - digits > most_digits)
    return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(name.data() + digits, name.data() + name.size(), number);
  if (error != std::errc{})
    return std::nullopt;
  return std::pair{name.substr(0, digits), number};
}

} // namespace

void Scopes::open() {
  Scope scope;
  scope.id = next_id_++;
  scopes_.push_back(std::move(scope));
}

void Scopes::close(std::vector<Resolved>& resolved) {
  Scope closed = std::move(scopes_.back());
  scopes_.pop_back();
  std::vector<PendingName>& outer = scopes_.empty() ? left_ : scopes_.back().pending;
  for (PendingName& pending : closed.pending) {
    const auto found = closed.labels.find(pending.name);
    if (found != closed.labels.end())
      resolved.push_back({std::move(pending), found->second});
    else
      outer.push_back(std::move(pending));
  }
}

RegisterId Scopes::make_register(std::string_view name, Type type, int width) {
  const auto first = static_cast<RegisterId>(registers_.size());
  if (width == 1)
    registers_.push_back({std::string(name), type});
  else
    for (int i = 0; i < width; ++i)
      registers_.push_back({std::string(name) + '.' + "xyzw"[i], type});
  return first;
}

const LocalName* Scopes::find_in(Scope& scope, std::string_view name) {
  if (const auto found = scope.names.find(name); found != scope.names.end())
    return &found->second;
  if (scope.ranges.empty())
    return nullptr;
  const auto parts = split_number(name);
  if (!parts)
    return nullptr;
  // %p1<4> declares %p10 to %p13, so the digits may belong to the prefix: try each split.
  for (std::size_t length = parts->first.size(); length < name.size(); ++length) {
    const auto range = scope.ranges.find(name.substr(0, length));
    const std::string_view digits = name.substr(length);
    if (range == scope.ranges.end() || (digits.size() > 1 && digits.front() == '0'))
      continue;
    std::uint64_t number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (number >= range->second.count)
      continue;
    LocalName made;
    made.reg = make_register(name, range->second.type, range->second.width);
    made.width = range->second.width;
    return &scope.names.emplace(name, std::move(made)).first->second;
  }
  return nullptr;
}

bool Scopes::declare_register(std::string_view name, Type type, int width) {
  if (find_in(scopes_.back(), name) != nullptr || scopes_.back().labels.contains(name))
    return false;
  LocalName made;
  made.reg = make_register(name, type, width);
  made.width = width;
  scopes_.back().names.emplace(name, std::move(made));
  return true;
}

bool Scopes::declare_registers(std::string_view prefix, std::uint64_t count, Type type, int width) {
  return scopes_.back().ranges.emplace(prefix, Range{count, type, width}).second;
}

bool Scopes::declare_variable(std::string_view name, std::string unique, Space space,
                              bool read_only) {
  if (find_in(scopes_.back(), name) != nullptr || scopes_.back().labels.contains(name))
    return false;
  LocalName made;
  made.kind = LocalName::Kind::variable;
  made.unique = std::move(unique);
  made.space = space;
  made.read_only = read_only;
  scopes_.back().names.emplace(name, std::move(made));
  return true;
}

bool Scopes::declare_label(std::string_view name, std::string unique) {
  Scope& scope = scopes_.back();
  return find_in(scope, name) == nullptr && scope.labels.emplace(name, std::move(unique)).second;
}

const LocalName* Scopes::find(std::string_view name) {
  for (std::size_t i = scopes_.size(); i > 0; --i)
    if (const LocalName* found = find_in(scopes_[i - 1], name))
      return found;
  return nullptr;
}

std::string Scopes::make_unique(std::string_view name, bool taken) {
  const std::uint32_t use = uses_[name]++;
  if (use == 0 && !taken)
    return std::string(name);
  // '#' cannot occur in a PTX name, so no other name looks like this one.
  return std::string(name) + '#' + std::to_string(use);
}

} // namespace kernevo::ptx
