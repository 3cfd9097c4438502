#include "secrets.h"

#include "kernevo/base/temporary_folder.h"
#include "places.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace kernevo::structure {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

const std::set<std::string> kMaySpeak = {
    // What each audience may see.
    "evaluate/visible.cpp",
    "evaluate/visible.h",
    // Which shapes are hidden: the reader of tasks, and those that are drawn.
    "task/load_task.cpp",
    "task/catalogue.cpp",
    "task/drawn_shapes.cpp",
    "task/drawn_shapes.h",
    "evaluate/check.cpp",
    "model/task.h",
    // The ladder, which runs them and says so in the record.
    "evaluate/judge_subject.cpp",
    "evaluate/judge_real_shapes.cpp",
    "evaluate/verdict_writer.cpp",
    // GCC's word for a symbol that no other library sees.
    "jit/runtime/table.cpp",
    // The record, and the texts of the record.
    "model/verdict.cpp",
    "model/verdict_json.cpp",
    "model/diagnosis.h",
    "model/diagnosis.cpp",
};

std::vector<std::string> spoken_by_others(const std::vector<SpokenSecret>& spoken,
                                          const std::set<std::string>& may_speak) {
  std::vector<std::string> others;
  for (const SpokenSecret& one : spoken)
    if (!may_speak.contains(one.file))
      others.push_back(one.what);
  return others;
}

const std::vector<SpokenSecret>& ours() {
  static const auto spoken = spoken_secrets(fs::path(source_folder()) / "src" / "kernevo");
  return spoken;
}

TEST(Secrets, AreSpokenOfInThePolicyAlone) {
  EXPECT_THAT(spoken_by_others(ours(), kMaySpeak), IsEmpty());
}

// A list that names files which need no leave would let them speak one day.
TEST(Secrets, NobodyHasLeaveWithoutNeed) {
  std::set<std::string> speakers;
  for (const SpokenSecret& one : ours())
    speakers.insert(one.file);
  EXPECT_EQ(speakers, kMaySpeak);
}

TEST(Secrets, ASourceIsTakenApart) {
  const SourceText parts = take_apart("int a = 1'000; // hidden \"x\"\n"
                                      "f(\"one \\\" two\", 'c', R\"z(raw )\" text)z\"); /* a\n"
                                      "b */ g(xR\"y\");\n");
  EXPECT_EQ(parts.code, "int a = 1'000; \nf(, , ); \n g(xR);\n");
  EXPECT_EQ(parts.literals, "\none \" two c raw )\" text \ny \n");
}

class SpokenSecrets : public testing::Test {
protected:
  std::vector<std::string> spoken(const std::string& text, const std::string& file = "cli/a.cpp") {
    fs::create_directories((folder_.path() / file).parent_path());
    std::ofstream(folder_.path() / file) << text;
    return spoken_by_others(spoken_secrets(folder_.path()), {"evaluate/visible.cpp"});
  }

  TemporaryFolder folder_ = TemporaryFolder::make().value();
};

TEST_F(SpokenSecrets, AreFoundInLiterals) {
  EXPECT_THAT(spoken("\nfmt::print(\"on a Hidden shape\");\n"),
              ElementsAre("cli/a.cpp:2 words hidden shapes"));
  EXPECT_THAT(spoken("auto a = R\"(\n check_shapes: )\";\n"),
              ElementsAre("cli/a.cpp:2 words hidden shapes"));
}

TEST_F(SpokenSecrets, AreFoundInDecisions) {
  for (const char* code :
       {"if (c.hidden)", "if (c->hidden)", "for (auto& s : task.check_shapes)",
        "x = task.check_shapes_given;", "auto s = draw_shapes(task, 1);",
        "if (rung == Rung::hidden_shapes)", "return diagnose_fully(verdict, source);"})
    EXPECT_THAT(spoken(code), ElementsAre("cli/a.cpp:1 decides by hidden shapes")) << code;
}

TEST_F(SpokenSecrets, AreNoSecretsInCommentsOtherNamesAndThePolicy) {
  EXPECT_THAT(spoken("// a hidden shape: c.hidden\nint hidden_state = a.hiddenness;\n"), IsEmpty());
  EXPECT_THAT(spoken("if (c.hidden) say(\"hidden\");\n", "evaluate/visible.cpp"), IsEmpty());
}

} // namespace
} // namespace kernevo::structure
