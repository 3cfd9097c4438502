// Softmax and what is built on it: each row has statistics that all its points share.
#include "kernevo/task/oracle_parts.h"

#include <limits>

namespace kernevo {
namespace {

struct RowStatistics {
  std::int64_t row = -1;
  double largest = 0;
  double sum = 0;            // of exp(x - largest)
  double relative_error = 0; // of that sum
  std::vector<double> terms;
};

RowStatistics softmax_statistics(const OracleContext& context, const Reader& x, std::int64_t row,
                                 std::int64_t columns, RowStatistics s) {
  s.row = row;
  s.sum = 0;
  s.terms.resize(static_cast<std::size_t>(columns));
  s.largest = -std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < columns; ++i)
    s.largest = std::max(s.largest, x[row * columns + i]);
  double distance = 0; // of the exponents, weighted by their share of the sum
  double size = 0;
  for (std::int64_t i = 0; i < columns; ++i) {
    const double value = x[row * columns + i];
    const double term = std::exp(value - s.largest);
    s.terms[static_cast<std::size_t>(i)] = term;
    s.sum += term;
    if (term == 0)
      continue; // an infinite distance times nothing
    distance += term * (s.largest - value);
    size += term * std::abs(value);
  }
  s.relative_error = context.fast * (1.0 + distance / s.sum) +
                     4.0 * context.u_sum * (size / s.sum + std::abs(s.largest)) +
                     biased_growth(static_cast<double>(columns)) * context.u_sum;
  return s;
}

Expected softmax(const OracleContext& context, const RowStatistics& s, double x, double term) {
  const double value = term / s.sum;
  if (value == 0)
    return finish(context, {0, 0});
  const double relative = context.fast * (2.0 + s.largest - x) +
                          4.0 * context.u_sum * (std::abs(x) + std::abs(s.largest)) +
                          s.relative_error;
  return finish(context, {value, value * relative});
}

Estimate log_softmax(const OracleContext& context, const RowStatistics& s, double x) {
  const double log_sum = std::log(s.sum);
  const double error = 4.0 * context.u_sum * (std::abs(x) + std::abs(s.largest) + log_sum) +
                       s.relative_error + context.fast * (1.0 + log_sum);
  return {x - s.largest - log_sum, error};
}

} // namespace

std::vector<Expected> expected_rows(const OracleContext& context, Points points) {
  const bool losses = context.op.family == Family::cross_entropy;
  const Reader x = context.reader(losses ? "logits" : "x");
  const Reader labels = losses ? context.reader("labels") : Reader{};
  const std::int64_t columns = context.dim("N");
  std::vector<Expected> results;
  results.reserve(points.size());
  RowStatistics s;
  for (const std::int64_t point : points) {
    const std::int64_t row = losses ? point : point / columns;
    if (row != s.row)
      s = softmax_statistics(context, x, row, columns, std::move(s));
    if (losses) {
      const auto label = static_cast<std::int64_t>(labels[row]);
      const bool valid = label >= 0 && label < columns;
      Estimate loss = log_softmax(context, s, valid ? x[row * columns + label] : std::nan(""));
      loss.value = -loss.value;
      results.push_back(finish(context, loss));
    } else if (context.op.family == Family::softmax) {
      results.push_back(
          softmax(context, s, x[point], s.terms[static_cast<std::size_t>(point % columns)]));
    } else {
      results.push_back(finish(context, log_softmax(context, s, x[point])));
    }
  }
  return results;
}

std::vector<Expected> expected_attention(const OracleContext& context, Points points) {
  const Reader q = context.reader("q");
  const Reader k = context.reader("k");
  const Reader v = context.reader("v");
  const std::int64_t length = context.dim("L");
  const std::int64_t head = context.dim("D");
  const bool causal = context.dim("causal") != 0;
  const double scale = 1.0 / std::sqrt(static_cast<double>(head));
  // Tensor-core kernels store the weights in the task's type before the second product.
  const double stored_weights =
      context.problem.dtype == DType::float16 || context.problem.dtype == DType::bfloat16
          ? unit_roundoff(context.problem.dtype)
          : 0.0;
  std::vector<Expected> results;
  results.reserve(points.size());
  std::int64_t row = -1;
  std::int64_t visible = 0;
  std::vector<double> weights;
  std::vector<double> errors; // relative, of each weight
  double sum_error = 0;
  for (const std::int64_t point : points) {
    if (point / head != row) {
      row = point / head;
      visible = causal ? row % length + 1 : length;
      const std::int64_t first_key = row / length * length;
      weights.assign(static_cast<std::size_t>(visible), 0.0);
      errors.assign(static_cast<std::size_t>(visible), 0.0);
      double largest = -std::numeric_limits<double>::infinity();
      for (std::int64_t j = 0; j < visible; ++j) {
        Sum score;
        for (std::int64_t d = 0; d < head; ++d)
          score.add(q[row * head + d] * k[(first_key + j) * head + d]);
        const double value = score.value() * scale;
        weights[static_cast<std::size_t>(j)] = value;
        errors[static_cast<std::size_t>(j)] =
            score.error(context) * scale + 4.0 * context.u_sum * std::abs(value);
        largest = std::max(largest, value);
      }
      double sum = 0;
      double weighted_error = 0;
      for (std::size_t j = 0; j < weights.size(); ++j) {
        errors[j] +=
            context.fast * (1.0 + largest - weights[j]) + 4.0 * context.u_sum * std::abs(largest);
        weights[j] = std::exp(weights[j] - largest);
        sum += weights[j];
        weighted_error += weights[j] * errors[j];
      }
      for (double& weight : weights)
        weight /= sum;
      sum_error = weighted_error / sum +
                  biased_growth(static_cast<double>(visible)) * context.u_sum + context.fast;
    }
    const std::int64_t first_value = row / length * length * head + point % head;
    Sum sum;
    double weight_error = 0;
    for (std::int64_t j = 0; j < visible; ++j) {
      const double term = weights[static_cast<std::size_t>(j)] * v[first_value + j * head];
      sum.add(term);
      weight_error += std::abs(term) * (errors[static_cast<std::size_t>(j)] + stored_weights);
    }
    results.push_back(finish(context, {sum.value(), sum.error(context) + weight_error +
                                                        sum_error * std::abs(sum.value())}));
  }
  return results;
}

} // namespace kernevo
