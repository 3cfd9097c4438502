#include "kernevo/task/inputs.h"

#include "kernevo/base/random.h"
#include "kernevo/base/small_floats.h"
#include "kernevo/task/operation.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstring>
#include <numbers>

namespace kernevo {
namespace {

constexpr int kNormalCells = 4096;

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

std::int64_t dim(const Problem& problem, const char* name) {
  const auto found = problem.dims.find(name);
  return found == problem.dims.end() ? 1 : found->second;
}

double activation_limit(const std::string& function) {
  if (function == "gelu_tanh")
    return 8.0; // its cube goes into tanh, which is flat long before
  if (function == "sigmoid" || function == "tanh" || function == "silu" || function == "softplus" ||
      function == "mish" || function == "gelu" || function == "elu")
    return 30.0;
  return 0x1p14;
}

double sum_length(const Operation& op, const Problem& problem) {
  switch (op.family) {
  case Family::matmul: return static_cast<double>(dim(problem, "K"));
  case Family::conv:
    return static_cast<double>(dim(problem, "C") * dim(problem, "R") * dim(problem, "S")) /
           static_cast<double>(dim(problem, "groups"));
  case Family::reduction: return static_cast<double>(dim(problem, "R"));
  case Family::pool: return static_cast<double>(dim(problem, "kernel") * dim(problem, "kernel"));
  case Family::group_norm:
    return static_cast<double>(dim(problem, "C") * dim(problem, "HW")) /
           static_cast<double>(dim(problem, "G"));
  default: return static_cast<double>(dim(problem, "N"));
  }
}

// The largest magnitude that keeps every output and every honest intermediate finite.
double wide_limit(const Problem& problem) {
  const Operation* op = find_table_row(problem.operation);
  const double largest = std::min(largest_value(problem.dtype), 0x1p40);
  if (op == nullptr)
    return problem.dtype == DType::float16 ? 0x1p4 : 0x1p10;
  const double length = sum_length(*op, problem);
  switch (op->family) {
  case Family::matmul:
  case Family::matvec:
  case Family::conv: {
    const double sum = op->bias && op->function != "identity"
                           ? std::min(activation_limit(op->function), 0.25 * largest)
                           : 0.25 * largest;
    return std::min(std::sqrt(sum / length), 0x1p12);
  }
  case Family::reduction:
  case Family::cumsum:
  case Family::pool: return std::min(0.25 * largest / length, 0x1p14);
  case Family::unary:
    if (op->function == "exp")
      return problem.dtype == DType::float16 ? 10.0 : 80.0;
    if (op->function == "square")
      return std::min(0.5 * std::sqrt(largest), 0x1p12);
    return activation_limit(op->function);
  case Family::bias: return 0.5 * activation_limit(op->function);
  case Family::binary:
  case Family::axpy: return std::min(0.5 * std::sqrt(largest), 0x1p10);
  case Family::softmax:
  case Family::log_softmax:
  case Family::cross_entropy:
    return 0x1p9; // far past where exp overflows: the maximum must be subtracted
  case Family::layer_norm:
  case Family::rms_norm:
  case Family::group_norm: return std::min(0x1p8, std::sqrt(0.25 * largest / std::sqrt(length)));
  case Family::batch_norm: return std::min(0x1p8, std::sqrt(0.125 * largest));
  case Family::attention:
    return std::sqrt(200.0 / std::sqrt(static_cast<double>(dim(problem, "D"))));
  default: return 0x1p14;
  }
}

using Recipe = InputRecipe;

std::int64_t integer_in(std::uint64_t bits, double low, double high) {
  const auto first = static_cast<std::int64_t>(low);
  const auto span = static_cast<std::uint64_t>(static_cast<std::int64_t>(high) - first) + 1;
  // The top half of a 64-bit product: unbiased enough and free of division.
  const auto offset =
      static_cast<std::uint64_t>((static_cast<unsigned __int128>(bits) * span) >> 64);
  return first + static_cast<std::int64_t>(offset);
}

double draw(const Recipe& recipe, std::uint64_t bits) {
  const auto fraction = [&] { return static_cast<double>(bits >> 11) * 0x1p-53; };
  switch (recipe.kind) {
  case Distribution::Kind::normal: return recipe.low + recipe.high * normal(bits);
  case Distribution::Kind::uniform: return recipe.low + (recipe.high - recipe.low) * fraction();
  case Distribution::Kind::integers:
  case Distribution::Kind::indices:
    return static_cast<double>(integer_in(bits, recipe.low, recipe.high));
  case Distribution::Kind::zeros: return 0.0;
  case Distribution::Kind::constant: return recipe.low;
  case Distribution::Kind::wide: {
    const double magnitude = std::exp2(recipe.low + (recipe.high - recipe.low) * fraction());
    return (bits & 1) != 0 ? -magnitude : magnitude;
  }
  case Distribution::Kind::denormal: {
    // Half denormals, half ordinary numbers, so that flushing shows against something.
    if ((bits & 1) != 0)
      return normal(bits);
    const double steps = std::floor(recipe.tiny / recipe.denormal_step * fraction());
    return ((bits & 2) != 0 ? -steps : steps) * recipe.denormal_step;
  }
  }
  return 0.0;
}

constexpr int kSmallInteger = 4;

void use_denormals(Recipe& recipe, DType dtype) {
  recipe.kind = Distribution::Kind::denormal;
  switch (dtype) {
  case DType::float16:
    recipe.tiny = 0x1p-14;
    recipe.denormal_step = 0x1p-24;
    break;
  case DType::bfloat16:
    recipe.tiny = 0x1p-126;
    recipe.denormal_step = 0x1p-133;
    break;
  case DType::float64:
    recipe.tiny = 0x1p-1022;
    recipe.denormal_step = 0x1p-1074;
    break;
  default: recipe.tiny = 0x1p-126; recipe.denormal_step = 0x1p-149;
  }
}

Recipe nominal_recipe(const Problem& problem, const BufferSpec& buffer) {
  const Distribution& initial = buffer.initial;
  Recipe recipe{buffer.dtype, initial.kind, initial.low, initial.high};
  if (initial.kind == Distribution::Kind::indices && problem.operation == "embedding")
    recipe.high = static_cast<double>(dim(problem, "V") - 1);
  if (initial.kind == Distribution::Kind::indices && problem.operation == "cross_entropy")
    recipe.high = static_cast<double>(dim(problem, "N") - 1);
  if (initial.kind == Distribution::Kind::wide) {
    recipe.high = std::log2(wide_limit(problem));
    recipe.low = recipe.high - 20.0;
  }
  if (initial.kind == Distribution::Kind::denormal)
    use_denormals(recipe, buffer.dtype);
  // A bell curve of deviation 1 would leave an integer buffer almost constant.
  if (!is_floating(buffer.dtype) && initial == Distribution{})
    recipe = buffer.dtype == DType::int8
                 ? Recipe{buffer.dtype, Distribution::Kind::integers, -128, 127}
                 : Recipe{buffer.dtype, Distribution::Kind::integers, -1000, 1000};
  return recipe;
}

Recipe make_recipe(const Problem& problem, const BufferSpec& buffer, InputSet set) {
  const Recipe nominal = nominal_recipe(problem, buffer);
  if (buffer.fixed_distribution || set == InputSet::nominal)
    return nominal;
  Recipe recipe;
  recipe.dtype = buffer.dtype;
  switch (set) {
  case InputSet::nominal: break;
  case InputSet::wide_range: {
    if (!is_floating(buffer.dtype))
      return nominal;
    recipe.kind = Distribution::Kind::wide;
    recipe.high = std::log2(wide_limit(problem));
    recipe.low = recipe.high - 20.0;
    if (buffer.dtype == DType::float16)
      recipe.low = std::min(recipe.high, std::max(recipe.low, -14.0));
    break;
  }
  case InputSet::exact_integers:
    recipe.kind = Distribution::Kind::integers;
    recipe.low = -kSmallInteger;
    recipe.high = kSmallInteger;
    break;
  case InputSet::zeros: recipe.kind = Distribution::Kind::zeros; break;
  case InputSet::denormal_heavy:
    if (!is_floating(buffer.dtype))
      return nominal;
    use_denormals(recipe, buffer.dtype);
    break;
  }
  return recipe;
}

template <class Element, class Convert>
void fill(const Recipe& recipe, std::uint64_t first, std::span<std::byte> out, Convert convert) {
  const CounterRandom random(recipe.seed);
  const std::size_t count = out.size() / sizeof(Element);
  for (std::size_t i = 0; i < count; ++i) {
    const Element value = convert(draw(recipe, random.bits(first + i)));
    std::memcpy(out.data() + i * sizeof(Element), &value, sizeof(Element));
  }
}

} // namespace

std::string_view name_of(InputSet set) {
  switch (set) {
  case InputSet::nominal: return "nominal";
  case InputSet::wide_range: return "wide_range";
  case InputSet::exact_integers: return "exact_integers";
  case InputSet::zeros: return "zeros";
  case InputSet::denormal_heavy: return "denormal_heavy";
  }
  return "unknown";
}

std::vector<InputSet> input_sets(const Problem& problem) {
  bool any_float = false;
  bool any_free = false;
  for (const BufferSpec& buffer : problem.buffers) {
    if (buffer.direction == Direction::out || buffer.fixed_distribution)
      continue;
    any_free = true;
    any_float = any_float || is_floating(buffer.dtype);
  }
  std::vector<InputSet> sets = {InputSet::nominal};
  if (!any_free)
    return sets;
  if (any_float)
    sets.push_back(InputSet::wide_range);
  sets.push_back(InputSet::exact_integers);
  // What an unknown operation makes of zeros and denormals may rightly be NaN or infinity.
  if (find_table_row(problem.operation) == nullptr)
    return sets;
  sets.push_back(InputSet::zeros);
  if (any_float)
    sets.push_back(InputSet::denormal_heavy);
  return sets;
}

InputRecipe input_recipe(const Problem& problem, std::size_t buffer, InputSet set,
                         std::uint64_t seed) {
  assert(buffer < problem.buffers.size());
  InputRecipe recipe = make_recipe(problem, problem.buffers[buffer], set);
  recipe.seed = seed + 0x632BE59BD9B4E019U * (buffer + 1);
  return recipe;
}

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
                    draw(recipe, random.bits(first + i)));
    return;
  }
  }
}

void fill_input(const Problem& problem, std::size_t buffer, InputSet set, std::uint64_t seed,
                std::span<std::byte> out) {
  fill_elements(input_recipe(problem, buffer, set, seed), 0, out);
}

} // namespace kernevo
