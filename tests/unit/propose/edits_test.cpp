#include "kernevo/propose/edits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo::propose {
namespace {

using testing::HasSubstr;

const std::string kSource = "int a;\n"
                            "  int b;  \n"
                            "\n"
                            "void f() {\n"
                            "  if (x) {\n"
                            "    g(1);\n"
                            "  }\n"
                            "  g(2);\n"
                            "  g(2);\n"
                            "}\n";

std::string applied(const std::vector<Edit>& edits, const std::string& source = kSource) {
  const auto result = apply_edits(source, edits);
  return result ? *result : "error: " + format_error(result.error());
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(ReadEdits, TakesBlocksOutOfProseAndFences) {
  const auto edits =
      read_edits("title: x\n\nkernel.cu\n```cuda\n<<<<<<< SEARCH\nint a;\n=======\n"
                 "int c;\n>>>>>>> REPLACE\n```\nand\n<<<<< search\r\nold\r\n=====\r\n"
                 ">>>>> replace\r\n");
  ASSERT_TRUE(edits) << format_error(edits.error());
  EXPECT_EQ(*edits, (std::vector<Edit>{{"int a;\n", "int c;\n"}, {"old\n", ""}}));
}

TEST(ReadEdits, TakesFencesInsideSectionsAway) {
  const auto edits = read_edits("<<<<<<< SEARCH kernel.cu\n```cuda\nint a;\n```\n=======\n```\nint "
                                "c;\n```\n>>>>>>> REPLACE\n");
  ASSERT_TRUE(edits) << format_error(edits.error());
  EXPECT_EQ(*edits, (std::vector<Edit>{{"int a;\n", "int c;\n"}}));
}

TEST(ReadEdits, IsNotMisledByMarkersInTheText) {
  // A rule of another length is text.
  const auto rule = read_edits("<<<<<<< SEARCH\na\n=======\nb\n==========\nc\n>>>>>>> REPLACE\n");
  ASSERT_TRUE(rule) << format_error(rule.error());
  EXPECT_EQ(*rule, (std::vector<Edit>{{"a\n", "b\n==========\nc\n"}}));
  const auto comment = read_edits("<<<<<<< SEARCH\n// =======\n=======\n// <<<<<<< SEARCH\n"
                                  "k<<<1, 2>>>(x);\n>>>>>>> REPLACE\n");
  ASSERT_TRUE(comment) << format_error(comment.error());
  EXPECT_EQ(comment->front().search, "// =======\n");
  // What could be meant either way is refused.
  for (const char* text :
       {"<<<<<<< SEARCH\na\n=======\nb\n=======\nc\n>>>>>>> REPLACE\n",
        "<<<<<<< SEARCH\na\n=======\nb\n<<<<<<< SEARCH\nc\n=======\nd\n>>>>>>> REPLACE\n",
        "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\nc\n>>>>>>> REPLACE\n",
        "<<<<<<< SEARCH\na\nb\n>>>>>>> REPLACE\n", "<<<<<<< SEARCH\na\n=======\nb\n"})
    EXPECT_FALSE(read_edits(text)) << text;
  EXPECT_TRUE(read_edits("A heading\n=========\n")->empty());
}

TEST(ApplyEdits, ReplacesExactLines) {
  EXPECT_EQ(applied({{"int a;\n", "int c;\nint d;\n"}}),
            replaced(kSource, "int a;\n", "int c;\nint d;\n"));
  EXPECT_EQ(applied({{"    g(1);\n  }\n", "    g(3);\n  }\n"}}), replaced(kSource, "g(1)", "g(3)"));
  EXPECT_EQ(applied({{"int a;\n", ""}}), replaced(kSource, "int a;\n", ""));
}

TEST(ApplyEdits, AppliesSeveralToTheTextAsItWas) {
  // The second must not match what the first puts in.
  EXPECT_EQ(applied({{"int a;\n", "void f() {\n"}, {"void f() {\n", "int z() {\n"}}),
            replaced(replaced(kSource, "void f() {", "int z() {"), "int a;", "void f() {"));
  EXPECT_THAT(applied({{"void f() {\n  if (x) {\n", "a\n"}, {"  if (x) {\n    g(1);\n", "b\n"}}),
              HasSubstr("'if (x) {' overlaps"));
}

TEST(ApplyEdits, ForgivesBlanksAndIndentation) {
  EXPECT_EQ(applied({{"  int b;\n", "  int c;\n"}}), replaced(kSource, "int b;  ", "int c;"));
  EXPECT_EQ(applied({{"\nif (x) {\n  g(1);\n}\n\n", "if (y) {\n  g(1);\n\n  h();\n}\n"}}),
            replaced(replaced(kSource, "if (x)", "if (y)"), "g(1);\n", "g(1);\n\n    h();\n"));
  EXPECT_EQ(applied({{"g(1)", "g(7)"}}), replaced(kSource, "g(1)", "g(7)"));
}

TEST(ApplyEdits, RefusesWhatIsMissingOrAmbiguous) {
  EXPECT_THAT(applied({{"  g(2);\n", "  g(3);\n"}}), HasSubstr("'g(2);' is found in several"));
  EXPECT_THAT(applied({{"int", "long"}}), HasSubstr("'int' is found in several"));
  EXPECT_THAT(applied({{"\n  nowhere();\n  g(2);\n", "x\n"}}),
              HasSubstr("'nowhere();' is not found"));
  EXPECT_THAT(applied({{" \n", "x\n"}}), HasSubstr("empty SEARCH"));
  EXPECT_THAT(applied({{"int a;\n", "int a;\n"}}), HasSubstr("change nothing"));
  EXPECT_THAT(applied({}), HasSubstr("1 to 64"));
}

TEST(ApplyEdits, StaysQuickOnLongRepetitiveTexts) {
  std::string source;
  for (int i = 0; i < 50000; ++i)
    source += "a\n";
  std::string search;
  for (int i = 0; i < 3000; ++i)
    search += "a\n";
  std::vector<Edit> edits(60, Edit{search + "b\n", "c\n"});
  EXPECT_THAT(applied(edits, source), HasSubstr("is not found"));
}

} // namespace
} // namespace kernevo::propose
