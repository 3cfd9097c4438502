#include "kernevo/sass/anchors.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

namespace kernevo::sass {

namespace {

constexpr int kAlwaysTrue = 7;

struct Match {
  std::string_view ptx;  // the mnemonic begins with it
  std::string_view sass; // opcodes, separated by blanks
  Trust trust;
};

// The first match decides.
constexpr std::array kMatches = {
    Match{"ld.param", "", Trust::weak},
    Match{"ld.local", "", Trust::weak},
    Match{"st.local", "", Trust::weak},
    Match{"ld.const", "LDC", Trust::medium},
    Match{"ld.shared", "LDS LD", Trust::strong},
    Match{"ld.", "LDG LD", Trust::strong},
    Match{"st.shared", "STS ST", Trust::strong},
    Match{"st.param", "", Trust::weak},
    Match{"st.", "STG ST", Trust::strong},
    Match{"ldu.", "LDG LD", Trust::strong},
    Match{"atom.", "ATOM ATOMG ATOMS", Trust::strong},
    Match{"red.", "RED REDG REDS ATOMS ATOM ATOMG", Trust::strong},
    Match{"bar.sync", "BAR", Trust::strong},
    Match{"bar.red", "BAR", Trust::strong},
    Match{"barrier.", "BAR", Trust::strong},
    Match{"bar.warp", "WARPSYNC", Trust::weak},
    Match{"shfl.", "SHFL", Trust::strong},
    Match{"vote.", "VOTE VOTEU", Trust::medium},
    Match{"match.", "MATCH", Trust::strong},
    Match{"redux.", "REDUX CREDUX", Trust::strong},
    Match{"ldmatrix.", "LDSM", Trust::strong},
    Match{"stmatrix.", "STSM", Trust::strong},
    Match{"cp.async.c", "LDGSTS", Trust::strong},
    Match{"mma.", "HMMA IMMA DMMA BMMA QMMA", Trust::medium},
    Match{"tex.", "TEX TLD TLD4", Trust::strong},
    Match{"suld.", "SULD", Trust::strong},
    Match{"sust.", "SUST", Trust::strong},
    Match{"fma.rn.f64", "DFMA", Trust::medium},
    Match{"fma.", "FFMA FFMA2 HFMA2", Trust::medium},
    Match{"add.rn.f32", "FADD FFMA", Trust::medium},
    Match{"add.f32", "FADD FFMA", Trust::medium},
    Match{"add.ftz.f32", "FADD FFMA", Trust::medium},
    Match{"sub.f32", "FADD FFMA", Trust::medium},
    Match{"mul.f32", "FMUL FFMA", Trust::medium},
    Match{"mul.rn.f32", "FMUL FFMA", Trust::medium},
    Match{"mul.ftz.f32", "FMUL FFMA", Trust::medium},
    Match{"add.f64", "DADD DFMA", Trust::medium},
    Match{"mul.f64", "DMUL DFMA", Trust::medium},
    Match{"ex2.approx", "MUFU", Trust::medium},
    Match{"lg2.approx", "MUFU", Trust::medium},
    Match{"rcp.approx", "MUFU", Trust::medium},
    Match{"rsqrt.approx", "MUFU", Trust::medium},
    Match{"sqrt.approx", "MUFU", Trust::medium},
    Match{"sin.approx", "MUFU", Trust::medium},
    Match{"cos.approx", "MUFU", Trust::medium},
    Match{"tanh.approx", "MUFU", Trust::medium},
    Match{"dp4a.", "IDP", Trust::medium},
    Match{"max.f32", "FMNMX", Trust::medium},
    Match{"min.f32", "FMNMX", Trust::medium},
    Match{"bra", "BRA EXIT CALL", Trust::weak},
    Match{"ret", "EXIT RET", Trust::weak},
    Match{"setp.", "ISETP FSETP DSETP HSETP2 UISETP", Trust::weak},
};

const Match* find_match(std::string_view mnemonic) {
  const auto* found = std::find_if(kMatches.begin(), kMatches.end(),
                                   [&](const Match& m) { return mnemonic.starts_with(m.ptx); });
  return found == kMatches.end() || found->sass.empty() ? nullptr : found;
}

bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::size_t end = words.find(' ');
    if (words.substr(0, end) == word)
      return true;
    words.remove_prefix(end == std::string_view::npos ? words.size() : end + 1);
  }
  return false;
}

bool is_guarded(const SassInstruction& i) {
  return i.guard && i.guard->index != kAlwaysTrue;
}

struct Found {
  const Match* match = nullptr;
  std::map<std::size_t, int> unguarded; // block -> copies
  std::map<std::size_t, int> guarded;
};

} // namespace

std::vector<Anchor> find_anchors(const SassFunction& function, const Flow& flow,
                                 const PtxLines& ptx) {
  std::map<int, Found> lines;
  for (std::size_t k = 0; k < function.instructions.size(); ++k) {
    const SassInstruction& i = function.instructions[k];
    const std::size_t block = flow.block_of[k];
    if (!i.ptx_line || *i.ptx_line <= 0 ||
        static_cast<std::size_t>(*i.ptx_line) >= ptx.lines.size() || !flow.blocks[block].reachable)
      continue;
    const PtxLine& line = ptx.lines[static_cast<std::size_t>(*i.ptx_line)];
    const Match* match = line.block ? find_match(line.mnemonic) : nullptr;
    if (match == nullptr || !has_word(match->sass, i.opcode))
      continue;
    Found& found = lines[*i.ptx_line];
    found.match = match;
    // A branch's guard says where it goes, not whether it runs.
    const bool guarded = is_guarded(i) && match->trust != Trust::weak;
    ++(guarded ? found.guarded : found.unguarded)[block];
  }
  // An unrolled loop repeats its memory accesses but not its counter and branch: what a PTX block
  // repeats most surely tells how often one execution of a machine block runs it.
  std::map<std::pair<std::size_t, std::size_t>, std::array<int, 3>> repeats;
  for (const auto& [number, found] : lines) {
    const std::size_t p = *ptx.lines[static_cast<std::size_t>(number)].block;
    for (const auto* side : {&found.unguarded, &found.guarded})
      for (const auto& [block, copies] : *side) {
        int& most = repeats[{p, block}][static_cast<std::size_t>(found.match->trust)];
        most = std::max(most, copies);
      }
  }
  // Tests and branches of a loop that was unrolled are duplicated or dropped at will.
  std::map<std::size_t, std::set<std::size_t>> sure; // PTX block -> blocks with trusted copies
  for (const auto& [key, most] : repeats)
    if (most[0] > 0 || most[1] > 0)
      sure[key.first].insert(key.second);
  std::vector<Anchor> anchors;
  for (const auto& [number, found] : lines) {
    const PtxLine& line = ptx.lines[static_cast<std::size_t>(number)];
    const bool by_guard = found.unguarded.empty();
    // Guarded copies of an unguarded line come from a branch turned into predicates: they run
    // whenever their block does, so the line's count says nothing of the block's.
    if ((by_guard && !line.guarded) || (!found.guarded.empty() && !found.unguarded.empty()))
      continue;
    if (found.match->trust == Trust::weak &&
        (found.unguarded.size() > 1 || sure[*line.block].size() > 1))
      continue;
    Anchor anchor{number, *line.block, found.match->trust, by_guard, {}};
    for (const auto& [block, copies] : by_guard ? found.guarded : found.unguarded) {
      const std::array<int, 3>& most = repeats[{anchor.ptx_block, block}];
      const int repeat = most[0] > 0 ? most[0] : most[1] > 0 ? most[1] : 1;
      anchor.copies.emplace_back(block, repeat);
    }
    anchors.push_back(std::move(anchor));
  }
  return anchors;
}

} // namespace kernevo::sass
