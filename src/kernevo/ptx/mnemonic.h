// "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32" -> opcode, modifiers, types, and the forms of
// the instruction table it may be.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/ptx/forms.h"
#include "kernevo/ptx/module.h"
#include "kernevo/ptx/target.h"

#include <string>
#include <string_view>
#include <vector>

namespace kernevo::ptx {

struct Mnemonic {
  Opcode opcode = Opcode::mov;
  std::vector<Mod> modifiers;
  std::vector<Type> types;
  Space space = Space::generic;
  Space space2 = Space::generic;
  int vector_width = 1;
  int matrix_columns = 0;         // N of wgmma's .m64nNk16
  std::vector<const Form*> forms; // never empty; they differ in their operands only
};

// An error has no place yet.
Result<Mnemonic> decode_mnemonic(std::string_view text, const Target& target);

} // namespace kernevo::ptx
