// Reductions along an axis, running sums, and windows that slide.
#include "kernevo/task/oracle_parts.h"

#include <limits>

namespace kernevo {
namespace {

// The strided line of elements that one output reduces.
struct Line {
  std::int64_t start = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
};

Expected finish_sum(const OracleContext& context, const Sum& sum, double divisor) {
  if (context.integers)
    return finish_integer(context, sum.wrapped());
  Estimate estimate = sum.estimate(context);
  if (divisor != 1.0) {
    estimate.value /= divisor;
    estimate.error = estimate.error / divisor + 2.0 * context.u_sum * std::abs(estimate.value);
  }
  return finish(context, estimate);
}

void add_term(const OracleContext& context, Sum& sum, double term) {
  if (context.integers)
    sum.add_integer(static_cast<std::int64_t>(term));
  else
    sum.add(term);
}

std::int64_t first_largest(const Reader& x, const Line& line) {
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < line.count; ++i)
    if (x[line.start + i * line.step] > x[line.start + best * line.step])
      best = i;
  return best;
}

Expected reduce(const OracleContext& context, const Reader& x, const Line& line) {
  if (context.op.family == Family::argmax)
    return {static_cast<double>(first_largest(x, line)), 0.0};
  const std::string& f = context.op.function;
  if (f == "max" || f == "min") {
    double best = x[line.start];
    for (std::int64_t i = 1; i < line.count; ++i) {
      const double value = x[line.start + i * line.step];
      best = f == "max" ? std::max(best, value) : std::min(best, value);
    }
    return finish_exact(context, best, true);
  }
  Sum sum;
  for (std::int64_t i = 0; i < line.count; ++i)
    add_term(context, sum, x[line.start + i * line.step]);
  return finish_sum(context, sum, f == "mean" ? static_cast<double>(line.count) : 1.0);
}

std::vector<Expected> reductions(const OracleContext& context, Points points) {
  const Reader x = context.reader("x");
  const std::int64_t length = context.dim("R");
  const std::int64_t inner = context.dim("INNER");
  std::vector<Expected> results;
  results.reserve(points.size());
  for (const std::int64_t point : points)
    results.push_back(
        reduce(context, x, {point / inner * length * inner + point % inner, inner, length}));
  return results;
}

std::vector<Expected> cumsum(const OracleContext& context, Points points) {
  const Reader x = context.reader("x");
  const std::int64_t columns = context.dim("N");
  std::vector<Expected> results;
  results.reserve(points.size());
  Sum sum;
  std::int64_t next = 0; // the first element not yet in the sum
  for (const std::int64_t point : points) {
    const std::int64_t row_start = point / columns * columns;
    if (row_start > next - 1 || point < next - 1) {
      sum = Sum();
      next = row_start;
    }
    for (; next <= point; ++next)
      add_term(context, sum, x[next]);
    results.push_back(finish_sum(context, sum, 1.0));
  }
  return results;
}

struct Window {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

Window window(std::int64_t output, std::int64_t extent, std::int64_t kernel, std::int64_t stride,
              std::int64_t padding) {
  const std::int64_t start = output * stride - padding;
  return {std::max<std::int64_t>(0, start), std::min(extent, start + kernel)};
}

std::vector<Expected> pool(const OracleContext& context, Points points) {
  const Reader x = context.reader("x");
  const bool two = context.problem.dims.count("H") != 0;
  const std::int64_t height = two ? context.dim("H") : 1;
  const std::int64_t width = context.dim(two ? "W" : "L");
  const std::int64_t out_height = two ? context.dim("P") : 1;
  const std::int64_t out_width = context.dim(two ? "Q" : "P");
  const std::int64_t kernel = context.dim("kernel");
  const std::int64_t stride = context.dim("stride");
  const std::int64_t padding = context.dim("padding");
  const auto area = static_cast<double>(two ? kernel * kernel : kernel);
  std::vector<Expected> results;
  results.reserve(points.size());
  for (const std::int64_t point : points) {
    const Window columns = window(point % out_width, width, kernel, stride, padding);
    const Window rows =
        two ? window(point / out_width % out_height, height, kernel, stride, padding)
            : Window{0, 1};
    const std::int64_t plane = point / (out_width * out_height) * height * width;
    Sum sum;
    double best = -std::numeric_limits<double>::infinity();
    for (std::int64_t r = rows.first; r < rows.last; ++r)
      for (std::int64_t c = columns.first; c < columns.last; ++c) {
        const double value = x[plane + r * width + c];
        best = std::max(best, value);
        sum.add(value);
      }
    results.push_back(context.op.function == "max" ? finish_exact(context, best, true)
                                                   : finish_sum(context, sum, area));
  }
  return results;
}

} // namespace

std::vector<Expected> expected_reductions(const OracleContext& context, Points points) {
  if (context.op.family == Family::cumsum)
    return cumsum(context, points);
  return context.op.family == Family::pool ? pool(context, points) : reductions(context, points);
}

} // namespace kernevo
