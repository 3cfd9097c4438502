#include "kernevo/base/file_cage.h"

#include "kernevo/base/files.h"
#include "kernevo/base/subprocess.h"
#include "test_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kernevo {
namespace {

// Whether this system lets a process into a cage of the kind.
bool works(FileLayer layer) {
  const pid_t child = fork();
  if (child == 0) {
    const auto cage = FileCage::make({}, layer);
    _exit(cage && cage->enter() ? 0 : 1);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

class FileCageTest : public testing::TestWithParam<FileLayer> {
protected:
  void SetUp() override {
    if (!works(GetParam()))
      GTEST_SKIP() << "this system has no " << name_of(GetParam());
    access_.readable = system_libraries();
    for (const char* more : {"/usr/bin", "/bin"})
      access_.readable.emplace_back(more);
    access_.readable.push_back(folder_.path() / "given");
    access_.writable.push_back(folder_.path() / "mine");
    folder_.write("given/text", "shown\n");
    folder_.write("mine/text", "mine\n");
    folder_.write("secret", "secret\n");
  }

  SubprocessResult run(std::vector<std::string> arguments, bool caged = true) {
    const auto cage = FileCage::make(access_, GetParam());
    EXPECT_TRUE(cage) << format_error(cage.error());
    SubprocessRequest request;
    request.arguments = std::move(arguments);
    request.cage = caged ? &*cage : nullptr;
    const auto result = run_subprocess(request);
    EXPECT_TRUE(result) << format_error(result.error());
    return result.value_or(SubprocessResult{});
  }

  SubprocessResult shell(const std::string& script) { return run({"/bin/sh", "-c", script}); }

  const TestFolder folder_;
  FileAccess access_;
};

TEST_P(FileCageTest, ReadsWhatIsGivenAndNothingElse) {
  EXPECT_EQ(run({"/bin/cat", folder_.path("given/text")}).output, "shown\n");
  EXPECT_EQ(run({"/bin/cat", folder_.path("secret")}, false).output, "secret\n");
  for (const std::string& path :
       {folder_.path("secret"), folder_.path("given/../secret"), std::string("/etc/passwd"),
        std::string("/proc/self/environ"), std::string("/proc/1/cmdline")}) {
    const SubprocessResult result = run({"/bin/cat", path});
    EXPECT_NE(result.exit_status, 0) << path;
    EXPECT_EQ(result.output, "") << path;
  }
  // Where a folder is not refused, what is not given is not there.
  EXPECT_EQ(shell("cd " + folder_.path().string() + " && echo *").output.find("secret"),
            std::string::npos);
}

TEST_P(FileCageTest, LinksLeadNowhereElse) {
  std::filesystem::create_symlink(folder_.path() / "secret", folder_.path() / "given" / "link");
  EXPECT_NE(run({"/bin/cat", folder_.path("given/link")}).exit_status, 0);
}

TEST_P(FileCageTest, LinksThatAreGivenLeadWhereTheyPoint) {
  folder_.write("elsewhere/deep/text", "far\n");
  const auto given = folder_.path() / "given";
  std::filesystem::create_symlink(folder_.path() / "secret", given / "file");
  std::filesystem::create_symlink("../elsewhere", given / "folder");
  access_.readable.insert(access_.readable.end(), {given / "file", given / "folder"});
  EXPECT_EQ(run({"/bin/cat", folder_.path("given/file")}).output, "secret\n");
  EXPECT_EQ(run({"/bin/cat", folder_.path("given/folder/deep/text")}).output, "far\n");
}

TEST_P(FileCageTest, WritesToItsOwnFolderAlone) {
  EXPECT_EQ(shell("echo new > " + folder_.path("mine/new")).exit_status, 0);
  EXPECT_EQ(read_text_file(folder_.path("mine/new")).value_or(""), "new\n");
  EXPECT_EQ(run({"/bin/rm", folder_.path("mine/text")}).exit_status, 0);
  for (const char* name : {"given/new", "given/text", "elsewhere"})
    EXPECT_NE(shell("echo new > " + folder_.path(name)).exit_status, 0) << name;
  EXPECT_NE(run({"/bin/rm", "-f", folder_.path("given/text")}).exit_status, 0);
  EXPECT_EQ(read_text_file(folder_.path("given/text")).value_or(""), "shown\n");
  EXPECT_FALSE(std::filesystem::exists(folder_.path("elsewhere")));
}

TEST_P(FileCageTest, WhatIsWrittenCannotBeRun) {
  std::filesystem::copy_file("/bin/true", folder_.path() / "mine" / "program");
  const auto cage = FileCage::make(access_, GetParam()).value();
  SubprocessRequest request;
  request.arguments = {folder_.path("mine/program")};
  request.cage = &cage;
  EXPECT_FALSE(run_subprocess(request));
}

INSTANTIATE_TEST_SUITE_P(Layers, FileCageTest,
                         testing::Values(FileLayer::landlock, FileLayer::mount_namespace),
                         [](const auto& layer) { return std::string(name_of(layer.param)); });

} // namespace
} // namespace kernevo
