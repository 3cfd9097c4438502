#include "kernevo/report/roofline_sketch.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <sstream>

namespace kernevo::report {
namespace {

RooflinePoint sample() {
  RooflinePoint p;
  p.operations = 1e9;
  p.rate = 1e12;
  p.dram_bytes = 1e8; // 10 operations a byte
  p.l2_bytes = 1e9;
  p.dram_rate = 1e12;
  p.l2_rate = 4e12;
  p.ceiling = {"fp32", 20e12};
  return p;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

// Column and row of the only such letter in the plot.
std::pair<int, int> position(const std::vector<std::string>& lines, char letter) {
  for (std::size_t y = 0; y < 12; ++y)
    if (const std::size_t x = lines[y].find(letter, lines[y].find('|')); x != std::string::npos)
      return {static_cast<int>(x), static_cast<int>(y)};
  return {-1, -1};
}

TEST(RooflineSketch, puts_both_points_at_one_height_under_the_roofs) {
  const std::string text = roofline_sketch(sample());
  const std::vector<std::string> lines = lines_of(text);
  ASSERT_EQ(lines.size(), 15U) << text; // plot, axis, scale, legend
  const auto [dram_x, dram_y] = position(lines, 'D');
  const auto [l2_x, l2_y] = position(lines, 'L');
  EXPECT_EQ(dram_y, l2_y) << text;
  EXPECT_GT(dram_x, l2_x) << text; // more operations for each byte of device memory
  EXPECT_NE(lines[0].find("20 TFLOP/s"), std::string::npos) << text;
  EXPECT_NE(lines[0].find("---"), std::string::npos) << text;
  EXPECT_NE(lines[0].find(" fp32"), std::string::npos) << text;
  // The memory roof stands above the point in its column.
  int roof = -1;
  for (int y = 0; y < dram_y; ++y)
    if (lines[std::size_t(y)].size() > std::size_t(dram_x) &&
        lines[std::size_t(y)][std::size_t(dram_x)] == '/')
      roof = y;
  EXPECT_GE(roof, 0) << text;
  EXPECT_NE(lines.back().find("D 10 FLOP per byte of device memory: 10 % of its roof"),
            std::string::npos)
      << text;
  for (const std::string& line : lines)
    if (&line != &lines.back()) {
      EXPECT_LE(line.size(), 100U) << line;
    }
}

TEST(RooflineSketch, a_point_on_the_roof_is_at_100_percent) {
  RooflinePoint p = sample();
  p.rate = 10e12;
  EXPECT_NE(roofline_sketch(p).find("device memory: 100 % of its roof"), std::string::npos)
      << roofline_sketch(p);
}

TEST(RooflineSketch, shows_the_unit_that_is_not_used) {
  RooflinePoint p = sample();
  p.unused = RooflineCeiling{"tensor fp16", 300e12};
  const std::string text = roofline_sketch(p);
  EXPECT_NE(text.find("300 TFLOP/s"), std::string::npos) << text;
  EXPECT_NE(text.find("= tensor fp16"), std::string::npos) << text;
}

TEST(RooflineSketch, is_left_out_where_nothing_moves) {
  RooflinePoint p = sample();
  p.dram_bytes = 0;
  p.l2_bytes = 0;
  EXPECT_EQ(roofline_sketch(p), "");
}

TEST(RooflineSketch, speaks_of_instructions_where_there_is_no_floating_point_work) {
  RooflinePoint p = sample();
  p.instructions = true;
  p.l2_rate.reset();
  const std::string text = roofline_sketch(p);
  EXPECT_NE(text.find("inst per byte"), std::string::npos) << text;
  EXPECT_EQ(text.find("L2"), std::string::npos) << text;
}

} // namespace
} // namespace kernevo::report
