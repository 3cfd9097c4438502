#include "kernevo/ptx/mnemonic.h"

#include "kernevo/ptx/names.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>

namespace kernevo::ptx {
namespace {

using Parts = std::vector<std::string_view>;

Parts split_parts(std::string_view text) {
  Parts parts;
  while (true) {
    const std::size_t dot = text.find('.');
    parts.push_back(text.substr(0, dot));
    if (dot == std::string_view::npos)
      break;
    text = text.substr(dot + 1);
  }
  // bar.cta.sync is the long spelling of bar.sync.
  if (parts.size() > 2 && (parts[0] == "bar" || parts[0] == "barrier") && parts[1] == "cta")
    parts.erase(parts.begin() + 1);
  return parts;
}

std::string join(const Parts& parts, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0)
      text += '.';
    text += parts[i];
  }
  return text;
}

// The longest run of leading parts that is an opcode; how many parts it takes.
std::optional<std::pair<Opcode, std::size_t>> take_opcode(const Parts& parts) {
  constexpr std::size_t longest = 5; // cp.async.bulk.prefetch.tensor
  for (std::size_t count = std::min(parts.size(), longest); count > 0; --count)
    if (const auto opcode = find_opcode(join(parts, count)))
      return std::pair{*opcode, count};
  return std::nullopt;
}

bool is_space_detail(Mod modifier) {
  return modifier == Mod::shared_cta || modifier == Mod::shared_cluster ||
         modifier == Mod::param_entry || modifier == Mod::param_func;
}

std::optional<int> vector_width(std::string_view part) {
  if (part == "v2")
    return 2;
  if (part == "v4")
    return 4;
  if (part == "v8")
    return 8;
  return std::nullopt;
}

// m64n<N>k<K> of wgmma. One modifier for each K; N is a number, for there are 32 of them.
std::optional<Mod> warp_group_shape(std::string_view part, int& columns) {
  constexpr std::string_view prefix = "m64n";
  if (!part.starts_with(prefix))
    return std::nullopt;
  part.remove_prefix(prefix.size());
  const std::size_t k = part.find('k');
  if (k == std::string_view::npos || k == 0 || k > 3)
    return std::nullopt;
  int n = 0;
  for (const char digit : part.substr(0, k)) {
    if (digit < '0' || digit > '9')
      return std::nullopt;
    n = n * 10 + (digit - '0');
  }
  if (n == 0 || n > 256 || n % 8 != 0)
    return std::nullopt;
  columns = n;
  const std::string_view depth = part.substr(k);
  return depth == "k8"     ? std::optional{Mod::m64k8}
         : depth == "k16"  ? std::optional{Mod::m64k16}
         : depth == "k32"  ? std::optional{Mod::m64k32}
         : depth == "k256" ? std::optional{Mod::m64k256}
                           : std::nullopt;
}

// Sorts the parts after the opcode into their kinds; the first one nobody knows, if any.
std::optional<std::string_view> sort_parts(const Parts& parts, std::size_t from, Mnemonic& into) {
  int spaces = 0;
  for (std::size_t i = from; i < parts.size(); ++i) {
    const std::string_view part = parts[i];
    if (const auto space = find_space(part)) {
      (spaces++ == 0 ? into.space : into.space2) = *space;
      if (const auto detail = find_modifier(part))
        into.modifiers.push_back(*detail);
    } else if (const auto width = vector_width(part)) {
      into.vector_width = *width;
    } else if (const auto type = find_type(part)) {
      into.types.push_back(*type);
    } else if (const auto modifier = find_modifier(part)) {
      into.modifiers.push_back(*modifier);
    } else if (const auto shape = warp_group_shape(part, into.matrix_columns)) {
      into.modifiers.push_back(*shape);
    } else {
      return part;
    }
    if (spaces > 2)
      return part;
  }
  return std::nullopt;
}

bool modifiers_match(const Form& form, const std::vector<Mod>& modifiers) {
  std::uint32_t used = 0;
  for (const Mod modifier : modifiers) {
    if (is_space_detail(modifier))
      continue;
    bool found = false;
    for (std::size_t g = 0; g < form.modifiers.size() && !found; ++g) {
      if ((used >> g & 1U) == 0 &&
          form.modifiers[g].any_of.test(static_cast<std::size_t>(modifier))) {
        used |= 1U << g;
        found = true;
      }
    }
    if (!found)
      return false;
  }
  for (std::size_t g = 0; g < form.modifiers.size(); ++g)
    if ((used >> g & 1U) == 0 && !form.modifiers[g].optional)
      return false;
  return true;
}

bool types_match(const Form& form, const std::vector<Type>& types) {
  if (types.size() != form.types.size())
    return false;
  for (std::size_t i = 0; i < types.size(); ++i)
    if ((form.types[i] & bit(types[i])) == 0)
      return false;
  return true;
}

bool allows(std::uint32_t set, Space space) {
  return (set >> static_cast<unsigned>(space) & 1U) != 0;
}

bool matches(const Form& form, const Mnemonic& mnemonic) {
  return types_match(form, mnemonic.types) && modifiers_match(form, mnemonic.modifiers) &&
         allows(form.spaces, mnemonic.space) && allows(form.spaces2, mnemonic.space2) &&
         (form.widths >> static_cast<unsigned>(mnemonic.vector_width) & 1U) != 0;
}

bool has_architecture(const Form& form, const Target& target) {
  return form.sm <= target.sm &&
         (form.architectures.empty() || has_any(target, form.architectures));
}

// Names the part that is to blame when no form fits.
std::string why_no_form(std::string_view text, const Mnemonic& mnemonic) {
  const auto forms = forms_of(mnemonic.opcode);
  const std::string_view opcode = name_of(mnemonic.opcode);
  for (const Mod modifier : mnemonic.modifiers) {
    const bool known =
        is_space_detail(modifier) || std::any_of(forms.begin(), forms.end(), [&](const Form& form) {
          return std::any_of(form.modifiers.begin(), form.modifiers.end(),
                             [&](const ModifierGroup& group) {
                               return group.any_of.test(static_cast<std::size_t>(modifier));
                             });
        });
    if (!known)
      return fmt::format("'{}': '{}' does not take modifier '.{}'", text, opcode,
                         name_of(modifier));
  }
  for (const Type type : mnemonic.types) {
    const bool known = std::any_of(forms.begin(), forms.end(), [&](const Form& form) {
      return std::any_of(form.types.begin(), form.types.end(),
                         [&](TypeSet set) { return (set & bit(type)) != 0; });
    });
    if (!known)
      return fmt::format("'{}': '{}' does not take type '.{}'", text, opcode, name_of(type));
  }
  if (std::none_of(forms.begin(), forms.end(),
                   [&](const Form& form) { return form.types.size() == mnemonic.types.size(); }))
    return fmt::format("'{}': '{}' does not take {} type{}", text, opcode, mnemonic.types.size(),
                       mnemonic.types.size() == 1 ? "" : "s");
  if (std::none_of(forms.begin(), forms.end(), [&](const Form& form) {
        return allows(form.spaces, mnemonic.space) && allows(form.spaces2, mnemonic.space2);
      }))
    return mnemonic.space == Space::generic
               ? fmt::format("'{}': '{}' needs a state space", text, opcode)
               : fmt::format("'{}': '{}' does not take this state space", text, opcode);
  return fmt::format("'{}' is not a known form of '{}'", text, opcode);
}

constexpr int kFirstWithMemberMasks = 70;
constexpr int kFirstPtxWithMemberMasks = 64;

// vote and shfl as they were when all lanes of a warp went together.
bool lacks_member_mask(const Mnemonic& mnemonic) {
  return (mnemonic.opcode == Opcode::shfl || mnemonic.opcode == Opcode::vote) &&
         std::find(mnemonic.modifiers.begin(), mnemonic.modifiers.end(), Mod::sync) ==
             mnemonic.modifiers.end();
}

} // namespace

Result<Mnemonic> decode_mnemonic(std::string_view text, const Target& target) {
  if (const auto known = left_out(text))
    return fail(ErrorCode::unsupported,
                fmt::format("instruction '{}' is not supported here: {}, a feature of {}", text,
                            known->what, needed_text(known->architectures, known->sm)));
  constexpr std::size_t most_parts = 24;
  const Parts parts = split_parts(text);
  const auto opcode = take_opcode(parts);
  if (!opcode || parts.size() > most_parts)
    return fail(ErrorCode::unsupported, fmt::format("unknown instruction '{}'", text));
  Mnemonic mnemonic;
  mnemonic.opcode = opcode->first;
  if (const auto unknown = sort_parts(parts, opcode->second, mnemonic))
    return fail(ErrorCode::unsupported,
                fmt::format("unknown modifier '.{}' in '{}'", *unknown, text));

  const Form* too_new = nullptr;
  for (const Form& form : forms_of(mnemonic.opcode)) {
    if (!matches(form, mnemonic))
      continue;
    if (!has_architecture(form, target) || form.ptx > target.ptx)
      too_new = too_new == nullptr || form.sm < too_new->sm ? &form : too_new;
    else
      mnemonic.forms.push_back(&form);
  }
  const bool of_clusters =
      std::any_of(mnemonic.modifiers.begin(), mnemonic.modifiers.end(), [](Mod modifier) {
        return modifier == Mod::shared_cluster || modifier == Mod::cluster;
      });
  if (of_clusters && target.sm < kFirstWithClusters)
    return fail(ErrorCode::input,
                fmt::format("'{}' needs .target {}, but .target is {}", text,
                            needed_text("", kFirstWithClusters), name_of(target)));
  if (lacks_member_mask(mnemonic) && target.sm >= kFirstWithMemberMasks &&
      target.ptx >= kFirstPtxWithMemberMasks)
    return fail(ErrorCode::input,
                fmt::format("'{}' without .sync exists only before sm_{}, but .target is {}; name "
                            "the lanes with .sync and a member mask",
                            text, kFirstWithMemberMasks, name_of(target)));
  if (!mnemonic.forms.empty())
    return mnemonic;
  if (too_new == nullptr)
    return fail(ErrorCode::unsupported, why_no_form(text, mnemonic));
  if (!has_architecture(*too_new, target))
    return fail(ErrorCode::input,
                fmt::format("'{}' needs .target {}, but .target is {}", text,
                            needed_text(too_new->architectures, too_new->sm), name_of(target)));
  return fail(ErrorCode::input,
              fmt::format("'{}' needs PTX {}.{} or newer, but .version is {}.{}", text,
                          too_new->ptx / 10, too_new->ptx % 10, target.ptx / 10, target.ptx % 10));
}

} // namespace kernevo::ptx
