#include "kernevo/sass/operand_width.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace kernevo::sass {

namespace {

struct MemoryForm {
  std::string_view opcode;
  MemorySpace space;
  bool load;
  bool store;
  bool atomic;
};

constexpr std::array kMemoryForms = {
    MemoryForm{"LD", MemorySpace::generic, true, false, false},
    MemoryForm{"ST", MemorySpace::generic, false, true, false},
    MemoryForm{"LDG", MemorySpace::global, true, false, false},
    MemoryForm{"STG", MemorySpace::global, false, true, false},
    MemoryForm{"LDS", MemorySpace::shared, true, false, false},
    MemoryForm{"STS", MemorySpace::shared, false, true, false},
    MemoryForm{"LDSM", MemorySpace::shared, true, false, false},
    MemoryForm{"STSM", MemorySpace::shared, false, true, false},
    MemoryForm{"LDL", MemorySpace::local, true, false, false},
    MemoryForm{"STL", MemorySpace::local, false, true, false},
    MemoryForm{"LDC", MemorySpace::constant, true, false, false},
    MemoryForm{"LDCU", MemorySpace::constant, true, false, false},
    MemoryForm{"ULDC", MemorySpace::constant, true, false, false},
    MemoryForm{"LDGSTS", MemorySpace::global, true, true, false},
    MemoryForm{"LDGMC", MemorySpace::global, true, false, false},
    MemoryForm{"ATOM", MemorySpace::generic, true, true, true},
    MemoryForm{"ATOMG", MemorySpace::global, true, true, true},
    MemoryForm{"ATOMS", MemorySpace::shared, true, true, true},
    MemoryForm{"RED", MemorySpace::global, false, true, true},
    MemoryForm{"REDG", MemorySpace::global, false, true, true},
    MemoryForm{"REDS", MemorySpace::shared, false, true, true},
    MemoryForm{"SYNCS", MemorySpace::shared, true, true, true},
    MemoryForm{"STAS", MemorySpace::shared, false, true, false},
    MemoryForm{"TEX", MemorySpace::texture, true, false, false},
    MemoryForm{"TLD", MemorySpace::texture, true, false, false},
    MemoryForm{"TLD4", MemorySpace::texture, true, false, false},
    MemoryForm{"TXD", MemorySpace::texture, true, false, false},
    MemoryForm{"SULD", MemorySpace::surface, true, false, false},
    MemoryForm{"SUST", MemorySpace::surface, false, true, false},
    MemoryForm{"SUATOM", MemorySpace::surface, true, true, true},
    MemoryForm{"SURED", MemorySpace::surface, false, true, true},
    MemoryForm{"UTMALDG", MemorySpace::global, true, false, false},
    MemoryForm{"UTMASTG", MemorySpace::global, false, true, false},
    MemoryForm{"UTMAREDG", MemorySpace::global, false, true, true},
    MemoryForm{"UBLKCP", MemorySpace::global, true, true, false},
    MemoryForm{"UBLKRED", MemorySpace::global, false, true, true},
    MemoryForm{"LDTM", MemorySpace::tensor, true, false, false},
    MemoryForm{"STTM", MemorySpace::tensor, false, true, false},
};

bool has_any(const SassInstruction& instruction, std::initializer_list<const char*> modifiers) {
  return std::any_of(modifiers.begin(), modifiers.end(),
                     [&](const char* modifier) { return instruction.has(modifier); });
}

int access_bytes(const SassInstruction& i) {
  if (i.opcode.starts_with("UTMA") || i.opcode.starts_with("UBLK") || i.opcode == "LDTM" ||
      i.opcode == "STTM")
    return 0;
  if (i.opcode == "LDSM" || i.opcode == "STSM")
    return has_any(i, {"4"}) ? 16 : has_any(i, {"2"}) ? 8 : 4;
  if (has_any(i, {"256"}))
    return 32;
  if (has_any(i, {"128"}))
    return 16;
  if (has_any(i, {"64", "F64", "S64", "U64", "TRANS64"}))
    return 8;
  if (has_any(i, {"U16", "S16", "16"}))
    return 2;
  if (has_any(i, {"U8", "S8", "8"}))
    return 1;
  return 4;
}

struct TensorShape {
  std::string_view opcode;
  std::string_view shape;
  int d, a, b; // registers of D and C, A, B with 32-bit accumulators
};

constexpr std::array kTensorShapes = {
    TensorShape{"HMMA", "884", 4, 2, 2},    TensorShape{"HMMA", "1684", 4, 2, 1},
    TensorShape{"HMMA", "1688", 4, 2, 1},   TensorShape{"HMMA", "16816", 4, 4, 2},
    TensorShape{"HMMA", "16832", 4, 4, 4},  TensorShape{"IMMA", "8816", 2, 1, 1},
    TensorShape{"IMMA", "8832", 2, 1, 1},   TensorShape{"IMMA", "16816", 4, 2, 1},
    TensorShape{"IMMA", "16832", 4, 4, 2},  TensorShape{"IMMA", "16864", 4, 4, 2},
    TensorShape{"BMMA", "88128", 2, 1, 1},  TensorShape{"BMMA", "168128", 4, 2, 1},
    TensorShape{"BMMA", "168256", 4, 4, 2}, TensorShape{"DMMA", "884", 4, 2, 2},
    TensorShape{"DMMA", "8x8x4", 4, 2, 2},  TensorShape{"DMMA", "16x8x4", 8, 4, 2},
    TensorShape{"DMMA", "16x8x8", 8, 8, 4}, TensorShape{"DMMA", "16x8x16", 8, 16, 8},
    TensorShape{"QMMA", "16816", 4, 2, 1},  TensorShape{"QMMA", "16832", 4, 4, 2},
    TensorShape{"OMMA", "16864", 4, 4, 2},
};

// Registers of operand `index` of D = A x B + C.
int tensor_registers(const SassInstruction& i, std::size_t index) {
  if (i.opcode.ends_with("GMMA")) {
    // 64xNxK over the 128 threads of a warp group.
    for (const std::string& modifier : i.modifiers) {
      int n = 0;
      if (modifier.starts_with("64x") &&
          std::from_chars(modifier.data() + 3, modifier.data() + modifier.size(), n).ec ==
              std::errc())
        return index == 0 || i.operands[index] == i.operands[0] ? (i.has("F16") ? n / 4 : n / 2)
                                                                : 4;
    }
    return 1;
  }
  for (const TensorShape& shape : kTensorShapes) {
    if (i.opcode != shape.opcode || i.modifiers.empty() || i.modifiers.front() != shape.shape)
      continue;
    // HMMA.16816.F16: halves accumulate in half the registers. TF32 operands are twice as wide.
    const bool half = i.opcode == "HMMA" && i.modifiers.size() > 1 && i.modifiers[1] == "F16";
    const bool tf32 = i.has("TF32") && shape.shape == "1688";
    switch (index) {
    case 0:
    case 3: return half ? shape.d / 2 : shape.d;
    case 1: return tf32 ? 2 * shape.a : shape.a;
    case 2: return tf32 ? 2 * shape.b : shape.b;
    default: return 1;
    }
  }
  return 1;
}

// F2F.F64.F32: the destination's type first, then the source's, where 64-bit ones are named.
int conversion_registers(const SassInstruction& i, bool is_written) {
  const auto wide = [](const std::string& m) { return m == "F64" || m == "S64" || m == "U64"; };
  std::vector<bool> types;
  for (const std::string& m : i.modifiers)
    if (wide(m) || m == "F32" || m == "F16" || m == "BF16" || m == "S32" || m == "U32")
      types.push_back(wide(m));
  if (types.size() >= 2)
    return types[is_written ? 0 : 1] ? 2 : 1;
  if (types.empty() || !types.front())
    return 1;
  // One type: of the floating-point side for F64, of the integer side otherwise.
  const bool floating = i.has("F64");
  const bool of_destination = i.opcode == "I2F" ? floating : i.opcode == "F2I" ? !floating : true;
  return of_destination == is_written || i.opcode == "FRND" ? 2 : 1;
}

} // namespace

std::optional<MemoryAccess> memory_access(const SassInstruction& instruction) {
  for (const MemoryForm& form : kMemoryForms)
    if (form.opcode == instruction.opcode)
      return MemoryAccess{form.space, access_bytes(instruction), form.load, form.store,
                          form.atomic};
  return std::nullopt;
}

int operand_registers(const SassInstruction& i, std::size_t index, std::size_t written) {
  const std::string& op = i.opcode;
  const bool is_written = index < written;
  if (op.ends_with("MMA"))
    return tensor_registers(i, index);
  if (i.memory) {
    const int bytes = i.memory->bytes;
    return std::max(1, bytes / 4);
  }
  if (op == "DADD" || op == "DMUL" || op == "DFMA" || op == "DMNMX" || op == "DSETP" ||
      op == "DSET")
    return 2;
  if (op == "F2F" || op == "F2I" || op == "I2F" || op == "FRND" || op == "I2I")
    return conversion_registers(i, is_written);
  if ((op == "IMAD" || op == "UIMAD") && i.has("WIDE")) {
    // D and the addend are 64 bits wide; the addend is the last operand but for a carry-in.
    std::size_t values = 0;
    for (std::size_t k = written; k <= index && k < i.operands.size(); ++k)
      ++values;
    return is_written || values == 3 ? 2 : 1;
  }
  if (op == "CS2R")
    return i.has("32") ? 1 : 2;
  if (op == "FADD2" || op == "FMUL2" || op == "FFMA2")
    return 2;
  if (i.has("64") && (op == "MOV" || op == "UMOV" || op == "R2UR" || op == "IADD" ||
                      op == "UIADD3" || op == "IADD3"))
    return 2;
  return 1;
}

int address_registers(const SassInstruction& i) {
  const bool wide_space = i.opcode == "LD" || i.opcode == "ST" || i.opcode == "LDG" ||
                          i.opcode == "STG" || i.opcode == "ATOM" || i.opcode == "ATOMG" ||
                          i.opcode == "RED" || i.opcode == "REDG" || i.opcode == "CCTL";
  return wide_space && i.has("E") ? 2 : 1;
}

} // namespace kernevo::sass
