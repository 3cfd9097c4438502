// Elementwise operations, bias fusions, and operations that only move data.
#include "kernevo/task/oracle_parts.h"

#include <numbers>

namespace kernevo {
namespace {

double sigmoid(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}
double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

double gelu_tanh(double x) {
  const double inner = std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1.0 + std::tanh(inner));
}

// The function's own error: `fast` is that of exp and division with fast maths, arguments
// included. Functions with a cancellation in the usual formula get it as an absolute error.
Estimate transcendental(const OracleContext& context, const std::string& f, double x,
                        double alpha) {
  const double fast = context.fast;
  const double size = std::abs(x);
  if (f == "gelu")
    return {0.5 * x * std::erfc(-x / std::numbers::sqrt2), fast * size};
  if (f == "gelu_tanh")
    return {gelu_tanh(x), 2.0 * fast * size};
  if (f == "sigmoid")
    return {sigmoid(x), fast * sigmoid(x) * (2.0 + size * sigmoid(-x))};
  if (f == "tanh")
    return {std::tanh(x), fast};
  if (f == "silu")
    return {x * sigmoid(x), fast * std::abs(x * sigmoid(x)) * (2.0 + size * sigmoid(-x))};
  if (f == "exp")
    return {std::exp(x), fast * std::exp(x) * (1.0 + size)};
  if (f == "log")
    return {std::log(x), fast * (1.0 + std::abs(std::log(x)))};
  if (f == "sqrt")
    return {std::sqrt(x), fast * std::sqrt(x)};
  if (f == "rsqrt")
    return {1.0 / std::sqrt(x), 2.0 * fast / std::sqrt(x)};
  if (f == "softplus")
    return {softplus(x), 2.0 * fast * (1.0 + softplus(x) + size * sigmoid(x))};
  if (f == "mish")
    return {x * std::tanh(softplus(x)),
            4.0 * fast * size * (1.0 + size * sigmoid(x) * sigmoid(-x))};
  if (f == "hardswish")
    return {x * std::clamp(x + 3.0, 0.0, 6.0) / 6.0, fast * size};
  if (f == "leaky_relu")
    return x > 0 ? Estimate{x, 0.0}
                 : Estimate{alpha * x, 2.0 * context.u_sum * std::abs(alpha * x)};
  if (f == "elu")
    return x > 0 ? Estimate{x, 0.0}
                 : Estimate{alpha * std::expm1(x),
                            2.0 * fast * std::abs(alpha) * (1.0 + size * std::exp(x))};
  return {x, 0.0};
}

bool is_exact(const std::string& f) {
  return f == "relu" || f == "abs" || f == "neg" || f == "copy" || f == "maximum" || f == "minimum";
}

std::int64_t integer_unary(const std::string& f, std::int64_t x) {
  if (f == "relu")
    return std::max<std::int64_t>(x, 0);
  if (f == "abs")
    return std::abs(x);
  if (f == "neg")
    return -x;
  if (f == "square")
    return x * x;
  return x;
}

std::int64_t integer_binary(const std::string& f, std::int64_t a, std::int64_t b) {
  if (f == "add")
    return a + b;
  if (f == "sub")
    return a - b;
  if (f == "mul")
    return a * b;
  if (f == "div")
    return b == 0 ? 0 : a / b;
  return f == "maximum" ? std::max(a, b) : std::min(a, b);
}

double float_exact(const std::string& f, double x) {
  if (f == "relu")
    return x > 0 || std::isnan(x) ? x : 0.0;
  if (f == "abs")
    return std::abs(x);
  return f == "neg" ? -x : x;
}

Expected unary(const OracleContext& context, const Reader& x, double alpha, std::int64_t i) {
  const std::string& f = context.op.function;
  if (context.integers)
    return finish_integer(
        context, static_cast<std::uint64_t>(integer_unary(f, static_cast<std::int64_t>(x[i]))));
  if (is_exact(f))
    return finish_exact(context, float_exact(f, x[i]), f != "copy");
  if (f == "square")
    return finish(context, {x[i] * x[i], 0.0});
  return finish(context, transcendental(context, f, x[i], alpha));
}

Expected binary(const OracleContext& context, const Reader& left, const Reader& right,
                std::int64_t i) {
  const std::string& f = context.op.function;
  const double a = left[i];
  const double b = right[i];
  if (context.integers)
    return finish_integer(context,
                          static_cast<std::uint64_t>(integer_binary(f, static_cast<std::int64_t>(a),
                                                                    static_cast<std::int64_t>(b))));
  if (is_exact(f))
    return finish_exact(context, f == "maximum" ? std::fmax(a, b) : std::fmin(a, b), true);
  if (f == "add")
    return finish(context, {a + b, 0.0});
  if (f == "sub")
    return finish(context, {a - b, 0.0});
  if (f == "mul")
    return finish(context, {a * b, 0.0});
  return finish(context, {a / b, context.fast * std::abs(a / b)});
}

Expected bias(const OracleContext& context, double x, double b) {
  if (context.integers) {
    const std::int64_t sum = static_cast<std::int64_t>(x) + static_cast<std::int64_t>(b);
    return finish_integer(context,
                          static_cast<std::uint64_t>(integer_unary(context.op.function, sum)));
  }
  // The addition itself is rounded once, before the activation.
  const Estimate sum{x + b, context.op.function == "identity"
                                ? 0.0
                                : context.u_sum * std::abs(x + b) + context.floor};
  return finish(context, activate(context, context.op.function, sum));
}

} // namespace

Estimate activate(const OracleContext& context, const std::string& function, Estimate z,
                  double alpha) {
  constexpr double steepest = 1.2; // of the derivatives of all activations offered after a sum
  if (function == "identity" || function.empty())
    return z;
  if (function == "relu")
    return {std::max(z.value, 0.0), z.error};
  Estimate result = transcendental(context, function, z.value, alpha);
  result.error += steepest * z.error;
  return result;
}

std::vector<Expected> expected_pointwise(const OracleContext& context, Points points) {
  std::vector<Expected> results;
  results.reserve(points.size());
  switch (context.op.family) {
  case Family::unary: {
    const Reader x = context.reader("x");
    const double alpha = context.op.scalars.empty() ? 0.0 : context.scalar("alpha");
    for (const std::int64_t i : points)
      results.push_back(unary(context, x, alpha, i));
    break;
  }
  case Family::binary: {
    const Reader a = context.reader("A");
    const Reader b = context.reader("B");
    for (const std::int64_t i : points)
      results.push_back(binary(context, a, b, i));
    break;
  }
  case Family::axpy: {
    const Reader x = context.reader("x");
    const Reader y = context.reader("y");
    const double alpha = context.scalar("alpha");
    for (const std::int64_t i : points)
      results.push_back(
          finish(context, {alpha * x[i] + y[i], 2.0 * context.u_sum * std::abs(alpha * x[i])}));
    break;
  }
  case Family::bias: {
    const Reader x = context.reader("x");
    const Reader b = context.reader("bias");
    const std::int64_t columns = context.dim("N");
    for (const std::int64_t i : points)
      results.push_back(bias(context, x[i], b[i % columns]));
    break;
  }
  case Family::transpose: {
    const Reader x = context.reader("x");
    const std::int64_t rows = context.dim("M");
    const std::int64_t columns = context.dim("N");
    for (const std::int64_t i : points)
      results.push_back(finish_exact(context, x[i % rows * columns + i / rows], false));
    break;
  }
  default: { // embedding
    const Reader indices = context.reader("indices");
    const Reader table = context.reader("table");
    const std::int64_t length = context.dim("D");
    for (const std::int64_t i : points) {
      const auto row = static_cast<std::int64_t>(indices[i / length]);
      const bool valid = row >= 0 && row < context.dim("V");
      results.push_back(
          finish_exact(context, valid ? table[row * length + i % length] : std::nan(""), false));
    }
  }
  }
  return results;
}

} // namespace kernevo
