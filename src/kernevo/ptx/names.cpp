#include "kernevo/ptx/names.h"

#include <array>
#include <cstddef>
#include <unordered_map>
#include <utility>

namespace kernevo::ptx {
namespace {

constexpr std::array kOpcodes = {
#define KERNEVO_OPCODE(enumerator, mnemonic) std::string_view{mnemonic},
#include "kernevo/ptx/opcodes.def"
#undef KERNEVO_OPCODE
};

constexpr std::array kModifiers = {
#define KERNEVO_MODIFIER(enumerator, text) std::string_view{text},
#include "kernevo/ptx/modifiers.def"
#undef KERNEVO_MODIFIER
};
static_assert(kOpcodes.size() <= 256 && kModifiers.size() <= 256);

template <class Value> using Names = std::unordered_map<std::string_view, Value>;

template <class Value> std::optional<Value> find(const Names<Value>& names, std::string_view text) {
  const auto found = names.find(text);
  if (found == names.end())
    return std::nullopt;
  return found->second;
}

template <class Value, std::size_t N>
Names<Value> invert(const std::array<std::string_view, N>& texts) {
  Names<Value> names;
  for (std::size_t i = 0; i < N; ++i)
    names.emplace(texts[i], static_cast<Value>(i));
  return names;
}

const Names<Special>& scalar_specials() {
  static const Names<Special> names = {
      {"%laneid", Special::laneid},
      {"%warpid", Special::warpid},
      {"%nwarpid", Special::nwarpid},
      {"%smid", Special::smid},
      {"%nsmid", Special::nsmid},
      {"%gridid", Special::gridid},
      {"%lanemask_eq", Special::lanemask_eq},
      {"%lanemask_le", Special::lanemask_le},
      {"%lanemask_lt", Special::lanemask_lt},
      {"%lanemask_ge", Special::lanemask_ge},
      {"%lanemask_gt", Special::lanemask_gt},
      {"%clock", Special::clock},
      {"%clock_hi", Special::clock_hi},
      {"%clock64", Special::clock64},
      {"%globaltimer", Special::globaltimer},
      {"%globaltimer_lo", Special::globaltimer_lo},
      {"%globaltimer_hi", Special::globaltimer_hi},
      {"%dynamic_smem_size", Special::dynamic_smem_size},
      {"%total_smem_size", Special::total_smem_size},
      {"%aggr_smem_size", Special::aggr_smem_size},
      {"%cluster_ctarank", Special::cluster_ctarank},
      {"%cluster_nctarank", Special::cluster_nctarank},
      {"%is_explicit_cluster", Special::is_explicit_cluster},
      {"%current_graph_exec", Special::zero64},
      {"%reserved_smem_offset_begin", Special::reserved_smem_begin},
      {"%reserved_smem_offset_end", Special::reserved_smem_end},
      {"%reserved_smem_offset_cap", Special::reserved_smem_end},
      {"%reserved_smem_offset_0", Special::reserved_smem_begin},
      {"%reserved_smem_offset_1", Special::reserved_smem_second},
  };
  return names;
}

// The x component; y and z follow it in the enumeration.
const Names<Special>& vector_specials() {
  static const Names<Special> names = {
      {"%tid", Special::tid_x},
      {"%ntid", Special::ntid_x},
      {"%ctaid", Special::ctaid_x},
      {"%nctaid", Special::nctaid_x},
      {"%clusterid", Special::clusterid_x},
      {"%nclusterid", Special::nclusterid_x},
      {"%cluster_ctaid", Special::cluster_ctaid_x},
      {"%cluster_nctaid", Special::cluster_nctaid_x},
  };
  return names;
}

bool is_environment(std::string_view name) {
  constexpr std::string_view prefix = "%envreg";
  if (!name.starts_with(prefix))
    return false;
  const std::string_view digits = name.substr(prefix.size());
  return !digits.empty() && digits.size() <= 2 &&
         digits.find_first_not_of("0123456789") == std::string_view::npos;
}

// %pm0 to %pm7 and %pm0_64 to %pm7_64: counters nobody started.
std::optional<Special> performance_counter(std::string_view name) {
  if (!name.starts_with("%pm") || name.size() < 4 || name[3] < '0' || name[3] > '7')
    return std::nullopt;
  const std::string_view rest = name.substr(4);
  return rest.empty()    ? std::optional(Special::envreg)
         : rest == "_64" ? std::optional(Special::zero64)
                         : std::nullopt;
}

} // namespace

std::string_view name_of(Opcode opcode) {
  return kOpcodes[static_cast<std::size_t>(opcode)];
}

std::string_view name_of(Mod modifier) {
  return kModifiers[static_cast<std::size_t>(modifier)];
}

std::optional<Opcode> find_opcode(std::string_view mnemonic) {
  static const Names<Opcode> names = invert<Opcode>(kOpcodes);
  return find(names, mnemonic);
}

std::optional<Mod> find_modifier(std::string_view text) {
  static const Names<Mod> names = [] {
    Names<Mod> made = invert<Mod>(kModifiers);
    made.emplace("nan", Mod::nan); // as setp and set spell it
    return made;
  }();
  return find(names, text);
}

std::optional<Type> find_type(std::string_view text) {
  static const Names<Type> names = [] {
    Names<Type> made;
    for (int i = 1; i <= static_cast<int>(Type::u8x4); ++i)
      made.emplace(name_of(static_cast<Type>(i)), static_cast<Type>(i));
    return made;
  }();
  return find(names, text);
}

std::optional<Space> find_space(std::string_view text) {
  static const Names<Space> names = {
      {"reg", Space::reg},
      {"sreg", Space::sreg},
      {"global", Space::global},
      {"shared", Space::shared},
      {"local", Space::local},
      {"const", Space::constant},
      {"param", Space::param},
      {"shared::cta", Space::shared},
      {"param::entry", Space::param},
      {"shared::cluster", Space::shared},
      {"param::func", Space::param},
  };
  return find(names, text);
}

std::optional<Special> find_special(std::string_view name, char component) {
  if (component == 0) {
    if (is_environment(name))
      return name == "%envreg1"   ? Special::envreg1
             : name == "%envreg2" ? Special::envreg2
                                  : Special::envreg;
    if (const auto counter = performance_counter(name))
      return counter;
    return find(scalar_specials(), name);
  }
  const std::optional<Special> x = find(vector_specials(), name);
  // The fourth component exists and always reads as zero, as %envreg does here.
  if (x && component == 'w')
    return Special::envreg;
  if (!x || component < 'x' || component > 'z')
    return std::nullopt;
  return static_cast<Special>(static_cast<int>(*x) + (component - 'x'));
}

bool is_vector_special(std::string_view name) {
  return vector_specials().contains(name);
}

Type type_of(Special special) {
  switch (special) {
  case Special::clock64:
  case Special::globaltimer:
  case Special::zero64:
  case Special::gridid: return Type::u64;
  case Special::is_explicit_cluster: return Type::pred;
  default: return Type::u32;
  }
}

std::optional<LeftOut> left_out(std::string_view mnemonic) {
  struct Name {
    std::string_view prefix;
    LeftOut what;
  };
  static constexpr Name names[] = {
      {"wgmma.mma_async.sp", {"sparse matrix instructions", "90a", 90}},
      {"tcgen05", {"fifth-generation tensor-core instructions", "100f 110f", 100}},
      {"st.bulk", {"bulk copies (TMA)", "", 100}},
      {"multimem", {"multi-device memory", "", 90}},
      {"mma.sp", {"sparse matrix instructions", "", 80}},
      {"clusterlaunchcontrol", {"cluster launch control", "", 100}},
  };
  for (const Name& name : names)
    if (mnemonic.starts_with(name.prefix) &&
        (mnemonic.size() == name.prefix.size() || mnemonic[name.prefix.size()] == '.' ||
         mnemonic[name.prefix.size()] == ':'))
      return name.what;
  return std::nullopt;
}

} // namespace kernevo::ptx
