#include "kernevo/task/kernel_template.h"
#include "test_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

using testing::HasSubstr;

const TemplateContext kContext{{{"kernel", "add"}, {"type", "float"}},
                               {{"yes", true}, {"no", false}}};

std::string expanded(const std::string& text) {
  const auto result = expand_template(text, kContext, "k.cu");
  EXPECT_TRUE(result) << format_error(result.error());
  return result.value_or("");
}

void expect_error(const std::string& text, int line, const std::string& words) {
  const auto result = expand_template(text, kContext, "k.cu");
  ASSERT_FALSE(result) << *result;
  EXPECT_EQ(result.error().code, ErrorCode::input);
  ASSERT_TRUE(result.error().place);
  EXPECT_EQ(result.error().place->file, "k.cu");
  EXPECT_EQ(result.error().place->line, line) << format_error(result.error());
  EXPECT_THAT(format_error(result.error()), HasSubstr(words));
}

TEST(KernelTemplate, KeysAreReplacedWhereTheyStand) {
  EXPECT_EQ(expanded("void {{kernel}}({{type}}* a, {{type}} b) {}\n"),
            "void add(float* a, float b) {}\n");
  EXPECT_EQ(expanded("no holes { } {\n"), "no holes { } {\n");
}

TEST(KernelTemplate, LinesAreKeptOrDropped) {
  EXPECT_EQ(expanded("{{if yes}}\na\n{{else}}\nb\n{{end}}\nc\n"), "a\nc\n");
  EXPECT_EQ(expanded("{{if no}}\na\n{{else}}\nb\n{{end}}\nc\n"), "b\nc\n");
  EXPECT_EQ(expanded("{{if !no}}\na\n{{end}}\n"), "a\n");
  EXPECT_EQ(expanded("{{if yes}}\n{{if no}}\na\n{{else}}\nb\n{{end}}\n{{else}}\nc\n{{end}}\n"),
            "b\n");
  EXPECT_EQ(expanded("{{if no}}\n{{if yes}}\na\n{{end}}\n{{end}}\nd\n"), "d\n");
}

TEST(KernelTemplate, PartsAreTakenFromBesideTheTemplate) {
  const TestFolder folder;
  folder.write("part.cu", "{{if yes}}\nvoid {{kernel}}();\n{{end}}\n");
  folder.write("wrong.cu", "fine\n{{nothing}}\n");
  folder.write("deep.cu", "{{include part.cu}}\n");
  const std::string file = folder.path("k.cu");
  const auto whole = expand_template("a\n{{include part.cu}}\nb {{type}}\n", kContext, file);
  ASSERT_TRUE(whole) << format_error(whole.error());
  EXPECT_EQ(*whole, "a\nvoid add();\nb float\n");
  const auto dropped = expand_template("{{if no}}\n{{include gone.cu}}\n{{end}}\n", kContext, file);
  ASSERT_TRUE(dropped) << format_error(dropped.error());
  EXPECT_EQ(*dropped, "");
  const auto message = [&](const std::string& text) {
    const auto result = expand_template(text, kContext, file);
    return result ? std::string("expanded") : format_error(result.error());
  };
  EXPECT_THAT(message("\n{{include gone.cu}}\n"), HasSubstr("k.cu:2: there is no part 'gone.cu'"));
  EXPECT_THAT(message("{{include wrong.cu}}\n"), HasSubstr("wrong.cu:2: "));
  EXPECT_THAT(message("{{include deep.cu}}\n"), HasSubstr("deep.cu:1: a part includes no further"));
}

TEST(KernelTemplate, WhatIsWrongIsNamedWithItsLine) {
  expect_error("a\n{{kernl}}\n", 2, "kernl");
  expect_error("a\nb\n{{if maybe}}\n{{end}}\n", 3, "maybe");
  expect_error("a\n{{if yes}}\nb\n", 2, "if");
  expect_error("a\n{{end}}\n", 2, "end");
  expect_error("{{else}}\n", 1, "else");
  expect_error("{{if yes}}\n{{else}}\n{{else}}\n{{end}}\n", 3, "second {{else}}");
}

} // namespace
} // namespace kernevo
