#include "kernevo/model/comparison.h"

#include <cmath>
#include <fmt/format.h>

namespace kernevo {
namespace {

tl::unexpected<Error> wrong(const std::string& what) {
  return fail(ErrorCode::input, "comparison record: " + what);
}

Result<void> check_ratio(const SpeedRatio& ratio) {
  const bool ordered = ratio.low > 0 && ratio.low <= ratio.estimate &&
                       ratio.estimate <= ratio.high && std::isfinite(ratio.high);
  if (!ordered)
    return wrong(fmt::format("ratio {} in [{}, {}]; it must lie in a positive, finite interval",
                             ratio.estimate, ratio.low, ratio.high));
  if (!(ratio.confidence > 0 && ratio.confidence < 1))
    return wrong(fmt::format("confidence {} is not a fraction in (0, 1)", ratio.confidence));
  return {};
}

} // namespace

std::string_view name_of(Standing value) {
  switch (value) {
  case Standing::faster: return "faster";
  case Standing::slower: return "slower";
  case Standing::same: return "same";
  case Standing::ambiguous: return "ambiguous";
  case Standing::not_comparable: return "not_comparable";
  }
  return "unknown";
}

Result<Comparison> make_comparison(Comparison parts) {
  if (parts.reason.empty() || parts.reason.find('\n') != std::string::npos)
    return wrong("the reason is one line and never empty");
  if (parts.standing == Standing::not_comparable) {
    if (parts.ratio || parts.method)
      return wrong("what is not comparable has neither a ratio nor a method");
    return parts;
  }
  if (!parts.method)
    return wrong("measured or modelled must be said");
  if (!parts.ratio)
    return parts.standing == Standing::ambiguous
               ? Result<Comparison>(std::move(parts))
               : wrong(fmt::format("'{}' needs a ratio", name_of(parts.standing)));
  KERNEVO_CHECK(check_ratio(*parts.ratio));
  if (parts.standing == Standing::faster && !(parts.ratio->low > 1))
    return wrong("'faster' needs an interval above 1");
  if (parts.standing == Standing::slower && !(parts.ratio->high < 1))
    return wrong("'slower' needs an interval below 1");
  return parts;
}

} // namespace kernevo
