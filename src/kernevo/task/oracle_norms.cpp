// Normalisations: statistics over a span of elements, then an affine map of each.
#include "kernevo/task/oracle_parts.h"

namespace kernevo {
namespace {

struct Moments {
  std::int64_t span = -1;
  double mean = 0;
  double mean_error = 0;
  double scale = 0;       // 1 / sqrt(variance or mean square + eps)
  double scale_error = 0; // relative
};

Moments moments(const OracleContext& context, const Reader& x, std::int64_t span,
                std::int64_t length, bool centred) {
  Sum sum;
  double squares = 0;
  const std::int64_t start = span * length;
  for (std::int64_t i = 0; i < length; ++i) {
    const double value = x[start + i];
    sum.add(value);
    squares += value * value;
  }
  const auto n = static_cast<double>(length);
  const double eps = context.scalar("eps");
  Moments m;
  m.span = span;
  if (!centred) {
    m.scale = 1.0 / std::sqrt(squares / n + eps);
    m.scale_error = 0.5 * biased_growth(n) * context.u_sum + context.fast;
    return m;
  }
  m.mean = sum.value() / n;
  m.mean_error = sum.error(context) / n + 2.0 * context.u_sum * std::abs(m.mean);
  double deviations = 0;
  for (std::int64_t i = 0; i < length; ++i)
    deviations += (x[start + i] - m.mean) * (x[start + i] - m.mean);
  const double variance = deviations / n;
  // Both the two-pass form and mean(x^2) - mean^2 are honest: the latter cancels.
  const double variance_error = biased_growth(n) * context.u_sum * (squares / n + m.mean * m.mean) +
                                2.0 * std::abs(m.mean) * m.mean_error + m.mean_error * m.mean_error;
  m.scale = 1.0 / std::sqrt(variance + eps);
  m.scale_error = 0.5 * variance_error / (variance + eps) + context.fast;
  return m;
}

struct Affine {
  double gamma = 1;
  double beta = 0;
};

Expected normalise(const OracleContext& context, const Moments& m, double x, Affine affine) {
  const double slope = std::abs(affine.gamma) * m.scale;
  const double normalised = (x - m.mean) * m.scale * affine.gamma;
  const double error =
      slope * (m.mean_error + 4.0 * context.u_sum * (std::abs(x) + std::abs(m.mean))) +
      std::abs(normalised) * m.scale_error + 4.0 * context.u_sum * std::abs(affine.beta);
  return finish(context, {normalised + affine.beta, error});
}

std::vector<Expected> row_norm(const OracleContext& context, Points points) {
  const bool centred = context.op.family == Family::layer_norm;
  const Reader x = context.reader("x");
  const Reader gamma = context.reader("gamma");
  const Reader beta = centred ? context.reader("beta") : Reader{};
  const std::int64_t columns = context.dim("N");
  std::vector<Expected> results;
  results.reserve(points.size());
  Moments m;
  for (const std::int64_t point : points) {
    if (point / columns != m.span)
      m = moments(context, x, point / columns, columns, centred);
    const std::int64_t column = point % columns;
    results.push_back(
        normalise(context, m, x[point], {gamma[column], centred ? beta[column] : 0.0}));
  }
  return results;
}

std::vector<Expected> channel_norm(const OracleContext& context, Points points) {
  const bool grouped = context.op.family == Family::group_norm;
  const Reader x = context.reader("x");
  const Reader gamma = context.reader("gamma");
  const Reader beta = context.reader("beta");
  const Reader mean = grouped ? Reader{} : context.reader("mean");
  const Reader variance = grouped ? Reader{} : context.reader("var");
  const std::int64_t pixels = context.dim("HW");
  const std::int64_t channels = context.dim("C");
  const std::int64_t span = grouped ? channels / context.dim("G") * pixels : 0;
  std::vector<Expected> results;
  results.reserve(points.size());
  Moments m;
  for (const std::int64_t point : points) {
    const std::int64_t channel = point / pixels % channels;
    if (!grouped) {
      m.mean = mean[channel];
      m.scale = 1.0 / std::sqrt(variance[channel] + context.scalar("eps"));
      m.scale_error = context.fast;
    } else if (point / span != m.span) {
      m = moments(context, x, point / span, span, true);
    }
    results.push_back(normalise(context, m, x[point], {gamma[channel], beta[channel]}));
  }
  return results;
}

} // namespace

std::vector<Expected> expected_norms(const OracleContext& context, Points points) {
  const bool rows =
      context.op.family == Family::layer_norm || context.op.family == Family::rms_norm;
  return rows ? row_norm(context, points) : channel_norm(context, points);
}

} // namespace kernevo
