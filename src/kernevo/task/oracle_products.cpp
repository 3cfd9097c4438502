// Sums of products: matrix products of every layout, matrix-vector products, convolutions.
#include "kernevo/task/oracle_parts.h"

#include <array>

namespace kernevo {
namespace {

// A strided walk through a buffer.
struct Walk {
  Reader values;
  std::int64_t start = 0;
  std::int64_t step = 1;
};

void add_product(const OracleContext& context, double left, double right, Sum& sum) {
  if (context.integers)
    sum.add_integer(static_cast<std::int64_t>(left), static_cast<std::int64_t>(right));
  else
    sum.add(left * right);
}

void add_products(const OracleContext& context, const Walk& a, const Walk& b, std::int64_t count,
                  Sum& sum) {
  for (std::int64_t i = 0; i < count; ++i)
    add_product(context, a.values[a.start + i * a.step], b.values[b.start + i * b.step], sum);
}

Expected finish_sum(const OracleContext& context, const Sum& sum) {
  if (context.integers)
    return finish_integer(context, sum.wrapped());
  return finish(context, sum.estimate(context));
}

// Points of one row side by side: the right factor is then read along its rows, not down columns
// that lie megabytes apart.
constexpr std::size_t kSideBySide = 64;

std::size_t points_in_row(Points points, std::int64_t columns) {
  std::size_t count = 1;
  while (count < std::min(points.size(), kSideBySide) &&
         points[count] / columns == points.front() / columns)
    ++count;
  return count;
}

std::vector<Expected> matmul(const OracleContext& context, Points points) {
  const std::int64_t rows = context.dim("M");
  const std::int64_t columns = context.dim("N");
  const std::int64_t length = context.dim("K");
  const Reader a = context.reader("A");
  const Reader b = context.reader("B");
  const Reader bias = context.op.bias ? context.reader("bias") : Reader{};
  const std::int64_t column_step = context.op.transposed_b ? length : 1;
  const std::int64_t row_step = context.op.transposed_b ? 1 : columns;
  std::vector<Expected> results;
  results.reserve(points.size());
  while (!points.empty()) {
    const Points group = points.first(points_in_row(points, columns));
    points = points.subspan(group.size());
    const std::int64_t batch = group.front() / (rows * columns);
    const std::int64_t row = group.front() / columns % rows;
    const std::int64_t a_start = batch * rows * length;
    const std::int64_t b_start = batch * length * columns;
    const Walk left =
        context.op.transposed_a ? Walk{a, a_start + row, rows} : Walk{a, a_start + row * length, 1};
    std::array<Sum, kSideBySide> sums;
    for (std::int64_t k = 0; k < length; ++k) {
      const double factor = left.values[left.start + k * left.step];
      for (std::size_t i = 0; i < group.size(); ++i)
        add_product(context, factor, b[b_start + group[i] % columns * column_step + k * row_step],
                    sums.at(i));
    }
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (!context.op.bias) {
        results.push_back(finish_sum(context, sums.at(i)));
        continue;
      }
      sums.at(i).add(bias[group[i] % columns]);
      results.push_back(
          finish(context, activate(context, context.op.function, sums.at(i).estimate(context))));
    }
  }
  return results;
}

std::vector<Expected> matvec(const OracleContext& context, Points points) {
  const std::int64_t length = context.dim("N");
  const Reader a = context.reader("A");
  const Reader x = context.reader("x");
  std::vector<Expected> results;
  results.reserve(points.size());
  for (const std::int64_t row : points) {
    Sum sum;
    add_products(context, {a, row * length, 1}, {x, 0, 1}, length, sum);
    results.push_back(finish_sum(context, sum));
  }
  return results;
}

// A convolution in one dimension is one in two whose height is 1.
struct ConvSizes {
  std::int64_t channels, height, width, filters, filter_height, filter_width;
  std::int64_t out_height, out_width, stride, padding, vertical_padding, groups;
};

ConvSizes conv_sizes(const OracleContext& context) {
  const bool two = context.problem.dims.count("H") != 0;
  const std::int64_t padding = context.dim("padding");
  return {context.dim("C"),
          two ? context.dim("H") : 1,
          context.dim(two ? "W" : "L"),
          context.dim("K"),
          two ? context.dim("R") : 1,
          context.dim(two ? "S" : "R"),
          two ? context.dim("P") : 1,
          context.dim(two ? "Q" : "P"),
          context.dim("stride"),
          padding,
          two ? padding : 0,
          context.dim("groups")};
}

std::vector<Expected> conv(const OracleContext& context, Points points) {
  const ConvSizes s = conv_sizes(context);
  const Reader x = context.reader("x");
  const Reader w = context.reader("w");
  const std::int64_t group_channels = s.channels / s.groups;
  const std::int64_t group_filters = s.filters / s.groups;
  std::vector<Expected> results;
  results.reserve(points.size());
  for (const std::int64_t point : points) {
    const std::int64_t out_x = point % s.out_width;
    const std::int64_t out_y = point / s.out_width % s.out_height;
    const std::int64_t filter = point / (s.out_width * s.out_height) % s.filters;
    const std::int64_t sample = point / (s.out_width * s.out_height * s.filters);
    const std::int64_t left = out_x * s.stride - s.padding;
    const std::int64_t first = std::max<std::int64_t>(0, -left);
    const std::int64_t last = std::min(s.filter_width, s.width - left);
    Sum sum;
    for (std::int64_t c = 0; c < group_channels; ++c) {
      const std::int64_t channel = filter / group_filters * group_channels + c;
      for (std::int64_t r = 0; r < s.filter_height; ++r) {
        const std::int64_t row = out_y * s.stride - s.vertical_padding + r;
        if (row < 0 || row >= s.height || last <= first)
          continue;
        const std::int64_t x_start =
            ((sample * s.channels + channel) * s.height + row) * s.width + left + first;
        const std::int64_t w_start =
            ((filter * group_channels + c) * s.filter_height + r) * s.filter_width + first;
        add_products(context, {x, x_start, 1}, {w, w_start, 1}, last - first, sum);
      }
    }
    results.push_back(finish_sum(context, sum));
  }
  return results;
}

} // namespace

std::vector<Expected> expected_products(const OracleContext& context, Points points) {
  if (context.op.family == Family::matmul)
    return matmul(context, points);
  return context.op.family == Family::matvec ? matvec(context, points) : conv(context, points);
}

} // namespace kernevo
