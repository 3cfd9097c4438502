// `kernevo evolve` and then `kernevo extract` through the real program.
#include "run_program.h"
#include "test_folder.h"
#include "toolchain_test.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

namespace kernevo {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ExtractCommand : public KernelTest {
protected:
  // One run for all tests: evolving is what takes the time.
  static void SetUpTestSuite() {
    made() = std::make_unique<TestFolder>();
    made()->write("task.yaml", "op_name: softmax\nshapes: [[64, 256]]\ndtype: float32\n"
                               "target_gpu: A100\n");
    const auto run = program(
        {"evolve", task(), "--name", "little", "--rounds", "1", "--first-tuning", "2", "-q"});
    EXPECT_EQ(run.exit_status, 0) << run.output << run.error_output;
  }
  static void TearDownTestSuite() { made().reset(); }

  static std::unique_ptr<TestFolder>& made() {
    static std::unique_ptr<TestFolder> folder;
    return folder;
  }
  static const fs::path& folder() { return made()->path(); }
  static std::string task() { return (folder() / "task.yaml").string(); }
  static SubprocessResult program(std::vector<std::string> arguments) {
    return run_program(program_path(), arguments, {{"KERNEVO_RUNS", folder().string()}});
  }
  static SubprocessResult extract(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "extract");
    return program(std::move(arguments));
  }
  static std::string read(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  // Exit code 2 and one line with these words.
  static void expect_refused(const SubprocessResult& run, const std::vector<std::string>& words) {
    EXPECT_EQ(run.exit_status, 2) << run.output;
    EXPECT_EQ(std::count(run.error_output.begin(), run.error_output.end(), '\n'), 1);
    for (const std::string& word : words)
      EXPECT_THAT(run.error_output, HasSubstr(word));
  }
};

TEST_F(ExtractCommand, WritesAKernelThatChecks) {
  const std::string file = (folder() / "best.cu").string();
  const auto wrote = extract({"little", "-o", file});
  EXPECT_EQ(wrote.exit_status, 0) << wrote.error_output;
  EXPECT_THAT(wrote.output, HasSubstr("wrote " + file + ": step 1 of little"));
  EXPECT_THAT(wrote.output, HasSubstr("next: kernevo check " + task() + " " + file));
  EXPECT_EQ(extract({"little"}).output.size() + file.size() - std::string("FILE.cu").size(),
            read(file).size()); // the same but for the name of the file
  const auto checked = program({"check", task(), file, "-q"});
  EXPECT_EQ(checked.exit_status, 0) << checked.output << checked.error_output;

  expect_refused(extract({"little", "-o", file}), {file + ": exists already", "--force"});
  EXPECT_EQ(extract({"little", "--iteration", "0", "-o", file, "--force"}).exit_status, 0);
  EXPECT_THAT(read(file), HasSubstr("step     0 (baseline)"));
}

TEST_F(ExtractCommand, TakesTheRunByItsFolder) {
  const auto run = extract({(folder() / "little").string(), "--best", "--as", "json"});
  EXPECT_EQ(run.exit_status, 0) << run.error_output;
  const auto object = nlohmann::json::parse(run.output);
  EXPECT_EQ(object["step"], 1);
  EXPECT_GT(object["speedup"], 1);
  // --json alone is the same answer; with a form it wraps that.
  EXPECT_EQ(nlohmann::json::parse(extract({"little", "--json"}).output), object);
  const auto wrapped = nlohmann::json::parse(extract({"little", "--json", "--as", "torch"}).output);
  EXPECT_EQ(wrapped["as"], "torch");
  EXPECT_THAT(wrapped["text"], HasSubstr("class ModelNew(nn.Module):"));
}

// What others compile was compiled here, and compared with what was judged.
TEST_F(ExtractCommand, SaysThatItIsWhatWasJudged) {
  for (const char* form : {"cu", "torch"})
    EXPECT_THAT(
        extract({"little", "--as", form}).output,
        testing::ContainsRegex("same +(nvcc|NVRTC) [0-9.]+ makes the same device code of it "
                               "as was judged"))
        << form;
  EXPECT_THAT(extract({"little"}).output, testing::Not(HasSubstr("same device code")));
}

// Never judged, never in a run, never extracted.
TEST_F(ExtractCommand, NoRunTakesWhatCouldNotBeExtracted) {
  made()->write("hidden.yaml", "op_name: relu\nshapes: [[4096]]\ndtype: float32\n"
                               "target_gpu: A100\nreference_kernel: hidden.cu\n");
  made()->write("hidden.cu", "// relu\n#ifndef __CUDACC_RTC__\nstatic int evil = 1;\n#endif\n"
                             "__global__ void relu(const float* x, float* y, int N) {}\n");
  const std::string hidden = (folder() / "hidden.yaml").string();
  expect_refused(program({"check", hidden, (folder() / "hidden.cu").string()}),
                 {"hidden.cu:2:9: #ifndef asks for '__CUDACC_RTC__'", "write one code for all"});
  const auto evolved = program({"evolve", hidden, "--name", "hidden", "--rounds", "1", "-q"});
  EXPECT_NE(evolved.exit_status, 0) << evolved.output;
  EXPECT_THAT(evolved.output + evolved.error_output, HasSubstr("__CUDACC_RTC__"));
}

TEST_F(ExtractCommand, RefusesWhatItCannotDo) {
  expect_refused(extract({"litle"}), {"there is no run 'litle'", "did you mean 'little'"});
  expect_refused(extract({"little", "--iteration", "7"}),
                 {"there is no step 7: the run has 1 step after the reference"});
  expect_refused(extract({"little", "--as", "cuda"}), {"there is no form 'cuda'", "torch or json"});
  expect_refused(extract({"little", "--best", "--iteration", "1"}), {"exclude each other"});
  expect_refused(extract({"little", "--iteration", "-1"}), {"--iteration"});
  expect_refused(extract({}), {"RUN"});
  const auto nowhere = extract({"little", "-o", (folder() / "no" / "where.cu").string()});
  EXPECT_NE(nowhere.exit_status, 0);
  EXPECT_THAT(nowhere.error_output, HasSubstr("where.cu"));
}

} // namespace
} // namespace kernevo
