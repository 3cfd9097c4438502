// The ladder from outside: small kernels with one trait each, and the verdict they must get.
#include "kernevo/evaluate/check.h"

#include "kernevo/device/open_device.h"
#include "kernevo/task/load_task.h"
#include "toolchain_test.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace kernevo {
namespace {

constexpr const char* kAddTask =
    "op_name: add\nshapes: [[1000]]\ndtype: float32\ntarget_gpu: A100\n";

class Check : public KernelTest {
protected:
  static Result<CheckResult> check(const std::string& task_text, const std::string& source,
                                   CheckOptions options = {}) {
    KERNEVO_TRY(task, parse_task(task_text, "task.yaml"));
    KERNEVO_TRY(kernel, parse_kernel_file(source, "kernel.cu"));
    options.seed = options.seed != 0 ? options.seed : 11;
    KERNEVO_TRY(device, open_device(DeviceChoice{}, task.task.target_gpu));
    return check_kernel(*device, task.task, kernel, options);
  }

  static void expect_fault(const std::string& task, const std::string& source, FaultKind kind,
                           const std::string& words = "") {
    const auto result = check(task, source);
    ASSERT_TRUE(result) << format_error(result.error());
    ASSERT_TRUE(result->verdict.fault) << result->verdict.summary;
    EXPECT_EQ(name_of(*result->verdict.fault), name_of(kind)) << result->verdict.summary;
    EXPECT_FALSE(result->verdict.correct);
    EXPECT_NE(result->verdict.summary.find(words), std::string::npos) << result->verdict.summary;
  }
};

std::string add_kernel(const std::string& body) {
  return "__global__ void add(const float* A, const float* B, float* C, int N) {\n"
         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  " +
         body + "\n}\n";
}

TEST_F(Check, AcceptsARightKernelOnEveryRung) {
  const auto result = check(kAddTask, add_kernel("if (i < N) C[i] = A[i] + B[i];"));
  ASSERT_TRUE(result) << format_error(result.error());
  EXPECT_TRUE(result->verdict.correct) << result->verdict.summary;
  EXPECT_EQ(result->verdict.rung, Rung::real_shapes);
  EXPECT_GE(result->verdict.cases.size(), 6U);
  ASSERT_FALSE(result->build.resources.empty());
  EXPECT_TRUE(result->build.resources.front().registers);
}

// Every size has an instance of its own, those of the check shapes, too.
std::string template_kernel(const std::string& first) {
  return "// @launch add<N><<<ceil_div(N, 256), 256>>>(A, B, C)\n"
         "template <int kSize> __global__ void add(const float* A, const float* B, float* C) {\n"
         "  " +
         first +
         "\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  if (i < kSize) C[i] = A[i] + B[i];\n}\n";
}

TEST_F(Check, ATemplateArgumentMayDependOnTheShape) {
  for (const char* shapes :
       {"[[1000]]", "[[1000], [70000]]", "[[1000]]\ncheck_shapes: [[37], [999]]"}) {
    const auto result = check(
        "op_name: add\ndtype: float32\ntarget_gpu: A100\nshapes: " + std::string(shapes) + "\n",
        template_kernel(""));
    ASSERT_TRUE(result) << format_error(result.error());
    EXPECT_TRUE(result->verdict.correct) << result->verdict.summary;
    // What is told of the build is told to whoever may not know the other shapes.
    for (const auto& [name, entry] : result->build.lowered_names)
      EXPECT_TRUE(name == "add" || name == "add<1000>" || name == "add<70000>") << name;
  }
}

TEST_F(Check, AnInstanceThatDoesNotCompileIsAFaultOfItsShape) {
  const auto result = check(kAddTask, template_kernel("static_assert(kSize == 1000);"));
  ASSERT_TRUE(result) << format_error(result.error());
  EXPECT_EQ(result->verdict.fault, FaultKind::semantic_compile_error) << result->verdict.summary;
  EXPECT_EQ(result->verdict.rung, Rung::hidden_shapes);
  EXPECT_TRUE(result->build.ok);
}

TEST_F(Check, SameSeedSameVerdict) {
  CheckOptions options;
  options.seed = 77;
  const std::string wrong = add_kernel("if (i < N) C[i] = A[i] - B[i];");
  const auto first = check(kAddTask, wrong, options);
  const auto second = check(kAddTask, wrong, options);
  ASSERT_TRUE(first && second);
  ASSERT_TRUE(first->verdict.mismatch && second->verdict.mismatch);
  EXPECT_EQ(first->verdict.mismatch->actual, second->verdict.mismatch->actual);
  EXPECT_EQ(first->verdict.summary, second->verdict.summary);
}

TEST_F(Check, WrongNumbers) {
  expect_fault(kAddTask, add_kernel("if (i < N) C[i] = A[i] - B[i];"),
               FaultKind::correctness_mismatch, "expected");
}
TEST_F(Check, SyntaxError) {
  expect_fault(kAddTask, add_kernel("if (i < N C[i] = A[i] + B[i];"), FaultKind::syntax_error,
               "kernel.cu:3");
}
TEST_F(Check, SemanticError) {
  expect_fault(kAddTask, add_kernel("if (i < N) C[i] = A[i] + missing[i];"),
               FaultKind::semantic_compile_error, "missing");
}
TEST_F(Check, OutOfBoundsWrite) {
  expect_fault(kAddTask, add_kernel("C[i] = i < N ? A[i] + B[i] : 0;"),
               FaultKind::memory_safety_error, "kernel.cu:3");
}
TEST_F(Check, ModifiedInput) {
  expect_fault(kAddTask,
               add_kernel("if (i < N) { C[i] = A[i] + B[i]; const_cast<float*>(A)[i] = 0; }"),
               FaultKind::memory_safety_error);
}
TEST_F(Check, UnwrittenOutput) {
  expect_fault(kAddTask, add_kernel("if (i < N - 1) C[i] = A[i] + B[i];"),
               FaultKind::uninitialized_memory_error, "never written");
}
TEST_F(Check, EndlessLoop) {
  expect_fault(kAddTask, add_kernel("volatile float* p = C; while (i < N) p[i] = A[i] + B[i];"),
               FaultKind::candidate_runtime_error, "instructions");
}
TEST_F(Check, UnknownKernelInALaunchIsAnInputError) {
  const auto result =
      check(kAddTask, "// @launch nothere<<<1, 32>>>(A, B, C, N)\n" + add_kernel("C[i] = 0;"));
  ASSERT_FALSE(result);
  EXPECT_NE(format_error(result.error()).find("kernel.cu:1:12"), std::string::npos);
}
TEST_F(Check, WrongNumberOfArguments) {
  expect_fault(kAddTask,
               "// @launch add<<<ceil_div(N, 32), 32>>>(A, B, C)\n" + add_kernel("C[i] = 0;"),
               FaultKind::interface_contract_error, "3 arguments");
}
TEST_F(Check, BlockTooLarge) {
  expect_fault(kAddTask,
               "// @launch add<<<1, 1000000>>>(A, B, C, N)\n" +
                   add_kernel("if (i < N) C[i] = A[i] + B[i];"),
               FaultKind::interface_contract_error);
}

TEST_F(Check, GoesOnAfterHostileKernels) {
  const std::string good = add_kernel("if (i < N) C[i] = A[i] + B[i];");
  for (const char* hostile :
       {"while (true) C[i % N] = A[i % N];", "__trap();", "C[1ll << 40] = 1;"}) {
    const auto bad = check(kAddTask, add_kernel(hostile));
    ASSERT_TRUE(bad) << format_error(bad.error());
    EXPECT_FALSE(bad->verdict.correct) << hostile;
    const auto after = check(kAddTask, good);
    ASSERT_TRUE(after) << format_error(after.error());
    EXPECT_TRUE(after->verdict.correct) << after->verdict.summary;
  }
}
TEST_F(Check, KeepsWhatTheKernelPrints) {
  const auto result = check(
      kAddTask,
      add_kernel(
          "if (i == 3) printf(\"third of %d: %g\\n\", N, 0.5f); if (i < N) C[i] = A[i] + B[i];"));
  ASSERT_TRUE(result) << format_error(result.error());
  EXPECT_TRUE(result->verdict.correct) << result->verdict.summary;
  EXPECT_EQ(result->verdict.printed, "third of 1000: 0.5\n");
}

// Right only when the atomics happen in the order of threads.
TEST_F(Check, OrderDependenceShowsInShuffledOrder) {
  const std::string source =
      "__device__ unsigned turn;\n" +
      add_kernel("if (i < N) C[i] = A[i] + B[i] + (atomicInc(&turn, N - 1) == i ? 0.0f : 1.0f);");
  expect_fault(kAddTask, source, FaultKind::race_or_sync_error, "depends on the order of blocks");
  CheckOptions options;
  options.order = RunOrder{};
  const auto in_order = check(kAddTask, source, options);
  ASSERT_TRUE(in_order) << format_error(in_order.error());
  EXPECT_TRUE(in_order->verdict.correct) << in_order->verdict.summary;
  options.order = RunOrder{true, 5};
  const auto right = check(kAddTask, add_kernel("if (i < N) C[i] = A[i] + B[i];"), options);
  ASSERT_TRUE(right) << format_error(right.error());
  EXPECT_TRUE(right->verdict.correct) << right->verdict.summary;
}

// 9.6 GB of tensors, and as much again for the flags of what is written.
TEST_F(Check, AHugeShapeCostsWhatItsSampleTouches) {
  const std::string task =
      "op_name: add\nshapes: [[800000000]]\ndtype: float32\ntarget_gpu: A100\n";
  const auto right = check(task, add_kernel("if (i < N) C[i] = A[i] + B[i];"));
  ASSERT_TRUE(right) << format_error(right.error());
  EXPECT_TRUE(right->verdict.correct) << right->verdict.summary;
  EXPECT_TRUE(right->verdict.warnings.empty()) << right->verdict.warnings.front();
  const CheckedCase& real = right->verdict.cases.back();
  EXPECT_EQ(real.elements, 800'000'000U);
  EXPECT_GT(real.blocks_run, 40U);
  EXPECT_LT(real.blocks_run, real.blocks);
  EXPECT_GT(real.elements_checked, 10'000U);
  // Wrong only where no small shape reaches.
  expect_fault(task, add_kernel("if (i < N) C[i] = A[i] + (i < 700000000 ? B[i] : 0);"),
               FaultKind::correctness_mismatch, "expected");
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    ASSERT_EQ(getrusage(who, &usage), 0);
    EXPECT_LT(usage.ru_maxrss, 1'000'000) << "kilobytes";
  }
}

// The first of them is worth compiling for, which needs another worker; the second needs it too.
TEST_F(Check, SeveralLargeShapesShareAWorker) {
  const std::string task =
      "op_name: matmul\nshapes: [[384, 384, 384], [64, 1024, 512]]\ndtype: float32\n"
      "target_gpu: A100\n";
  const auto result =
      check(task, "__global__ void matmul(const float* A, const float* B, float* C, int M, int N, "
                  "int K) {\n"
                  "  int c = blockIdx.x * blockDim.x + threadIdx.x;\n"
                  "  int r = blockIdx.y * blockDim.y + threadIdx.y;\n"
                  "  float sum = 0;\n"
                  "  for (int k = 0; r < M && c < N && k < K; k++)\n"
                  "    sum += A[r * K + k] * B[k * N + c];\n"
                  "  if (r < M && c < N) C[r * N + c] = sum;\n}\n");
  ASSERT_TRUE(result) << format_error(result.error());
  EXPECT_TRUE(result->verdict.correct) << result->verdict.summary;
}

TEST_F(Check, ATaskOfItsOwnUsesTheReferenceKernel) {
  const std::string task = R"(op_name: saxpby
op_semantics: "z = 2x + 3y"
dtype: float32
target_gpu: A100
shapes:
  - {N: 500}
arguments:
  - {name: x, in: true, shape: [N]}
)";
  const std::string custom = R"(op_name: saxpby
op_semantics: "z = 2x + 3y"
dtype: float32
target_gpu: A100
shapes:
  - {N: 500}
arguments:
  - {name: x, direction: in, shape: [N]}
  - {name: y, direction: in, shape: [N]}
  - {name: z, direction: out, shape: [N]}
launch: kernel<<<ceil_div(N, 128), 128>>>(x, y, z, N)
reference_kernel: |
  __global__ void saxpby(const float* x, const float* y, float* z, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) z[i] = 2 * x[i] + 3 * y[i];
  }
)";
  EXPECT_FALSE(
      parse_task(task, "task.yaml")); // nothing to compare with, and a key that does not exist
  const std::string head =
      "__global__ void mine(const float* x, const float* y, float* z, int N) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n";
  const auto right = check(custom, head + "  if (i < N) z[i] = fmaf(2, x[i], 3 * y[i]);\n}\n");
  ASSERT_TRUE(right) << format_error(right.error());
  EXPECT_TRUE(right->verdict.correct) << right->verdict.summary;
  const auto wrong = check(custom, head + "  if (i < N) z[i] = 2 * x[i] + 2 * y[i];\n}\n");
  ASSERT_TRUE(wrong) << format_error(wrong.error());
  EXPECT_EQ(wrong->verdict.fault, FaultKind::correctness_mismatch);
}

} // namespace
} // namespace kernevo
