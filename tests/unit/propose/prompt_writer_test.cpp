#include "kernevo/hardware/gpu_table.h"
#include "kernevo/propose/prompt_writer.h"

#include "kernevo/evaluate/visible.h"
#include "kernevo/kernel/kernel_file.h"
#include "kernevo/propose/directions.h"
#include "kernevo/propose/read_reply.h"
#include "kernevo/task/load_task.h"
#include "test_folder.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace kernevo::propose {
namespace {

using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

// Hidden sizes, the tolerance of no shape and names that nothing else uses: canaries.
const std::string kTask = R"(op_name: saxpby
op_semantics: "z = a * x + y"
dtype: float32
target_gpu: A100
target_us: 12.5
arguments:
  - {name: x, direction: in, dtype: float32, shape: [N, "2 * K"]}
  - {name: y, direction: in, dtype: float32, shape: [N]}
  - {name: z, direction: out, dtype: float32, shape: [N]}
scalars:
  - {name: a, value: 2.5}
shapes:
  - {N: 65536, K: 8}
check_shapes:
  - {N: 7919, K: 104729}
launch: saxpby<<<ceil_div(N, 256), 256>>>(x, y, z, N, K, a)
reference_kernel: |
  // canary_of_the_oracle
  __global__ void saxpby(const float* x, const float* y, float* z, int N, int K, float a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) z[i] = a * x[i * 2 * K] + y[i];
  }
)";

const std::string kSource = "// @tune BLOCK 128 256\n"
                            "__global__ void fast(const float* x, float* z, int N) {\n"
                            "  z[blockIdx.x] = x[threadIdx.x]; // {{braces}}\n"
                            "}\n";

Task task_of(const std::string& text) {
  auto task = parse_task(text, "task.yaml");
  EXPECT_TRUE(task) << format_error(task.error());
  return task->task;
}

PromptWriter writer_of(const std::string& text = kTask, const std::string& overrides = "") {
  const Task task = task_of(text);
  const Gpu gpu = *find_gpu(task.target_gpu);
  auto writer = PromptWriter::create(task, gpu, Nanoseconds{8123}, overrides);
  EXPECT_TRUE(writer) << format_error(writer.error());
  return *writer;
}

BottleneckFinding finding_of(BottleneckTag tag, std::string message) {
  BottleneckFinding finding;
  finding.tag = tag;
  finding.severity = 0.82;
  finding.message = std::move(message);
  finding.reason = "It matters.";
  finding.evidence = {{"share.dram", 0.82, "", 0.6}, {"dram_rate", 1203.5, "GB/s", std::nullopt}};
  finding.directions = {{"reuse_on_chip", "Read each byte once."}};
  return finding;
}

ProposalRequest request_of() {
  ProposalRequest request;
  request.directive.mode = SearchMode::exploit;
  request.directive.direction = "reuse_on_chip";
  request.directive.rule = "dram_bound";
  request.seed = 987654321;
  request.parent.candidate.step = 4;
  request.parent.candidate.title = "tiles in shared memory";
  request.parent.source = kSource;
  request.parent.parameters = {{"BLOCK", 256}};
  request.parent.objective = Nanoseconds{20000};
  request.parent.roofline = 0.41;
  request.parent.findings = {finding_of(BottleneckTag::spills, "It spills."),
                             finding_of(BottleneckTag::dram_bound, "Memory is busy.")};
  request.baseline = Nanoseconds{60000};
  request.best = Nanoseconds{15000};
  request.lessons = {"Wider loads helped."};
  request.history = {{3, "vector loads", "coalesce", "not_better", 2.5, ""},
                     {5, "async copies", "hide_latency", "wrong", std::nullopt, "z[1] is 0"}};
  return request;
}

ProposalRequest joined_request() {
  ProposalRequest request = request_of();
  request.directive.mode = SearchMode::recombine;
  request.directive.direction.clear();
  request.directive.rule.clear();
  request.mate = request.parent;
  request.mate->source = "__global__ void other_kernel() {}\n";
  return request;
}

FailedAttempt hidden_failure() {
  Verdict verdict;
  verdict.fault = FaultKind::memory_safety_error;
  verdict.rung = Rung::hidden_shapes;
  verdict.summary = "case 7919x104729: block 7919";
  verdict.failing_case.emplace();
  verdict.failing_case->case_id = "7919x104729";
  verdict.failing_case->seed = 987654321;
  verdict.failing_case->hidden = true;
  verdict.finding.emplace();
  verdict.finding->kind = FindingKind::out_of_bounds;
  verdict.finding->message = "reads at 7919";
  verdict.finding->source_file = "kernel.cu";
  verdict.finding->source_line = 3;
  verdict.finding->block = {7919, 0, 0};
  verdict.finding->has_thread = true;
  return {kSource, diagnose(verdict, kSource), 0};
}

std::pair<Proposal, Evaluation> measured() {
  Proposal proposal;
  proposal.title = "two rows a warp";
  proposal.source = kSource + "// more\n";
  Evaluation evaluation;
  evaluation.objective = Nanoseconds{10000};
  evaluation.parameters = {{"BLOCK", 128}};
  evaluation.bottlenecks = {finding_of(BottleneckTag::latency_bound, "It waits.")};
  evaluation.summary = "7919";
  return {proposal, evaluation};
}

// Every stage, in every form.
std::vector<llm::Messages> all_prompts(const PromptWriter& writer) {
  const ProposalRequest request = request_of();
  ProposalRequest own = request;
  own.directive.direction = kOwnIdea;
  own.parent.source = "__global__ void quite_another() {}\n";
  const auto [proposal, evaluation] = measured();
  const FailedAttempt unread = {"", {std::nullopt, Rung::parse, false, "no kernel", {}}, 1};
  std::vector<llm::Messages> prompts;
  for (const auto& prompt :
       {writer.plan(request), writer.plan(own), writer.plan(joined_request()),
        writer.code(request, "", false), writer.code(request, "The plan.", true),
        writer.recombine(joined_request(), "The plan."),
        writer.repair(request, hidden_failure(), false),
        writer.repair(request, hidden_failure(), true), writer.repair(own, unread, false),
        writer.insights(request, proposal, evaluation),
        writer.lineage(request, proposal, evaluation)}) {
    EXPECT_TRUE(prompt) << format_error(prompt.error());
    prompts.push_back(*prompt);
  }
  return prompts;
}

std::string failure_of(const TestFolder& folder) {
  const Task task = task_of(kTask);
  const auto writer =
      PromptWriter::create(task, *find_gpu("A100"), std::nullopt, folder.path().string());
  return writer ? "" : format_error(writer.error());
}

TEST(PromptWriter, BeginsEveryPromptWithTheSameBytes) {
  const PromptWriter writer = writer_of();
  const std::vector<llm::Messages> prompts = all_prompts(writer);
  for (const llm::Messages& prompt : prompts) {
    ASSERT_EQ(prompt.size(), 2U);
    EXPECT_EQ(prompt[0].role, llm::Role::system);
    EXPECT_EQ(prompt[1].role, llm::Role::user);
    EXPECT_EQ(prompt[0].text, prompts.front()[0].text);
    const std::string fixed = prompt[0].text + "\n";
    ASSERT_TRUE(writer.guide().starts_with(fixed));
    EXPECT_TRUE(prompt[1].text.starts_with(writer.guide().substr(fixed.size())));
    EXPECT_THAT(prompt[1].text, Not(HasSubstr("{{if")));
  }
  // A new writer for the same task says the same.
  EXPECT_EQ(writer_of().guide(), writer.guide());
}

TEST(PromptWriter, KeepsHiddenShapesOracleAndSeedsToItself) {
  for (const llm::Messages& prompt : all_prompts(writer_of()))
    for (const llm::Message& message : prompt)
      for (const char* secret : {"7919", "104729", "canary_of_the_oracle", "987654321"})
        EXPECT_THAT(message.text, Not(HasSubstr(secret)));
}

TEST(PromptWriter, DescribesTheTask) {
  const std::string guide = writer_of().guide();
  for (const char* part : {"# Task: saxpby",
                           "z = a * x + y",
                           "- float32 x[N, 2 * K], in",
                           "- float32 z[N], out",
                           "float32 a = 2.5",
                           "(x, y, z, N, K, a)",
                           "- K=8 N=65536",
                           "geometric mean",
                           "Target: 12.5 us",
                           "strict float32: no TF32",
                           "No tensor cores",
                           "A100, sm_80, 108 SMs",
                           "164 KiB",
                           "65536 registers",
                           "L2 40 MiB",
                           "1555 GB/s",
                           "19.5 TFLOP/s for float32",
                           "less than 8.123 us",
                           "@tune",
                           "@where",
                           "@scratch",
                           "@launch"})
    EXPECT_THAT(guide, HasSubstr(part));
  const std::string half = writer_of("op_name: matmul\ndtype: float16\ntarget_gpu: A100\n"
                                     "tolerance: 0.02\nshapes: [[64, 64, 64]]\n")
                               .guide();
  for (const char* part : {"accumulate in float32", "Tensor cores are allowed", "0.02 relative",
                           "312 TFLOP/s for float16"})
    EXPECT_THAT(half, HasSubstr(part));
  EXPECT_THAT(half, Not(HasSubstr("Target:")));
}

TEST(PromptWriter, NamesOneBottleneckAndTheDirection) {
  const PromptWriter writer = writer_of();
  const std::string text = writer.request_text(request_of());
  for (const char* part :
       {"Step 4: tiles in shared memory. 20 us, 3 times as fast as the reference, 41 % of the",
        "the best so far takes 15 us", "BLOCK=256", "// {{braces}}", "dram_bound (82 % of",
        "share.dram 0.82 (limit 0.6), dram_rate 1204 GB/s", "reuse_on_chip: Read each byte once.",
        "- Wider loads helped.", "- step 3 (coalesce) vector loads: not_better, 2.5x",
        "- step 5 (hide_latency) async copies: wrong; z[1] is 0"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(text, Not(HasSubstr("It spills.")));
  EXPECT_THAT(text, Not(HasSubstr("# The other kernel")));

  ProposalRequest other = request_of();
  other.parent.findings.clear();
  other.directive.direction = kOwnIdea;
  EXPECT_THAT(writer.request_text(other), HasSubstr("choose yourself what promises most"));
  EXPECT_THAT(writer.request_text(other), Not(HasSubstr("# What holds it back")));
  other.directive.direction = direction_names()->front();
  EXPECT_THAT(writer.request_text(other), HasSubstr(load_directions()->front().text));
}

TEST(PromptWriter, AsksForWhatTheStageWants) {
  const PromptWriter writer = writer_of();
  const ProposalRequest request = request_of();
  const auto last = [](const Result<llm::Messages>& prompt) { return prompt->back().text; };
  EXPECT_THAT(last(writer.plan(request)), HasSubstr("150 words"));
  EXPECT_THAT(last(writer.code(request, "", false)), Not(HasSubstr("# Plan")));
  EXPECT_THAT(last(writer.code(request, "", false)), Not(HasSubstr("SEARCH")));
  EXPECT_THAT(last(writer.code(request, "Do this.\x01", true)), HasSubstr("# Plan\nDo this.\n"));
  EXPECT_THAT(last(writer.code(request, "", true)), HasSubstr("<<<<<<< SEARCH"));
  EXPECT_THAT(last(writer.recombine(joined_request(), "")), HasSubstr("other_kernel"));

  const std::string repair = last(writer.repair(request, hidden_failure(), false));
  EXPECT_THAT(repair, HasSubstr("memory_safety_error: an access out of bounds, on a shape"));
  EXPECT_THAT(repair, Not(HasSubstr("SEARCH")));
  const FailedAttempt unread = {"", {std::nullopt, Rung::parse, false, "no kernel", {}}, 0};
  EXPECT_THAT(last(writer.repair(request, unread, false)), HasSubstr("# Kernel to start from"));

  const auto [proposal, evaluation] = measured();
  EXPECT_THAT(last(writer.insights(request, proposal, evaluation)), HasSubstr("two rows a warp"));
  const std::string lineage = last(writer.lineage(request, proposal, evaluation));
  for (const char* part :
       {"+// more", "It became 2 times as fast.", "Before: 20 us", "latency_bound"})
    EXPECT_THAT(lineage, HasSubstr(part));
}

TEST(PromptWriter, KeepsPromptsSmall) {
  const PromptWriter writer = writer_of();
  EXPECT_LT(writer.guide().size(), 6500U);
  ProposalRequest request = request_of();
  request.lessons.assign(50, std::string(1000, 'l'));
  request.history.assign(50, request.history.front());
  request.history.back().fault = std::string(100000, 's');
  EXPECT_LT(writer.request_text(request).size(), request.parent.source.size() + 4000);
  std::uint64_t fixed = 0;
  for (const PromptSize& part : writer.sizes(request)) {
    EXPECT_GT(part.bytes, 0U) << part.part;
    EXPECT_GT(part.tokens, 0U) << part.part;
    if (part.part == "system" || part.part == "task")
      fixed += part.bytes;
  }
  EXPECT_EQ(fixed + 1, writer.guide().size());
}

TEST(PromptFiles, TakesTheUsersTexts) {
  const TestFolder folder;
  folder.write("plan.md", "Think hard.\n{{if mate}}\nOf both.\n{{end}}\n");
  const PromptWriter writer = writer_of(kTask, folder.path().string());
  EXPECT_TRUE(writer.plan(request_of())->back().text.ends_with("\nThink hard.\n"));
  EXPECT_TRUE(writer.plan(joined_request())->back().text.ends_with("Think hard.\nOf both.\n"));
  EXPECT_EQ(writer.guide(), writer_of().guide());
}

TEST(PromptFiles, SaysWhatIsWrongWithThem) {
  {
    const TestFolder folder;
    folder.write("plans.md", "x\n");
    EXPECT_THAT(failure_of(folder),
                HasSubstr("plans.md' is not a prompt (did you mean 'plan.md'?)"));
    EXPECT_THAT(failure_of(folder), HasSubstr("recombine.md"));
  }
  {
    const TestFolder folder; // in a line that is dropped as a rule
    folder.write("code.md", "a\n{{if edits}}\n{{if plan}}\nb {{plam}}\n{{end}}\n{{end}}\n");
    EXPECT_THAT(failure_of(folder), HasSubstr("code.md:4"));
    EXPECT_THAT(failure_of(folder), HasSubstr("'plam'"));
    EXPECT_THAT(failure_of(folder), HasSubstr("did you mean 'plan'"));
  }
  {
    const TestFolder folder;
    folder.write("task.md", "{{if fast}}\n{{end}}\n");
    EXPECT_THAT(failure_of(folder), HasSubstr("task.md:1"));
  }
  const TestFolder folder;
  EXPECT_EQ(failure_of(folder), "");
  const auto missing =
      PromptWriter::create(task_of(kTask), *find_gpu("A100"), std::nullopt, folder.path("no"));
  ASSERT_FALSE(missing);
  EXPECT_THAT(format_error(missing.error()), HasSubstr("cannot be listed"));
}

} // namespace
} // namespace kernevo::propose
