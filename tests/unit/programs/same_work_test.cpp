#include "kernevo/programs/same_work.h"

#include "kernevo/hardware/gpu_table.h"
#include "scripted_stage.h"

#include <gtest/gtest.h>

namespace kernevo {
namespace {

ProgramCase of_rows(std::uint64_t rows) {
  ProgramCase one;
  one.input_bytes = rows * 4096;
  one.output_bytes = rows * 4096;
  one.flops = static_cast<double>(rows) * 1024;
  return one;
}

ProgramPrice taking(double ns, const std::string& kernel = "add") {
  ProgramPrice price;
  price.report = *program_report_from_json(test::report(ns, kernel).dump());
  price.time = price.report.span;
  return price;
}

std::string why_not(const ProgramPrice& judged, const ProgramPrice& larger) {
  const ProgramCase small = of_rows(16384);  // 134 MB moved
  const ProgramCase large = of_rows(262144); // 16 times as much
  return why_not_same_work({&small, &judged}, {&large, &larger}, *find_gpu("A100"), false);
}

TEST(SameWork, AsMuchMoreTimeAsWorkIsTheSame) {
  EXPECT_EQ(why_not(taking(100e3), taking(1600e3)), "");
  // Larger work fills a GPU better.
  EXPECT_EQ(why_not(taking(100e3), taking(900e3)), "");
}

TEST(SameWork, AnotherKernelIsNot) {
  EXPECT_NE(why_not(taking(100e3), taking(1600e3, "nothing")), "");
  // What a compiler made of the sizes is no other kernel.
  EXPECT_EQ(why_not(taking(100e3, "add<4>"), taking(1600e3, "add<8>")), "");
}

TEST(SameWork, LessTimeThanTheResultTakesIsNot) {
  EXPECT_NE(why_not(taking(100e3), taking(120e3)).find("less than an A100 can"), std::string::npos);
}

TEST(SameWork, WorkThatGrowsWithoutTimeIsNot) {
  EXPECT_NE(why_not(taking(3000e3), taking(3200e3)).find("times the work"), std::string::npos);
}

} // namespace
} // namespace kernevo
