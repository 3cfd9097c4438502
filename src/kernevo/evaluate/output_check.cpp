#include "kernevo/evaluate/output_check.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace kernevo {
namespace {

// The magnitude below which 95 % of a normally distributed output lies: twice its root mean square.
double scale_of(std::span<const Expected> expected) {
  double sum = 0;
  std::size_t finite = 0;
  for (const Expected& e : expected)
    if (std::isfinite(e.value)) {
      sum += e.value * e.value;
      ++finite;
    }
  return finite == 0 ? 0 : 2 * std::sqrt(sum / static_cast<double>(finite));
}

// |error| in units of the tolerance; infinite when the value is of the wrong kind altogether.
double error_ratio(double actual, double expected, double tolerance, double largest) {
  constexpr double hopeless = std::numeric_limits<double>::infinity();
  if (std::isnan(expected))
    return std::isnan(actual) ? 0 : hopeless;
  if (std::isnan(actual))
    return hopeless;
  // A result that overflows the format is right as an infinity or as the largest value.
  if (std::abs(expected) + tolerance > largest && std::signbit(actual) == std::signbit(expected) &&
      std::abs(actual) >= largest * (1 - 0x1p-6))
    return 0;
  // Nothing finite is near an infinity, however wide the tolerance is that was made of it.
  if (!std::isfinite(actual) || !std::isfinite(expected))
    return hopeless;
  const double error = std::abs(actual - expected);
  // A tolerance that is no number allows nothing.
  if (error == 0)
    return 0;
  return tolerance > 0 ? error / tolerance : hopeless;
}

} // namespace

OutputCheck check_output(const BufferSpec& buffer, std::span<const std::byte> actual,
                         std::span<const std::int64_t> points, std::span<const Expected> expected,
                         std::optional<double> declared) {
  OutputCheck check;
  const bool widen = declared.has_value() && is_floating(buffer.dtype);
  const double scale = widen ? scale_of(expected) : 0;
  const double largest = largest_value(buffer.dtype);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double value = load_element(buffer.dtype, actual.data(), points[i]);
    const Expected& e = expected[i];
    const double tolerance =
        widen ? std::max(e.tolerance, *declared * std::max(std::abs(e.value), scale)) : e.tolerance;
    const double ratio = error_ratio(value, e.value, tolerance, largest);
    check.worst_ratio = std::max(check.worst_ratio, ratio);
    if (widen)
      check.worst_strict_ratio =
          std::max(check.worst_strict_ratio, error_ratio(value, e.value, e.tolerance, largest));
    if (!(ratio <= 1) && !check.mismatch)
      check.mismatch =
          Mismatch{buffer.name, coordinates(buffer.shape, points[i]), e.value, value, tolerance};
    ++check.checked;
  }
  return check;
}

std::optional<std::int64_t> first_unwritten(const BufferSpec& buffer,
                                            std::span<const std::byte> written) {
  const void* gap = written.empty() ? nullptr : std::memchr(written.data(), 0, written.size());
  if (gap == nullptr)
    return std::nullopt;
  return (static_cast<const std::byte*>(gap) - written.data()) /
         static_cast<std::int64_t>(size_of(buffer.dtype));
}

std::vector<std::int64_t> coordinates(const std::vector<std::int64_t>& shape, std::int64_t flat) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = flat % shape[axis];
    flat /= shape[axis];
  }
  return index;
}

} // namespace kernevo
