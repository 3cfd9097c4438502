#include "kernevo/model/work_estimate.h"

#include <algorithm>
#include <fmt/format.h>

namespace kernevo {

const ShapeEstimate* WorkEstimate::find(const std::string& shape) const {
  const auto found = std::find_if(shapes.begin(), shapes.end(),
                                  [&](const ShapeEstimate& e) { return e.shape == shape; });
  return found == shapes.end() ? nullptr : &*found;
}

std::string roofline_text(double share, bool estimated) {
  return fmt::format("{:.0f} % of the roofline{}", 100 * share,
                     estimated ? fmt::format(" ({})", kFromReference) : "");
}

} // namespace kernevo
