// Every instruction form of the lists in tests/unit/ptx/data gets a handler, not only a parse.
#include "kernevo/base/result.h"
#include "kernevo/vgpu/execute/machine.h"
#include "places.h"

#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <string>

namespace kernevo::vgpu {
namespace {

std::string module_with(const std::string& line, const std::string& target) {
  return fmt::format(R"(.version 9.0
.target {}
.address_size 64
.func callee {{ ret; }}
.visible .entry k(.param .b64 P)
{{
.reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %r<10>; .reg .b64 %d<10>;
.reg .b128 %q<10>; .reg .f32 %f<10>; .reg .f64 %g<10>;
.param .b64 Q;
{}
DONE: ret;
}}
)",
                     target, line);
}

void load_lines(const std::string& name, const std::string& target) {
  std::ifstream lines(test_folder("unit/vgpu") + "/../ptx/data/" + name);
  ASSERT_TRUE(lines.good()) << name;
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const auto program = load_program(module_with(line, target), name);
    if (line.starts_with("fma.rn.oob")) { // the manual does not say which NaN marks "outside"
      EXPECT_FALSE(program) << line;
      continue;
    }
    EXPECT_TRUE(program) << line << "\n" << format_error(program.error());
  }
  EXPECT_GE(count, 50);
}

TEST(EveryForm, LoadsForSm80) {
  load_lines("forms_sm80.txt", "sm_80");
}

TEST(EveryForm, LoadsForSm90) {
  load_lines("forms_sm90.txt", "sm_90a");
}

} // namespace
} // namespace kernevo::vgpu
