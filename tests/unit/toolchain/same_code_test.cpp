#include "kernevo/toolchain/same_code.h"

#include <gtest/gtest.h>
#include <string>

namespace kernevo {
namespace {

constexpr const char* kHead = ".version 9.2\n.target sm_80\n.address_size 64\n";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

const std::string kTwo =
    std::string(kHead) +
    ".global .align 4 .b8 _ZTable[8] = {0, 0, 128, 63};\n"
    ".func (.param .b32 func_retval0) _Z4helpi(\n.param .b32 _Z4helpi_param_0\n)\n"
    "{\nret;\n}\n"
    ".visible .entry _Z3onePf(\n.param .u64 _Z3onePf_param_0\n)\n.maxntid 128\n{\n"
    "ld.param.u64 %rd1, [_Z3onePf_param_0];\n"
    "mov.u64 %rd2, _ZTable;\n"
    "@%p1 bra $L__BB1_2;\n"
    "call (retval0), _Z4helpi, (param0);\n"
    "$L__BB1_2:\nret;\n}\n"
    ".visible .entry two()\n{\nmov.u32 %r1, 7;\nret;\n}\n";

TEST(SameCode, LooksPastWhatCompilersChooseFreely) {
  EXPECT_TRUE(same_device_code(kTwo, kTwo));
  EXPECT_TRUE(same_device_code(kTwo, replaced(kTwo, "_Z4helpi", "_ZN2ns4helpEl")));
  EXPECT_TRUE(same_device_code(kTwo, replaced(kTwo, "$L__BB1_2", "$L__BB0_9")));
  EXPECT_TRUE(same_device_code(kTwo, replaced(kTwo, ".visible .entry _Z3", ".weak .entry _Z3")));
  EXPECT_TRUE(same_device_code(kTwo, replaced(kTwo, "ret;\n", ".loc 1 2 3 // here\n  ret;\n")));
  EXPECT_TRUE(
      same_device_code(kTwo, replaced(kTwo, ".global", ".global .u32 _ZUnused = 1;\n.global")));
  const std::size_t two = kTwo.find(".visible .entry two");
  const std::size_t one = kTwo.find(".visible .entry _Z3onePf");
  EXPECT_TRUE(
      same_device_code(kTwo, kTwo.substr(0, one) + kTwo.substr(two) + kTwo.substr(one, two - one)));
}

TEST(SameCode, SeesEveryDifferenceInWhatRuns) {
  EXPECT_FALSE(same_device_code(kTwo, replaced(kTwo, "%r1, 7", "%r1, 8")));
  EXPECT_FALSE(same_device_code(kTwo, replaced(kTwo, "{0, 0, 128, 63}", "{0, 0, 0, 64}")));
  EXPECT_FALSE(same_device_code(kTwo, replaced(kTwo, ".maxntid 128", ".maxntid 256")));
  EXPECT_FALSE(same_device_code(kTwo, replaced(kTwo, ")\n{\nret;", ")\n{\nexit;\nret;")));
  EXPECT_FALSE(same_device_code(kTwo, kTwo.substr(0, kTwo.find(".visible .entry two"))));
  EXPECT_FALSE(same_device_code(kTwo, replaced(kTwo, "entry two", "entry three")));
  EXPECT_FALSE(same_device_code(kTwo, kTwo + ".visible .entry more()\n{\nret;\n}\n"));
  // The same symbols the other way round.
  const std::string loads = std::string(kHead) + ".global .u32 _Za;\n.global .u32 _Zb = 1;\n"
                                                 ".visible .entry k()\n{\nld %r1, [_Za];\nld %r2, "
                                                 "[_Zb];\nret;\n}\n";
  EXPECT_FALSE(
      same_device_code(loads, replaced(replaced(replaced(loads, "[_Za]", "[x]"), "[_Zb]", "[_Za]"),
                                       "[x]", "[_Zb]")));
}

TEST(SameCode, SurvivesAnyText) {
  for (const char* text : {"", "}", "{", ";", ".entry", ".func (", ".global ;\n"})
    EXPECT_TRUE(same_device_code(text, text)) << text;
}

} // namespace
} // namespace kernevo
