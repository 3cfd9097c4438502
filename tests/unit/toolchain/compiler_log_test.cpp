#include "kernevo/toolchain/compiler_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

using testing::HasSubstr;
using testing::Not;

CompilerLog read(const std::string& log, const std::string& file = "my file.cu") {
  CompileRequest request;
  request.file = file;
  Toolchain toolchain;
  toolchain.include = "/toolkit/include";
  return read_compiler_log(log, request, toolchain);
}

TEST(CompilerLog, places_and_severities) {
  const CompilerLog log = read(R"(my file.cu(3): error: identifier "y" is undefined
    a[0] = y;
           ^

my file.cu(2): warning #177-D: variable "q" was declared but never referenced
  int q;
      ^

Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"

1 error detected in the compilation of "kernevo-prelude".
)");
  ASSERT_EQ(log.diagnostics.size(), 2U);
  EXPECT_EQ(log.diagnostics[0].place, (Place{"my file.cu", 3, 10}));
  EXPECT_EQ(log.diagnostics[0].message, "identifier \"y\" is undefined");
  EXPECT_EQ(log.diagnostics[1].severity, Diagnostic::Severity::warning);
  EXPECT_EQ(log.diagnostics[1].place, (Place{"my file.cu", 2, 5}));
  EXPECT_FALSE(log.syntax_error);
}

TEST(CompilerLog, the_first_error_decides_between_syntax_and_meaning) {
  EXPECT_TRUE(read("my file.cu(3): error: expected a \";\"\n").syntax_error);
  EXPECT_FALSE(read("my file.cu(3): error: identifier \"half\" is undefined\n"
                    "my file.cu(3): error: expected a \")\"\n")
                   .syntax_error);
  EXPECT_FALSE(read("my file.cu(3): warning #1-D: expected a \";\"\n").syntax_error);
}

TEST(CompilerLog, other_files_do_not_leak) {
  const CompilerLog log = read("/etc/passwd(1): error: identifier \"root\" is undefined\n"
                               "  root:x:0:0:root:/root:/bin/bash\n  ^\n"
                               "/toolkit/include/mma.h(9): error: no such layout\n");
  ASSERT_EQ(log.diagnostics.size(), 2U);
  for (const Diagnostic& diagnostic : log.diagnostics) {
    EXPECT_THAT(diagnostic.message, Not(HasSubstr("root")));
    EXPECT_EQ(diagnostic.place.file, "my file.cu");
  }
  EXPECT_EQ(log.diagnostics[1].message, "in <mma.h>: no such layout");
}

TEST(CompilerLog, host_compiler_form_and_odd_names) {
  const CompilerLog log = read("a(1): b.cu:12:3: error: nope\n", "a(1): b.cu");
  ASSERT_EQ(log.diagnostics.size(), 1U);
  EXPECT_EQ(log.diagnostics[0].place, (Place{"a(1): b.cu", 12, 3}));
  EXPECT_TRUE(read("").diagnostics.empty());
  EXPECT_TRUE(read("): error: x\n(: error:\n:::: error:\n(1): oops\n").diagnostics.empty());
}

// "Permission denied" would say that there is such a file.
TEST(CompilerLog, a_file_that_cannot_be_opened_is_like_one_that_is_not_there) {
  const auto message = [](const std::string& reason) {
    return read("my file.cu(1): catastrophic error: cannot open source file \"/a\"" + reason)
        .diagnostics.at(0)
        .message;
  };
  EXPECT_EQ(message(": Permission denied"), message(""));
  EXPECT_THAT(message(""), HasSubstr("/a"));
  const auto of_host = [](const std::string& reason) {
    return read("my file.cu:1:10: fatal error: /a: " + reason).diagnostics.at(0).message;
  };
  EXPECT_EQ(of_host("Permission denied"), of_host("No such file or directory"));
}

} // namespace
} // namespace kernevo
