#include "kernevo/toolchain/headers.h"

#include <algorithm>
#include <array>

namespace kernevo {

namespace {

// What kernels use of namespace std, in terms of CUDA's built-in functions. std::move and
// std::forward are NVRTC's own.
constexpr const char* kStandard = R"cuda(#pragma once
namespace std {
using ::size_t;
typedef decltype(nullptr) nullptr_t;
typedef long ptrdiff_t;
using ::int8_t; using ::uint8_t; using ::int16_t; using ::uint16_t;
using ::int32_t; using ::uint32_t; using ::int64_t; using ::uint64_t; using ::uintptr_t;

template <class T, T v> struct integral_constant {
  static constexpr T value = v;
  using value_type = T;
  using type = integral_constant;
  __host__ __device__ constexpr operator T() const { return v; }
};
template <bool b> using bool_constant = integral_constant<bool, b>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;

template <class A, class B> struct is_same : false_type {};
template <class A> struct is_same<A, A> : true_type {};
template <class A, class B> inline constexpr bool is_same_v = is_same<A, B>::value;
template <bool b, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { using type = T; };
template <bool b, class T = void> using enable_if_t = typename enable_if<b, T>::type;
template <bool b, class T, class F> struct conditional { using type = T; };
template <class T, class F> struct conditional<false, T, F> { using type = F; };
template <bool b, class T, class F> using conditional_t = typename conditional<b, T, F>::type;
template <class...> using void_t = void;
template <class T> struct remove_const { using type = T; };
template <class T> struct remove_const<const T> { using type = T; };
template <class T> using remove_const_t = typename remove_const<T>::type;
template <class T> struct remove_volatile { using type = T; };
template <class T> struct remove_volatile<volatile T> { using type = T; };
template <class T> struct remove_cv { using type = typename remove_const<typename remove_volatile<T>::type>::type; };
template <class T> using remove_cv_t = typename remove_cv<T>::type;
template <class T> struct remove_reference { using type = T; };
template <class T> struct remove_reference<T&> { using type = T; };
template <class T> struct remove_reference<T&&> { using type = T; };
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> struct remove_pointer { using type = T; };
template <class T> struct remove_pointer<T*> { using type = T; };
template <class T> using remove_pointer_t = typename remove_pointer<T>::type;
template <class T> using decay_t = remove_cv_t<remove_reference_t<T>>;
template <class T> struct is_integral : bool_constant<
    is_same_v<remove_cv_t<T>, bool> || is_same_v<remove_cv_t<T>, char> ||
    is_same_v<remove_cv_t<T>, signed char> || is_same_v<remove_cv_t<T>, unsigned char> ||
    is_same_v<remove_cv_t<T>, short> || is_same_v<remove_cv_t<T>, unsigned short> ||
    is_same_v<remove_cv_t<T>, int> || is_same_v<remove_cv_t<T>, unsigned> ||
    is_same_v<remove_cv_t<T>, long> || is_same_v<remove_cv_t<T>, unsigned long> ||
    is_same_v<remove_cv_t<T>, long long> || is_same_v<remove_cv_t<T>, unsigned long long>> {};
template <class T> inline constexpr bool is_integral_v = is_integral<T>::value;
template <class T> struct is_floating_point
    : bool_constant<is_same_v<remove_cv_t<T>, float> || is_same_v<remove_cv_t<T>, double>> {};
template <class T> inline constexpr bool is_floating_point_v = is_floating_point<T>::value;
template <class T> struct is_arithmetic : bool_constant<is_integral_v<T> || is_floating_point_v<T>> {};
template <class T> inline constexpr bool is_arithmetic_v = is_arithmetic<T>::value;

template <class T> __host__ __device__ constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <class T> __host__ __device__ constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <class T> __host__ __device__ constexpr const T& clamp(const T& v, const T& low, const T& high) {
  return v < low ? low : (high < v ? high : v);
}
template <class T> __host__ __device__ constexpr void swap(T& a, T& b) { T c = a; a = b; b = c; }

template <class T> struct numeric_limits { static constexpr bool is_specialized = false; };
#define KERNEVO_LIMITS(type, low, least, high, tiny, huge, nan, integer, bits)                        \
  template <> struct numeric_limits<type> {                                                        \
    static constexpr bool is_specialized = true;                                                   \
    static constexpr bool is_integer = integer;                                                    \
    static constexpr bool is_signed = static_cast<type>(-1) < static_cast<type>(0);                                          \
    static constexpr bool has_infinity = !integer;                                                 \
    static constexpr int digits = bits;                                                            \
    __host__ __device__ static constexpr type lowest() noexcept { return low; }                    \
    __host__ __device__ static constexpr type min() noexcept { return least; }                     \
    __host__ __device__ static constexpr type max() noexcept { return high; }                      \
    __host__ __device__ static constexpr type epsilon() noexcept { return tiny; }                  \
    __host__ __device__ static constexpr type infinity() noexcept { return huge; }                 \
    __host__ __device__ static constexpr type quiet_NaN() noexcept { return nan; }                 \
  };
KERNEVO_LIMITS(float, -3.402823466e+38f, 1.175494351e-38f, 3.402823466e+38f, 1.192092896e-07f,
               __builtin_bit_cast(float, 0x7f800000), __builtin_bit_cast(float, 0x7fc00000), false, 24)
KERNEVO_LIMITS(double, -1.7976931348623157e+308, 2.2250738585072014e-308, 1.7976931348623157e+308,
               2.2204460492503131e-16, __builtin_bit_cast(double, 0x7ff0000000000000ll), __builtin_bit_cast(double, 0x7ff8000000000000ll), false, 53)
#define KERNEVO_INTEGER_LIMITS(type, low, high, bits)                                                 \
  KERNEVO_LIMITS(type, low, low, high, 0, 0, 0, true, bits)
KERNEVO_INTEGER_LIMITS(signed char, -128, 127, 7)
KERNEVO_INTEGER_LIMITS(unsigned char, 0, 255, 8)
KERNEVO_INTEGER_LIMITS(short, -32768, 32767, 15)
KERNEVO_INTEGER_LIMITS(unsigned short, 0, 65535, 16)
KERNEVO_INTEGER_LIMITS(int, -2147483647 - 1, 2147483647, 31)
KERNEVO_INTEGER_LIMITS(unsigned, 0u, 4294967295u, 32)
KERNEVO_INTEGER_LIMITS(long, -9223372036854775807l - 1, 9223372036854775807l, 63)
KERNEVO_INTEGER_LIMITS(unsigned long, 0ul, 18446744073709551615ul, 64)
KERNEVO_INTEGER_LIMITS(long long, -9223372036854775807ll - 1, 9223372036854775807ll, 63)
KERNEVO_INTEGER_LIMITS(unsigned long long, 0ull, 18446744073709551615ull, 64)
#undef KERNEVO_INTEGER_LIMITS
#undef KERNEVO_LIMITS

using ::abs; using ::acos; using ::asin; using ::atan; using ::atan2; using ::cbrt; using ::ceil;
using ::copysign; using ::cos; using ::cosh; using ::erf; using ::erfc; using ::exp; using ::exp2;
using ::expm1; using ::fabs; using ::floor; using ::fma; using ::fmax; using ::fmin; using ::fmod;
using ::hypot; using ::ldexp; using ::log; using ::log10; using ::log1p; using ::log2; using ::lrint;
using ::pow; using ::remainder; using ::rint; using ::round; using ::sin; using ::sinh; using ::sqrt;
using ::tan; using ::tanh; using ::tgamma; using ::lgamma; using ::trunc; using ::isnan;
using ::isinf; using ::isfinite; using ::signbit;
} // namespace std
)cuda";

// Their contents are in the prelude of every compilation; the names only have to be found.
constexpr std::array<const char*, 10> kEmptyHeaders = {
    "stdint.h", "stddef.h", "stdio.h",  "math.h",    "float.h",
    "limits.h", "assert.h", "string.h", "stdbool.h", "stdlib.h"};

constexpr std::array<const char*, 15> kStandardHeaders = {
    "cstdint", "cstddef",          "cstdio", "cmath",   "cfloat",      "climits",
    "cassert", "cstring",          "limits", "numbers", "type_traits", "algorithm",
    "utility", "initializer_list", "cstdlib"};

std::vector<VirtualHeader> make_headers() {
  std::vector<VirtualHeader> headers;
  headers.push_back({std::string(kStandardHeader), kStandard});
  for (const char* name : kEmptyHeaders)
    headers.push_back({name, "#pragma once\n"});
  for (const char* name : kStandardHeaders)
    headers.push_back({name, "#include <" + std::string(kStandardHeader) + ">\n"});
  return headers;
}

} // namespace

const std::vector<VirtualHeader>& virtual_headers() {
  static const std::vector<VirtualHeader> headers = make_headers();
  return headers;
}

bool is_virtual_header(std::string_view name) {
  const auto& headers = virtual_headers();
  return std::any_of(headers.begin(), headers.end(),
                     [&](const VirtualHeader& header) { return header.name == name; });
}

} // namespace kernevo
