// Bad input through the real program: the exit code, one line on stderr that names the place and
// the fix, and nothing half-written.
#include "expect_line.h"
#include "run_program.h"
#include "test_folder.h"
#include "toolchain_test.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <sys/mount.h>

namespace kernevo {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTask = "op_name: add\nshapes: [[1000]]\ndtype: float32\ntarget_gpu: A100\n";
constexpr const char* kKernel =
    "__global__ void add(const float* A, const float* B, float* C, int N) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < N) C[i] = A[i] + B[i];\n"
    "}\n";

class BadInput : public testing::Test {
protected:
  std::string write(const std::string& name, const std::string& text) const {
    return folder_.write(name, text);
  }
  std::string path(const std::string& name) const { return folder_.path(name); }

  static SubprocessResult kernevo(const std::vector<std::string>& arguments,
                                  const std::map<std::string, std::string>& settings = {}) {
    return run_program(program_path(), arguments, settings);
  }

  const TestFolder folder_;
};

TEST_F(BadInput, MissingTaskFile) {
  expect_line(kernevo({"check", path("none.yaml"), write("k.cu", kKernel)}), 2,
              {"none.yaml", "cannot be read"});
}
TEST_F(BadInput, MissingKernelFile) {
  expect_line(kernevo({"check", write("t.yaml", kTask), path("none.cu")}), 2,
              {"none.cu", "cannot be read"});
}
TEST_F(BadInput, ProfileUnknownShape) {
  expect_line(kernevo({"profile", write("t.yaml", kTask), write("k.cu", kKernel), "--case", "7"}),
              2, {"t.yaml", "no shape '7'", "1000"});
}
TEST_F(BadInput, ProfileUnknownGpu) {
  expect_line(kernevo({"profile", write("t.yaml", kTask), write("k.cu", kKernel), "--gpu", "A101"}),
              2, {"unknown GPU 'A101'", "did you mean"});
}
TEST_F(BadInput, ProfileRulesWithAnUnknownMetric) {
  fs::copy(fs::path(source_folder()) / "share", folder_.path() / "share",
           fs::copy_options::recursive);
  const fs::path rules = folder_.path() / "share" / "rules" / "bottlenecks.yaml";
  std::stringstream text;
  text << std::ifstream(rules).rdbuf();
  std::string changed = text.str();
  const std::string from = "when: roofline_fraction";
  ASSERT_NE(changed.find(from), std::string::npos);
  changed.replace(changed.find(from), from.size(), "when: rooflin_fraction");
  std::ofstream(rules) << changed;
  expect_line(kernevo({"profile", write("t.yaml", kTask), write("k.cu", kKernel)},
                      {{"KERNEVO_SHARE", (folder_.path() / "share").string()}}),
              2, {"bottlenecks.yaml:", "rooflin_fraction", "did you mean 'roofline_fraction'"});
}
constexpr const char* kPtx = ".version 8.0\n.target sm_80\n.address_size 64\n"
                             ".visible .entry scale() {\n  ret;\n}\n"
                             ".visible .entry shift() {\n  ret;\n}\n";

TEST_F(BadInput, JitMissingFile) {
  expect_line(kernevo({"jit", path("none.ptx")}), 2, {"none.ptx", "cannot be read"});
}
TEST_F(BadInput, JitSeveralKernels) {
  expect_line(kernevo({"jit", write("k.ptx", kPtx)}), 2, {"several", "--kernel", "scale", "shift"});
}
TEST_F(BadInput, JitUnknownKernel) {
  expect_line(kernevo({"jit", write("k.ptx", kPtx), "--kernel", "scael"}), 2,
              {"no kernel 'scael'", "did you mean 'scale'"});
}
TEST_F(BadInput, JitBadBlock) {
  for (const char* block : {"0", "2048", "1,2,3,4"})
    expect_line(kernevo({"jit", write("k.ptx", kPtx), "--kernel", "scale", "--block", block}), 2,
                {"--block"});
}
TEST_F(BadInput, JitUnknownPass) {
  expect_line(kernevo({"jit", write("k.ptx", kPtx), "--kernel", "scale", "--dump", "codegne"}), 2,
              {"codegne", "did you mean 'codegen'"});
}
TEST_F(BadInput, JitPtxThatIsNone) {
  expect_line(kernevo({"jit", write("k.ptx", ".version 8.0\n.target sm_80\nhello\n")}), 2,
              {"k.ptx:3"});
}
TEST_F(BadInput, JitWithoutItsPlugin) {
  expect_line(kernevo({"jit", write("k.ptx", kPtx), "--kernel", "scale"},
                      {{"KERNEVO_JIT_PLUGIN", path("none.so")}}),
              3, {"none.so", "KERNEVO_JIT_PLUGIN"});
}
TEST_F(BadInput, JitDumpsWhatIsAsked) {
  const auto run = kernevo(
      {"jit", write("k.ptx", kPtx), "--kernel", "scale", "--dump", "plan", "--dump", "codegen"});
  EXPECT_EQ(run.exit_status, 0) << run.error_output;
  EXPECT_NE(run.output.find("all 32 lanes"), std::string::npos) << run.output;
  EXPECT_NE(run.output.find("kernel:"), std::string::npos) << run.output;
}

TEST_F(BadInput, FolderInsteadOfFile) {
  expect_line(kernevo({"check", folder_.path().string(), write("k.cu", kKernel)}), 2, {"folder"});
}
TEST_F(BadInput, UnknownKeyInATask) {
  expect_line(kernevo({"check", write("t.yaml", std::string(kTask) + "tolerence: 0.1\n"),
                       write("k.cu", kKernel)}),
              2, {"t.yaml:5", "tolerence", "did you mean 'tolerance'"});
}
TEST_F(BadInput, BrokenYaml) {
  expect_line(
      kernevo({"check", write("t.yaml", "op_name: [add\nshapes: {"), write("k.cu", kKernel)}), 2,
      {"t.yaml:"});
}
TEST_F(BadInput, UnknownGpuInATask) {
  expect_line(
      kernevo({"check",
               write("t.yaml", "op_name: add\nshapes: [[10]]\ndtype: float32\ntarget_gpu: A1000\n"),
               write("k.cu", kKernel)}),
      2, {"t.yaml:4", "A1000", "did you mean 'A100'"});
}
TEST_F(BadInput, NamesThatAreNoDeviceNameTheDevicesThereAre) {
  const std::string task = write("t.yaml", kTask);
  const std::string kernel = write("k.cu", kKernel);
  const std::vector<std::pair<std::string, std::string>> names = {
      {"", "it is empty"},
      {"cuda:", "nothing follows"},
      {"cuda:-1", "a number from 0"},
      {"cuda:x", "a number from 0"},
      {"virtual:", "nothing follows"},
      {"virtul:A100", "did you mean 'virtual'"},
      {"A1000", "did you mean 'A100'"},
      {"virtual:A1000", "did you mean 'A100'"},
      {"virtual:A\n1", "unknown GPU"},
      {"cuda:0", "cannot open cuda:0"},
      {"remote:http://h", "cannot open remote:http://h"}};
  for (const auto& [name, why] : names) {
    SCOPED_TRACE(name);
    expect_line(kernevo({"check", task, kernel, "--device", name}), 2,
                {why, "devices here: ", "virtual:A100", "virtual:H100"});
  }
  for (const std::string command : {"bench", "tune", "profile"})
    expect_line(kernevo({command, task, kernel, "--device", "virtul:A100"}), 2,
                {"did you mean 'virtual'", "devices here: "});
  expect_line(kernevo({"evolve", task, "--device", "cuda:0"}), 2,
              {"cannot open cuda:0", "devices here: "});
  expect_line(kernevo({"check", task, kernel, "--device", "virtual:H100", "--gpu", "H100"}), 2,
              {"both --device and --gpu", "give one"});
}
TEST_F(BadInput, UnknownGpuOnTheCommandLine) {
  expect_line(kernevo({"check", write("t.yaml", kTask), write("k.cu", kKernel), "--gpu", "H1000"}),
              2, {"H1000", "did you mean 'H100'"});
}
TEST_F(BadInput, UnknownDirective) {
  expect_line(kernevo({"check", write("t.yaml", kTask),
                       write("k.cu", "// @luanch add<<<1, 1>>>()\n" + std::string(kKernel))}),
              2, {"k.cu:1", "luanch", "launch"});
}
TEST_F(BadInput, UnknownCommand) {
  expect_line(kernevo({"chekc"}), 2, {"chekc", "did you mean 'check'"});
}
TEST_F(BadInput, UnknownOption) {
  expect_line(kernevo({"check", write("t.yaml", kTask), write("k.cu", kKernel), "--frobnicate"}), 2,
              {"--frobnicate"});
}
TEST_F(BadInput, MissingArguments) {
  expect_line(kernevo({"check"}), 2, {"TASK", "check --help"});
}
TEST_F(BadInput, ParameterThatIsNotANumber) {
  expect_line(
      kernevo({"check", write("t.yaml", kTask), write("k.cu", kKernel), "--param", "BM=lots"}), 2,
      {"BM=lots", "NAME=VALUE"});
}
TEST_F(BadInput, ParameterTheKernelDoesNotHave) {
  expect_line(
      kernevo({"check", write("t.yaml", kTask), write("k.cu", kKernel), "--param", "BM=32"}), 2,
      {"BM"});
}
TEST_F(BadInput, NoCudaToolkit) {
  expect_line(kernevo({"check", write("t.yaml", kTask), write("k.cu", kKernel)},
                      {{"KERNEVO_CUDA", path("nowhere")}}),
              3, {"nowhere"});
}
TEST_F(BadInput, UnwritableCacheStillChecks) {
  const std::string blocker = write("blocker", "a file, so no folder can be made below it");
  const auto run = kernevo({"check", write("t.yaml", kTask), write("k.cu", kKernel)},
                           {{"KERNEVO_CACHE", blocker + "/cache"}});
  EXPECT_EQ(run.exit_status, 0) << run.output << run.error_output;
}
TEST_F(BadInput, FullDiskDuringInitLeavesNothingHalfWritten) {
  // A file system of two pages, full but for a few bytes.
  const std::string disk = path("disk");
  fs::create_directories(disk + "/softmax");
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=8k") != 0)
    GTEST_SKIP() << "needs the right to mount";
  fs::create_directories(disk + "/softmax");
  std::ofstream(disk + "/filler") << std::string(8192, 'x');
  const auto run = kernevo({"init", "softmax", "--folder", disk + "/softmax"});
  const bool left_nothing = fs::is_empty(disk + "/softmax");
  const auto checked = kernevo({"check", write("t.yaml", kTask), write("k.cu", kKernel)},
                               {{"KERNEVO_CACHE", disk + "/cache"}});
  umount(disk.c_str());
  expect_line(run, 3, {"naive.cu", "No space left"});
  EXPECT_TRUE(left_nothing);
  EXPECT_EQ(checked.exit_status, 0) << checked.output << checked.error_output;
}
TEST_F(BadInput, FolderThatCannotBeMade) {
  const std::string blocker = write("blocker", "");
  expect_line(kernevo({"init", "softmax", "--folder", blocker + "/new"}), 3, {"cannot be made"});
  EXPECT_FALSE(fs::exists(blocker + "/new"));
}
TEST_F(BadInput, InitDoesNotOverwrite) {
  const std::string target = path("softmax");
  EXPECT_EQ(kernevo({"init", "softmax", "--folder", target}).exit_status, 0);
  expect_line(kernevo({"init", "softmax", "--folder", target}), 2, {"exists already"});
}
TEST_F(BadInput, InitOfAnUnknownOperation) {
  expect_line(kernevo({"init", "sofmax", "--folder", path("x")}), 2,
              {"sofmax", "did you mean 'softmax'"});
  EXPECT_FALSE(fs::exists(path("x")));
}
TEST_F(BadInput, UnsupportedInstructionNamesLineAndInstruction) {
  const std::string kernel =
      "__global__ void add(const float* A, const float* B, float* C, int N) {\n"
      "  asm volatile(\"multimem.red.relaxed.sys.global.add.f32 [%0], %1;\" ::\"l\"(C), "
      "\"f\"(1.0f));\n"
      "}\n";
  const auto run = kernevo({"check", write("t.yaml", kTask),
                            write("k.cu", "// @arch sm_90\n" + kernel), "--gpu", "H100"});
  expect_line(run, 2, {"multimem", ":"});
}
TEST_F(BadInput, ErrorsAreJsonWhenAskedFor) {
  const auto run = kernevo({"check", path("none.yaml"), path("none.cu"), "--json"});
  EXPECT_EQ(run.exit_status, 2);
  const auto json = nlohmann::json::parse(run.output, nullptr, false);
  ASSERT_TRUE(json.is_object()) << run.output;
  EXPECT_EQ(json.at("error"), "input");
  EXPECT_EQ(json.at("place").at("file"), path("none.yaml"));
}

TEST_F(BadInput, BenchOfAnImpossibleLaunchNamesItsLine) {
  const std::string task = write("task.yaml", kTask);
  const std::string wide =
      write("wide.cu",
            std::string("// @launch add<<<ceil_div(N, 4096), 4096>>>(A, B, C, N)\n") + kKernel);
  for (const char* command : {"bench", "profile"})
    expect_line(kernevo({command, task, wide}), 2, {"wide.cu:1", "4096 threads", "1024"});
}

TEST_F(BadInput, BenchOfAnUnknownGpuOrShape) {
  const std::string task = write("task.yaml", kTask);
  const std::string kernel = write("add.cu", kKernel);
  expect_line(kernevo({"bench", task, kernel, "--gpu", "A1O0"}), 2, {"unknown GPU 'A1O0'", "A100"});
  expect_line(kernevo({"bench", task, kernel, "--case", "1001"}), 2,
              {"no shape '1001'", "use one of 1000"});
}

// --- runs

class BadRun : public BadInput {
protected:
  void SetUp() override {
    settings_["KERNEVO_RUNS"] = path("runs");
    task_ = write("t.yaml", kTask);
  }
  SubprocessResult here(const std::vector<std::string>& arguments) const {
    return kernevo(arguments, settings_);
  }
  // Refused in one line, and nothing is left of it.
  void expect_nothing_made(const std::vector<std::string>& arguments, int exit_code,
                           const std::vector<std::string>& words) const {
    std::vector<std::string> all = {"evolve", task_};
    all.insert(all.end(), arguments.begin(), arguments.end());
    expect_line(here(all), exit_code, words);
    EXPECT_FALSE(fs::exists(path("runs")));
  }

  std::map<std::string, std::string> settings_;
  std::string task_;
};

TEST_F(BadRun, WrongNumbers) {
  for (const char* option : {"--evaluations", "--rounds", "--seconds", "--tokens", "--dollars",
                             "--target-us", "--roofline"})
    for (const char* value : {"0", "-1", "x"}) {
      SCOPED_TRACE(value);
      expect_nothing_made({std::string(option) + "=" + value}, 2, {option});
    }
  expect_nothing_made({"--seconds=nan"}, 2, {"--seconds"});
  expect_nothing_made({"--target-us=inf"}, 2, {"--target-us"});
  expect_nothing_made({"--islands=0"}, 2, {"--islands"});
}
TEST_F(BadRun, WrongNames) {
  expect_nothing_made({"--search", "evolv"}, 2, {"no search 'evolv'", "did you mean 'evolve'"});
  expect_nothing_made({"--proposer", "playbok"}, 2,
                      {"no proposer 'playbok'", "did you mean 'playbook'"});
  expect_nothing_made({"--proposer", "playbook,playbook"}, 2, {"named twice"});
  expect_nothing_made({"--gpu", "A101"}, 2, {"unknown GPU 'A101'", "did you mean"});
  expect_nothing_made({"--name", "../up"}, 2, {"'../up'", "--out"});
}
TEST_F(BadRun, UnreadableTask) {
  expect_line(here({"evolve", path("none.yaml")}), 2, {"none.yaml", "cannot be read"});
  expect_line(here({"evolve", write("bad.yaml", "op_name: [")}), 2, {"bad.yaml"});
  expect_line(here({"evolve"}), 2, {"TASK is required"});
  EXPECT_FALSE(fs::exists(path("runs")));
}
TEST_F(BadRun, WrongReference) {
  if (!needed_toolchain())
    return;
  std::string wrong = kKernel;
  wrong.replace(wrong.find("A[i] + B[i]"), 11, "A[i] - B[i]");
  write("ref.cu", wrong);
  task_ = write("t.yaml", std::string(kTask) + "reference_kernel: ref.cu\n");
  const auto run = here({"evolve", task_, "-q"});
  expect_line(run, 2, {"t.yaml", "the reference kernel cannot be the baseline", "kernevo check"});
  EXPECT_FALSE(fs::exists(path("runs")));
  // In a folder of the user's own nothing stays either.
  fs::create_directories(folder_.path() / "mine");
  write("mine/notes.txt", "mine");
  expect_line(here({"evolve", task_, "-q", "--out", path("mine")}), 2, {"cannot be the baseline"});
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path() / "mine"), {}), 1);
}
TEST_F(BadRun, UnwritableOut) {
  write("file", "not a folder");
  expect_line(here({"evolve", task_, "-q", "--out", path("file/run")}), 3,
              {"cannot be made", "--out"});
  expect_line(here({"evolve", task_, "-q", "--out", "/proc/run"}), 3, {"/proc/run"});
  EXPECT_FALSE(fs::exists(path("runs")));
}
TEST_F(BadRun, UnknownRuns) {
  expect_line(here({"show", "add"}), 2, {"there is no run 'add'", "'kernevo evolve TASK'"});
  fs::create_directories(folder_.path() / "runs" / "softmax");
  write("runs/softmax/journal.sqlite", "no database");
  for (const std::vector<std::string>& command : {std::vector<std::string>{"show"},
                                                  {"replay"},
                                                  {"runs", "--repair"},
                                                  {"evolve", "--resume"}}) {
    std::vector<std::string> arguments = command;
    arguments.emplace_back("sofmax");
    expect_line(here(arguments), 2, {"there is no run 'sofmax'", "did you mean 'softmax'"});
    arguments.back() = "softmax";
    expect_line(here(arguments), 2, {"journal.sqlite"});
  }
  expect_line(here({"evolve", "--resume"}), 2, {"which run"});
  const auto list = here({"runs"});
  EXPECT_EQ(list.exit_status, 0) << "one that cannot be read does not hide the others";
  EXPECT_NE(list.output.find("softmax"), std::string::npos);
}
TEST_F(BadRun, FinishedAndTaken) {
  if (!needed_toolchain())
    return;
  const auto first = here({"evolve", task_, "-q", "--rounds", "1", "--name", "one"});
  ASSERT_LE(first.exit_status, 1) << first.error_output;
  expect_line(here({"evolve", task_, "-q", "--name", "one"}), 2,
              {"holds a run already", "--resume"});
  expect_line(here({"evolve", task_, "-q", "--out", path("runs/one")}), 2, {"holds a run already"});
  expect_line(here({"evolve", "--resume", "one", "--seed", "5"}), 2, {"--seed", "cannot change"});
  expect_line(here({"evolve", "--resume", "one", "--rounds", "0"}), 2, {"--rounds"});
  const auto again = here({"evolve", "--resume", "one"});
  EXPECT_EQ(again.exit_status, first.exit_status) << again.error_output;
  EXPECT_NE(again.output.find("is finished: "), std::string::npos) << again.output;
  EXPECT_EQ(again.error_output, "");
  const auto longer = here({"evolve", "--resume", "one", "--rounds", "2"});
  EXPECT_LE(longer.exit_status, 1) << longer.error_output;
  EXPECT_NE(longer.output.find("all 2 rounds are done"), std::string::npos) << longer.output;
  expect_line(here({"show", "one", "--why", "99"}), 2, {"no step 99", "its steps are 0 to"});
  const auto repair = here({"runs", "--repair", "one"});
  EXPECT_EQ(repair.exit_status, 0);
  EXPECT_NE(repair.output.find("nothing is damaged"), std::string::npos) << repair.output;
  EXPECT_EQ(here({"replay", "one"}).exit_status, 0);
}

} // namespace
} // namespace kernevo
