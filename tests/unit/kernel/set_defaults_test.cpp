#include "kernevo/kernel/set_defaults.h"

#include <gtest/gtest.h>

namespace kernevo {
namespace {

constexpr const char* kBody = "__global__ void k(float* x) { x[BM] = BN; }\n";

std::string rewritten(const std::string& directives, const ParameterValues& values) {
  const auto file = parse_kernel_file(directives + kBody, "k.cu");
  EXPECT_TRUE(file) << format_error(file.error());
  const auto text = set_defaults(*file, values);
  EXPECT_TRUE(text) << format_error(text.error());
  EXPECT_TRUE(text->ends_with(kBody));
  return text->substr(0, text->size() - std::string_view(kBody).size());
}

TEST(SetDefaults, PutsEachValueFirst) {
  EXPECT_EQ(rewritten("// @tune BM 32 64 128\n//   @tune BN 8 16\n", {{"BM", 128}, {"BN", 16}}),
            "// @tune BM 128 32 64\n//   @tune BN 16 8\n");
}

TEST(SetDefaults, LeavesAloneWhatIsFirstAlready) {
  const std::string text = "int before; // @tune BM 1..64\r\n// @tune BN 8,16\n";
  EXPECT_EQ(rewritten(text, {{"BM", 1}, {"BN", 8}}), text);
}

TEST(SetDefaults, WritesOutARangeAndALineThatGoesOn) {
  EXPECT_EQ(
      rewritten("// @tune BM 8..32..8\r\n// @tune BN 1 \\\n// 2 3\n", {{"BM", 24}, {"BN", 3}}),
      "// @tune BM 24 8 16 32\r\n// @tune BN 3 1 2\n");
}

// The default is the first valid combination: all values first make it so.
TEST(SetDefaults, AConstraintThatMovedTheDefaultNoLongerDoes) {
  const std::string text = "// @tune BM 32 64\n// @tune BN 64 32\n// @where BM > BN\n";
  EXPECT_EQ(rewritten(text, {{"BM", 64}, {"BN", 32}}),
            "// @tune BM 64 32\n// @tune BN 32 64\n// @where BM > BN\n");
}

TEST(SetDefaults, RefusesValuesTheKernelDoesNotHave) {
  const auto file =
      parse_kernel_file("// @tune BM 1 2\n// @tune BN 1 2\n" + std::string(kBody), "k.cu");
  EXPECT_FALSE(set_defaults(*file, {{"BM", 3}, {"BN", 1}}));
  EXPECT_FALSE(set_defaults(*file, {{"BK", 1}}));
}

} // namespace
} // namespace kernevo
