#include "kernevo/kernel/conditionals.h"

#include <gmock/gmock.h>

namespace kernevo {
namespace {

using testing::HasSubstr;

std::string resolved(const std::string& source,
                     const std::map<std::string, std::int64_t>& known = {{"BM", 64}}) {
  const auto text = resolve_conditionals(source, known, "k.cu");
  return text ? *text : format_error(text.error());
}

TEST(Conditionals, LeaveASourceWithoutAnyAlone) {
  const std::string source = "#define A 1\n#pragma unroll\nint a = A;\r\n// #if 0\n";
  EXPECT_EQ(resolved(source), source);
}

TEST(Conditionals, KeepLinesAndTheirNumbers) {
  EXPECT_EQ(resolved("#if BM > 32 /* a\nb */\nint a;\n#else\nint b;\n#endif\nint c;"),
            "\n\nint a;\n\n\n\nint c;");
  EXPECT_EQ(resolved("#if 0\na\n#elif BM == 64\nb\n#elif 1\nc\n#else\nd\n#endif\n"),
            "\n\n\nb\n\n\n\n\n\n");
}

TEST(Conditionals, FollowTheMacrosOfTheSource) {
  EXPECT_EQ(resolved("#ifndef N\n#define N 4\n#endif\n#if N * 2 == 8 && !defined(M)\nyes\n#endif"),
            "\n#define N 4\n\n\nyes\n");
  EXPECT_EQ(resolved("#define N 4\n#undef N\n#ifdef N\nno\n#endif"), "#define N 4\n#undef N\n\n\n");
  // What is left out defines nothing.
  EXPECT_EQ(resolved("#if 0\n#define N 1\n#endif\n#ifdef N\nno\n#endif"), "\n\n\n\n\n");
  EXPECT_EQ(
      resolved("#define A B\n#define B (BM / 2)\n#if A >= 32u && true and not 0\nyes\n#endif"),
      "#define A B\n#define B (BM / 2)\n\nyes\n");
  EXPECT_EQ(resolved("#if defined BM && (defined(X) || BM << 1 == 128)\nyes\n#endif"), "\nyes\n");
}

TEST(Conditionals, DoNotLookAtConditionsThatDoNotMatter) {
  EXPECT_EQ(resolved("#if 0\n#if UNKNOWN(3) +\nno\n#endif\n#elif 1\nyes\n#elif UNKNOWN\n#endif"),
            "\n\n\n\n\nyes\n\n");
}

TEST(Conditionals, RefuseWhatCannotBeDecided) {
  EXPECT_THAT(resolved("\n#if UNKNOWN > 3\n#endif"), HasSubstr("k.cu:2:1: 'UNKNOWN' has no value"));
  EXPECT_THAT(resolved("#define F(x) x\n#if F(1)\n#endif"), HasSubstr("macro with parameters"));
  EXPECT_THAT(resolved("#define A A\n#if A\n#endif"), HasSubstr("'A' has no value"));
  EXPECT_THAT(resolved("#if 1 / 0\n#endif"), HasSubstr("division by zero"));
  EXPECT_THAT(resolved("#if\n#endif"), HasSubstr("cannot be decided"));
  EXPECT_THAT(resolved("#ifdef\n#endif"), HasSubstr("wants one name"));
  EXPECT_THAT(resolved("#if 1\n"), HasSubstr("k.cu:1: the #if of this line has no #endif"));
  EXPECT_THAT(resolved("#endif\n"), HasSubstr("#endif without an #if"));
  EXPECT_THAT(resolved("#if 1\n#else\n#else\n#endif"), HasSubstr("k.cu:3:1: #else without an #if"));
}

// A chain of macros that doubles with every link ends in a refusal, not in hours.
TEST(Conditionals, BoundTheirWork) {
  std::string doubling = "#define M0 1\n";
  for (int i = 1; i < 60; ++i)
    doubling += "#define M" + std::to_string(i) + " M" + std::to_string(i - 1) + " + M" +
                std::to_string(i - 1) + "\n";
  EXPECT_THAT(resolved(doubling + "#if M59\n#endif"), HasSubstr("too"));
  std::string chain;
  for (int i = 0; i < 20000; ++i)
    chain += "#define C" + std::to_string(i) + " C" + std::to_string(i + 1) + "\n";
  EXPECT_THAT(resolved(chain + "#if C0\n#endif"), HasSubstr("too many macros"));
  std::string nested;
  for (int i = 0; i < 10000; ++i)
    nested += "#if 1\n";
  EXPECT_THAT(resolved(nested), HasSubstr("#if in each other"));
}

} // namespace
} // namespace kernevo
