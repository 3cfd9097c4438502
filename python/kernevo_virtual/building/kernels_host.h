// What nvcc declares for the host's part of a source with kernels, and no C++ compiler does.
#define KERNEVO_EXTREMES(type)                                                                     \
  static inline type min(type a, type b) {                                                         \
    return a < b ? a : b;                                                                          \
  }                                                                                                \
  static inline type max(type a, type b) {                                                         \
    return a > b ? a : b;                                                                          \
  }
KERNEVO_EXTREMES(int)
KERNEVO_EXTREMES(unsigned int)
KERNEVO_EXTREMES(long)
KERNEVO_EXTREMES(unsigned long)
KERNEVO_EXTREMES(long long)
KERNEVO_EXTREMES(unsigned long long)
KERNEVO_EXTREMES(float)
KERNEVO_EXTREMES(double)
#undef KERNEVO_EXTREMES
#define KERNEVO_EXTREMES(narrow, wide)                                                             \
  static inline wide min(narrow a, wide b) {                                                       \
    return min(static_cast<wide>(a), b);                                                           \
  }                                                                                                \
  static inline wide min(wide a, narrow b) {                                                       \
    return min(a, static_cast<wide>(b));                                                           \
  }                                                                                                \
  static inline wide max(narrow a, wide b) {                                                       \
    return max(static_cast<wide>(a), b);                                                           \
  }                                                                                                \
  static inline wide max(wide a, narrow b) {                                                       \
    return max(a, static_cast<wide>(b));                                                           \
  }
KERNEVO_EXTREMES(int, unsigned int)
KERNEVO_EXTREMES(long, unsigned long)
KERNEVO_EXTREMES(long long, unsigned long long)
KERNEVO_EXTREMES(float, double)
#undef KERNEVO_EXTREMES
static inline double rsqrt(double x) {
  return 1 / std::sqrt(x);
}
static inline float rsqrtf(float x) {
  return 1 / std::sqrt(x);
}
