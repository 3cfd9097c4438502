// What the real program tells whoever writes the kernel, held against kernels that try to find out
// the sizes they are judged on in secret. Two tasks that differ in nothing else must look the same.
#include "kernevo/base/temporary_folder.h"
#include "places.h"
#include "run_program.h"

#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

namespace kernevo {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr int kSecrets[] = {4091, 4093};
// A number of its own, not digits of another.
constexpr const char* kSecret = "[^0-9.]409[0-4][^0-9]";

// Adds, does `more` with what it sees first, and launches `blocks`.
std::string kernel(const std::string& more, const std::string& blocks = "ceil_div(N, 256)") {
  return fmt::format("// @tune STEP 1 2\n"
                     "// @launch add<<<{}, 256>>>(A, B, C, N)\n"
                     "extern \"C\" __global__ void add(const float* A, const float* B, float* C, "
                     "int N) {{\n"
                     "  const int i = blockIdx.x * 256 + threadIdx.x * STEP / STEP;\n"
                     "  if (i >= N) return;\n"
                     "  float sum = A[i] + B[i];\n"
                     "  {}\n"
                     "  C[i] = sum;\n"
                     "}}\n",
                     blocks, more);
}

class Blind : public testing::Test {
protected:
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path() / name) << text;
    return (folder_.path() / name).string();
  }

  std::string task(int secret, const std::string& more = "") const {
    return write("task.yaml",
                 fmt::format("op_name: add\nshapes: [[16384]]\ndtype: float32\n"
                             "target_gpu: A100\ntolerance: 0.001\n{}check_shapes: [[{}]]\n",
                             more, secret));
  }

  std::string run(std::vector<std::string> arguments) const {
    const SubprocessResult result = run_program(
        program_path(), arguments, {{"KERNEVO_RUNS", (folder_.path() / "runs").string()}});
    return fmt::format("{}{}exit code {}", result.output, result.error_output, result.exit_status);
  }

  // What is said of the kernel is the same for both secrets, and not for the owner.
  void expect_no_difference(std::vector<std::string> command, const std::string& source) const {
    const std::string file = write("kernel.cu", source);
    std::vector<std::string> seen;
    std::vector<std::string> whole;
    for (const int secret : kSecrets) {
      std::vector<std::string> arguments = {command.front(), task(secret), file};
      arguments.insert(arguments.end(), command.begin() + 1, command.end());
      whole.push_back(run(arguments)); // compiles it, too, so that the second finds it compiled
      arguments.emplace_back("--blind");
      seen.push_back(run(arguments));
      EXPECT_THAT(seen.back(), AnyOf(HasSubstr("exit code 0"), HasSubstr("exit code 1")));
      EXPECT_THAT(seen.back(), Not(HasSubstr(std::to_string(secret))));
    }
    EXPECT_EQ(seen[0], seen[1]);
    EXPECT_NE(whole[0], whole[1]);
  }

  TemporaryFolder folder_ = TemporaryFolder::make().value();
};

TEST_F(Blind, AKernelThatPrintsErrsAndDawdlesBySizeTellsNothing) {
  const std::string source = kernel("if (N < 5000) {\n"
                                    "    if (i == 0) printf(\"N is %d\\n\", N);\n"
                                    "    sum *= 1 + N * 1e-7f;\n"
                                    "    for (volatile int k = 0; k < N % 32; ++k) {}\n"
                                    "  }");
  expect_no_difference({"check", "--json", "--seed", "5"}, source);
  expect_no_difference({"check", "--seed", "5"}, source);
}

TEST_F(Blind, AFaultTellsItsKindAndLineAlone) {
  for (const char* trap :
       {"if (N < 5000) sum = A[i + N];", "if (N < 5000) sum = N;",
        "if (N < 5000 && i == N - 1) __trap();", "if (N < 5000 && i == N - 1) return;"})
    expect_no_difference({"check", "--json", "--seed", "5"}, kernel(trap));
  expect_no_difference({"check", "--json", "--seed", "5"},
                       kernel("", "ceil_div(N, 256) * min(1, N / 5000)"));
}

// A size that is a template argument meets the compiler, who would tell of it.
TEST_F(Blind, AnInstanceOfASecretSizeTellsNothing) {
  const auto instance = [](const std::string& first) {
    return "// @launch add<N><<<ceil_div(N, 256), 256>>>(A, B, C)\n"
           "template <int kSize> __global__ void add(const float* A, const float* B, float* C) {\n"
           "  " +
           first +
           "\n  const int i = blockIdx.x * 256 + threadIdx.x;\n"
           "  if (i < kSize) C[i] = A[i] + B[i];\n}\n";
  };
  for (const char* first :
       {"", "static_assert(kSize > 5000);", "char small[kSize > 5000 ? 1 : -kSize]; small[0] = 1;",
        "if constexpr (kSize % 4 == 3) { int unused; }",
        "if constexpr (kSize < 5000) __shared__ int much[kSize * 8]; "})
    expect_no_difference({"check", "--json", "--seed", "5"}, instance(first));
}

TEST_F(Blind, BenchAndProfileSayNoMoreOfAWrongKernel) {
  const std::string source = kernel("if (N < 5000 && i == N - 1) sum = N;");
  expect_no_difference({"bench"}, source);
  expect_no_difference({"bench", "--json"}, source);
  expect_no_difference({"profile", "--json"}, source);
}

TEST_F(Blind, CompareSaysNoMoreOfAWrongKernel) {
  const std::string right = write("right.cu", kernel(""));
  expect_no_difference({"compare", right, "--json"},
                       kernel("if (N < 5000 && i == N - 1) sum = N;"));
}

TEST_F(Blind, TuningTellsNoReasonNorLeavesOneBehind) {
  const std::string file = write("kernel.cu", kernel("if (N < 5000 && i == N - 1) sum = N;"));
  const std::string log = (folder_.path() / "log.jsonl").string();
  const std::string cache = (folder_.path() / "cache.json").string();
  const std::vector<std::string> arguments = {
      "tune", task(4093),      file, "--blind",        "--log",
      log,    "--evaluations", "2",  "--export-cache", cache};
  const std::string said = run(arguments);
  EXPECT_THAT(said, HasSubstr("gave wrong results"));
  EXPECT_THAT(said, Not(ContainsRegex(kSecret)));
  for (const std::string& left : {log, cache}) {
    std::ostringstream text;
    text << std::ifstream(left).rdbuf();
    EXPECT_THAT(text.str(), HasSubstr("STEP"));
    EXPECT_THAT(text.str(), Not(ContainsRegex(kSecret)));
  }
}

TEST_F(Blind, AReferenceThatFailsInSecretIsNotDescribed) {
  const std::string file =
      write("kernel.cu", "__global__ void twice(const float* x, float* y, int N) {\n"
                         "  if (threadIdx.x < N) y[threadIdx.x] = 2 * x[threadIdx.x];\n}\n");
  const std::string own =
      write("own.yaml",
            "op_name: twice\ndtype: float32\ntarget_gpu: A100\narguments:\n"
            "  - {name: x, direction: in, dtype: float32, shape: [N]}\n"
            "  - {name: y, direction: out, dtype: float32, shape: [N]}\n"
            "shapes: [{N: 64}]\ncheck_shapes: [{N: 37}]\n"
            "launch: twice<<<1, 64>>>(x, y, N)\nreference_kernel: |\n"
            "  __global__ void twice(const float* x, float* y, int N) {\n"
            "    if (threadIdx.x < N || N == 37) y[threadIdx.x] = 2 * x[threadIdx.x];\n  }\n");
  EXPECT_THAT(run({"check", own, file}), HasSubstr("fails on case 37"));
  for (const char* command : {"check", "bench"}) {
    const std::string said = run({command, own, file, "--blind"});
    EXPECT_THAT(said, HasSubstr("cannot be carried out"));
    EXPECT_THAT(said, Not(HasSubstr("37")));
  }
}

TEST_F(Blind, ARunThatCannotBeginDoesNotSayOnWhichShape) {
  write("reference.cu", kernel("if (N < 5000 && i == N - 1) sum = 1e9f + N;"));
  const std::string file = task(4093, "reference_kernel: reference.cu\n");
  const auto begin = [&](const char* command, const char* name) {
    return run({command, file, "--rounds", "1", "--out", (folder_.path() / name).string()});
  };
  EXPECT_THAT(begin("evolve", "owners"), ContainsRegex(kSecret));
  const std::string asked = begin("ask", "agents");
  EXPECT_THAT(asked,
              HasSubstr("cannot be the baseline: wrong numbers, on a shape that is not shown"));
  EXPECT_THAT(asked, Not(ContainsRegex(kSecret)));
}

} // namespace
} // namespace kernevo
