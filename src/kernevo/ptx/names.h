// Text <-> enumerators for everything PTX has a fixed name for.
#pragma once

#include "kernevo/ptx/module.h"

#include <optional>
#include <string_view>

namespace kernevo::ptx {

std::optional<Opcode> find_opcode(std::string_view mnemonic);
std::optional<Mod> find_modifier(std::string_view text);
std::optional<Type> find_type(std::string_view text);
std::optional<Space> find_space(std::string_view text); // also shared::cta and the like

// `component` is 'x', 'y', 'z', 'w' or 0; `name` starts with '%'.
std::optional<Special> find_special(std::string_view name, char component);
// True for %tid and the others that are read one component at a time.
bool is_vector_special(std::string_view name);
Type type_of(Special special);

// What this program leaves out on purpose, and the architectures that have it; nothing for a name
// it has never heard of.
struct LeftOut {
  std::string_view what;          // "sparse matrix instructions"
  std::string_view architectures; // as in the instruction table
  int sm = 0;
};
std::optional<LeftOut> left_out(std::string_view mnemonic);

inline constexpr std::size_t kOpcodeCount = []() {
  std::size_t count = 0;
#define KERNEVO_OPCODE(enumerator, mnemonic) ++count;
#include "kernevo/ptx/opcodes.def"
#undef KERNEVO_OPCODE
  return count;
}();

} // namespace kernevo::ptx
