#include "random_instruction.h"

#include <fmt/format.h>

namespace kernevo::test {
namespace {

struct Template {
  std::string_view text;
  int weight = 1;
  int sm = 80;
};

#define ROUNDING "[.rn|.rz|.rm|.rp]"
#define FTZ "[.ftz|]"
#define SAT "[.sat||]"
#define SIGNED_ORDER "[eq|ne|lt|le|gt|ge]"
#define UNSIGNED_ORDER "[eq|ne|lt|le|gt|ge|lo|ls|hi|hs]"
#define FLOAT_ORDER "[eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan]"
#define BOOLEAN "[and|or|xor]"

const std::vector<Template>& templates() {
  static const std::vector<Template> table = {
      // 32 bits
      {"[add|sub|min|max|mul.lo|mul.hi].[s32|u32] $R, $r, $r", 10},
      {"[div|rem].[s32|u32] $R, $r, $r", 3},
      {"[add|sub].sat.s32 $R, $r, $r", 2},
      {"mad.[lo|hi].[s32|u32] $R, $r, $r, $r", 4},
      {"mad.hi.sat.s32 $R, $r, $r, $r"},
      {"mul.wide.[s32|u32] $D, $r, $r", 2},
      {"mad.wide.[s32|u32] $D, $r, $r, $d", 2},
      {"mul24.[lo|hi].[s32|u32] $R, $r, $r"},
      {"mad24.[lo|hi].[s32|u32] $R, $r, $r, $r"},
      {"sad.[s32|u32] $R, $r, $r, $r"},
      {"[abs|neg].s32 $R, $r", 2},
      {"dp4a.[s32|u32].[s32|u32] $R, $r, $r, $r"},
      {"dp2a.[lo|hi].[s32|u32].[s32|u32] $R, $r, $r, $r"},
      {"[popc|clz|brev].b32 $R, $r", 3},
      {"[popc|clz].b64 $R, $d", 2},
      {"brev.b64 $D, $d"},
      {"bfind[.shiftamt|].[s32|u32] $R, $r"},
      {"bfind[.shiftamt|].[s64|u64] $R, $d"},
      {"bfe.[s32|u32] $R, $r, $s, $s", 2},
      {"bfe.[s64|u64] $D, $d, $s, $s", 2},
      {"bfi.b32 $R, $r, $r, $s, $s", 2},
      {"bfi.b64 $D, $d, $d, $s, $s", 2},
      {"szext.[clamp|wrap].[s32|u32] $R, $r, $s"},
      {"bmsk.[clamp|wrap].b32 $R, $s, $s"},
      {"[and|or|xor].b32 $R, $r, $r", 4},
      {"[not|cnot].b32 $R, $r"},
      {"lop3.b32 $R, $r, $r, $r, $k", 3},
      {"shf.[l|r].[clamp|wrap].b32 $R, $r, $r, $s", 3},
      {"shl.b32 $R, $r, $s", 3},
      {"shr.[b32|u32|s32] $R, $r, $s", 4},
      {"prmt.b32 $R, $r, $r, $r", 2},
      {"prmt.b32 $R, $r, $r, 0x[5410|7632|3254|1032|0123|9B10]", 3},
      {"prmt.b32[.f4e|.b4e|.rc8|.ecl|.ecr|.rc16] $R, $r, $r, $r"},
      {"min.relu.s32 $R, $r, $r", 1, 90},
      {"[add|min|max].[u16x2|s16x2] $R, $y, $y", 2, 90},
      // 16 bits
      {"[add|sub|min|max|mul.lo|mul.hi].[s16|u16] $H, $h, $h", 6},
      {"[div|rem].[s16|u16] $H, $h, $h", 2},
      {"mad.[lo|hi].[s16|u16] $H, $h, $h, $h", 2},
      {"mul.wide.[s16|u16] $R, $h, $h", 2},
      {"mad.wide.[s16|u16] $R, $h, $h, $r", 2},
      {"sad.[s16|u16] $H, $h, $h, $h"},
      {"[abs|neg].s16 $H, $h"},
      {"[and|or|xor].b16 $H, $h, $h", 2},
      {"[not|cnot].b16 $H, $h"},
      {"shl.b16 $H, $h, $s", 2},
      {"shr.[b16|u16|s16] $H, $h, $s", 3},
      // 64 bits
      {"[add|sub|min|max|mul.lo|mul.hi].[s64|u64] $D, $d, $d", 6},
      {"[div|rem].[s64|u64] $D, $d, $d", 2},
      {"mad.[lo|hi].[s64|u64] $D, $d, $d, $d", 2},
      {"sad.[s64|u64] $D, $d, $d, $d"},
      {"[abs|neg].s64 $D, $d"},
      {"[and|or|xor].b64 $D, $d, $d", 2},
      {"[not|cnot].b64 $D, $d"},
      {"shl.b64 $D, $d, $s", 2},
      {"shr.[b64|u64|s64] $D, $d, $s", 3},
      // f32
      {"[add|sub|mul]" ROUNDING FTZ SAT ".f32 $F, $f, $f", 8},
      {"[add|sub|mul]" FTZ SAT ".f32 $F, $f, $f", 6},
      {"fma" ROUNDING FTZ SAT ".f32 $F, $f, $f, $f", 5},
      {"mad" ROUNDING FTZ SAT ".f32 $F, $f, $f, $f"},
      {"div" ROUNDING FTZ ".f32 $F, $f, $f", 3},
      {"div.[approx|full]" FTZ ".f32 $F, $f, $f", 2},
      {"[rcp|sqrt]" ROUNDING FTZ ".f32 $F, $f", 3},
      {"[rcp|sqrt|rsqrt|sin|cos|lg2|ex2].approx" FTZ ".f32 $F, $f", 5},
      {"tanh.approx.f32 $F, $f"},
      {"[min|max]" FTZ "[.NaN|].f32 $F, $f, $f", 4},
      {"[min|max]" FTZ "[.NaN|].xorsign.abs.f32 $F, $f, $f", 1, 90},
      {"[abs|neg]" FTZ ".f32 $F, $f", 3},
      {"copysign.f32 $F, $f, $f"},
      {"testp.[finite|infinite|number|notanumber|normal|subnormal].f32 $P, $f"},
      // f64
      {"[add|sub|mul]" ROUNDING ".f64 $E, $e, $e", 4},
      {"[add|sub|mul].f64 $E, $e, $e", 3},
      {"fma" ROUNDING ".f64 $E, $e, $e, $e", 3},
      {"div" ROUNDING ".f64 $E, $e, $e", 2},
      {"[rcp|sqrt]" ROUNDING ".f64 $E, $e", 2},
      {"rcp.approx.ftz.f64 $E, $e"},
      {"rsqrt.approx" FTZ ".f64 $E, $e"},
      {"[min|max].f64 $E, $e, $e", 2},
      {"[abs|neg].f64 $E, $e", 2},
      {"testp.[finite|infinite|number|notanumber|normal|subnormal].f64 $P, $e"},
      // f16 and bf16
      {"[add|sub|mul][.rn|]" FTZ SAT ".f16 $H, $x, $x", 8},
      {"[add|sub|mul][.rn|]" FTZ SAT ".f16x2 $R, $y, $y", 8},
      {"fma.rn" FTZ "[.sat|.relu|].f16 $H, $x, $x, $x", 5},
      {"fma.rn" FTZ "[.sat|.relu|].f16x2 $R, $y, $y, $y", 5},
      {"fma.rn[.relu|].bf16 $H, $x, $x, $x", 5},
      {"fma.rn[.relu|].bf16x2 $R, $y, $y, $y", 5},
      {"[min|max]" FTZ "[.NaN|].f16 $H, $x, $x", 3},
      {"[min|max]" FTZ "[.NaN|].f16x2 $R, $y, $y", 3},
      {"[min|max][.NaN|].bf16 $H, $x, $x", 2},
      {"[min|max][.NaN|].bf16x2 $R, $y, $y", 2},
      {"[min|max]" FTZ "[.NaN|].xorsign.abs.f16 $H, $x, $x", 1, 90},
      {"[min|max][.NaN|].xorsign.abs.bf16x2 $R, $y, $y", 1, 90},
      {"[abs|neg]" FTZ ".f16 $H, $x", 2},
      {"[abs|neg]" FTZ ".f16x2 $R, $y", 2},
      {"[abs|neg].bf16 $H, $x"},
      {"[abs|neg].bf16x2 $R, $y"},
      {"[ex2|tanh].approx.f16 $H, $x"},
      {"[ex2|tanh].approx.f16x2 $R, $y"},
      {"[add|sub|mul][.rn|].bf16 $H, $x, $x", 4, 90},
      {"[add|sub|mul][.rn|].bf16x2 $R, $y, $y", 4, 90},
      {"ex2.approx.ftz.bf16 $H, $x", 1, 90},
      {"tanh.approx.bf16x2 $R, $y", 1, 90},
      // comparison and selection
      {"setp." SIGNED_ORDER ".s32 $P, $r, $r", 4},
      {"setp." UNSIGNED_ORDER ".u32 $P, $r, $r", 3},
      {"setp." SIGNED_ORDER ".s32 $Q, $r, $r", 2},
      {"setp." SIGNED_ORDER "." BOOLEAN ".s32 $P, $r, $r, $n", 2},
      {"setp." UNSIGNED_ORDER "." BOOLEAN ".u32 $Q, $r, $r, $n", 2},
      {"setp.[eq|ne].[b32|b32] $P, $r, $r"},
      {"setp." SIGNED_ORDER ".s16 $P, $h, $h", 2},
      {"setp." UNSIGNED_ORDER "." BOOLEAN ".u16 $Q, $h, $h, $n"},
      {"setp." SIGNED_ORDER ".s64 $P, $d, $d", 2},
      {"setp." UNSIGNED_ORDER "." BOOLEAN ".u64 $Q, $d, $d, $n"},
      {"setp." FLOAT_ORDER FTZ ".f32 $P, $f, $f", 4},
      {"setp." FLOAT_ORDER "." BOOLEAN FTZ ".f32 $Q, $f, $f, $n", 2},
      {"setp." FLOAT_ORDER ".f64 $P, $e, $e", 2},
      {"setp." FLOAT_ORDER "." BOOLEAN ".f64 $Q, $e, $e, $n"},
      {"setp." FLOAT_ORDER FTZ ".f16 $P, $x, $x", 3},
      {"setp." FLOAT_ORDER "." BOOLEAN FTZ ".f16 $P, $x, $x, $n", 2},
      {"setp." FLOAT_ORDER "." BOOLEAN FTZ ".f16x2 $Q, $y, $y, $n"},
      {"setp." FLOAT_ORDER ".bf16 $P, $x, $x", 1, 90},
      {"[and|or|xor].pred $P, $p, $p", 2},
      {"not.pred $P, $p"},
      {"mov.pred $P, $p"},
      {"set." SIGNED_ORDER ".[u32|s32].s32 $R, $r, $r"},
      {"set." UNSIGNED_ORDER ".f32.u32 $F, $r, $r"},
      {"set." FLOAT_ORDER FTZ ".[u32|s32].f32 $R, $f, $f"},
      {"set." FLOAT_ORDER "." BOOLEAN FTZ ".f32.f32 $F, $f, $f, $n"},
      {"set." FLOAT_ORDER ".[u32|s32].f64 $R, $e, $e"},
      {"set." FLOAT_ORDER FTZ ".f16.f16 $H, $x, $x"},
      {"set." FLOAT_ORDER FTZ ".f16x2.f16x2 $R, $y, $y"},
      {"selp.[b32|s32|u32] $R, $r, $r, $p", 4},
      {"selp.[b16|s16|u16] $H, $h, $h, $p", 2},
      {"selp.[b64|s64|u64] $D, $d, $d, $p", 2},
      {"selp.f32 $F, $f, $f, $p", 3},
      {"selp.f64 $E, $e, $e, $p", 2},
      {"slct.[b32|s32|u32].s32 $R, $r, $r, $r"},
      {"slct" FTZ ".f32.f32 $F, $f, $f, $f"},
      {"slct.[b64|s64].f32 $D, $d, $d, $f"},
      {"slct.f64.s32 $E, $e, $e, $r"},
      {"slct.[b16|u16].s32 $H, $h, $h, $r"},
      // moves
      {"mov.b32 $R, $r", 2},
      {"mov.b16 $H, $h", 2},
      {"mov.b64 $D, $d"},
      {"mov.f32 $F, $f"},
      {"mov.f64 $E, $e"},
      {"mov.b32 $R, $v", 3},
      {"mov.b32 $F, $y", 3},
      {"mov.b64 $E, $z", 2},
      {"mov.b64 $D, {$y, $y}", 2},
      {"mov.b64 $J, $z", 2},
      {"mov.b32 $R, {$x, $x}", 4},
      {"mov.b32 $G, $y", 4},
      {"mov.b64 $D, {$x, $x, $x, $x}"},
      {"mov.b64 $K, $z"},
      {"mov.u32 $R, [%tid.x|%tid.y|%tid.z|%ctaid.x|%ctaid.y|%ntid.x|%ntid.y|%nctaid.x|%laneid|%"
       "lanemask_lt|%lanemask_ge|%lanemask_eq]",
       2},
      // conversions between integers
      {"cvt[.sat|].[u8|s8|u16|s16].[u8|s8|u16|s16] $H, $x", 3},
      {"cvt[.sat|].[u8|s8|u16|s16].[u8|s8|u16|s16|u32|s32] $R, $y", 3},
      {"cvt[.sat|].[u32|s32|u16|s16|u8|s8].[u8|s8|u16|s16] $R, $x", 3},
      {"cvt[.sat|].[u16|s16|u8|s8].[u8|s8|u16|s16|u32|s32] $H, $y", 3},
      {"cvt[.sat|].[u32|s32|u16|s16|u8|s8].[u64|s64|u32|s32|u16|s8] $R, $z", 3},
      {"cvt[.sat|].[u64|s64|u32|s32].[u8|s8|u16|s16|u32|s32] $D, $y", 3},
      {"cvt[.sat|].[u64|s64|s16|u8].[u8|s8|u16|s16] $D, $x", 2},
      {"cvt[.sat|].[u16|s16|s8].[u64|s64] $H, $z"},
      {"cvt[.sat|].[u64|s64].[u64|s64] $D, $z"},
      {"cvt[.sat|].[u32|s32].[u32|s32] $R, $y"},
      // floats to integers
      {"cvt[.rni|.rzi|.rmi|.rpi]" FTZ SAT ".[u32|s32|u16|s16|u8|s8].f32 $R, $v", 4},
      {"cvt[.rni|.rzi|.rmi|.rpi]" FTZ SAT ".[u16|s16|u8|s8].f32 $H, $v", 2},
      {"cvt[.rni|.rzi|.rmi|.rpi]" FTZ SAT ".[u64|s64|u32|s8].f32 $D, $v", 2},
      {"cvt[.rni|.rzi|.rmi|.rpi]" SAT ".[u32|s32|u16|s16|u8|s8].f64 $R, $w", 3},
      {"cvt[.rni|.rzi|.rmi|.rpi]" SAT ".[u64|s64|u32|s16].f64 $D, $w", 2},
      {"cvt[.rni|.rzi|.rmi|.rpi]" FTZ SAT ".[u32|s32|u16|s16|u8|s8].f16 $R, $x", 2},
      {"cvt[.rni|.rzi|.rmi|.rpi]" SAT ".[u64|s64].f16 $D, $x"},
      {"cvt[.rni|.rzi|.rmi|.rpi]" SAT ".[u16|s16|u8|s8].f16 $H, $x"},
      // integers to floats
      {"cvt" ROUNDING SAT ".f32.[u32|s32|u16|s16|u8|s8] $F, $y", 4},
      {"cvt" ROUNDING SAT ".f32.[u64|s64] $F, $z", 2},
      {"cvt" ROUNDING SAT ".f32.[u16|s16|u8|s8] $F, $x", 2},
      {"cvt" ROUNDING SAT ".f64.[u32|s32|u16|s16|u8|s8] $E, $y", 2},
      {"cvt" ROUNDING SAT ".f64.[u64|s64] $E, $z", 2},
      {"cvt" ROUNDING SAT ".f16.[u32|s32|u16|s8] $H, $y", 2},
      {"cvt" ROUNDING SAT ".f16.[u64|s64] $H, $z"},
      {"cvt" ROUNDING SAT ".f16.[u16|s16|u8|s8] $H, $x"},
      // between floats
      {"cvt" FTZ SAT ".f32.f16 $F, $x", 6},
      {"cvt" SAT ".f64.f16 $E, $x"},
      {"cvt" FTZ SAT ".f64.f32 $E, $v", 3},
      {"cvt[.rni|.rzi|.rmi|.rpi|]" FTZ SAT ".f32.f32 $F, $v", 3},
      {"cvt[.rni|.rzi|.rmi|.rpi|]" FTZ SAT ".f16.f16 $H, $x"},
      {"cvt[.rni|.rzi|.rmi|.rpi|]" SAT ".f64.f64 $E, $w", 2},
      {"cvt" ROUNDING FTZ SAT ".f16.f32 $H, $v", 3},
      {"cvt" ROUNDING SAT ".f16.f64 $H, $w"},
      {"cvt" ROUNDING FTZ SAT ".f32.f64 $F, $w", 3},
      {"cvt.[rn|rn|rz][.relu|].[f16|bf16].f32 $H, $v", 6},
      {"cvt.[rn|rn|rz][.relu|].[f16x2|bf16x2].f32 $R, $v, $v", 6},
      {"cvt" FTZ ".f32.bf16 $F, $x", 4},
      {"cvt.rna.tf32.f32 $R, $v"},
      {"cvt.pack.sat.[u16|s16].s32 $R, $r, $r"},
      {"cvt.pack.sat.[u8|s8].s32.b32 $R, $r, $r, $r"},
  };
  return table;
}

std::uint32_t total_weight() {
  static const std::uint32_t sum = [] {
    std::uint32_t all = 0;
    for (const Template& row : templates())
      all += static_cast<std::uint32_t>(row.weight);
    return all;
  }();
  return sum;
}

std::string reg(Dice& dice, char file, std::uint32_t count) {
  return fmt::format("%{}{}", file, dice.below(count));
}

std::string group(Dice& dice, char file, std::uint32_t count, std::uint32_t size, char separator) {
  const std::uint32_t start = dice.below(count);
  const std::uint32_t step = size == 2 ? 1 + dice.below(count - 1) : 1;
  std::string text;
  for (std::uint32_t i = 0; i < size; ++i)
    text += fmt::format("{}%{}{}", i == 0 ? "" : std::string(1, separator), file,
                        (start + i * step) % count);
  return separator == '|' ? text : "{" + text + "}";
}

std::string word(Dice& dice, const std::vector<std::string>& words) {
  if (!words.empty() && dice.chance(20))
    return dice.pick(words);
  return reg(dice, 'r', kWords);
}

std::string operand(Dice& dice, char letter, const std::vector<std::string>& words) {
  const bool constant = dice.chance(15);
  switch (letter) {
  case 'H':
  case 'x': return reg(dice, 'h', kHalves);
  case 'R': return reg(dice, 'r', kWords);
  case 'y': return word(dice, words);
  case 'D':
  case 'z': return reg(dice, 'd', kDoubleWords);
  case 'F':
  case 'v': return reg(dice, 'f', kFloats);
  case 'E':
  case 'w': return reg(dice, 'e', kDoubles);
  case 'P':
  case 'p': return reg(dice, 'p', kPredicates);
  case 'n': return (dice.chance(40) ? "!" : "") + reg(dice, 'p', kPredicates);
  case 'h':
    return constant ? fmt::format("{}", random_constant(dice, 16)) : reg(dice, 'h', kHalves);
  case 'r': return constant ? fmt::format("{}", random_constant(dice, 32)) : word(dice, words);
  case 'd':
    return constant ? fmt::format("0x{:X}", random_constant(dice, 64))
                    : reg(dice, 'd', kDoubleWords);
  case 'f': return constant ? fmt::format("0f{:08X}", random_f32(dice)) : reg(dice, 'f', kFloats);
  case 'e': return constant ? fmt::format("0d{:016X}", random_f64(dice)) : reg(dice, 'e', kDoubles);
  case 's':
    return dice.chance(60) ? fmt::format("{}", dice.below(dice.chance(80) ? 40 : 300))
                           : word(dice, words);
  case 'k': return fmt::format("{}", dice.below(256));
  case 'Q': return group(dice, 'p', kPredicates, 2, '|');
  case 'J': return group(dice, 'r', kWords, 2, ',');
  case 'G': return group(dice, 'h', kHalves, 2, ',');
  default: // 'K'
    return group(dice, 'h', kHalves, 4, ',');
  }
}

std::string expand(Dice& dice, std::string_view text, const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '$') {
      out += operand(dice, text[++i], words);
    } else if (text[i] == '[') {
      std::vector<std::string> parts(1);
      for (++i; text[i] != ']'; ++i) {
        if (text[i] == '|')
          parts.emplace_back();
        else
          parts.back() += text[i];
      }
      out += expand(dice, dice.pick(parts), words);
    } else {
      out += text[i];
    }
  }
  return out;
}

} // namespace

std::uint64_t random_constant(Dice& dice, int bits) {
  const std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  switch (dice.below(6)) {
  case 0: return dice.below(4);
  case 1: return (~std::uint64_t{0} - dice.below(4)) & mask;
  case 2: return (std::uint64_t{1} << (bits - 1)) - dice.below(2);
  case 3: return std::uint64_t{1} << dice.below(static_cast<std::uint32_t>(bits));
  case 4: return dice.below(200);
  default: return dice.bits() & mask;
  }
}

std::uint32_t random_f32(Dice& dice) {
  static const std::vector<std::uint32_t> special = {
      0,          0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000,
      0x7F800001, 0xFFC12345, 1,          0x807FFFFF, 0x00800000, 0x7F7FFFFF, 0x4F000000,
      0x3F000000, 0x40200000, 0xC1480000, 0x5F800000, 0x477FE000, 0x33000000};
  const std::uint32_t kind = dice.below(4);
  if (kind == 0)
    return dice.pick(special);
  if (kind == 1)
    return static_cast<std::uint32_t>(dice.bits());
  return 0x3C000000 + dice.below(0x08000000) + (dice.below(2) << 31U); // about 0.01 to 1e4
}

std::uint64_t random_f64(Dice& dice) {
  static const std::vector<std::uint64_t> special = {0,
                                                     0x8000000000000000,
                                                     0x3FF0000000000000,
                                                     0xBFF0000000000000,
                                                     0x7FF0000000000000,
                                                     0xFFF0000000000000,
                                                     0x7FF8000000000000,
                                                     1,
                                                     0x000FFFFFFFFFFFFF,
                                                     0x7FEFFFFFFFFFFFFF,
                                                     0x36A0000000000000,
                                                     0x47EFFFFFF0000000,
                                                     0x3FE0000000000000,
                                                     0xC004000000000000};
  const std::uint32_t kind = dice.below(4);
  if (kind == 0)
    return dice.pick(special);
  if (kind == 1)
    return dice.bits();
  return 0x3F80000000000000 + (dice.bits() & 0x00FFFFFFFFFFFFFF) + (dice.bits() << 63U);
}

std::uint16_t random_f16(Dice& dice) {
  static const std::vector<std::uint16_t> special = {0,      0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00,
                                                     0x7E00, 0x7D01, 1,      0x83FF, 0x0400, 0x7BFF,
                                                     0x3F80, 0x7F80, 0x7FC0, 0x3800};
  if (dice.chance(40))
    return dice.pick(special);
  return static_cast<std::uint16_t>(dice.bits());
}

std::string fill_in(Dice& dice, std::string_view text, const std::vector<std::string>& words) {
  return expand(dice, text, words) + ";";
}

std::string random_instruction(Dice& dice, int sm, const std::vector<std::string>& words) {
  while (true) {
    auto at = static_cast<int>(dice.below(total_weight()));
    for (const Template& row : templates()) {
      at -= row.weight;
      if (at >= 0)
        continue;
      if (row.sm > sm)
        break;
      return fill_in(dice, row.text, words);
    }
  }
}

std::vector<std::string> random_sequence(Dice& dice, const std::vector<std::string>& words) {
  const auto line = [&](std::string_view text) { return fill_in(dice, text, words); };
  switch (dice.below(5)) {
  case 0:
    return {line("add.cc.[u32|s32] $R, $r, $r"), line("addc.cc.u32 $R, $r, $r"),
            line("addc.[u32|s32] $R, $r, $r")};
  case 1: return {line("sub.cc.[u32|s32] $R, $r, $r"), line("subc.[u32|s32] $R, $r, $r")};
  case 2:
    return {line("mad.[lo|hi].cc.[u32|s32] $R, $r, $r, $r"),
            line("madc.[lo|hi].cc.u32 $R, $r, $r, $r"), line("addc.u32 $R, $r, 0")};
  case 3: return {line("add.cc.u64 $D, $d, $d"), line("addc.u64 $D, $d, $d")};
  default: {
    // The payload of a NaN is nobody's promise in f64, so its bits are seen only made canonical.
    const std::string from = operand(dice, 'w', words);
    return {fmt::format("testp.notanumber.f64 %pt, {};", from),
            fmt::format("selp.f64 %et, 0d7FF8000000000000, {}, %pt;", from),
            line("mov.b64 $D, %et")};
  }
  }
}

} // namespace kernevo::test
