#include "kernevo/model/input_recipe.h"

#include "kernevo/base/random.h"
#include "kernevo/base/small_floats.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <optional>

namespace kernevo {
namespace {

constexpr int kNormalCells = 4096;
constexpr unsigned kSignBits = 32; // of a stretch's chance; those below say what is in it

// Quantiles of the standard normal: looking one up and interpolating is ten times faster than
// Box-Muller, and a 4096-cubed task has 32 million inputs. Tails end near 4.8 deviations.
class NormalTable {
public:
  NormalTable() {
    for (int i = 0; i <= kNormalCells; ++i) {
      const double tail = 0x1p-20;
      quantiles_[static_cast<std::size_t>(i)] =
          quantile(std::clamp(static_cast<double>(i) / kNormalCells, tail, 1.0 - tail));
    }
  }

  double operator()(std::uint64_t bits) const {
    const std::size_t cell = bits >> 52;
    const double fraction = static_cast<double>(bits & ((std::uint64_t{1} << 52) - 1)) * 0x1p-52;
    return quantiles_[cell] + (quantiles_[cell + 1] - quantiles_[cell]) * fraction;
  }

private:
  // Newton's method on the cumulative distribution.
  static double quantile(double p) {
    if (p > 0.5)
      return -quantile(1.0 - p);
    if (p == 0.5)
      return 0.0;
    double x = -std::sqrt(-2.0 * std::log(p)) + 1.0;
    for (int i = 0; i < 40; ++i) {
      const double error = 0.5 * std::erfc(-x / std::numbers::sqrt2) - p;
      const double density = std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
      const double step = std::clamp(error / density, -0.5, 0.5);
      x -= step;
      if (std::abs(step) < 1e-13)
        break;
    }
    return x;
  }

  std::array<double, kNormalCells + 1> quantiles_{};
};

double normal(std::uint64_t bits) {
  static const NormalTable table;
  return table(bits);
}

std::int64_t integer_in(std::uint64_t bits, double low, double high) {
  const auto first = static_cast<std::int64_t>(low);
  const auto span = static_cast<std::uint64_t>(static_cast<std::int64_t>(high) - first) + 1;
  // The top half of a 64-bit product: unbiased enough and free of division.
  const auto offset =
      static_cast<std::uint64_t>((static_cast<unsigned __int128>(bits) * span) >> 64);
  return first + static_cast<std::int64_t>(offset);
}

double fraction_of(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

double denormal(const InputRecipe& recipe, std::uint64_t bits, double fraction) {
  const double steps = std::floor(recipe.tiny / recipe.denormal_step * fraction);
  return ((bits & 2) != 0 ? -steps : steps) * recipe.denormal_step;
}

// Instead of an ordinary value, where chance says so.
std::optional<double> special(const InputRecipe& recipe, std::uint64_t bits) {
  const SpecialValues& values = recipe.special;
  if (values.sum() <= 0)
    return std::nullopt;
  double chance = CounterRandom(recipe.seed).uniform(~bits);
  const auto falls_to = [&](double share) {
    chance -= share;
    return chance < 0;
  };
  if (falls_to(values.minus_infinity))
    return -std::numeric_limits<double>::infinity();
  if (falls_to(values.tie))
    return values.tie_value;
  if (falls_to(values.denormal))
    return denormal(recipe, bits, fraction_of(bits));
  if (falls_to(values.plus_infinity))
    return std::numeric_limits<double>::infinity();
  if (falls_to(values.nan))
    return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

// Of either sign, with magnitudes between these powers of two.
double wide(double low, double high, std::uint64_t bits) {
  const double magnitude = std::exp2(low + (high - low) * fraction_of(bits));
  return (bits & 1) != 0 ? -magnitude : magnitude;
}

bool has_wide(const InputRecipe& recipe) {
  return recipe.wide_low != recipe.wide_high;
}

// A value where the element is in a row that has no special values: a wide one, or one that looks
// harmless.
std::optional<double> of_plain_row(const InputRecipe& recipe, const CounterRandom& random,
                                   std::uint64_t index, std::uint64_t bits) {
  constexpr double outliers = 1.5; // in a row
  if (recipe.row == 0)
    return std::nullopt;
  const std::uint64_t chance_of_row = random.bits(~(index / recipe.row));
  if (has_wide(recipe) && (chance_of_row >> 1U) % 3 == 0)
    return wide(recipe.wide_low, recipe.wide_high, bits);
  if ((chance_of_row & 1U) == 0)
    return std::nullopt;
  // Never the first of a row: honest kernels take moments about it.
  const bool is_first = index % recipe.row == 0;
  const double chance = CounterRandom(recipe.seed).uniform(~bits);
  if (is_first || chance * static_cast<double>(recipe.row) >= outliers)
    return normal(bits);
  return (bits & 1) != 0 ? -recipe.outlier : recipe.outlier;
}

double draw(const InputRecipe& recipe, std::uint64_t bits) {
  if (const auto instead = special(recipe, bits))
    return *instead;
  if (recipe.row == 0 && has_wide(recipe))
    return wide(recipe.wide_low, recipe.wide_high, bits);
  const auto fraction = [&] { return fraction_of(bits); };
  switch (recipe.kind) {
  case Distribution::Kind::normal: return recipe.low + recipe.high * normal(bits);
  case Distribution::Kind::uniform: return recipe.low + (recipe.high - recipe.low) * fraction();
  case Distribution::Kind::integers:
  case Distribution::Kind::indices:
    return static_cast<double>(integer_in(bits, recipe.low, recipe.high));
  case Distribution::Kind::zeros: return 0.0;
  case Distribution::Kind::constant: return recipe.low;
  case Distribution::Kind::wide: return wide(recipe.low, recipe.high, bits);
  case Distribution::Kind::denormal: {
    // Half denormals, half ordinary numbers, so that flushing shows against something.
    if ((bits & 1) != 0)
      return normal(bits);
    return denormal(recipe, bits, fraction());
  }
  }
  return 0.0;
}

double draw(const InputRecipe& recipe, const CounterRandom& random, std::uint64_t index) {
  const std::uint64_t bits = random.bits(index);
  const auto instead = of_plain_row(recipe, random, index, bits);
  const double value = instead ? *instead : draw(recipe, bits);
  if (recipe.one_sign == 0)
    return value;
  const std::uint64_t stretch = random.bits(~(index / recipe.one_sign)) >> kSignBits;
  if ((stretch & 3U) != 0)
    return value;
  return std::copysign(value, (stretch & 4U) != 0 ? 1.0 : -1.0);
}

template <class Element, class Convert>
void fill(const InputRecipe& recipe, std::uint64_t first, std::span<std::byte> out,
          Convert convert) {
  const CounterRandom random(recipe.seed);
  const std::size_t count = out.size() / sizeof(Element);
  for (std::size_t i = 0; i < count; ++i) {
    const Element value = convert(draw(recipe, random, first + i));
    std::memcpy(out.data() + i * sizeof(Element), &value, sizeof(Element));
  }
}

} // namespace

void fill_elements(const InputRecipe& recipe, std::uint64_t first, std::span<std::byte> out) {
  switch (recipe.dtype) {
  case DType::float32:
    return fill<float>(recipe, first, out, [](double v) { return static_cast<float>(v); });
  case DType::float16:
    return fill<std::uint16_t>(recipe, first, out, [](double v) { return double_to_half(v); });
  case DType::bfloat16:
    return fill<std::uint16_t>(recipe, first, out, [](double v) { return double_to_bfloat(v); });
  case DType::float64: return fill<double>(recipe, first, out, [](double v) { return v; });
  case DType::int32:
  case DType::int8:
  case DType::int64: {
    const CounterRandom random(recipe.seed);
    const std::size_t width = size_of(recipe.dtype);
    for (std::size_t i = 0; i < out.size() / width; ++i)
      store_element(recipe.dtype, out.data(), static_cast<std::int64_t>(i),
                    draw(recipe, random, first + i));
    return;
  }
  }
}

} // namespace kernevo
