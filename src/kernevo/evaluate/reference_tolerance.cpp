#include "kernevo/evaluate/reference_tolerance.h"

#include <algorithm>
#include <cmath>

namespace kernevo {
namespace {

constexpr std::size_t kNeighbours = 256;
constexpr double kUnit = 0x1p-24; // of float32
// Where nothing but other roundings is at work; a reciprocal and a product for a quotient is 3.
constexpr double kRoundings = 16;
constexpr double kRoundingsOfSums = 4;   // times the root of their length
constexpr double kOwnErrors = 16;        // times what the reference is off around an element
constexpr double kOwnError = 4;          // times what it is off there
constexpr double kRoundingsOfResult = 2; // when it is stored in a half type

// Changes of opposite sign may cancel in an element by chance. So much of what goes into its
// neighbours goes into it, too.
constexpr double kLikeNeighbours = 0.02;
// What seven of ten neighbours have at least: the smaller ones where magnitudes alternate.
constexpr double kUsualNeighbour = 0.3;

double root_mean_square(std::span<const double> values) {
  double sum = 0;
  for (const double value : values)
    sum += std::isfinite(value) ? value * value : 0;
  return std::sqrt(sum / static_cast<double>(std::max<std::size_t>(1, values.size())));
}

double usual(std::span<const double> values, std::vector<double>& scratch) {
  scratch.assign(values.begin(), values.end());
  const auto at = static_cast<std::size_t>(kUsualNeighbour * static_cast<double>(scratch.size()));
  std::nth_element(scratch.begin(), scratch.begin() + static_cast<std::ptrdiff_t>(at),
                   scratch.end());
  return scratch[at];
}

// What storing a value may cost, beside the roundings of float32 that produced it.
struct Storing {
  double rounding = 0; // relative
  double denormal = 0x1p-145;
};

Storing storing(DType dtype) {
  switch (dtype) {
  case DType::float16: return {unit_roundoff(dtype), 0x1p-25};
  case DType::bfloat16: return {unit_roundoff(dtype), 0x1p-126};
  default: return {};
  }
}

bool same_special(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (std::isinf(a) && a == b);
}

} // namespace

double coarse_share(DType dtype) {
  switch (dtype) {
  case DType::float32: return 1e-4;
  case DType::float16: return 1e-2;
  case DType::bfloat16: return 2e-2;
  case DType::float64: return 1e-10;
  default: return 0;
  }
}

std::vector<float> coarse_tolerances(std::span<const double> values,
                                     std::span<const double> effects, double share) {
  std::vector<float> tolerances(effects.size());
  for (std::size_t first = 0; first < effects.size(); first += kNeighbours) {
    const std::size_t count = std::min(kNeighbours, effects.size() - first);
    const double around = root_mean_square(values.subspan(first, count));
    const double effects_around = root_mean_square(effects.subspan(first, count));
    for (std::size_t i = first; i < first + count; ++i) {
      const double into = std::max(effects[i], kLikeNeighbours * effects_around);
      tolerances[i] =
          static_cast<float>(share * std::max(std::abs(values[i]), std::min(into, around)));
    }
  }
  return tolerances;
}

std::optional<std::vector<float>> fine_tolerances(std::span<const double> exact,
                                                  std::span<const double> plain,
                                                  std::span<const double> effects, double chain,
                                                  DType dtype) {
  std::vector<float> tolerances(exact.size());
  std::vector<double> scratch;
  std::vector<double> into(kNeighbours);
  std::vector<double> off(kNeighbours);
  const double roundings = kUnit * (kRoundings + kRoundingsOfSums * std::sqrt(chain));
  const Storing stored = storing(dtype);
  for (std::size_t first = 0; first < exact.size(); first += kNeighbours) {
    const std::size_t count = std::min(kNeighbours, exact.size() - first);
    const double usual_effect = usual(effects.subspan(first, count), scratch);
    for (std::size_t i = 0; i < count; ++i) {
      const double value = exact[first + i];
      const bool special = same_special(value, plain[first + i]);
      into[i] = special ? 0.0 : std::max({std::abs(value), effects[first + i], usual_effect});
      const double error = special ? 0.0 : std::abs(plain[first + i] - value);
      if (!(error <= coarse_share(dtype) * into[i] + stored.denormal))
        return std::nullopt;
      const double computed = std::max(0.0, error - stored.rounding * std::abs(value) -
                                                (stored.rounding > 0 ? stored.denormal : 0.0));
      off[i] = into[i] > 0 && !special ? computed / into[i] : 0.0;
    }
    const double own = root_mean_square(std::span(off).first(count));
    for (std::size_t i = 0; i < count; ++i) {
      const double value = std::isfinite(exact[first + i]) ? std::abs(exact[first + i]) : 0.0;
      tolerances[first + i] =
          static_cast<float>(into[i] * std::max(roundings + kOwnErrors * own, kOwnError * off[i]) +
                             kRoundingsOfResult * (stored.rounding * value + stored.denormal));
    }
  }
  return tolerances;
}

} // namespace kernevo
