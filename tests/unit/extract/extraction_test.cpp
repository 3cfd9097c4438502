// Reading candidates out of a journal, and the forms that need no compiler.
#include "kernevo/extract/extraction.h"
#include "kernevo/extract/forms.h"
#include "kernevo/task/catalogue.h"
#include "kernevo/task/load_task.h"
#include "recorded_run.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace kernevo::extract {
namespace {

using testing::HasSubstr;

constexpr const char* kTask = "op_name: add\nshapes: [[4096]]\ndtype: float32\ntarget_gpu: A100\n";
constexpr const char* kReference =
    "__global__ void add(const float* A, const float* B, float* C, int N) {\n"
    "  int i = blockIdx.x * 256 + threadIdx.x;\n  if (i < N) C[i] = A[i] + B[i];\n}\n";
constexpr const char* kTuned =
    "// @tune THREADS 64 128 256\n"
    "// @launch add<<<ceil_div(N, THREADS), THREADS>>>(A, B, C, N)\n"
    "__global__ void add(const float* A, const float* B, float* C, int N) {\n"
    "  int i = blockIdx.x * THREADS + threadIdx.x;\n  if (i < N) C[i] = A[i] + B[i];\n}\n";
const ReceiptOptions kOptions{"1.2.4", "best.cu"};

Extraction read(RecordedRun& run, std::optional<Step> step = std::nullopt) {
  auto extraction = read_extraction(run.journal(), step);
  EXPECT_TRUE(extraction) << (extraction ? "" : format_error(extraction.error()));
  return extraction ? *extraction : Extraction{};
}

std::string refusal(RecordedRun& run, Step step) {
  const auto extraction = read_extraction(run.journal(), step);
  EXPECT_FALSE(extraction) << step;
  return extraction ? "" : format_error(extraction.error());
}

TEST(Extraction, TakesTheLastConfirmedBest) {
  RecordedRun run(kTask, kReference);
  EXPECT_EQ(read(run).step(), 0U); // nothing better: the reference
  const Step better = run.propose(kTuned, StepOutcome::improved, 50, {{"THREADS", 128}});
  run.propose(kTuned, StepOutcome::not_better, 70, {{"THREADS", 64}});
  const Step tuned = run.tune(better, StepOutcome::improved, 40, {{"THREADS", 256}});
  // Faster by a hair, and not judged on the hidden shapes.
  run.tune(better, StepOutcome::not_better, 39.9, {{"THREADS", 64}});
  const Extraction best = read(run);
  EXPECT_TRUE(best.best);
  EXPECT_EQ(best.step(), tuned);
  EXPECT_EQ(best.candidate.step, better);
  EXPECT_EQ(best.evaluation.parameters, (ParameterValues{{"THREADS", 256}}));
  EXPECT_DOUBLE_EQ(best.speedup(), 2.5);
  EXPECT_EQ(read(run, better).evaluation.parameters, (ParameterValues{{"THREADS", 128}}));
}

TEST(Extraction, FollowsParentsToTheReference) {
  RecordedRun run(kTask, kReference);
  Step step = 0;
  for (int i = 0; i < 40; ++i)
    step = run.propose(kTuned + std::string(static_cast<std::size_t>(i), '\n'),
                       StepOutcome::improved, 90 - 2 * i, {{"THREADS", 128}}, step);
  const Extraction best = read(run);
  ASSERT_EQ(best.lineage.size(), 41U);
  EXPECT_EQ(best.lineage.front().candidate.step, step);
  EXPECT_EQ(best.lineage.back().candidate.step, 0U);
  const std::string text = as_comment(receipt(best, kOptions), "//");
  EXPECT_THAT(text, HasSubstr("... 17 more ..."));
  EXPECT_THAT(text, HasSubstr("from step 0, 100 us: The reference."));
}

TEST(Extraction, RefusesWhatIsNoKernel) {
  RecordedRun run(kTask, kReference);
  const Step wrong = run.propose(kTuned, StepOutcome::wrong, 0);
  const Step nothing = run.propose_nothing();
  const Step twin = run.propose(kReference, StepOutcome::duplicate, 0);
  const Step open = run.begin_step();
  EXPECT_THAT(refusal(run, wrong),
              HasSubstr("step 1 is not a correct kernel (wrong: element 3 is off)"));
  EXPECT_THAT(refusal(run, nothing), HasSubstr("step 2 proposed nothing"));
  EXPECT_THAT(refusal(run, twin),
              HasSubstr("same kernel as step 0; extract that one: --iteration 0"));
  EXPECT_THAT(refusal(run, open), HasSubstr("step 4 is not evaluated yet"));
  EXPECT_THAT(refusal(run, 99), HasSubstr("there is no step 99: the run has 4 steps after the "
                                          "reference; give --iteration a number from 0 to 4"));
}

// The hash of the whole text would let a guess at the missing lines be verified.
TEST(Extraction, TellsAProposerNothingOfHiddenShapes) {
  RecordedRun run(std::string(kTask) + "check_shapes: [[4093]]\n", kReference);
  const Step wrong = run.propose(kTuned, StepOutcome::wrong, 0);
  const Extraction whole = read(run);
  const auto seen = read_extraction(run.journal(), std::nullopt, Audience::proposer);
  ASSERT_TRUE(seen) << format_error(seen.error());
  EXPECT_EQ(seen->task_text, kTask);
  EXPECT_TRUE(seen->task.check_shapes.empty());
  EXPECT_FALSE(whole.task.check_shapes.empty());
  for (const Form form : {Form::kernel, Form::cu, Form::torch, Form::json}) {
    const auto text = render(*seen, form, kOptions);
    ASSERT_TRUE(text) << format_error(text.error());
    EXPECT_THAT(*text, testing::Not(HasSubstr("4093")));
    EXPECT_THAT(*text, testing::Not(HasSubstr(whole.started.task.substr(0, 16))));
  }
  const auto refused = read_extraction(run.journal(), wrong, Audience::proposer);
  ASSERT_FALSE(refused);
  EXPECT_THAT(format_error(refused.error()), HasSubstr("step 1 is not a correct kernel (wrong)"));
}

TEST(Extraction, NeedsNoFileBesideTheTask) {
  RecordedRun run(std::string(kTask) + "reference_kernel: gone.cu\n", kReference);
  EXPECT_EQ(read(run).task.reference_kernel, kReference);
}

TEST(KernelForm, BindsParametersAndKeepsTheReceiptOutOfTheDirectives) {
  RecordedRun run(kTask, kReference);
  run.propose(kTuned, StepOutcome::improved, 50, {{"THREADS", 256}}, 0,
              "@tune X 1 2\n@launch nothing \\");
  const auto text = render_kernel(read(run), kOptions);
  ASSERT_TRUE(text);
  const auto file = parse_kernel_file(*text, "best.cu");
  ASSERT_TRUE(file) << format_error(file.error());
  EXPECT_EQ(*choose_parameters(*file), (ParameterValues{{"THREADS", 256}}));
  EXPECT_EQ(file->launches.size(), 1U);
  for (const char* part :
       {"// kernevo  1.2.3 (extracted by 1.2.4)\n", "// run      recorded\n",
        "// step     1 (the best)\n", "// task     task.yaml (sha256 ",
        "// what     add float32, for the A100\n",
        "// time     4096  50 us modelled, 45 us to 55 us; the reference 100 us\n",
        "50 us modelled, 2 x the reference's speed, 50 % of the roofline\n",
        "// with     THREADS=256\n", "// seed     7\n",
        "// again    kernevo check task.yaml best.cu\n"})
    EXPECT_THAT(*text, HasSubstr(part));
}

TEST(JsonForm, HasEverything) {
  RecordedRun run(kTask, kReference);
  const Step step = run.propose(kTuned, StepOutcome::improved, 50, {{"THREADS", 256}});
  const auto text = render_json(read(run), kOptions);
  ASSERT_TRUE(text);
  const auto object = nlohmann::json::parse(*text);
  EXPECT_EQ(object["step"], step);
  EXPECT_EQ(object["speedup"], 2);
  EXPECT_EQ(object["parameters"]["THREADS"], 256);
  EXPECT_EQ(object["source"], kTuned);
  EXPECT_EQ(object["task"]["text"], kTask);
  EXPECT_EQ(object["lineage"].size(), 2U);
  EXPECT_EQ(object["directive"]["direction"], "coalesce");
  EXPECT_EQ(object["candidate"]["title"], "Another kernel.");
  EXPECT_EQ(object["evaluation"]["outcome"], "improved");
  EXPECT_THAT(object["kernel"], HasSubstr("@tune THREADS 256 64 128"));
  EXPECT_GE(object["receipt"].size(), 8U);
}

TEST(DerivedSizes, AreThoseOfTheShapes) {
  for (const char* text :
       {"op_name: conv2d\nshapes: [[1, 4, 9, 11, 8, 3, 2]]\nstride: 2\npadding: 1\n",
        "op_name: conv1d\nshapes: [[1, 4, 9, 8, 3]]\nstride: 3\n",
        "op_name: max_pool2d\nshapes: [[1, 4, 9, 11]]\nkernel: 3\nstride: 2\npadding: 1\n",
        "op_name: avg_pool1d\nshapes: [[2, 4, 9]]\nkernel: 3\nstride: 1\n"}) {
    const auto loaded =
        parse_task(std::string(text) + "dtype: float32\ntarget_gpu: A100\n", "task.yaml");
    ASSERT_TRUE(loaded) << format_error(loaded.error());
    const Dims& dims = loaded->task.shapes.front().dims;
    const auto derived = derived_sizes(loaded->task.operation);
    ASSERT_FALSE(derived.empty());
    for (const DerivedSize& size : derived)
      EXPECT_EQ(*size.value.evaluate(dims), dims.at(size.name)) << text;
  }
  EXPECT_TRUE(derived_sizes("matmul").empty());
  EXPECT_TRUE(derived_sizes("no such operation").empty());
}

} // namespace
} // namespace kernevo::extract
