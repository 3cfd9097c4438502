#include "kernevo/report/roofline_sketch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <vector>

namespace kernevo::report {
namespace {

constexpr int kWidth = 60;
constexpr int kHeight = 12;
constexpr int kLabel = 15;
// Space around what is drawn, as a factor.
constexpr double kMargin = 3;

std::string with_prefix(double value, const std::string& unit) {
  constexpr std::array<const char*, 6> prefixes = {"", "k", "M", "G", "T", "P"};
  std::size_t step = 0;
  while (value >= 999.5 && step + 1 < prefixes.size()) {
    value /= 1000;
    ++step;
  }
  return fmt::format("{:.3g} {}{}", value, prefixes.at(step), unit);
}

struct Mark {
  char letter;
  double intensity;
  double roof; // operations per second the roof above it allows
  const char* level;
};

class Sketch {
public:
  explicit Sketch(const RooflinePoint& point)
      : p_(point), rows_(kHeight, std::string(kWidth, ' ')), labels_(kHeight) {
    add_mark('D', p_.dram_bytes, p_.dram_rate, "device memory");
    if (p_.l2_rate)
      add_mark('L', p_.l2_bytes, *p_.l2_rate, "L2");
  }

  std::string draw() {
    if (marks_.empty() || p_.rate <= 0)
      return "";
    scale();
    if (p_.unused)
      ceiling(*p_.unused, '=', p_.dram_rate);
    ceiling(p_.ceiling, '-', std::max(p_.dram_rate, p_.l2_rate.value_or(0)));
    if (p_.l2_rate)
      slope(*p_.l2_rate, '.', p_.ceiling.rate);
    slope(p_.dram_rate, '/', p_.unused ? p_.unused->rate : p_.ceiling.rate);
    for (auto mark = marks_.rbegin(); mark != marks_.rend(); ++mark)
      put(column(mark->intensity), row(p_.rate), mark->letter);
    label(row(p_.rate), with_prefix(p_.rate, unit() + "/s"));
    return text();
  }

private:
  void add_mark(char letter, double bytes, double rate, const char* level) {
    if (bytes > 0) {
      const double intensity = p_.operations / bytes;
      marks_.push_back({letter, intensity, std::min(intensity * rate, p_.ceiling.rate), level});
    }
  }

  std::string unit() const { return p_.instructions ? "inst" : "FLOP"; }

  void scale() {
    const double top = p_.unused ? p_.unused->rate : p_.ceiling.rate;
    const double ridge = p_.ceiling.rate / p_.dram_rate;
    low_x_ = ridge;
    high_x_ = top / p_.dram_rate;
    for (const Mark& mark : marks_) {
      low_x_ = std::min(low_x_, mark.intensity);
      high_x_ = std::max(high_x_, mark.intensity);
    }
    low_x_ /= kMargin;
    high_x_ *= kMargin;
    high_y_ = top;
    low_y_ = std::min(p_.rate, low_x_ * p_.dram_rate) / 1.5;
  }

  int column(double x) const {
    return static_cast<int>(
        std::lround((kWidth - 1) * std::log(x / low_x_) / std::log(high_x_ / low_x_)));
  }
  int row(double y) const {
    return static_cast<int>(
        std::lround((kHeight - 1) * std::log(high_y_ / y) / std::log(high_y_ / low_y_)));
  }
  double intensity_at(int x) const {
    return low_x_ * std::pow(high_x_ / low_x_, double(x) / (kWidth - 1));
  }
  void put(int x, int y, char c) {
    if (x >= 0 && x < kWidth && y >= 0 && y < kHeight)
      rows_[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)] = c;
  }
  void label(int y, std::string text) {
    if (y >= 0 && y < kHeight && labels_[static_cast<std::size_t>(y)].empty())
      labels_[static_cast<std::size_t>(y)] = std::move(text);
  }

  void slope(double rate, char c, double until) {
    for (int x = 0; x < kWidth; ++x)
      if (const double y = intensity_at(x) * rate; y < until)
        put(x, row(y), c);
  }
  void ceiling(const RooflineCeiling& ceiling, char c, double rate) {
    const int y = row(ceiling.rate);
    for (int x = 0; x < kWidth; ++x)
      if (intensity_at(x) * rate >= ceiling.rate)
        put(x, y, c);
    label(y, with_prefix(ceiling.rate, unit() + "/s"));
    if (y >= 0 && y < kHeight)
      rows_[static_cast<std::size_t>(y)] += " " + ceiling.unit;
  }

  std::string text() const {
    std::string out;
    for (std::size_t y = 0; y < rows_.size(); ++y) {
      std::string line = fmt::format("  {:>{}} |{}", labels_[y], kLabel, rows_[y]);
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + '\n';
    }
    out += fmt::format("  {:>{}} +{}\n", "", kLabel, std::string(kWidth, '-'));
    const std::string left = fmt::format("{:.2g}", low_x_);
    const std::string right = fmt::format("{:.3g} {} per byte", high_x_, unit());
    out += fmt::format("  {:>{}}  {}{:>{}}\n", "", kLabel, left, right,
                       kWidth - static_cast<int>(left.size()));
    std::string legend = p_.l2_rate ? "/ device memory roof, . L2 roof" : "/ device memory roof";
    for (const Mark& mark : marks_)
      legend += fmt::format(", {} {:.3g} {} per byte of {}: {:.0f} % of its roof", mark.letter,
                            mark.intensity, unit(), mark.level, p_.rate / mark.roof * 100);
    return out + "  " + legend + '\n';
  }

  const RooflinePoint& p_;
  std::vector<Mark> marks_;
  std::vector<std::string> rows_;
  std::vector<std::string> labels_;
  double low_x_ = 1;
  double high_x_ = 1;
  double low_y_ = 1;
  double high_y_ = 1;
};

} // namespace

std::string roofline_sketch(const RooflinePoint& point) {
  return Sketch(point).draw();
}

} // namespace kernevo::report
