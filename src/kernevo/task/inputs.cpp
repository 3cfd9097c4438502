#include "kernevo/task/inputs.h"

#include "kernevo/task/operation.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <future>
#include <thread>

namespace kernevo {
namespace {

std::int64_t dim(const Problem& problem, const char* name) {
  const auto found = problem.dims.find(name);
  return found == problem.dims.end() ? 1 : found->second;
}

double activation_limit(const std::string& function) {
  if (function == "gelu_tanh")
    return 8.0; // its cube goes into tanh, which is flat long before
  if (function == "sigmoid" || function == "tanh" || function == "silu" || function == "softplus" ||
      function == "mish" || function == "gelu" || function == "elu")
    return 60.0; // exp(2x) overflows on the way
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
  // Whether a maximum sees a NaN is nobody's promise.
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

// The same of 32-bit integers: where sums and products still fit, so that nothing wraps around. Of
// an operation nobody knows products do, and more than half precision or a float's digits hold.
double integer_limit(const Problem& problem) {
  const Operation* op = find_table_row(problem.operation);
  constexpr double most = 0x1p30;
  if (op == nullptr)
    return 0x1p15 - 1;
  const double length = std::max(1.0, sum_length(*op, problem));
  switch (op->family) {
  case Family::matmul:
  case Family::matvec:
  case Family::conv: return std::sqrt(most / length);
  case Family::reduction:
    return op->function == "max" || op->function == "min" ? most : most / length;
  case Family::cumsum: return most / length;
  case Family::unary: return op->function == "square" ? std::sqrt(most) : most;
  case Family::binary: return op->function == "mul" ? std::sqrt(most) : most;
  default: return most / 2;
  }
}

constexpr int kSmallInteger = 4;
constexpr std::int64_t kShortRow = 16;
constexpr std::uint64_t kStretchesInARow = 8; // of one sign or mixed
constexpr std::uint64_t kStretch = 64;        // where rows are short
constexpr double kOutlier = 150; // its exponential overflows, or leaves nothing of the others
constexpr std::size_t kWorthAThread = std::size_t{4} << 20U; // bytes

bool is_wide_integer(DType dtype) {
  return dtype == DType::int32 || dtype == DType::int64;
}

void use_denormals(InputRecipe& recipe, DType dtype) {
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

InputRecipe nominal_recipe(const Problem& problem, const BufferSpec& buffer) {
  const Distribution& initial = buffer.initial;
  InputRecipe recipe{buffer.dtype, initial.kind, initial.low, initial.high};
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
                 ? InputRecipe{buffer.dtype, Distribution::Kind::integers, -128, 127}
                 : InputRecipe{buffer.dtype, Distribution::Kind::integers, -1000, 1000};
  return recipe;
}

// What infinities, NaN and ties an operation gives a meaning to that every honest kernel shares.
struct Specials {
  double mean = 0; // of the other values: far from zero where a kernel may start from it
  SpecialValues values;
  std::uint64_t row = 0; // InputRecipe: every other one is harmless but for an outlier
};

Specials specials_of(const Operation& op, const Problem& problem) {
  constexpr double often = 0.125;
  constexpr double beyond = 6; // deviations: the largest of its row
  constexpr double far = 120;  // its exponential is next to nothing
  const double length = std::max(1.0, sum_length(op, problem));
  // An infinity or a NaN takes its row with it; two rows in three are to be left.
  const double in_some_rows = 0.2 / length;
  // What a row of nothing but minus infinities gives, kernels may see differently.
  const bool is_short = length < 16;
  const double masked = is_short ? 0 : often;
  const std::uint64_t row = is_short ? 0 : static_cast<std::uint64_t>(length);
  switch (op.family) {
  case Family::softmax:
  case Family::log_softmax: return {-far, {masked, often, beyond - far, 0, in_some_rows}, row};
  case Family::argmax: return {-far, {masked, often, beyond - far}};
  case Family::reduction:
    if (op.function == "max")
      return {-far, {masked, often, beyond - far}};
    if (op.function == "min")
      return {far, {0, often, far - beyond}};
    return {0, {in_some_rows, often, beyond, often, in_some_rows, in_some_rows}};
  // A variance that is no number may be taken for zero, and a norm that is infinite for one that
  // is.
  case Family::layer_norm: return {0, {0, often, beyond, often, 0, in_some_rows}, row};
  case Family::cross_entropy:
  case Family::rms_norm:
  case Family::group_norm: return {0, {0, often, 2, often}, row};
  case Family::pool:
    if (op.function == "max")
      return {-far, {0, often, beyond - far}};
    [[fallthrough]];
  default: return {0, {0, often, 2, often}};
  }
}

// Of an operation nobody knows: parts of rows in which a search finds nothing and sums do not
// cancel.
std::uint64_t stretch_of(const Problem& problem, const BufferSpec& buffer) {
  if (find_table_row(problem.operation) != nullptr || buffer.shape.empty())
    return 0;
  const std::int64_t row = buffer.shape.back();
  return row < kShortRow ? kStretch : static_cast<std::uint64_t>(row) / kStretchesInARow;
}

// Fewer rows might all be of one kind by chance.
constexpr std::int64_t kEnoughRows = 32;

// Whether one run can be on wide magnitudes and on special values: row by row, or where special
// values are single elements among others.
bool joins_wide_and_special(const Problem& problem) {
  const Operation* op = find_table_row(problem.operation);
  if (op == nullptr)
    return true;
  const Specials specials = specials_of(*op, problem);
  const std::int64_t elements = problem.buffers.front().elements();
  return specials.row > 0 ? elements / static_cast<std::int64_t>(specials.row) >= kEnoughRows
                          : specials.mean == 0;
}

InputRecipe make_recipe(const Problem& problem, const BufferSpec& buffer, InputSet set) {
  const InputRecipe nominal = nominal_recipe(problem, buffer);
  if (buffer.fixed_distribution || set == InputSet::nominal)
    return nominal;
  InputRecipe recipe;
  recipe.dtype = buffer.dtype;
  switch (set) {
  case InputSet::nominal: break;
  case InputSet::wide_range: {
    if (is_wide_integer(buffer.dtype)) {
      const double limit = std::floor(integer_limit(problem));
      if (limit <= std::abs(nominal.low))
        return nominal;
      recipe.kind = Distribution::Kind::integers;
      recipe.low = -limit;
      recipe.high = limit;
      break;
    }
    if (!is_floating(buffer.dtype))
      return nominal;
    recipe.kind = Distribution::Kind::wide;
    recipe.high = std::log2(wide_limit(problem));
    recipe.low = recipe.high - 20.0;
    if (buffer.dtype == DType::float16)
      recipe.low = std::min(recipe.high, std::max(recipe.low, -14.0));
    recipe.one_sign = stretch_of(problem, buffer);
    break;
  }
  case InputSet::exact_integers:
    recipe.kind = Distribution::Kind::integers;
    recipe.low = -kSmallInteger;
    recipe.high = kSmallInteger;
    recipe.one_sign = stretch_of(problem, buffer);
    break;
  case InputSet::zeros: recipe.kind = Distribution::Kind::zeros; break;
  case InputSet::denormal_heavy:
    if (!is_floating(buffer.dtype))
      return nominal;
    use_denormals(recipe, buffer.dtype);
    break;
  case InputSet::special_values: {
    const Operation* op = find_table_row(problem.operation);
    if (op == nullptr || !is_floating(buffer.dtype))
      return nominal;
    const Specials specials = specials_of(*op, problem);
    use_denormals(recipe, buffer.dtype);
    recipe.kind = Distribution::Kind::normal;
    recipe.low = specials.mean;
    recipe.special = specials.values;
    // Weights of a row (gamma, bias) are shared by all rows.
    if (buffer.elements() < problem.buffers.front().elements()) {
      recipe.special.minus_infinity = recipe.special.plus_infinity = recipe.special.nan = 0;
    } else {
      recipe.row = specials.row;
      recipe.outlier = kOutlier;
    }
    break;
  }
  case InputSet::wide_and_special: {
    const InputRecipe wide = make_recipe(problem, buffer, InputSet::wide_range);
    if (!is_floating(buffer.dtype))
      return wide;
    const bool is_known = find_table_row(problem.operation) != nullptr;
    recipe = make_recipe(problem, buffer,
                         is_known ? InputSet::special_values : InputSet::exact_integers);
    if (!is_known)
      recipe.row = stretch_of(problem, buffer);
    recipe.wide_low = wide.low;
    recipe.wide_high = wide.high;
    break;
  }
  }
  return recipe;
}

} // namespace

std::string_view name_of(InputSet set) {
  switch (set) {
  case InputSet::nominal: return "nominal";
  case InputSet::wide_range: return "wide_range";
  case InputSet::exact_integers: return "exact_integers";
  case InputSet::zeros: return "zeros";
  case InputSet::denormal_heavy: return "denormal_heavy";
  case InputSet::special_values: return "special_values";
  case InputSet::wide_and_special: return "wide_and_special";
  }
  return "unknown";
}

std::vector<InputSet> input_sets(const Problem& problem) {
  bool any_float = false;
  bool any_wide = false;
  bool any_free = false;
  for (const BufferSpec& buffer : problem.buffers) {
    if (buffer.direction == Direction::out || buffer.fixed_distribution)
      continue;
    any_free = true;
    any_float = any_float || is_floating(buffer.dtype);
    any_wide = any_wide || is_wide_integer(buffer.dtype);
  }
  const bool is_known = find_table_row(problem.operation) != nullptr;
  std::vector<InputSet> sets = {InputSet::nominal};
  if (!any_free)
    return sets;
  if (any_float || any_wide)
    sets.push_back(InputSet::wide_range);
  sets.push_back(InputSet::exact_integers);
  // What an unknown operation makes of zeros and denormals may rightly be NaN or infinity.
  if (!is_known)
    return sets;
  sets.push_back(InputSet::zeros);
  if (any_float) {
    sets.push_back(InputSet::denormal_heavy);
    sets.push_back(InputSet::special_values);
  }
  return sets;
}

std::vector<InputSet> real_input_sets(const Problem& problem) {
  const std::vector<InputSet> known = input_sets(problem);
  const auto has = [&](InputSet set) {
    return std::find(known.begin(), known.end(), set) != known.end();
  };
  const bool any_float =
      std::any_of(problem.buffers.begin(), problem.buffers.end(), [](const BufferSpec& buffer) {
        return buffer.direction != Direction::out && !buffer.fixed_distribution &&
               is_floating(buffer.dtype);
      });
  if (any_float && joins_wide_and_special(problem))
    return {InputSet::nominal, InputSet::wide_and_special};
  std::vector<InputSet> sets = {InputSet::nominal};
  if (has(InputSet::wide_range))
    sets.push_back(InputSet::wide_range);
  if (has(InputSet::special_values))
    sets.push_back(InputSet::special_values);
  else if (has(InputSet::exact_integers)) // ties at least
    sets.push_back(InputSet::exact_integers);
  // A plan is launched twice at least.
  if (sets.size() == 1)
    sets.push_back(InputSet::nominal);
  return sets;
}

InputRecipe input_recipe(const Problem& problem, std::size_t buffer, InputSet set,
                         std::uint64_t seed) {
  assert(buffer < problem.buffers.size());
  InputRecipe recipe = make_recipe(problem, problem.buffers[buffer], set);
  recipe.seed = seed + 0x632BE59BD9B4E019U * (buffer + 1);
  return recipe;
}

void fill_input(const Problem& problem, std::size_t buffer, InputSet set, std::uint64_t seed,
                std::span<std::byte> out) {
  const InputRecipe recipe = input_recipe(problem, buffer, set, seed);
  const std::size_t width = size_of(recipe.dtype);
  const std::size_t parts = std::clamp<std::size_t>(
      out.size() / kWorthAThread, 1, std::max(1U, std::thread::hardware_concurrency()));
  const std::size_t part = (out.size() / width + parts - 1) / parts * width;
  std::vector<std::future<void>> others;
  for (std::size_t begin = part; begin < out.size(); begin += part)
    others.push_back(std::async(
        std::launch::async,
        [&recipe, begin, width, bytes = out.subspan(begin, std::min(part, out.size() - begin))] {
          fill_elements(recipe, begin / width, bytes);
        }));
  fill_elements(recipe, 0, out.first(std::min(part, out.size())));
}

} // namespace kernevo
