// What is extracted, compiled once more and held against what was judged.
#include "kernevo/extract/same_as_judged.h"

#include "kernevo/base/files.h"
#include "kernevo/extract/forms.h"
#include "kernevo/hardware/gpu_table.h"
#include "kernevo/propose/recipe.h"
#include "kernevo/task/catalogue.h"
#include "kernevo/task/load_task.h"
#include "recipe_tasks.h"
#include "recorded_run.h"
#include "toolchain_test.h"

#include <gmock/gmock.h>

namespace kernevo::extract {
namespace {

using testing::HasSubstr;

constexpr const char* kTask = "op_name: relu\nshapes: [[4096]]\ndtype: float32\ntarget_gpu: A100\n";

class SameAsJudged : public testing::Test {
protected:
  void SetUp() override { toolchain_ = needed_toolchain(); }

  static Extraction extracted(const std::string& task, const std::string& kernel,
                              const ParameterValues& parameters = {}) {
    RecordedRun run(task, kernel, parameters);
    auto extraction = read_extraction(run.journal(), std::nullopt);
    EXPECT_TRUE(extraction) << (extraction ? "" : format_error(extraction.error()));
    return std::move(*extraction);
  }

  std::string proof(const Extraction& extraction, const Toolchain& with) const {
    const auto proof = same_as_judged(extraction, with, [&](const CompileRequest& request) {
      return compile(*toolchain_, request);
    });
    return proof ? *proof : format_error(proof.error());
  }
  std::string proof(const std::string& kernel, const ParameterValues& parameters = {}) const {
    return proof(extracted(kTask, kernel, parameters), *toolchain_);
  }

  static std::optional<std::string> first_task(const propose::Recipe& recipe) {
    const auto gpu = find_gpu("A100");
    for (const std::string& operation : recipe.operations)
      for (const DType dtype : propose::dtypes_of(recipe, operation))
        for (const std::string& text : propose::tasks_of(operation, dtype))
          if (const auto reason = propose::unfit(recipe, parse_task(text, "task.yaml")->task, *gpu);
              reason && !*reason)
            return text;
    return std::nullopt;
  }

  std::optional<Toolchain> toolchain_;
};

TEST_F(SameAsJudged, AnHonestKernel) {
  if (!toolchain_)
    return;
  const std::string kernel =
      "// @tune BLOCK 128 256\n// @launch relu<BLOCK, N><<<ceil_div(N, BLOCK), BLOCK>>>(x, y)\n"
      "#include <cuda_fp16.h>\n"
      "#ifndef SLOPE\n#define SLOPE 0.0f\n#endif\n"
      "#define UNARY(name, body) __device__ __forceinline__ float name(float v) { body }\n"
      "UNARY(clip, return fmaxf(v, SLOPE);)\n"
      "constexpr int twice(int n) { return 2 * n; }\n"
      "constexpr float kTable[2] = {0.5f, 2.0f};\n"
      "namespace tools { struct Span { int begin; int size() const { return twice(begin) - begin; "
      "} "
      "}; }\n"
      "float scaled(float v, int i) { return v * kTable[i & 1] / kTable[i & 1]; }\n"
      "template <int threads, int n> __global__ void relu(const float* x, float* y) {\n"
      "  const int i = blockIdx.x * threads + threadIdx.x;\n"
      "#if BLOCK == 256\n  const tools::Span span{n};\n#else\n  const tools::Span span{n / 1};\n"
      "#endif\n"
      "  if (i < span.size()) y[i] = scaled(clip(x[i]), i);\n}\n";
  const std::string compiler = toolchain_->nvcc.empty() ? "NVRTC" : "nvcc";
  for (const std::int64_t block : {128, 256})
    EXPECT_THAT(proof(kernel, {{"BLOCK", block}}),
                testing::MatchesRegex(compiler + " [0-9.]+ makes the same device code of it as was "
                                                 "judged"));
  Toolchain without = *toolchain_;
  without.nvcc.clear();
  EXPECT_THAT(proof(extracted(kTask, kernel, {{"BLOCK", 128}}), without), HasSubstr("NVRTC"));
}

// Nothing a scan could see: types and overloads that are not the same for NVRTC and nvcc.
TEST_F(SameAsJudged, FindsWhatDependsOnTheCompilerByItsTypes) {
  if (!toolchain_)
    return;
  if (toolchain_->nvcc.empty())
    GTEST_SKIP() << "the toolkit has no nvcc";
  EXPECT_THAT(
      proof(
          "#include <cstdint>\ntemplate <class T> struct Is { static constexpr int value = 0; };\n"
          "template <> struct Is<long> { static constexpr int value = 1; };\n"
          "extern \"C\" __global__ void relu(const float* x, float* y, int N) {\n"
          "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
          "  if (i < N) y[i] = Is<int64_t>::value ? 0 : fmaxf(x[i], 0.0f);\n}\n"),
      HasSubstr("makes other device code of it than was judged"));
}

// Every operation's first kernel, as --as cu and --as torch would ship it.
TEST_F(SameAsJudged, TheNaiveKernelOfEveryOperation) {
  if (!toolchain_)
    return;
  for (const OperationInfo& operation : operations()) {
    const auto starter = make_starter(operation.name, operation.dtypes.front(), "A100");
    ASSERT_TRUE(starter) << operation.name;
    EXPECT_THAT(proof(extracted(starter->task_yaml, starter->kernel_source), *toolchain_),
                HasSubstr("makes the same device code"))
        << operation.name;
  }
}

// Every recipe of the playbook, at the first task it serves.
TEST_F(SameAsJudged, EveryRecipe) {
  if (!toolchain_)
    return;
  const auto recipes = propose::load_recipes();
  ASSERT_TRUE(recipes) << format_error(recipes.error());
  for (const propose::Recipe& recipe : *recipes) {
    const std::optional<std::string> task = first_task(recipe);
    ASSERT_TRUE(task) << recipe.name;
    const auto source = propose::expand_recipe(recipe, parse_task(*task, "task.yaml")->task);
    ASSERT_TRUE(source) << format_error(source.error());
    const auto parameters = choose_parameters(*parse_kernel_file(*source, "kernel.cu"));
    ASSERT_TRUE(parameters) << format_error(parameters.error());
    EXPECT_THAT(proof(extracted(*task, *source, *parameters), *toolchain_),
                HasSubstr("makes the same device code"))
        << recipe.name;
  }
}

// Conditionals are gone from what others compile, and decided as they were for the judge.
TEST_F(SameAsJudged, FormsCarryWhatWasDecided) {
  const std::string kernel =
      "// @tune BLOCK 128 256\n"
      "#if __CUDA_ARCH__ >= 800 && BLOCK > 128\n#define WAY 1\n#else\n#define WAY 2\n#endif\n"
      "#ifndef EOF\n#define EOF 3\n#else\n#define EOF 4\n#endif\n" // <cstdio> has one
      "// @launch relu<<<ceil_div(N, BLOCK), BLOCK>>>(x, y, N)\n"
      "extern \"C\" __global__ void relu(const float* x, float* y, int N) {\n"
      "  const int i = blockIdx.x * BLOCK + threadIdx.x;\n"
      "  if (i < N) y[i] = fmaxf(x[i], WAY + EOF - WAY - EOF);\n}\n";
  const Extraction extraction = extracted(kTask, kernel, {{"BLOCK", 256}});
  for (const Form form : {Form::cu, Form::torch}) {
    const auto text = render(extraction, form, {"1.2.4", "program.cu", "proved"});
    ASSERT_TRUE(text) << format_error(text.error());
    EXPECT_THAT(*text, HasSubstr("#define WAY 1\n"));
    EXPECT_THAT(*text, HasSubstr("#define EOF 3\n"));
    EXPECT_THAT(*text, testing::Not(HasSubstr("#define WAY 2")));
    EXPECT_THAT(*text, testing::Not(HasSubstr("#if")));
    EXPECT_THAT(*text, HasSubstr("#undef WAY\n"));
    EXPECT_THAT(*text, HasSubstr("same     proved\n"));
  }
  // A kernel file is judged again by whoever takes it, so it stays what was written.
  const auto file = render(extraction, Form::kernel, {"1.2.4", "kernel.cu", ""});
  ASSERT_TRUE(file);
  EXPECT_THAT(*file, HasSubstr("#if __CUDA_ARCH__ >= 800"));
  EXPECT_THAT(*file, testing::Not(HasSubstr("same  ")));
  if (!toolchain_)
    return;
  EXPECT_THAT(proof(extraction, *toolchain_), HasSubstr("makes the same device code"));
}

// A journal is others' text too: a kernel that no judge would have let through is not extracted.
TEST_F(SameAsJudged, RefusesWhatTheJudgeRefuses) {
  for (const std::string evil : {"#ifndef __CUDACC_RTC__\nint evil = 1;\n#endif\n",
                                 "__attribute__((constructor)) void f() {}\n"}) {
    RecordedRun run(kTask, evil +
                               "extern \"C\" __global__ void relu(const float* x, float* y, int N) "
                               "{ if (threadIdx.x < N) y[threadIdx.x] = x[threadIdx.x]; }\n");
    const auto extraction = read_extraction(run.journal(), std::nullopt);
    ASSERT_FALSE(extraction);
    EXPECT_THAT(format_error(extraction.error()), HasSubstr("step-0.cu:1:"));
  }
}

} // namespace
} // namespace kernevo::extract
