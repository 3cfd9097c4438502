#include "kernevo/kernel/widened_source.h"

#include "kernevo/kernel/source_scan.h"
#include "kernevo/kernel/wide_halves.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <utility>

namespace kernevo {
namespace {

// What depends on how a number is stored, or computes in types that are not widened. Names of types
// and functions that are have been looked for before.
bool defies_widening(std::string_view name) {
  static constexpr std::array<std::string_view, 10> exact = {
      "asm",  "__asm__", "__asm",    "union",  "memcpy",
      "wmma", "texture", "bit_cast", "printf", "htanh_approx"};
  static constexpr std::array<std::string_view, 7> parts = {
      "_as_float", "float_as_", "__nv_bf", "bfloat", "_float_", "tex2D", "tex1D"};
  const bool is_intrinsic = name.starts_with("__");
  return std::find(exact.begin(), exact.end(), name) != exact.end() ||
         std::any_of(
             parts.begin(), parts.end(),
             [&](std::string_view part) { return name.find(part) != std::string_view::npos; }) ||
         (is_intrinsic && (name.starts_with("__h") || name.find("half") != std::string_view::npos));
}

// Types, and functions that are exact or correctly rounded.
const std::map<std::string_view, std::string_view>& plain_names() {
  static const std::map<std::string_view, std::string_view> names = {
      {"float", "double"},
      {"float1", "double1"},
      {"float2", "double2"},
      {"float3", "double3"},
      {"float4", "double4"},
      {"make_float1", "make_double1"},
      {"make_float2", "make_double2"},
      {"make_float3", "make_double3"},
      {"make_float4", "make_double4"},
      {"fabsf", "fabs"},
      {"fmaxf", "fmax"},
      {"fminf", "fmin"},
      {"fmodf", "fmod"},
      {"floorf", "floor"},
      {"ceilf", "ceil"},
      {"truncf", "trunc"},
      {"rintf", "rint"},
      {"roundf", "round"},
      {"nearbyintf", "nearbyint"},
      {"copysignf", "copysign"},
      {"ldexpf", "ldexp"},
      {"frexpf", "frexp"},
      {"modff", "modf"},
      {"fmaf", "fma"},
      {"fdimf", "fdim"},
      {"remainderf", "remainder"},
      {"__fmaf_rn", "__fma_rn"},
      {"__fadd_rn", "__dadd_rn"},
      {"__fsub_rn", "__dsub_rn"},
      {"__fmul_rn", "__dmul_rn"},
      {"__fdiv_rn", "__ddiv_rn"},
      {"__fsqrt_rn", "__dsqrt_rn"},
      {"__frcp_rn", "__drcp_rn"},
      {"__float2int_rn", "__double2int_rn"},
      {"__float2int_rz", "__double2int_rz"},
      {"__float2int_rd", "__double2int_rd"},
      {"__float2int_ru", "__double2int_ru"}};
  return names;
}

// Functions of one argument that kernels approximate, by the name of their double version.
const std::map<std::string_view, std::string_view>& approximated_names() {
  static const std::map<std::string_view, std::string_view> names = [] {
    std::map<std::string_view, std::string_view> table = {
        {"__expf", "exp"},   {"__exp10f", "exp10"}, {"__logf", "log"},
        {"__log2f", "log2"}, {"__log10f", "log10"}, {"__sinf", "sin"},
        {"__cosf", "cos"},   {"__tanf", "tan"},     {"__frsqrt_rn", "rsqrt"}};
    static constexpr std::array<std::array<std::string_view, 2>, 25> pairs = {{
        {"expf", "exp"},     {"exp2f", "exp2"},   {"exp10f", "exp10"}, {"expm1f", "expm1"},
        {"logf", "log"},     {"log2f", "log2"},   {"log10f", "log10"}, {"log1pf", "log1p"},
        {"sqrtf", "sqrt"},   {"rsqrtf", "rsqrt"}, {"cbrtf", "cbrt"},   {"sinf", "sin"},
        {"cosf", "cos"},     {"tanf", "tan"},     {"asinf", "asin"},   {"acosf", "acos"},
        {"atanf", "atan"},   {"sinhf", "sinh"},   {"coshf", "cosh"},   {"tanhf", "tanh"},
        {"asinhf", "asinh"}, {"acoshf", "acosh"}, {"atanhf", "atanh"}, {"erff", "erf"},
        {"erfcf", "erfc"},
    }};
    for (const auto& [narrow, wide] : pairs) {
      table[narrow] = wide;
      table[wide] = wide;
    }
    return table;
  }();
  return names;
}

std::string helpers(double noise, bool halves, bool pairs) {
  std::string text = fmt::format(
      "__device__ __forceinline__ double wide_by_chance(double x) {{ unsigned long long b = "
      "(unsigned long long)__double_as_longlong(x); b = (b ^ (b >> 29)) * 0x9E3779B97F4A7C15ull; "
      "return (b ^ (b >> 32)) & 64 ? 1 + {0:a} : 1 - {0:a}; }} ",
      noise);
  std::map<std::string_view, bool> done;
  for (const auto& [name, wide] : approximated_names())
    if (!std::exchange(done[wide], true))
      text += fmt::format("__device__ __forceinline__ double wide_{0}(double x) {{ return "
                          "{0}(x * wide_by_chance(x)) * wide_by_chance(x + 1); }} ",
                          wide);
  text += "__device__ __forceinline__ double wide_pow(double x, double y) { return pow(x, y * "
          "wide_by_chance(x + y)) * wide_by_chance(y); } "
          "__device__ __forceinline__ double wide_ratio(double x, double y) { return x / y * "
          "wide_by_chance(x + y); } ";
  if (halves)
    text += wide_half_helpers();
  if (pairs)
    text += wide_pair_helpers();
  return text;
}

std::string_view helper_of(std::string_view name, std::string& storage) {
  const auto& approximated = approximated_names();
  if (const auto found = approximated.find(name); found != approximated.end())
    storage = fmt::format("wide_{}", found->second);
  else if (name == "powf" || name == "__powf" || name == "pow")
    storage = "wide_pow";
  else if (name == "__fdividef" || name == "fdividef")
    storage = "wide_ratio";
  else
    return {};
  return storage;
}

} // namespace

std::optional<std::string> widened_source(std::string_view source, double noise) {
  const SourceScan scan = scan_cuda_source(source);
  std::string wide;
  bool halves = false;
  bool pairs = false;
  std::size_t copied = 0;
  for (std::size_t i = 0; i < scan.tokens.size(); ++i) {
    const SourceToken& token = scan.tokens[i];
    if (token.kind != SourceToken::Kind::identifier)
      continue;
    std::string storage;
    std::string_view replacement = wide_half(token.text);
    halves = halves || !replacement.empty();
    pairs = pairs || is_pair_of_halves(token.text);
    if (replacement.empty() && defies_widening(token.text))
      return std::nullopt;
    const bool called = i + 1 < scan.tokens.size() && scan.tokens[i + 1].text == "(";
    if (const auto found = plain_names().find(token.text); found != plain_names().end())
      replacement = found->second;
    else if (called && replacement.empty())
      replacement = helper_of(token.text, storage);
    if (replacement.empty())
      continue;
    const auto at = static_cast<std::size_t>(token.text.data() - source.data());
    wide.append(source.substr(copied, at - copied)).append(replacement);
    copied = at + token.text.size();
  }
  return helpers(noise, halves, pairs) + "\n" + wide.append(source.substr(copied));
}

bool exchanges_in_warps(std::string_view source) {
  const SourceScan scan = scan_cuda_source(source);
  return std::any_of(scan.tokens.begin(), scan.tokens.end(), [](const SourceToken& token) {
    return token.text.starts_with("__shfl") || token.text.starts_with("__reduce") ||
           token.text == "cooperative_groups";
  });
}

} // namespace kernevo
