// Bad input through the real program: the exit code, one line on stderr that names the place and
// the fix, and nothing half-written.
#include "../support/run_program.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <sys/mount.h>
#include <unistd.h>

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
  void SetUp() override {
    folder_ = fs::temp_directory_path() /
              fmt::format("kernevo-error-{}-{}", getpid(),
                          testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  // One line on stderr that has all these words; the exit code.
  static void expect_line(const SubprocessResult& run, int exit_code,
                          const std::vector<std::string>& words) {
    EXPECT_EQ(run.exit_status, exit_code) << run.output << run.error_output;
    EXPECT_EQ(run.signal, 0);
    EXPECT_EQ(std::count(run.error_output.begin(), run.error_output.end(), '\n'), 1)
        << run.error_output;
    for (const std::string& word : words)
      EXPECT_NE(run.error_output.find(word), std::string::npos)
          << "no '" << word << "' in: " << run.error_output;
  }
  static SubprocessResult kernevo(const std::vector<std::string>& arguments,
                                  const std::map<std::string, std::string>& settings = {}) {
    return run_program(KERNEVO_PROGRAM, arguments, settings);
  }

  fs::path folder_;
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
  fs::copy(fs::path(KERNEVO_SOURCE_DIR) / "share", folder_ / "share", fs::copy_options::recursive);
  const fs::path rules = folder_ / "share" / "rules" / "bottlenecks.yaml";
  std::stringstream text;
  text << std::ifstream(rules).rdbuf();
  std::string changed = text.str();
  const std::string from = "when: roofline_fraction";
  ASSERT_NE(changed.find(from), std::string::npos);
  changed.replace(changed.find(from), from.size(), "when: rooflin_fraction");
  std::ofstream(rules) << changed;
  expect_line(kernevo({"profile", write("t.yaml", kTask), write("k.cu", kKernel)},
                      {{"KERNEVO_SHARE", (folder_ / "share").string()}}),
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
  expect_line(kernevo({"check", folder_.string(), write("k.cu", kKernel)}), 2, {"folder"});
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

} // namespace
} // namespace kernevo
