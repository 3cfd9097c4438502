#include "kernevo/kernel/wide_halves.h"

#include <map>
#include <string>

namespace kernevo {
namespace {

using Names = std::map<std::string, std::string, std::less<>>;

// Two functions of each are known, by the suffixes that say how they round.
void add(Names& names, const std::string& name, const std::string& wide) {
  for (const char* rounding : {"", "_rn"})
    names[name + rounding] = wide;
}

Names scalar_names() {
  Names names = {{"half", "double"},
                 {"__half", "double"},
                 {"nv_bfloat16", "double"},
                 {"__nv_bfloat16", "double"}};
  // Conversions are exact, but for those to a type that is not widened.
  for (const char* to : {"__float2half", "__double2half", "__int2half", "__uint2half",
                         "__short2half", "__ushort2half", "__float2bfloat16", "__double2bfloat16",
                         "__int2bfloat16", "__uint2bfloat16"})
    add(names, to, "double");
  for (const char* from : {"__half2float", "__bfloat162float"})
    names[from] = "double";
  for (const char* type : {"half", "bfloat16"})
    for (const char* rounding : {"_rn", "_rz", "_rd", "_ru"})
      names[std::string("__") + type + "2int" + rounding] = std::string("__double2int") + rounding;
  for (const char* function : {"add", "sub", "mul", "div"})
    add(names, std::string("__h") + function, std::string("wide_") + function);
  for (const char* function :
       {"neg", "abs", "max", "min", "eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf"})
    names[std::string("__h") + function] = std::string("wide_") + function;
  names["__hfma"] = "fma";
  for (const char* function :
       {"exp", "exp2", "exp10", "log", "log2", "log10", "sin", "cos", "sqrt", "rsqrt", "tanh"})
    names[std::string("h") + function] = std::string("wide_") + function;
  names["hrcp"] = "wide_reciprocal";
  for (const char* function : {"ceil", "floor", "trunc", "rint"})
    names[std::string("h") + function] = function;
  return names;
}

Names pair_names() {
  Names names;
  for (const char* type : {"half2", "__half2", "nv_bfloat162", "__nv_bfloat162"})
    names[type] = "double2";
  // One number twice, two numbers, and a pair as it is.
  for (const char* twice :
       {"__half2half2", "__float2half2_rn", "__bfloat162bfloat162", "__float2bfloat162_rn"})
    names[twice] = "wide_twice";
  for (const char* both : {"__halves2half2", "__floats2half2_rn", "make_half2",
                           "__halves2bfloat162", "__floats2bfloat162_rn", "make_bfloat162"})
    names[both] = "make_double2";
  for (const char* same :
       {"__half22float2", "__float22half2_rn", "__bfloat1622float2", "__float22bfloat162_rn"})
    names[same] = "wide_same";
  for (const char* low : {"__low2half", "__low2float", "__low2bfloat16"})
    names[low] = "wide_low";
  for (const char* high : {"__high2half", "__high2float", "__high2bfloat16"})
    names[high] = "wide_high";
  names["__lowhigh2highlow"] = "wide_swapped";
  for (const char* function : {"add", "sub", "mul"})
    add(names, std::string("__h") + function + "2", std::string("wide_") + function);
  names["__h2div"] = "wide_div";
  for (const char* function : {"neg", "abs", "max", "min"})
    names[std::string("__h") + function + "2"] = std::string("wide_") + function;
  names["__hfma2"] = "wide_fma";
  for (const char* function : {"exp", "exp2", "log", "log2", "sin", "cos", "sqrt", "rsqrt", "tanh"})
    names[std::string("h2") + function] = std::string("wide_") + function;
  return names;
}

const Names& scalars() {
  static const Names names = scalar_names();
  return names;
}

const Names& pairs() {
  static const Names names = pair_names();
  return names;
}

} // namespace

std::string_view wide_half(std::string_view name) {
  for (const Names* names : {&scalars(), &pairs()})
    if (const auto found = names->find(name); found != names->end())
      return found->second;
  return {};
}

bool is_pair_of_halves(std::string_view name) {
  return pairs().contains(name);
}

std::string_view wide_half_helpers() {
  return R"(
#define WIDE_DEVICE __device__ __forceinline__
WIDE_DEVICE double wide_add(double a, double b) { return a + b; }
WIDE_DEVICE double wide_sub(double a, double b) { return a - b; }
WIDE_DEVICE double wide_mul(double a, double b) { return a * b; }
WIDE_DEVICE double wide_div(double a, double b) { return a / b; }
WIDE_DEVICE double wide_neg(double a) { return -a; }
WIDE_DEVICE double wide_abs(double a) { return fabs(a); }
WIDE_DEVICE double wide_max(double a, double b) { return fmax(a, b); }
WIDE_DEVICE double wide_min(double a, double b) { return fmin(a, b); }
WIDE_DEVICE bool wide_eq(double a, double b) { return a == b; }
WIDE_DEVICE bool wide_ne(double a, double b) { return a != b && a == a && b == b; }
WIDE_DEVICE bool wide_lt(double a, double b) { return a < b; }
WIDE_DEVICE bool wide_le(double a, double b) { return a <= b; }
WIDE_DEVICE bool wide_gt(double a, double b) { return a > b; }
WIDE_DEVICE bool wide_ge(double a, double b) { return a >= b; }
WIDE_DEVICE bool wide_isnan(double a) { return a != a; }
WIDE_DEVICE int wide_isinf(double a) { return isinf(a) ? (a > 0 ? 1 : -1) : 0; }
WIDE_DEVICE double wide_reciprocal(double a) { return wide_ratio(1.0, a); }
)";
}

std::string_view wide_pair_helpers() {
  return R"(
WIDE_DEVICE double2 wide_twice(double a) { return make_double2(a, a); }
WIDE_DEVICE double2 wide_same(double2 a) { return a; }
WIDE_DEVICE double wide_low(double2 a) { return a.x; }
WIDE_DEVICE double wide_high(double2 a) { return a.y; }
WIDE_DEVICE double2 wide_swapped(double2 a) { return make_double2(a.y, a.x); }
#define WIDE_PAIRS(name) \
  WIDE_DEVICE double2 name(double2 a, double2 b) { return make_double2(name(a.x, b.x), name(a.y, b.y)); }
WIDE_PAIRS(wide_add) WIDE_PAIRS(wide_sub) WIDE_PAIRS(wide_mul) WIDE_PAIRS(wide_div)
WIDE_PAIRS(wide_max) WIDE_PAIRS(wide_min)
#undef WIDE_PAIRS
#define WIDE_PAIR(name) \
  WIDE_DEVICE double2 name(double2 a) { return make_double2(name(a.x), name(a.y)); }
WIDE_PAIR(wide_neg) WIDE_PAIR(wide_abs) WIDE_PAIR(wide_exp) WIDE_PAIR(wide_exp2) WIDE_PAIR(wide_log)
WIDE_PAIR(wide_log2) WIDE_PAIR(wide_sin) WIDE_PAIR(wide_cos) WIDE_PAIR(wide_sqrt) WIDE_PAIR(wide_rsqrt)
WIDE_PAIR(wide_tanh)
#undef WIDE_PAIR
WIDE_DEVICE double2 wide_fma(double2 a, double2 b, double2 c) { return make_double2(fma(a.x, b.x, c.x), fma(a.y, b.y, c.y)); }
WIDE_DEVICE double2 operator+(double2 a, double2 b) { return wide_add(a, b); }
WIDE_DEVICE double2 operator-(double2 a, double2 b) { return wide_sub(a, b); }
WIDE_DEVICE double2 operator*(double2 a, double2 b) { return wide_mul(a, b); }
WIDE_DEVICE double2 operator/(double2 a, double2 b) { return wide_div(a, b); }
WIDE_DEVICE double2 operator-(double2 a) { return wide_neg(a); }
WIDE_DEVICE double2& operator+=(double2& a, double2 b) { return a = a + b; }
WIDE_DEVICE double2& operator-=(double2& a, double2 b) { return a = a - b; }
WIDE_DEVICE double2& operator*=(double2& a, double2 b) { return a = a * b; }
WIDE_DEVICE double2& operator/=(double2& a, double2 b) { return a = a / b; }
)";
}

} // namespace kernevo
